package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func TestReplyToAnOrder(t *testing.T) {
	t.Parallel()

	var out strings.Builder
	require.NoError(t, run(t.Context(), dbtest.URL(t), &out))
	require.Contains(t, out.String(), "Basmati rice (1 kg), pantry")
}

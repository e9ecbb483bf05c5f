package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func TestOrderAndTurnAreOne(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.NoError(t, run(t.Context(), dbtest.URL(t), &out))
	require.Equal(t, "after an order: 1 order, 1 turn\nafter an order that failed: 1 order, 1 turn\n", out.String())
}

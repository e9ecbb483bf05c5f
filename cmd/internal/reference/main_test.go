package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSettingsAreDocumented(t *testing.T) {
	t.Parallel()

	page, err := os.ReadFile("../../../" + operations)
	require.NoError(t, err)
	next, err := withSettings(string(page))
	require.NoError(t, err)
	require.Equal(t, next, string(page), "run make generate")
	_, err = withSettings("no marks")
	require.ErrorIs(t, err, errNoMarks)
}

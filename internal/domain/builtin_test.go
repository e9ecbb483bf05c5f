package domain_test

import (
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/domain"
)

// Whoever starts a program in another folder than they think sees where it looked.
func TestAMissingFileIsNamedWithItsFolder(t *testing.T) {
	t.Parallel()

	here, err := filepath.Abs(".")
	require.NoError(t, err)
	_, err = domain.Load(domain.Find("nowhere.yaml"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, filepath.Join(here, "nowhere.yaml"))
}

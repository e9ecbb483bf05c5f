package jobs_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// V25: a worker tells the database its window, so that the page and psql show what its models see.
func TestV25AWorkerTellsItsWindow(t *testing.T) {
	t.Parallel()
	h := setup(t, `turns: []`)
	h.config.Windows.RetentionWindow = 5
	h.start()
	require.Equal(t, []string{"5"}, column[string](h, `SELECT retention_window()::text`))
}

package e2e_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// The example for psql runs as it stands and ends with a reply.
func TestSQLExample(t *testing.T) {
	t.Parallel()
	psql, err := exec.LookPath("psql")
	if err != nil && os.Getenv("CI") == "" {
		t.Skip("no psql on this machine")
	}
	require.NoError(t, err)
	h := scripted(t, readThenChat)
	out, err := exec.CommandContext(t.Context(), psql, "-X", h.pool.Config().ConnString(), "-f", "../../examples/sql/conversation.sql").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "succeeded | You have three of them.")
	require.Contains(t, string(out), "recipe_1")
	require.Contains(t, string(out), "Current Message")
}

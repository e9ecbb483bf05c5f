package chaos_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// nextWorker builds a worker of a future version, whose jobs have different arguments.
func (l *lab) nextWorker(t *testing.T) string {
	t.Helper()

	now, err := filepath.Abs("../../jobs/args.go")
	require.NoError(t, err)
	text, err := os.ReadFile(now)
	require.NoError(t, err)
	require.Contains(t, string(text), "argsVersion = 1\n")
	dir := t.TempDir()
	then := filepath.Join(dir, "args.go")
	require.NoError(t, os.WriteFile(then, []byte(strings.Replace(string(text), "argsVersion = 1\n", "argsVersion = 2\n", 1)), 0o600))
	program := filepath.Join(dir, "worker")
	overlaid(t, map[string]string{now: then}, program, "alfred/cmd/worker")

	return program
}

// overlaid builds programs with some source files replaced by others, or added.
func overlaid(t *testing.T, files map[string]string, output string, programs ...string) {
	t.Helper()

	overlay, err := json.Marshal(map[string]any{"Replace": files})
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "overlay.json")
	require.NoError(t, os.WriteFile(path, overlay, 0o600))
	build := exec.CommandContext(t.Context(), "go", append([]string{"build", "-ldflags=-s -w", "-overlay", path, "-o", output}, programs...)...)
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// nextSchema changes the SQL functions that start turns to the next version.
const nextSchema = `DO $$
DECLARE
    definition text;
BEGIN
    FOR definition IN
        SELECT replace(pg_get_functiondef(p.oid), '''version'', 1', '''version'', 2') FROM pg_proc AS p
        WHERE p.pronamespace = 'alfred'::regnamespace AND p.prokind = 'f' AND p.prosrc LIKE '%''version'', 1%'
    LOOP
        EXECUTE definition;
    END LOOP;
END
$$`

// While conversations run, the database is migrated, workers of the next version join, those of this one leave when
// their turns are done, and the API restarts: no turn fails, and results are unchanged.
func TestRollingDeploy(t *testing.T) {
	t.Parallel()
	if rounds() == 0 {
		t.Skip("make chaos builds the next version")
	}
	l := openLab(t)
	next := l.nextWorker(t)
	calm := openZoo(t, l, 1)
	want := calm.undisturbed()

	z := openZoo(t, l, 1)
	z.awaitAPI()
	sessions, posting, errs := z.talk(12)
	z.awaitDecisions(sessions, 60)
	z.exec(nextSchema)
	for range 2 {
		spawn(t, []string{"DATABASE_URL=" + z.url, "ALFRED_LLM=script", "ALFRED_SCRIPT=" + z.script}, next, "run")
	}
	z.api.signal(syscall.SIGTERM)
	z.await("the old turns to end", func() bool {
		var left int
		err := z.pool.QueryRow(t.Context(), `SELECT count(*) FROM river_job WHERE finalized_at IS NULL AND queue = 'turns' AND args ->> 'version' = '1'`).Scan(&left)

		return err == nil && left == 0
	})
	for _, worker := range z.workers {
		worker.signal(syscall.SIGTERM)
		<-worker.done
		require.True(t, worker.cmd.ProcessState.Success(), "a worker that is told to stop does so without an error")
	}
	posting.Wait()
	awaitQuiet(t, z.pool, sessions...)
	for i, session := range sessions {
		require.NoError(t, errs[i])
		requireSame(t, want, state(t, z.pool, session), session.String())
	}
	requireClean(t, z.pool)
	var began, after int
	require.NoError(t, z.pool.QueryRow(t.Context(), `SELECT count(*) FILTER (WHERE args ->> 'version' = '1'), count(*) FILTER (WHERE args ->> 'version' = '2')
		FROM river_job WHERE kind = 'understand'`).Scan(&began, &after))
	require.Positive(t, began)
	require.Positive(t, after)
	report("limits", fmt.Sprintf("| two versions at once, a migration, an API restart | %d turns started by the old version, %d by the new | none failed |", began, after))
}

package chaos_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A table is locked for longer than any statement may wait, and many clients share an API with three connections: what
// cannot be done now is reported as such, and everything is done later.
func TestTimeoutsAndAFullPool(t *testing.T) {
	t.Parallel()
	z := openZoo(t, openLab(t), 1)
	z.exec(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET lock_timeout = ''1s''', current_database());
		EXECUTE format('ALTER DATABASE %I SET statement_timeout = ''10s''', current_database()); END $$`)
	z.restart("--conns", "3")
	z.awaitAPI()
	sessions, posting, errs := z.talk(12)
	z.awaitDecisions(sessions, 60)
	tx, err := z.pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `SET LOCAL lock_timeout = 0`)
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `LOCK TABLE turns IN EXCLUSIVE MODE`)
	require.NoError(t, err)
	time.Sleep(3 * time.Second)
	require.NoError(t, tx.Rollback(t.Context()))
	posting.Wait()
	awaitQuiet(t, z.pool, sessions...)
	for _, err := range errs {
		require.NoError(t, err)
	}
	requireClean(t, z.pool)
	require.Zero(t, z.statuses[http.StatusInternalServerError], "what passes is no error of ours")
	report("limits", fmt.Sprintf("| locks held longer than lock_timeout; 12 clients at an API of two connections | %d turns; responses by status: %s | none failed |",
		len(sessions)*len(turns), strings.Trim(fmt.Sprint(z.statuses), "map[]")))
}

// restart restarts everything, the API with the given arguments.
func (z *zoo) restart(args ...string) {
	z.t.Helper()

	for _, p := range append(z.workers, z.api) {
		p.kill()
	}
	z.apiArgs = args
	z.pool.Reset()
	z.revive()
}

// A session with very many turns answers as fast as one with few, and a very deep queue is worked off.
func TestLongSessionAndDeepQueue(t *testing.T) {
	t.Parallel()
	z := openZoo(t, openLab(t), 1)
	for _, worker := range z.workers { // whose script is too short
		worker.kill()
	}
	for i := range z.workers {
		z.workers[i] = spawn(t, []string{"DATABASE_URL=" + z.url, "ALFRED_LLM=offline"}, filepath.Join(z.l.programs, "worker"), "run")
	}
	z.awaitAPI()
	depth := 2_000
	if rounds() > 0 {
		depth = 100_000
	}
	session := newSession(t, z.pool)
	key := z.newKey(session)
	z.seedTurns(session, depth)
	_, err := z.pool.Exec(t.Context(), `INSERT INTO river_job (kind, args, queue, max_attempts, priority)
		SELECT 'think', jsonb_build_object('turn_id', uuid_v7(), 'position', 2, 'version', 1), 'turns', 6, 1 FROM generate_series(1, $1)`, depth)
	require.NoError(t, err)
	began := time.Now()
	require.NoError(t, z.post(t.Context(), session, key, 1))
	taken := time.Since(began)
	z.awaitQueue()
	drained := time.Since(began)
	awaitQuiet(t, z.pool, session)
	began = time.Now()
	require.NoError(t, z.post(t.Context(), session, key, 2))
	awaitQuiet(t, z.pool, session)
	answered := time.Since(began)
	var failed int
	require.NoError(t, z.pool.QueryRow(t.Context(), `SELECT count(*) FROM turns WHERE status <> 'succeeded'`).Scan(&failed))
	require.Zero(t, failed)
	report("limits", fmt.Sprintf("| a session of %d turns behind a queue of %d jobs | accepted in %.2f s; the queue was drained in %.0f s; then a turn took %.2f s | none failed |",
		depth, depth, taken.Seconds(), drained.Seconds(), answered.Seconds()))
}

// disk is a small separate file system with a server on it.
type disk struct {
	t    *testing.T
	dir  string
	srv  *server
	fill string
}

func openDisk(t *testing.T) *disk {
	t.Helper()

	d := &disk{t: t, dir: t.TempDir()}
	if err := syscall.Mount("tmpfs", d.dir, "tmpfs", 0, "size=160m,mode=0755"); err != nil {
		t.Skip("a file system cannot be mounted: " + err.Error())
	}
	for parent := filepath.Dir(d.dir); parent != os.TempDir() && parent != "/"; parent = filepath.Dir(parent) {
		require.NoError(t, os.Chmod(parent, 0o755)) // the server's user needs access
	}
	d.fill = filepath.Join(d.dir, "fill")
	t.Cleanup(func() {
		if d.srv != nil {
			_ = d.srv.crash()
		}
		require.NoError(t, syscall.Unmount(d.dir, syscall.MNT_DETACH))
	})
	var err error
	d.srv, err = newServer(t.Context(), d.dir)
	require.NoError(t, err)

	return d
}

// full leaves no byte free.
func (d *disk) full() {
	d.t.Helper()

	file, err := os.Create(d.fill)
	require.NoError(d.t, err)
	defer func() { _ = file.Close() }()
	for piece := make([]byte, 1<<16); ; {
		if _, err := file.Write(piece); err != nil {
			return
		}
	}
}

// On a full disk Postgres refuses to write, or stops; once there is space again and it runs, everything continues.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	if rounds() == 0 {
		t.Skip("make chaos fills a disk")
	}
	l := openLab(t)
	d := openDisk(t)
	full := &lab{dir: l.dir, programs: l.programs, server: d.srv}
	z := openZoo(t, full, 1)
	z.awaitAPI()
	sessions, posting, errs := z.talk(12)
	z.awaitDecisions(sessions, 60)
	d.full()
	time.Sleep(5 * time.Second) // for as long as the disk is full
	require.NoError(t, os.Remove(d.fill))
	_ = d.srv.crash() // it may be down already
	require.NoError(t, d.srv.start(t.Context()))
	z.await("everything to be sent", waited(posting))
	awaitQuietWhile(t, z.pool, z.revive, sessions...)
	for _, err := range errs {
		require.NoError(t, err)
	}
	requireClean(t, z.pool)
	report("limits", fmt.Sprintf("| a full disk | %d turns | none failed |", len(sessions)*len(turns)))
}

// waited returns a function that reports whether the group is done.
func waited(group *sync.WaitGroup) func() bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		group.Wait()
	}()

	return func() bool {
		select {
		case <-done:
			return true
		default:
			return false
		}
	}
}

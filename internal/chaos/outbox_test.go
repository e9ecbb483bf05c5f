package chaos_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

// hires is how many conversations each cancel a hire, by an operation whose function writes the owner's outbox.
const hires = 24

// killEvery is the number of decisions after which a worker is killed; with a time interval, a slow machine would make
// no progress.
const killEvery = 9

// cancelling is a conversation that reads and then runs an operation.
const cancelling = `turns:
  - understand: {intent: read, delay: 30ms}
    think: {goal: g, decision: plan, steps: [{type: read, subdomain: hires, description: Read}]}
    act: [{calls: [{tool: db_read, args: {table: hires}}, {tool: step_complete, args: {summary: read}}], delay: 30ms}]
    reply: {text: There., delay: 30ms}
    summarize: {response_summary: s}
  - understand: {intent: write, delay: 30ms}
    think: {goal: g, decision: plan, steps: [{type: write, subdomain: hires, description: Cancel it, refs: [hire_1]}]}
    act: [{calls: [{tool: cancel_hire, args: {this: hire_1, reason: no time}}], delay: 30ms}, {calls: [{tool: step_complete, args: {summary: cancelled}}], delay: 30ms}]
    reply: {text: Cancelled., delay: 30ms}
    summarize: {response_summary: s}
`

// openHires creates a database of tools for hire, declared through views and probed, with a customer per conversation.
// It returns the declaration's file.
func openHires(t *testing.T, z *zoo) (file string, sessions []uuid.UUID) {
	t.Helper()

	exec := func(sql string, args ...any) {
		_, err := z.pool.Exec(t.Context(), sql, args...)
		require.NoError(t, err)
	}
	tables, err := os.ReadFile("../e2e/testdata/rental.sql")
	require.NoError(t, err)
	exec(string(tables))
	for i := range hires {
		session := newSession(t, z.pool)
		sessions = append(sessions, session)
		exec(`INSERT INTO rental.customers VALUES ('M' || $1::int, 'Customer', 'm' || $1 || '@example.org')`, i)
		exec(`INSERT INTO rental.hires VALUES ('M', $1, 'M' || $1::int, 'Shelf', 'booked', 'x')`, i)
	}
	dir := t.TempDir()
	file = filepath.Join(dir, "rental.yaml")
	command := func(args ...string) {
		run := program(t, z, args...)
		run.Dir = dir
		out, err := run.CombinedOutput()
		require.NoError(t, err, "%v: %s", args, out)
	}
	command("domain", "init", "--schema", "rental")
	declared, err := os.ReadFile(file)
	require.NoError(t, err)
	reviewed := strings.Replace(string(declared), "\nsnapshot:", "\noperations:\n  - {name: cancel_hire, function: cancel_hire, on: hire, confirm: never, changes: [refund], trusted: true}\n\nsnapshot:", 1)
	require.NoError(t, os.WriteFile(file, []byte(reviewed), 0o600))
	command("domain", "attach", file)
	for i, session := range sessions {
		exec(`INSERT INTO rental_alfred.alfred_accounts SELECT user_id, 'M' || $2::int FROM sessions WHERE id = $1`, session, i)
	}
	command("domain", "check", "--probe", file)

	return file, sessions
}

func program(t *testing.T, z *zoo, args ...string) *exec.Cmd {
	t.Helper()

	command := exec.CommandContext(t.Context(), filepath.Join(z.l.programs, "worker"), args...)
	command.Env = append(os.Environ(), "DATABASE_URL="+z.url)

	return command
}

// W06: while workers are killed around an operation whose function writes the owner's outbox, its effects happen
// exactly once, and outbox entries are delivered at least once, with their key.
func TestW06OutboxWhileWorkersAreKilled(t *testing.T) {
	t.Parallel()
	z := newZoo(t, openLab(t), 1)
	file, sessions := openHires(t, z)
	scriptFile := filepath.Join(t.TempDir(), "script.yaml")
	require.NoError(t, os.WriteFile(scriptFile, []byte(cancelling), 0o600))
	start := func() *process {
		return spawn(t, []string{"DATABASE_URL=" + z.url, "ALFRED_DOMAIN=" + file, "ALFRED_LLM=script", "ALFRED_SCRIPT=" + scriptFile}, filepath.Join(z.l.programs, "worker"), "run")
	}
	workers, killed := []*process{start(), start()}, 0
	delivered := map[string]int{}
	last := 0
	for _, session := range sessions {
		require.NoError(t, say(t.Context(), z.pool, session, 1))
		require.NoError(t, say(t.Context(), z.pool, session, 2))
	}
	awaitQuietWhile(t, z.pool, func() {
		deliver(t, z.pool, delivered)
		if now := z.moved(); now >= last+killEvery {
			at := z.dice.IntN(len(workers))
			workers[at].kill()
			workers[at], last = start(), now
			killed++
		}
	}, sessions...)
	deliver(t, z.pool, delivered)

	var wrong string
	require.NoError(t, z.pool.QueryRow(t.Context(), `SELECT concat_ws(' ', (SELECT count(*) FROM turns WHERE status <> 'succeeded'), (SELECT count(*) FROM turn_step_results WHERE error_code IS NOT NULL),
		(SELECT count(*) FROM rental.hires WHERE branch = 'M' AND status = 'booked'))`).Scan(&wrong))
	require.Equal(t, "0 0 0", wrong, "every turn has done what it was to do, at the first try that was committed")
	var once string
	require.NoError(t, z.pool.QueryRow(t.Context(), `SELECT concat_ws(' ', (SELECT count(*) FROM rental.refunds), (SELECT count(*) FROM rental.outbox), (SELECT count(*) FROM rental.books))`).Scan(&once))
	require.Equal(t, fmt.Sprintf("%[1]d %[1]d %[1]d", hires), once, "exactly once: a refund, a mail, an entry in the books for each")
	require.Len(t, delivered, hires, "each went out")
	require.Positive(t, killed)
	most := 0
	for _, n := range delivered {
		most = max(most, n)
	}
	report("limits", fmt.Sprintf("| %d operations that write to an outbox, on two workers, one of which is killed after every %d decisions (%d times) | %d entries, each delivered one to %d times, with its key | none failed |", hires, killEvery, killed, hires, most))
}

// deliver is the owner's worker that sends outbox entries and then marks them; every third time it dies in between.
func deliver(t *testing.T, pool *pgxpool.Pool, delivered map[string]int) {
	t.Helper()

	var key string
	for pool.QueryRow(t.Context(), `SELECT key FROM rental.outbox WHERE sent = 0 LIMIT 1`).Scan(&key) == nil {
		delivered[key]++
		if delivered[key]%3 == 1 && len(delivered)%3 == 0 {
			return
		}
		_, err := pool.Exec(t.Context(), `UPDATE rental.outbox SET sent = 1 WHERE key = $1`, key)
		require.NoError(t, err)
	}
}

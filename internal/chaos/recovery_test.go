package chaos_test

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
)

// ward keeps sessions busy on two workers, one of which has an accident.
type ward struct {
	t        *testing.T
	l        *lab
	url      string
	script   string
	pool     *pgxpool.Pool
	sessions []uuid.UUID
}

func openWard(t *testing.T) *ward {
	t.Helper()

	w := &ward{t: t, l: openLab(t), script: writeScript(t, 300*time.Millisecond, turns[:1])}
	w.url, w.pool = w.l.database(t)

	return w
}

// talk starts a turn in each of many sessions.
func (w *ward) talk() {
	w.t.Helper()

	const sessions = 24
	for range sessions {
		session := newSession(w.t, w.pool)
		require.NoError(w.t, say(w.t.Context(), w.pool, session, 1))
		w.sessions = append(w.sessions, session)
	}
}

// workerOf is the worker's id in its lease; it is the newest.
func (w *ward) workerOf(known []string) string {
	w.t.Helper()

	var id string
	require.Eventually(w.t, func() bool {
		return w.pool.QueryRow(w.t.Context(), `SELECT id FROM workers WHERE NOT id = ANY ($1)`, known).Scan(&id) == nil
	}, dbtest.Patience, 10*time.Millisecond)

	return id
}

// interrupted returns the turns whose decision the worker is making, and the database's time.
func (w *ward) interrupted(worker string) (turns []uuid.UUID, at time.Time) {
	w.t.Helper()

	rows, err := w.pool.Query(w.t.Context(), `SELECT (args ->> 'turn_id')::uuid FROM river_job WHERE queue = 'turns' AND state = 'running' AND $1 = ANY (attempted_by)`, worker)
	require.NoError(w.t, err)
	turns, err = pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	require.NoError(w.t, err)
	require.NoError(w.t, w.pool.QueryRow(w.t.Context(), `SELECT clock_timestamp()`).Scan(&at))

	return turns, at
}

// resumed waits until each turn is being worked elsewhere, and returns how long each took.
func (w *ward) resumed(worker string, turns []uuid.UUID, since time.Time) []time.Duration {
	w.t.Helper()

	awaitQuiet(w.t, w.pool, w.sessions...)
	var took []time.Duration
	for _, turn := range turns {
		var at *time.Time
		require.NoError(w.t, w.pool.QueryRow(w.t.Context(), `SELECT min(attempted_at) FROM river_job
			WHERE args @> jsonb_build_object('turn_id', $1::uuid) AND queue = 'turns' AND attempted_at >= $2 AND NOT $3 = ANY (attempted_by)`, turn, since, worker).Scan(&at))
		if at != nil { // nil: it committed before the accident
			took = append(took, at.Sub(since))
		}
	}

	return took
}

func percentile(took []time.Duration, p int) time.Duration {
	slices.Sort(took)

	return took[min(len(took)-1, len(took)*p/100)]
}

// accident repeatedly makes it happen to one of two workers, and returns how long turns stood still.
func (w *ward) accident(times int, blow func(*process)) []time.Duration {
	w.t.Helper()

	var took []time.Duration
	known := []string{}
	w.l.worker(w.t, w.url, w.script)
	known = append(known, w.workerOf(known))
	for range times {
		victim := w.l.worker(w.t, w.url, w.script)
		id := w.workerOf(known)
		known = append(known, id)
		turns, at := w.busy(id)
		blow(victim)
		these := w.resumed(id, turns, at)
		w.t.Logf("%d turns interrupted, %d resumed elsewhere after %s", len(turns), len(these), these)
		took = append(took, these...)
		w.refused(id, at)
		victim.signal(syscall.SIGCONT)
		w.wake(id, at)
		victim.kill()
	}

	return took
}

// busy talks until the worker is working on some turns: which worker fetches how many is random.
func (w *ward) busy(worker string) (turns []uuid.UUID, at time.Time) {
	w.t.Helper()

	for range 10 {
		w.sessions = nil
		w.talk()
		for range 100 {
			if turns, at = w.interrupted(worker); len(turns) > 3 {
				return turns, at
			}
			time.Sleep(20 * time.Millisecond)
		}
		awaitQuiet(w.t, w.pool, w.sessions...)
	}
	require.Fail(w.t, "the worker gets no turns")

	return nil, at
}

// refused checks that nothing taken over from the worker was committed by it afterwards.
func (w *ward) refused(worker string, since time.Time) {
	w.t.Helper()

	var committed int
	require.NoError(w.t, w.pool.QueryRow(w.t.Context(), `SELECT count(*) FROM node_runs AS n JOIN river_job AS j ON j.id = n.river_job_id
		WHERE j.state = 'discarded' AND $1 = ANY (j.attempted_by) AND n.created_at > $2`, worker, since).Scan(&committed))
	require.Zero(w.t, committed, "decisions committed by a worker whose jobs had been taken over")
}

// wake gives a resumed process time to try, and checks again.
func (w *ward) wake(worker string, since time.Time) {
	w.t.Helper()

	time.Sleep(500 * time.Millisecond)
	w.refused(worker, since)
	var doubled int
	require.NoError(w.t, w.pool.QueryRow(w.t.Context(), `SELECT count(*) FROM (SELECT FROM kitchen.shopping_list GROUP BY user_id HAVING count(*) <> 3) AS x`).Scan(&doubled))
	require.Zero(w.t, doubled, "users with more or fewer rows than were written")
	requireClean(w.t, w.pool)
}

func (w *ward) requireFast(what string, took []time.Duration, limit time.Duration) {
	w.t.Helper()

	require.NotEmpty(w.t, took)
	p50, p95, worst := percentile(took, 50), percentile(took, 95), percentile(took, 100)
	w.t.Logf("%s: %d turns, p50 %s, p95 %s, longest %s", what, len(took), p50, p95, worst)
	if rounds() > 0 { // elsewhere other tests take the cores meanwhile, and time decides nothing
		require.Less(w.t, p95, limit)
	}
	report("recovery", fmt.Sprintf("| %s | %d | %.2f s | %.2f s | %.2f s | %s |", what, len(took), p50.Seconds(), p95.Seconds(), worst.Seconds(), limit))
}

// A killed worker's lock is free at once; the others check twice a second.
func TestRecoveryFromKill(t *testing.T) {
	t.Parallel()
	w := openWard(t)
	took := w.accident(max(1, 8*rounds()), func(p *process) { p.kill() })
	w.requireFast("kill -9", took, time.Second)
}

// A stopped worker is noticed after 3 s by its lease. When it wakes, everything it does is refused.
func TestRecoveryFromStop(t *testing.T) {
	t.Parallel()
	w := openWard(t)
	took := w.accident(max(1, 2*rounds()), func(p *process) { p.signal(syscall.SIGSTOP) })
	w.requireFast("SIGSTOP", took, 5*time.Second)
}

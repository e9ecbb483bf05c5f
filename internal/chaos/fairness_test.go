package chaos_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// K08: while one user has a thousand turns waiting, each turn of another user begins as soon as a worker finishes what
// it is doing. How long that takes is measured; only the order is asserted, because a busy machine does not change it.
func TestK08OneUserWithAThousandTurns(t *testing.T) {
	t.Parallel()
	z := newZoo(t, openLab(t), 1)
	z.plain, z.slots, z.workers = true, 4, z.workers[:2] // fewer than the turns that a user may run
	z.script = writeScript(t, 20*time.Millisecond, slices.Repeat(turns[4:], 20))
	z.revive()
	z.awaitAPI()
	calm := z.answerTimes(newSession(t, z.pool), 12)
	waiting, messages := 100, 4
	if rounds() > 0 {
		waiting, messages = 250, 4
	}
	busy := newSession(t, z.pool)
	for range waiting {
		_, err := z.pool.Exec(t.Context(), `WITH made AS MATERIALIZED (SELECT start_session(u.name) AS id FROM sessions AS s JOIN users AS u ON u.id = s.user_id WHERE s.id = $1)
			SELECT enqueue_turn(made.id, 'hello', 'm' || n) FROM made, generate_series(1, $2::int) AS n`, busy, messages)
		require.NoError(t, err)
	}
	other := newSession(t, z.pool)
	full := z.answerTimes(other, 12)
	var passed int
	require.NoError(t, z.pool.QueryRow(t.Context(), `SELECT max((SELECT count(*) FROM turns AS b JOIN sessions AS s ON s.user_id = b.user_id
			WHERE s.id = $2 AND b.replied_at BETWEEN t.created_at AND j.attempted_at))
		FROM turns AS t JOIN river_job AS j ON j.kind = 'understand' AND j.args ->> 'turn_id' = t.id::text WHERE t.session_id = $1`, other, busy).Scan(&passed))
	require.LessOrEqual(t, passed, z.slots*len(z.workers), "a worker begins no other turn of the busy user before that of the other")
	var left int
	require.NoError(t, z.pool.QueryRow(t.Context(), `SELECT count(*) FROM turns AS t JOIN sessions AS s ON s.user_id = t.user_id WHERE s.id = $1 AND t.status = 'queued'`, busy).Scan(&left))
	require.Positive(t, left, "the other user did not have to wait for all of them")
	var one float64
	require.NoError(t, z.pool.QueryRow(t.Context(), `SELECT percentile_cont(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM t.replied_at - t.started_at))
		FROM turns AS t JOIN sessions AS s ON s.user_id = t.user_id WHERE s.id = $1 AND t.replied_at IS NOT NULL`, busy).Scan(&one))
	report("limits", fmt.Sprintf("| one user with %d waiting turns, %d of which still waited when another user had twelve replies | the other user's replies took %.2f s (p95) before and %.2f s meanwhile, while a turn of the busy user took %.2f s from its start (p95). At most %d turns of the busy user ended between a message of the other and its first decision; the workers take %d at a time | none failed |",
		waiting*messages, left, calm.Seconds(), full.Seconds(), one, passed, z.slots*len(z.workers)))
}

// answerTimes is the p95 reply time over so many consecutive messages in a session.
func (z *zoo) answerTimes(session uuid.UUID, n int) time.Duration {
	z.t.Helper()

	for i := range n {
		require.NoError(z.t, say(z.t.Context(), z.pool, session, i+1))
		z.await("an answer", func() bool {
			var replied bool
			err := z.pool.QueryRow(z.t.Context(), `SELECT replied_at IS NOT NULL FROM turns WHERE session_id = $1 AND number = $2`, session, i+1).Scan(&replied)

			return err == nil && replied
		})
	}
	var p95 float64
	require.NoError(z.t, z.pool.QueryRow(z.t.Context(), `SELECT percentile_cont(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM replied_at - created_at))
		FROM turns WHERE session_id = $1`, session).Scan(&p95))

	return time.Duration(p95 * float64(time.Second))
}

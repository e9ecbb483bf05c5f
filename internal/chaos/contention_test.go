package chaos_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

// crowd is many clients using few sessions, worked by four processes.
type crowd struct {
	t        *testing.T
	pool     *pgxpool.Pool
	sessions []uuid.UUID
	refused  atomic.Int64 // by if_busy = reject and by the limit of waiting messages
}

func openCrowd(t *testing.T, sessions int) *crowd {
	t.Helper()

	l := openLab(t)
	chatter := make([]string, 0, maxCrowdTurns)
	for range maxCrowdTurns {
		chatter = append(chatter, turns[len(turns)-1])
	}
	script := writeScript(t, 10*time.Millisecond, chatter)
	c := &crowd{t: t}
	var url string
	url, c.pool = l.database(t)
	for range sessions {
		c.sessions = append(c.sessions, newSession(t, c.pool))
	}
	for range 4 {
		l.worker(t, url, script)
	}

	return c
}

const maxCrowdTurns = 60

// enqueue sends one message. It reports errors that no client should see.
func (c *crowd) enqueue(session uuid.UUID, text, key, ifBusy string) error {
	_, err := c.pool.Exec(c.t.Context(), `SELECT enqueue_turn($1, $2, nullif($3, ''), NULL, $4)`, session, text, key, ifBusy)
	if refusal, ok := errors.AsType[*pgconn.PgError](err); ok && (refusal.Code == "AL003" || refusal.Code == "AL004") {
		c.refused.Add(1)

		return nil
	}

	return err
}

// all runs work for every session with concurrent clients, and returns when they are done.
func (c *crowd) all(clients int, work func(session uuid.UUID, client int) error) {
	c.t.Helper()

	var wait sync.WaitGroup
	failures := make(chan error, clients*len(c.sessions))
	for _, session := range c.sessions {
		for client := range clients {
			wait.Go(func() {
				if err := work(session, client); err != nil {
					failures <- err
				}
			})
		}
	}
	wait.Wait()
	close(failures)
	for err := range failures {
		require.NoError(c.t, err)
	}
}

// probe continuously looks for two running turns in a session until stopped. The constraint forbids it; the probe
// verifies that.
func (c *crowd) probe() (stop func() int) {
	ctx, cancel := context.WithCancel(c.t.Context())
	looks, found := 0, atomic.Int64{}
	var wait sync.WaitGroup
	wait.Go(func() {
		for ctx.Err() == nil {
			var doubled int64
			err := c.pool.QueryRow(ctx, `SELECT count(*) FROM (SELECT FROM turns WHERE status = 'running' GROUP BY session_id HAVING count(*) > 1) AS x`).Scan(&doubled)
			if err == nil {
				looks++
				found.Add(doubled)
			}
			time.Sleep(2 * time.Millisecond)
		}
	})

	return func() int {
		cancel()
		wait.Wait()
		require.Zero(c.t, found.Load(), "sessions with two running turns")

		return looks
	}
}

// settle waits for the end and checks what contention may have broken.
func (c *crowd) settle(what string, stop func() int) {
	c.t.Helper()

	awaitQuiet(c.t, c.pool, c.sessions...)
	looks := stop()
	requireClean(c.t, c.pool)
	var turns, unanswered int
	require.NoError(c.t, c.pool.QueryRow(c.t.Context(), `SELECT count(*), count(*) FILTER (WHERE status = 'succeeded' AND reply IS NULL) FROM turns`).Scan(&turns, &unanswered))
	require.Zero(c.t, unanswered)
	var wrong int
	require.NoError(c.t, c.pool.QueryRow(c.t.Context(), `SELECT count(*) FROM sessions AS s WHERE last_turn <> (SELECT count(*) FROM turns AS t WHERE t.session_id = s.id)`).Scan(&wrong))
	require.Zero(c.t, wrong, "sessions whose counter lost an update")
	c.t.Logf("%s: %d turns, %d refused, %d looks for two running turns", what, turns, c.refused.Load(), looks)
	report("contention", fmt.Sprintf("| %s | %d | %d | 0 | 0 |", what, turns, c.refused.Load()))
}

// Two simultaneous messages in every session, repeatedly: all are answered, in the order of their numbers.
func TestTwoMessagesAtOnce(t *testing.T) {
	t.Parallel()
	c := openCrowd(t, 10+20*min(1, rounds()))
	stop := c.probe()
	for round := range 3 {
		c.all(2, func(session uuid.UUID, client int) error {
			return c.enqueue(session, fmt.Sprintf("message %d.%d", round, client), "", "enqueue")
		})
	}
	c.settle(fmt.Sprintf("two messages at once, %d sessions", len(c.sessions)), stop)
	var unequal int
	require.NoError(t, c.pool.QueryRow(t.Context(), `SELECT count(*) FROM turns WHERE status <> 'succeeded'`).Scan(&unequal))
	require.Zero(t, unequal)
}

// All forms of if_busy and cancelling, concurrently. An interrupt goes ahead of waiting messages; nothing hangs,
// nothing runs twice.
func TestBusyAndCancelStorm(t *testing.T) {
	t.Parallel()
	c := openCrowd(t, 10)
	stop := c.probe()
	forms := []string{"enqueue", "reject", "interrupt"}
	c.all(6, func(session uuid.UUID, client int) error {
		for n := range 6 {
			if client == 5 {
				_, err := c.pool.Exec(t.Context(), `SELECT cancel_turn(id) FROM turns WHERE session_id = $1 AND finished_at IS NULL ORDER BY random() LIMIT 2`, session)
				if err != nil {
					return err
				}
			} else if err := c.enqueue(session, fmt.Sprintf("message %d.%d", client, n), "", forms[(client+n)%3]); err != nil {
				return err
			}
			time.Sleep(15 * time.Millisecond)
		}

		return nil
	})
	awaitQuiet(t, c.pool, c.sessions...)
	looks := stop()
	requireInterrupted(t, c.pool)
	t.Logf("%d refused, %d looks", c.refused.Load(), looks)
	report("contention", fmt.Sprintf("| `if_busy` in three forms, and cancels, 10 sessions | %s | %d | 0 | 0 |", turnsByStatus(t, c.pool), c.refused.Load()))
}

// requireInterrupted is requireClean for sessions whose order interrupts change.
func requireInterrupted(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()

	for what, sql := range map[string]string{
		"turns failed":  `SELECT count(*) FROM turns WHERE status = 'failed'`,
		"turns overlap": `SELECT count(*) FROM turns AS a JOIN turns AS b ON b.session_id = a.session_id AND b.started_at > a.started_at AND b.started_at < a.finished_at`,
		"turns that ended otherwise than once": `SELECT count(*) FROM turns AS t WHERE 1 <> (SELECT count(*) FROM turn_events AS e
			WHERE e.turn_id = t.id AND e.type IN ('turn.finished', 'turn.failed', 'turn.cancelled'))`,
		"ordinary turns out of order": `SELECT count(*) FROM turns AS a JOIN turns AS b ON b.session_id = a.session_id AND b.number > a.number
			WHERE NOT a.interrupts AND NOT b.interrupts AND b.started_at < a.started_at`,
		"deadlocks": `SELECT coalesce(deadlocks, 0) FROM pg_stat_database WHERE datname = current_database()`,
	} {
		var n int
		require.NoError(t, pool.QueryRow(t.Context(), sql).Scan(&n), what)
		require.Zero(t, n, what)
	}
}

func turnsByStatus(t *testing.T, pool *pgxpool.Pool) string {
	t.Helper()

	var text string
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT string_agg(n || ' ' || status, ', ' ORDER BY status) FROM (SELECT status, count(*) AS n FROM turns GROUP BY status) AS x`).Scan(&text))

	return text
}

// One key used by many clients yields one turn.
func TestSameKeyFromManyClients(t *testing.T) {
	t.Parallel()
	c := openCrowd(t, 10)
	stop := c.probe()
	for n := range 3 {
		c.all(10, func(session uuid.UUID, _ int) error {
			return c.enqueue(session, "the same message", fmt.Sprintf("key %d", n), "enqueue")
		})
	}
	c.settle("one key from 10 clients, 10 sessions", stop)
	var turns int
	require.NoError(t, c.pool.QueryRow(t.Context(), `SELECT count(*) FROM turns`).Scan(&turns))
	require.Equal(t, 3*len(c.sessions), turns)
}

// Several compressors of one range store a single text.
func TestTwoCompressors(t *testing.T) {
	t.Parallel()
	c := openCrowd(t, 6)
	stop := c.probe()
	for n := range 6 {
		c.all(1, func(session uuid.UUID, _ int) error {
			return c.enqueue(session, fmt.Sprintf("message %d", n), "", "enqueue")
		})
	}
	c.all(4, func(session uuid.UUID, _ int) error {
		for range 10 {
			_, err := c.pool.Exec(t.Context(), `SELECT job_insert('compress', jsonb_build_object('session_id', $1::uuid, 'from_turn', 1, 'to_turn', 3), 'background')`, session)
			if err != nil {
				return err
			}
		}

		return nil
	})
	c.settle("4 compressors of one range, 6 sessions", stop)
	var ranges string
	require.NoError(t, c.pool.QueryRow(t.Context(), `SELECT string_agg(DISTINCT n::text, ',') FROM (
		SELECT count(*) AS n FROM history_summaries GROUP BY session_id, kind, from_turn, to_turn) AS x`).Scan(&ranges))
	require.Equal(t, "1", strings.TrimSpace(ranges))
}

// Sessions are forgotten while their turns run and their answers are stored: nothing is left of them, and nothing
// hangs.
func TestForgettingInTheMidst(t *testing.T) {
	t.Parallel()
	c := openCrowd(t, 30)
	stop := c.probe()
	c.all(2, func(session uuid.UUID, client int) error {
		if client == 0 {
			for n := range 5 {
				// A forgotten session is not found.
				err := c.enqueue(session, fmt.Sprintf("message %d", n), "", "enqueue")
				if gone, ok := errors.AsType[*pgconn.PgError](err); err != nil && (!ok || gone.Code != "AL001") {
					return err
				}
			}

			return nil
		}
		time.Sleep(time.Duration(50+int(session[15])*2) * time.Millisecond)
		_, err := c.pool.Exec(t.Context(), `SELECT forget_session($1)`, session)

		return err
	})
	awaitQuiet(t, c.pool, c.sessions...)
	stop()
	requireClean(t, c.pool)
	var left int
	require.NoError(t, c.pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM turns) + (SELECT count(*) FROM llm_calls) + (SELECT count(*) FROM node_runs)
		+ (SELECT count(*) FROM river_job WHERE state NOT IN ('completed', 'discarded', 'cancelled'))`).Scan(&left))
	require.Zero(t, left)
	report("contention", "| 30 sessions forgotten while they run | 150 sent | | 0 | 0 |")
}

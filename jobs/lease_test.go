package jobs_test

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/dbtest"
	"alfred/internal/llm"
	"alfred/jobs"
)

// failBeats makes this many beats of the workers fail.
func (h *harness) failBeats(most int) {
	h.t.Helper()

	h.exec(`CREATE SEQUENCE public.beats`)
	h.exec(`CREATE FUNCTION public.miss() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF nextval('public.beats') <= TG_ARGV[0]::int THEN RAISE 'no beat'; END IF; RETURN NEW; END $$`)
	h.exec(`CREATE TRIGGER miss BEFORE UPDATE ON workers FOR EACH ROW EXECUTE FUNCTION public.miss(` + strconv.Itoa(most) + `)`)
}

// A worker that could not renew its lease stops its own runs if others live, who will have taken them over. A single missed beat stops
// nothing, and nothing does where there is nobody else: the model was asked twice.
func TestLeaseLostStopsTheRuns(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	for name, test := range map[string]struct {
		misses  int
		stopped bool
	}{"Once": {1, false}, "Alone": {3, false}, "BesideOthers": {1000, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := setup(t, chat(1))
			asked := make(chan struct{})
			var stopped atomic.Bool
			h.once("think", func(ctx context.Context) error {
				close(asked)
				select {
				case <-ctx.Done():
					stopped.Store(true)

					return &llm.Error{Kind: llm.KindOverloaded, Provider: "script", Err: ctx.Err()}
				case <-time.After(5 * time.Second):
					return nil
				}
			})
			h.start()
			time.Sleep(2500 * time.Millisecond) // longer than the lease's margin
			turn := h.enqueue(jobs.EnqueueParams{})
			<-asked
			h.failBeats(test.misses)
			if !test.stopped {
				require.Equal(t, db.TurnStatusSucceeded, h.ended(turn.TurnID).Status)
				require.False(t, stopped.Load())

				return
			}
			time.Sleep(3500 * time.Millisecond)
			h.exec(`INSERT INTO workers (id, version, host) VALUES ('another', 'v', 'h')`)
			h.exec(`DROP TRIGGER miss ON workers`)
			require.Eventually(t, stopped.Load, dbtest.Patience, tick)
			require.Equal(t, db.TurnStatusSucceeded, h.ended(turn.TurnID).Status)
		})
	}
}

// A worker whose lease's connection broke makes another: it still hears of cancelled turns.
func TestLeaseConnectionIsMadeAgain(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	const holders = `FROM pg_locks AS l JOIN pg_stat_activity AS a USING (pid) WHERE l.locktype = 'advisory' AND l.granted AND a.datname = current_database()`
	asked, stopped := make(chan struct{}), make(chan struct{})
	h.once("think", func(ctx context.Context) error {
		close(asked)
		<-ctx.Done()
		close(stopped)

		return ctx.Err()
	})
	h.start()
	turn := h.enqueue(jobs.EnqueueParams{})
	<-asked
	lost := column[int32](h, `SELECT l.pid `+holders)
	require.Len(t, lost, 1)
	h.exec(`SELECT pg_terminate_backend($1)`, lost[0])
	require.Eventually(t, func() bool {
		held := column[int32](h, `SELECT l.pid `+holders)

		return len(held) == 1 && held[0] != lost[0]
	}, dbtest.Patience, tick)
	require.True(t, h.cancel(turn.TurnID))
	<-stopped
}

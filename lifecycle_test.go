package alfred_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred"
	"alfred/internal/dbtest"
)

// Nobody would hear of a worker that ended after Open had returned.
func TestWorkerThatCannotStartFailsOpen(t *testing.T) {
	t.Parallel()

	for reason, harm := range map[string]string{
		"make partitions": `ALTER FUNCTION alfred.partitions_ensure(integer) RENAME TO partitions_gone`,
		"renew the lease": `ALTER TABLE alfred.workers RENAME TO workers_gone`,
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()

			address := dbtest.URL(t)
			pool := host(t, address)
			_, err := pool.Exec(t.Context(), harm)
			require.NoError(t, err)
			_, err = alfred.Open(t.Context(), alfred.Config{URL: address, Logger: slog.New(slog.DiscardHandler), Worker: &alfred.Worker{}})
			require.ErrorContains(t, err, reason)
			requireDisconnected(t, pool)
		})
	}
}

func requireDisconnected(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	require.Eventually(t, func() bool {
		var left int
		err := pool.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'alfred host'`).Scan(&left)

		return err == nil && left == 0
	}, dbtest.Patience, 10*time.Millisecond, "connections are left")
}

func TestCloseEndsWhatWaits(t *testing.T) {
	t.Parallel()

	address := dbtest.URL(t)
	assistant := open(t, alfred.Config{URL: address})
	turn := enqueue(t, host(t, address), alfred.EnqueueParams{Message: "What is in my pantry?"}).TurnID // nobody works it
	ended, begun := make(chan error, 2), make(chan struct{})
	go func() {
		_, err := assistant.Wait(context.Background(), turn)
		ended <- err
	}()
	go func() {
		ended <- followed(assistant, turn, func() { close(begun) })
	}()
	<-begun
	require.NoError(t, assistant.Close())
	require.ErrorIs(t, <-ended, alfred.ErrClosed)
	require.ErrorIs(t, <-ended, alfred.ErrClosed)

	require.NoError(t, assistant.Close())
	_, err := assistant.Turn(t.Context(), turn)
	require.ErrorIs(t, err, alfred.ErrClosed)
	_, err = assistant.Wait(t.Context(), turn)
	require.ErrorIs(t, err, alfred.ErrClosed)
	require.ErrorIs(t, followed(assistant, turn, func() {}), alfred.ErrClosed)
}

// A database that restarts ends nobody's wait, and no event comes twice.
func TestWaitsOutlastTheirConnections(t *testing.T) {
	t.Parallel()

	address := dbtest.URL(t)
	assistant := open(t, alfred.Config{URL: address})
	pool := host(t, address)
	turn := enqueue(t, pool, alfred.EnqueueParams{Message: "What is in my pantry?"}).TurnID // nobody works it
	ended, begun := make(chan error, 2), make(chan struct{})
	go func() {
		got, err := assistant.Wait(context.Background(), turn)
		if err == nil && got.Status != alfred.TurnCancelled {
			err = fmt.Errorf("the turn is %s", got.Status)
		}
		ended <- err
	}()
	var seen []int32
	go func() {
		for event, err := range assistant.Follow(context.Background(), turn) {
			if err != nil {
				ended <- err

				return
			}
			if seen = append(seen, event.Seq); len(seen) == 1 {
				close(begun)
			}
		}
		ended <- nil
	}()
	<-begun
	for range 30 {
		_, err := pool.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'alfred host%' AND pid <> pg_backend_pid()`)
		require.NoError(t, err)
		time.Sleep(20 * time.Millisecond)
	}
	require.NoError(t, pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		_, err := alfred.Cancel(t.Context(), tx, turn)

		return err
	}))
	require.NoError(t, <-ended)
	require.NoError(t, <-ended)
	require.Equal(t, []int32{1, 2, 3}, seen)
}

// followed follows a turn to its end and returns what ended it. It says when the first event came.
func followed(assistant *alfred.Assistant, turn uuid.UUID, began func()) error {
	seen := 0
	for _, err := range assistant.Follow(context.Background(), turn) {
		if err != nil {
			return err
		}
		if seen++; seen == 1 {
			began()
		}
	}

	return nil
}

// A caller's own end is told as the caller's, not as the assistant's.
func TestWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()

	address := dbtest.URL(t)
	assistant := open(t, alfred.Config{URL: address})
	turn := enqueue(t, host(t, address), alfred.EnqueueParams{Message: "What is in my pantry?"}).TurnID
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err := assistant.Wait(ctx, turn)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NotErrorIs(t, err, alfred.ErrClosed)
}

// Wherever the context ends, nothing that Open began is left: no goroutine (TestMain looks), no connection.
func TestOpenEndsWithItsContext(t *testing.T) {
	t.Parallel()

	address := dbtest.EmptyURL(t)
	pool := host(t, address)
	for at := 5 * time.Millisecond; ; at *= 2 {
		ctx, cancel := context.WithTimeout(t.Context(), at)
		assistant, err := alfred.Open(ctx, alfred.Config{URL: address, Logger: slog.New(slog.DiscardHandler), Migrate: true, Worker: &alfred.Worker{}})
		cancel()
		if err == nil {
			require.NoError(t, assistant.Close())
		} else {
			require.ErrorIs(t, err, context.DeadlineExceeded, "after %s", at)
		}
		requireDisconnected(t, pool)
		if err == nil {
			return
		}
	}
}

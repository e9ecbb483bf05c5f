package registry

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"alfred/internal/dbtest"
	"alfred/internal/testfactory"
)

// Two transactions of one session that see the same rows in opposite orders mint one ref per row, and wait for each
// other instead of deadlocking.
func TestConcurrentTransactionsMintOneRef(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	pool := dbtest.Pool(t)
	kitchen := testfactory.Kitchen(t)
	scope := newSession(t, pool)

	names := numbered("Dish", 20)
	group, ctx := errgroup.WithContext(t.Context())

	for worker := range 5 {
		group.Go(func() error {
			for round := range 8 {
				err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
					return registerSome(ctx, New(tx, kitchen, scope), names[:5+round*2], worker%2 == 1)
				})
				if err != nil {
					return fmt.Errorf("worker %d: %w", worker, err)
				}
			}

			return nil
		})
	}

	require.NoError(t, group.Wait())

	var refs, last int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM entity_refs WHERE session_id = $1`, scope.SessionID).Scan(&refs))
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT last_number FROM ref_counters WHERE session_id = $1`, scope.SessionID).Scan(&last))
	require.Equal(t, 19, refs)
	require.Equal(t, 19, last, "no number is wasted")
}

// registerSome registers in two calls, so that locks are held in between.
func registerSome(ctx context.Context, r *Registry, names []string, backwards bool) error {
	sightings := make([]*sighting, len(names))

	for i, name := range names {
		at := i
		if backwards {
			at = len(names) - 1 - i
		}

		sightings[at] = &sighting{key: key{"recipe", idOf(name)}, Label: name, Action: ActionUpdated}
	}

	half := len(sightings) / 2
	for _, part := range [][]*sighting{sightings[:half], sightings[half:]} {
		if _, err := registered(ctx, r, part); err != nil {
			return err
		}
	}

	return nil
}

// Sessions do not wait for each other: holding one session's registry blocks no other.
func TestSessionsDoNotContend(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	kitchen := testfactory.Kitchen(t)

	held, err := pool.Begin(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = held.Rollback(context.WithoutCancel(t.Context())) })
	require.NoError(t, registerSome(t.Context(), New(held, kitchen, newSession(t, pool)), numbered("Dish", 4), false))

	for range 8 {
		scope := newSession(t, pool)
		require.NoError(t, pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(t.Context(), `SET LOCAL lock_timeout = '1s'`); err != nil {
				return fmt.Errorf("set lock_timeout: %w", err)
			}

			return registerSome(t.Context(), New(tx, kitchen, scope), numbered("Dish", 4), false)
		}))
	}
}

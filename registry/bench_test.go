package registry

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"alfred/internal/dbtest"
	"alfred/internal/testfactory"
)

// BenchmarkTranslate translates and registers a read of 10,000 rows, each with
// a foreign key.
func BenchmarkTranslate(b *testing.B) {
	bundle := setup(b)
	result := Result{Entity: bundle.kitchen.ByType("meal"), Action: ActionRead, Sets: []string{"summary"}}

	for range 10_000 {
		result.Rows = append(result.Rows, map[string]any{
			"id": uuid.NewString(), "date": "2026-01-12", "meal_type": "dinner", "recipe_id": uuid.NewString(), "notes": "for two",
		})
	}

	for b.Loop() {
		bundle.scope = newSession(b, bundle.tx)
		_, err := bundle.at(1).TranslateRows(b.Context(), []Result{result}, nil)
		require.NoError(b, err)
	}

	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/read")
}

// BenchmarkMint has 32 sessions register 20 rows each in separate transactions.
func BenchmarkMint(b *testing.B) {
	const sessions = 32

	pool := dbtest.Pool(b)
	kitchen := testfactory.Kitchen(b)

	scopes := make([]Scope, sessions)
	for i := range scopes {
		scopes[i] = newSession(b, pool)
	}

	round := 0

	for b.Loop() {
		round++

		group, ctx := errgroup.WithContext(b.Context())
		for _, scope := range scopes {
			group.Go(func() error {
				return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
					return registerSome(ctx, New(tx, kitchen, scope), numbered(fmt.Sprint("Dish ", round), 20), false)
				})
			})
		}

		require.NoError(b, group.Wait())
	}

	b.ReportMetric(float64(sessions*20*b.N)/b.Elapsed().Seconds(), "refs/s")
}

// BenchmarkActive is the active set of a session with 100,000 refs.
func BenchmarkActive(b *testing.B) {
	bundle := setup(b)
	bundle.fill(b, manyRefs)

	for b.Loop() {
		active, _ := bundle.active(b, 1001)
		require.Len(b, active, 201)
	}
}

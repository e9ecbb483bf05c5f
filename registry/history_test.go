package registry

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// play does some of everything in one turn, determined by rng alone.
func (b *bundle) play(t *testing.T, rng *rand.Rand, turn int) {
	t.Helper()

	ctx := t.Context()
	r := b.at(turn)
	types := []string{"recipe", "inv", "meal"}
	actions := []string{ActionRead, ActionRead, ActionCreated, ActionUpdated, ActionLinked, ActionMentionedUser}

	// Operations on refs that do not exist or do not allow them are refused, as intended.
	allow := func(err error) {
		t.Helper()

		if err != nil {
			require.Condition(t, func() bool { return isRefErr(err) || errors.Is(err, ErrRefused) }, "%v", err)
		}
	}

	for range 3 + rng.IntN(6) {
		kind := types[rng.IntN(len(types))]
		ref := refName(kind, 1+rng.IntN(6), rng.IntN(4) == 0)

		switch rng.IntN(10) {
		case 0, 1, 2:
			name := fmt.Sprint(kind, rng.IntN(8))
			_, err := registered(ctx, r, []*sighting{{key: key{kind, idOf(name)}, Label: name, Action: actions[rng.IntN(len(actions))], Sets: []string{"summary"}}})
			require.NoError(t, err)
		case 3:
			b.deleted(t, r, kind, fmt.Sprint(kind, rng.IntN(8)))
		case 4:
			_, err := r.Generate(ctx, []Draft{{Type: kind, Content: decode(t, `{"name": "draft"}`)}})
			require.NoError(t, err)
		case 5:
			allow(r.Promote(ctx, ref, idOf(fmt.Sprint("saved ", ref)), ""))
		case 6:
			allow(r.Retain(ctx, ref, "kept", nil))
		case 7:
			allow(r.Exclude(ctx, ref, "rejected", nil))
		case 8:
			allow([]func() error{
				func() error { return r.Demote(ctx, ref, "") },
				func() error { return r.Forget(ctx, ref, "") },
			}[rng.IntN(2)]())
		case 9:
			require.NoError(t, r.Touch(ctx, []string{ref}))
		}
	}

	if rng.IntN(12) == 0 {
		require.NoError(t, r.ClearAll(ctx, "fresh start"))
	}

	require.NoError(t, r.ExpireRetentions(ctx, 3))
}

func isRefErr(err error) bool {
	var refused *RefError

	return errors.As(err, &refused)
}

// view is the result of a function of (session, turn), in order, as text.
func view(t *testing.T, ctx context.Context, tx pgx.Tx, sql string, args ...any) []string {
	t.Helper()

	rows, err := tx.Query(ctx, sql, args...)
	require.NoError(t, err)

	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)

	return lines
}

// Events alone yield the registry as of the end of any turn.
func TestRegistryAtEqualsWhatTheTurnSaw(t *testing.T) {
	t.Parallel()

	const turns = 8

	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			rng := rand.New(rand.NewPCG(seed, 0))

			seen := make([][]string, turns+1)
			for turn := 1; turn <= turns; turn++ {
				b.play(t, rng, turn)
				seen[turn] = view(t, t.Context(), b.tx, `SELECT to_jsonb(a)::text FROM entities_at($1, $2, 2) AS a`, b.scope.SessionID, turn)
			}

			for turn := 1; turn <= turns; turn++ {
				require.Equal(t, seen[turn], view(t, t.Context(), b.tx,
					`SELECT to_jsonb(a)::text FROM registry_at($1, $2) AS a WHERE tier NOT IN ('background', 'hidden')`, b.scope.SessionID, turn), turn)
			}
		})
	}
}

// The same script gives the same refs, numbers and stamps every time.
func TestSameScriptSameRefs(t *testing.T) {
	t.Parallel()
	b := setup(t)

	var dumps [2][]string

	for i := range dumps {
		b.scope = newSession(t, b.tx)
		rng := rand.New(rand.NewPCG(99, 0))

		for turn := 1; turn <= 6; turn++ {
			b.play(t, rng, turn)
		}

		dumps[i] = view(t, t.Context(), b.tx, `
			SELECT (to_jsonb(e) - '{session_id,user_id,created_at,updated_at}'::text[])::text FROM entity_refs AS e WHERE session_id = $1 ORDER BY ref`, b.scope.SessionID)
	}

	require.NotEmpty(t, dumps[0])
	require.Equal(t, dumps[0], dumps[1])
}

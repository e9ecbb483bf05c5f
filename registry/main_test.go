package registry

import (
	"context"
	"strconv"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
	"alfred/internal/testfactory"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// The tiers, as SQL names them.
const (
	tierGenerated = "generated"
	tierRecent    = "recent"
	tierRetained  = "retained"
	tierExcluded  = "excluded"
)

// bundle is a session of a user on the kitchen.
type bundle struct {
	tx      pgx.Tx
	kitchen *domain.Domain
	scope   Scope
}

func setup(t testing.TB) *bundle {
	t.Helper()

	tx := dbtest.Tx(t)
	kitchen := testfactory.Kitchen(t)

	return &bundle{tx: tx, kitchen: kitchen, scope: newSession(t, tx)}
}

// querier is a pool or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

func newSession(t testing.TB, q querier) Scope {
	t.Helper()

	scope := Scope{Turn: 1, Step: 1, Call: 1, Actor: ActorAssistant}
	require.NoError(t, q.QueryRow(t.Context(), `SELECT start_session($1)`, "user "+uuid.NewString()).Scan(&scope.SessionID))
	require.NoError(t, q.QueryRow(t.Context(), `SELECT user_id FROM sessions WHERE id = $1`, scope.SessionID).Scan(&scope.UserID))

	return scope
}

// at is the registry in a turn.
func (b *bundle) at(turn int) *Registry {
	scope := b.scope
	scope.Turn = turn

	return New(b.tx, b.kitchen, scope)
}

func (b *bundle) asUser(turn int) *Registry { return b.at(turn).as(ActorUser) }

// read registers rows of a type as read; their keys are derived from their labels.
func (b *bundle) read(t testing.TB, turn int, entityType string, labels ...string) []Entry {
	t.Helper()

	return b.register(t, turn, entityType, ActionRead, labels...)
}

func (b *bundle) register(t testing.TB, turn int, entityType, action string, labels ...string) []Entry {
	t.Helper()

	sightings := make([]*sighting, len(labels))
	for i, label := range labels {
		sightings[i] = &sighting{key: key{entityType, idOf(label)}, Label: label, Action: action}
	}

	r := b.at(turn)
	if action == ActionMentionedUser {
		r = b.asUser(turn)
	}

	entries, err := registered(t.Context(), r, sightings)
	require.NoError(t, err)

	return entries
}

// registered registers sightings and returns an entry for each.
func registered(ctx context.Context, r *Registry, sightings []*sighting) ([]Entry, error) {
	known, err := r.register(ctx, sightings, nil)
	if err != nil {
		return nil, err
	}

	entries := make([]Entry, len(sightings))
	for i, s := range sightings {
		entries[i] = *known[s.key]
	}

	return entries, nil
}

// deleted registers rows of a type as deleted; only their keys are known.
func (b *bundle) deleted(t testing.TB, r *Registry, entityType string, labels ...string) []Entry {
	t.Helper()

	result := Result{Entity: b.kitchen.ByType(entityType), Action: ActionDeleted}
	if r.scope.Actor == ActorUser {
		result.Action = ActionDeletedUser
	}

	for _, label := range labels {
		result.Rows = append(result.Rows, map[string]any{"id": idOf(label)})
	}

	translated, err := r.TranslateRows(t.Context(), []Result{result}, nil)
	require.NoError(t, err)

	entries := make([]Entry, len(translated[0].Entries))
	for i, e := range translated[0].Entries {
		entries[i] = *e
	}

	return entries
}

// active lists the refs in a tier as of a turn, in display order; a touch lasts two turns.
func (b *bundle) active(t testing.TB, turn int) (refs, tiers []string) {
	t.Helper()

	err := b.tx.QueryRow(t.Context(), `SELECT coalesce(array_agg(a.ref ORDER BY a.n), '{}'), coalesce(array_agg(a.tier ORDER BY a.n), '{}')
		FROM (SELECT ref, tier, row_number() OVER () AS n FROM entities_at($1, $2, 2)) AS a`, b.scope.SessionID, turn).Scan(&refs, &tiers)
	require.NoError(t, err)

	return refs, tiers
}

// tiers is the active set, as ref -> tier.
func (b *bundle) tiers(t testing.TB, turn int) map[string]string {
	t.Helper()

	refs, tiers := b.active(t, turn)
	byRef := map[string]string{}
	for i, ref := range refs {
		byRef[ref] = tiers[i]
	}
	b.requireTiers(t, turn, byRef)

	return byRef
}

// requireTiers holds the index of the active set to the tiers themselves: psql and the page show the latter, models the
// former.
func (b *bundle) requireTiers(t testing.TB, turn int, active map[string]string) {
	t.Helper()

	rows, err := b.tx.Query(t.Context(), `SELECT ref, entity_tier(state, action, excluded_reason, demoted_at_turn, turn_last_ref, active_reason, $2, retention_window())
		FROM entity_refs WHERE session_id = $1`, b.scope.SessionID, turn)
	require.NoError(t, err)
	shown := map[string]string{}
	var ref, tier string
	_, err = pgx.ForEachRow(rows, []any{&ref, &tier}, func() error {
		if tier != "background" && tier != "hidden" {
			shown[ref] = tier
		}

		return nil
	})
	require.NoError(t, err)
	require.Equal(t, shown, active)
}

func (b *bundle) count(t testing.TB, sql string) int {
	t.Helper()

	var n int
	require.NoError(t, b.tx.QueryRow(t.Context(), sql, b.scope.SessionID).Scan(&n))

	return n
}

func refsOf(entries []Entry) []string {
	refs := make([]string, len(entries))
	for i, e := range entries {
		refs[i] = e.Ref
	}

	return refs
}

// idOf is the key derived from a name.
func idOf(name string) string { return uuid.NewSHA1(uuid.NameSpaceOID, []byte(name)).String() }

func numbered(prefix string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = prefix + " " + strconv.Itoa(i+1)
	}

	return names
}

package registry

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

func TestRegisterNumbersInOrder(t *testing.T) {
	t.Parallel()
	b := setup(t)

	first := b.read(t, 1, "recipe", "Soup", "Curry", "Soup")
	require.Equal(t, []string{"recipe_1", "recipe_2", "recipe_1"}, refsOf(first))
	require.Equal(t, "Soup", first[2].Label)

	// The same row always has the same ref; each type is numbered separately.
	second := b.read(t, 2, "recipe", "Tacos", "Curry")
	require.Equal(t, []string{"recipe_3", "recipe_2"}, refsOf(second))
	require.Equal(t, 1, second[1].TurnCreated)
	require.Equal(t, 2, second[1].TurnLastRef)
	require.Equal(t, []string{"inv_1"}, refsOf(b.read(t, 2, "inv", "Eggs")))
	require.Equal(t, 3, b.count(t, `SELECT count(*) FROM entity_refs WHERE session_id = $1 AND entity_type = 'recipe'`))
	require.Equal(t, 3, b.count(t, `SELECT last_number FROM ref_counters WHERE session_id = $1 AND entity_type = 'recipe'`))
}

func TestRegisterActions(t *testing.T) {
	t.Parallel()
	b := setup(t)

	b.read(t, 1, "recipe", "Soup")
	require.Equal(t, ActionUpdated, b.register(t, 1, "recipe", ActionUpdated, "Soup")[0].Action)
	require.Equal(t, ActionUpdated, b.register(t, 1, "recipe", ActionLinked, "Soup")[0].Action, "a link says nothing new")
	require.Equal(t, ActionRead, b.read(t, 1, "recipe", "Soup")[0].Action)
	require.Equal(t, []string{"read", "updated", "read"}, b.events(t, "recipe_1"))

	b.read(t, 1, "recipe", "Soup")
	require.Len(t, b.events(t, "recipe_1"), 3, "the same read again in the same turn is no event")
	b.register(t, 1, "recipe", ActionMentionedUser, "Soup")
	b.register(t, 1, "recipe", ActionMentionedUser, "Soup")
	require.Equal(t, []string{"read", "updated", "read", "mentioned:user"}, b.events(t, "recipe_1"), "nor is the same mention")
}

func TestRegisterWritesEachEventOfOneDecision(t *testing.T) {
	t.Parallel()
	b := setup(t)

	id := idOf("Soup")
	entries, err := registered(t.Context(), b.at(1), []*sighting{
		{key: key{"recipe", id}, Label: "Soup", Action: ActionCreated},
		{key: key{"recipe", id}, Label: "Hot Soup", Action: ActionUpdated},
		{key: key{"recipe", id}, Action: ActionLinked},
	})
	require.NoError(t, err)
	require.Equal(t, "Hot Soup", entries[0].Label, "every entry is as it is at the end")
	require.Equal(t, []string{"created", "updated"}, b.events(t, "recipe_1"))
}

// A read of few columns keeps the known label.
func TestRegisterKeepsLabels(t *testing.T) {
	t.Parallel()
	b := setup(t)

	b.read(t, 1, "recipe", "Soup")
	entries, err := registered(t.Context(), b.at(2), []*sighting{{key: key{"recipe", idOf("Soup")}, Action: ActionRead, Sets: []string{"summary"}}})
	require.NoError(t, err)
	require.Equal(t, "Soup", entries[0].Label)
	require.Equal(t, map[string]int{"summary": 2}, entries[0].Loaded)

	entries, err = registered(t.Context(), b.at(3), []*sighting{
		{key: key{"recipe", idOf("Soup")}, Action: ActionRead, Sets: []string{"text"}, RowVersion: "77"},
		{key: key{"recipe", idOf("New")}, Label: "a\nb 550e8400-e29b-41d4-a716-446655440000\x07", Action: ActionRead},
	})
	require.NoError(t, err)
	require.Equal(t, map[string]int{"summary": 2, "text": 3}, entries[0].Loaded)
	require.Equal(t, "77", entries[0].RowVersion)
	require.Equal(t, "a b [id]", entries[1].Label)
}

// Linked rows are in no list and still resolve; deleted rows leave every list at once, resolve until the turn ends, and
// their number is not reused.
func TestLinkedAndDeleted(t *testing.T) {
	t.Parallel()
	b := setup(t)

	b.register(t, 1, "recipe", ActionLinked, "Soup")
	require.Empty(t, b.tiers(t, 1))
	_, err := b.at(1).Resolve(t.Context(), "recipe_1", Want{Type: "recipe", Stored: true})
	require.NoError(t, err)
	b.read(t, 2, "recipe", "Soup")
	require.Equal(t, map[string]string{"recipe_1": tierRecent}, b.tiers(t, 2))

	require.NoError(t, b.at(2).Retain(t.Context(), "recipe_1", "for Friday", nil))
	gone := b.deleted(t, b.at(3), "recipe", "Soup", "never seen")
	require.Equal(t, []string{"recipe_1"}, refsOf(gone))
	require.Equal(t, ActionDeleted, gone[0].Action)
	require.Empty(t, gone[0].Reason, "no reason outlives the ref")
	require.Empty(t, b.tiers(t, 3))

	_, err = b.at(3).Resolve(t.Context(), "recipe_1", Want{Deleted: true})
	require.NoError(t, err)
	requireReason(t, b.at(3), "recipe_1", Want{}, ReasonDeleted)
	requireReason(t, b.at(4), "recipe_1", Want{Deleted: true}, ReasonDeleted)
	require.Equal(t, []string{"recipe_2"}, refsOf(b.read(t, 4, "recipe", "Curry")))
	require.Equal(t, []string{"recipe_1"}, refsOf(b.read(t, 5, "recipe", "Soup")), "found again, it has its old name")
}

func TestDeletedByTheUser(t *testing.T) {
	t.Parallel()
	b := setup(t)

	b.read(t, 1, "inv", "Eggs")
	gone := b.deleted(t, b.asUser(2), "inv", "Eggs")
	require.Equal(t, ActionDeletedUser, gone[0].Action)
	require.Equal(t, StateDeleted, gone[0].State)
	require.Empty(t, b.tiers(t, 2), "nobody can list or target it")
	require.Equal(t, []string{"read", "deleted:user"}, b.events(t, "inv_1"))
}

// Refs named in a text are touched as whole tokens, whatever their kind.
func TestTouchText(t *testing.T) {
	t.Parallel()
	b := setup(t)

	b.read(t, 1, "recipe", numbered("Dish", 12)...)
	_, err := b.at(1).Generate(t.Context(), []Draft{{Type: "recipe", Content: decode(t, `{"name": "Pie"}`)}})
	require.NoError(t, err)

	named := RefsIn(b.at(1).domain, `{"use": ["recipe_3", "gen_recipe_1"], "not": "xrecipe_1 recipe_2x recipe_01 step_2 recipe_99"}`)
	require.NoError(t, b.at(5).Touch(t.Context(), named))
	require.Equal(t, map[string]string{"recipe_3": tierRecent, "gen_recipe_1": tierGenerated}, b.tiers(t, 5))
	touched, err := b.at(5).Lookup(t.Context(), named)
	require.NoError(t, err)
	require.Equal(t, 5, touched["gen_recipe_1"].TurnLastRef)
}

func (b *bundle) events(t *testing.T, ref string) []string {
	t.Helper()

	rows, err := b.tx.Query(t.Context(), `SELECT action FROM entity_events WHERE session_id = $1 AND ref = $2 ORDER BY id`, b.scope.SessionID, ref)
	require.NoError(t, err)

	var events []string

	for rows.Next() {
		var action string
		require.NoError(t, rows.Scan(&action))

		events = append(events, action)
	}

	require.NoError(t, rows.Err())

	return events
}

// counted counts a transaction's statements.
type counted struct {
	pgx.Tx

	statements int
}

func (c *counted) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	c.statements += b.Len()

	return c.Tx.SendBatch(ctx, b)
}

// A read registers its rows in a few statements, however many there are.
func TestTranslateInFewStatements(t *testing.T) {
	t.Parallel()
	b := setup(t)

	for _, n := range []int{10, 1000} {
		result := Result{Entity: b.kitchen.ByType("meal"), Action: ActionRead}
		for _, name := range numbered("meal", n) {
			result.Rows = append(result.Rows, map[string]any{"id": idOf(name), "date": "2026-01-12", "meal_type": "dinner", "recipe_id": idOf("dish of " + name)})
		}

		tx := &counted{Tx: b.tx}
		_, err := New(tx, b.kitchen, newSession(t, b.tx)).TranslateRows(t.Context(), []Result{result}, nil)
		require.NoError(t, err)
		require.Equal(t, 4, tx.statements, "lock, look up, number, write")
	}
}

// What a model drives runs as the tenant; refs are also looked up under that role, and only the tenant's.
func TestResolveAsTenant(t *testing.T) {
	t.Parallel()
	b := setup(t)

	b.read(t, 1, "recipe", "Soup")

	as := func(user uuid.UUID) {
		_, err := b.tx.Exec(t.Context(), `SELECT set_config('role', 'alfred_tenant', true), set_config('alfred.user_id', $1, true)`, user.String())
		require.NoError(t, err)
	}

	as(b.scope.UserID)
	filters, err := b.at(1).TranslateFilters(t.Context(), b.kitchen.ByType("recipe"), []Filter{{"id", "=", "recipe_1"}})
	require.NoError(t, err)
	require.Equal(t, idOf("Soup"), filters[0].Value)
	requireReason(t, b.at(1), "recipe_2", Want{}, ReasonUnknown)

	as(uuid.New())
	requireReason(t, b.at(1), "recipe_1", Want{}, ReasonUnknown)
}

// Events of what the user did before the turn have step 0, others outside act none.
func TestEventSteps(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.scope.Step = 0

	b.register(t, 1, "recipe", ActionMentionedUser, "Soup")
	require.NoError(t, b.at(1).Retain(t.Context(), "recipe_1", "for Friday", nil))
	b.scope.Step = 2
	b.read(t, 1, "recipe", "Soup")

	steps := view(t, t.Context(), b.tx, `
		SELECT coalesce(step::text, 'none') || ' ' || action || ' ' || actor FROM entity_events WHERE session_id = $1 ORDER BY id`, b.scope.SessionID)
	require.Equal(t, []string{"0 mentioned:user user", "none retained assistant", "2 read assistant"}, steps)
}

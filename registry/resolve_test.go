package registry

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func requireReason(t *testing.T, r *Registry, ref string, want Want, reason Reason) {
	t.Helper()
	require.Equal(t, reason, refusal(t, r, ref, want).Reason)
}

func refusal(t *testing.T, r *Registry, ref string, want Want) *RefError {
	t.Helper()

	_, err := r.Resolve(t.Context(), ref, want)

	var refused *RefError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, refused.Sentence, Scrub(refused.Sentence), refused.Sentence)
	require.Equal(t, refused.Ref, Scrub(refused.Ref), refused.Ref)

	return refused
}

func TestResolveRefuses(t *testing.T) {
	t.Parallel()
	b := setup(t)

	b.read(t, 1, "recipe", "Butter Chicken", "Soup")
	b.read(t, 1, "inv", "Eggs")
	b.register(t, 1, "recipe", ActionLinked, "Dropped")
	_, err := b.at(1).Generate(t.Context(), []Draft{
		{Type: "recipe", Content: decode(t, `{"name": "Pie"}`)}, {Type: "recipe", Content: decode(t, `{"name": "Cake"}`)},
	})
	require.NoError(t, err)
	require.NoError(t, b.at(1).Forget(t.Context(), "recipe_3", "no"))
	require.NoError(t, b.at(1).Forget(t.Context(), "gen_recipe_2", "no"))

	stored := Want{Type: "recipe", Stored: true}

	for _, tt := range []struct {
		ref      string
		want     Want
		reason   Reason
		sentence string
	}{
		{"recipe_9", stored, ReasonUnknown, "recipe_9 does not exist in this conversation; did you mean recipe_1: Butter Chicken or recipe_2: Soup?"},
		{"gen_recipe_2000", Want{}, ReasonUnknown, "gen_recipe_2000 does not exist in this conversation; did you mean gen_recipe_1: Pie, recipe_1: Butter Chicken or recipe_2: Soup?"},
		{"recipe_01", stored, ReasonUnknown, "recipe_01 does not exist in this conversation; did you mean recipe_1: Butter Chicken or recipe_2: Soup?"},
		{"Recipe_2", stored, ReasonUnknown, "Recipe_2 does not exist in this conversation; did you mean recipe_2: Soup or recipe_1: Butter Chicken?"},
		{"recipes_2", Want{Stored: true}, ReasonUnknown, "recipes_2 does not exist in this conversation; did you mean recipe_2: Soup or recipe_1: Butter Chicken?"},
		{"soup", stored, ReasonUnknown, "soup does not exist in this conversation; did you mean recipe_2: Soup or recipe_1: Butter Chicken?"},
		{"inv_9", Want{Type: "inv"}, ReasonUnknown, "inv_9 does not exist in this conversation; did you mean inv_1: Eggs?"},
		{"task_1", Want{Type: "task"}, ReasonUnknown, "task_1 does not exist in this conversation; read the entity first to get its ref."},
		{"step_2", stored, ReasonUnknown, ""},
		{"gen_", stored, ReasonUnknown, ""},
		{"recipe_", stored, ReasonUnknown, ""},
		{"recipe_-1", stored, ReasonUnknown, ""},
		{"recipe_1 ", stored, ReasonUnknown, ""},
		{"recipe_1'; DROP TABLE x; --", stored, ReasonUnknown, ""},
		{"__pending__gen_recipe_1", stored, ReasonUnknown, ""},
		{"", stored, ReasonUnknown, ""},
		{"42", stored, ReasonUnknown, ""},
		{"recipe_99999999999999999999", stored, ReasonUnknown, ""},
		{"inv_1", stored, ReasonWrongType, "inv_1: Eggs is a pantry item, but a recipe is needed here; did you mean recipe_1: Butter Chicken or recipe_2: Soup?"},
		{"gen_recipe_1", stored, ReasonPending, "gen_recipe_1 is a draft: save gen_recipe_1 first."},
		{"recipe_3", stored, ReasonDropped, "recipe_3 was dropped from this conversation; read the entity again if it is needed."},
		{"gen_recipe_2", stored, ReasonDropped, "gen_recipe_2 was discarded; generate it again if it is needed."},
		{idOf("Butter Chicken"), stored, ReasonUUID, "Database ids are not accepted; use a ref of this conversation."},
		{"550e8400-e29b-41d4", stored, ReasonUUID, ""},
		{"550e8400e29b41d4a716446655440000", stored, ReasonUUID, ""},
		{"recipe_550e8400-e29b-41d4-a716-446655440000", stored, ReasonUUID, ""},
	} {
		refused := refusal(t, b.at(1), tt.ref, tt.want)
		require.Equal(t, tt.reason, refused.Reason, tt.ref)

		if tt.sentence != "" {
			require.Equal(t, tt.sentence, refused.Sentence)
		}
	}
}

func TestResolveAllNamesEveryRef(t *testing.T) {
	t.Parallel()
	b := setup(t)

	b.read(t, 1, "recipe", "Soup")
	_, err := b.at(1).ResolveAll(t.Context(), []string{"recipe_7", "recipe_1", "recipe_8", "recipe_7"}, Want{})

	var all RefErrors
	require.ErrorAs(t, err, &all)
	require.Len(t, all, 2)
	require.Contains(t, err.Error(), "recipe_7 does not")
	require.Contains(t, err.Error(), "recipe_8 does not")

	entries, err := b.at(1).ResolveAll(t.Context(), []string{"recipe_1", "recipe_1"}, Want{})
	require.NoError(t, err)
	require.Equal(t, []string{"recipe_1", "recipe_1"}, refsOf(entries))
}

// A ref of one session means nothing in another.
func TestResolveStaysInItsSession(t *testing.T) {
	t.Parallel()
	b := setup(t)

	b.read(t, 1, "recipe", "Soup")
	other := *b
	other.scope = newSession(t, b.tx)
	requireReason(t, other.at(1), "recipe_1", Want{}, ReasonUnknown)
	require.Equal(t, []string{"recipe_1"}, refsOf(other.read(t, 1, "recipe", "Curry")))
}

func TestArtifacts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()

	drafts, err := b.at(1).Generate(ctx, []Draft{
		{Type: "recipe", Content: decode(t, `{"name": "Tacos", "servings": 1.50, "notes": "a\u0000b"}`)},
		{Type: "recipe", Content: decode(t, `{"name": "Tacos", "tags": ["2"]}`)},
	})
	require.NoError(t, err)
	require.Equal(t, []string{"gen_recipe_1", "gen_recipe_2"}, refsOf(drafts))
	require.Equal(t, "Tacos", drafts[0].Label)
	more, err := b.at(1).Generate(ctx, []Draft{{Type: "meal", Content: decode(t, `{}`)}, {Type: "recipe", Content: decode(t, `{"name": "Pie"}`)}})
	require.NoError(t, err)
	require.Equal(t, []string{"gen_meal_1", "gen_recipe_3"}, refsOf(more), "numbers go on")
	require.NoError(t, b.at(1).Forget(ctx, "gen_meal_1", ""))
	require.NoError(t, b.at(1).Forget(ctx, "gen_recipe_3", ""))

	data, err := b.at(9).GetEntityData(ctx, "gen_recipe_1", "gen_recipe_2", "recipe_1")
	require.NoError(t, err)
	require.Len(t, data, 2)
	require.JSONEq(t, `{"name": "Tacos", "servings": 1.50, "notes": "ab"}`, encode(t, data["gen_recipe_1"]))
	require.Contains(t, encode(t, data["gen_recipe_1"]), "1.50", "numbers are stored as written")

	require.NoError(t, b.at(2).UpdateEntityData(ctx, "gen_recipe_2", decode(t, `{"name": "Fish Tacos"}`)))
	updated, err := b.at(2).Lookup(ctx, []string{"gen_recipe_2"})
	require.NoError(t, err)
	require.Equal(t, "Fish Tacos", updated["gen_recipe_2"].Label)
	require.Equal(t, ActionGenerated, updated["gen_recipe_2"].Action)
	require.Equal(t, 2, b.count(t, `SELECT max(version) FROM artifacts WHERE session_id = $1 AND ref = 'gen_recipe_2'`))

	// Saving names the draft: of two with one name, the named one is promoted.
	require.NoError(t, b.at(5).Promote(ctx, "gen_recipe_2", idOf("saved"), "7"))
	require.Equal(t, map[string]string{"gen_recipe_1": tierGenerated, "gen_recipe_2": tierRecent}, b.tiers(t, 5), "drafts never age out")

	saved, err := b.at(5).load(ctx, []string{"gen_recipe_2"})
	require.NoError(t, err)
	require.Equal(t, StatePromoted, saved["gen_recipe_2"].State)
	require.Equal(t, "Fish Tacos", saved["gen_recipe_2"].Label)
	require.Equal(t, ActionCreated, saved["gen_recipe_2"].Action)

	pending, err := b.at(5).PendingDrafts(ctx)
	require.NoError(t, err)
	require.Len(t, pending, 1)
	require.Equal(t, "gen_recipe_1", pending[0].Ref)

	// The row keeps the draft's ref; its content is available until the turn ends.
	entries, err := registered(ctx, b.at(5), []*sighting{{key: key{"recipe", idOf("saved")}, Action: ActionCreated}})
	require.NoError(t, err)
	require.Equal(t, []string{"gen_recipe_2"}, refsOf(entries))

	data, err = b.at(5).GetEntityData(ctx, "gen_recipe_2")
	require.NoError(t, err)
	require.JSONEq(t, `{"name": "Fish Tacos"}`, encode(t, data["gen_recipe_2"]))
	data, err = b.at(6).GetEntityData(ctx, "gen_recipe_2")
	require.NoError(t, err)
	require.Empty(t, data)

	var refused *RefError
	require.ErrorAs(t, b.at(5).Promote(ctx, "gen_recipe_2", idOf("again"), ""), &refused)
	require.Equal(t, ReasonSaved, refused.Reason)
	require.ErrorAs(t, b.at(5).UpdateEntityData(ctx, "gen_recipe_9", decode(t, `{}`)), &refused)
	require.Equal(t, ReasonUnknown, refused.Reason)

	require.Equal(t, []string{"generated", "updated", "promoted", "created"}, b.events(t, "gen_recipe_2"))
	require.NoError(t, b.asUser(5).UpdateEntityData(ctx, "gen_recipe_1", decode(t, `{"name": "Plain Tacos"}`)))
	require.Equal(t, []string{"generated", "updated:user"}, b.events(t, "gen_recipe_1"))
}

// A saved draft whose row is taken back is a draft again. When that is taken back in turn, it stands for the row once
// more, unless the row has got another ref in the meantime.
func TestDraftsAreSavedAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()

	_, err := b.at(1).Generate(ctx, []Draft{{Type: "recipe", Content: decode(t, `{"name": "Pie"}`)}, {Type: "recipe", Content: decode(t, `{"name": "Cake"}`)}})
	require.NoError(t, err)
	require.NoError(t, b.at(1).Promote(ctx, "gen_recipe_1", idOf("Pie"), ""))
	again, err := b.at(2).Unsave(ctx, "gen_recipe_1", idOf("another"))
	require.NoError(t, err)
	require.False(t, again, "it stands for another row")
	again, err = b.at(2).Unsave(ctx, "gen_recipe_1", idOf("Pie"))
	require.NoError(t, err)
	require.True(t, again)
	draft, err := b.at(2).Resolve(ctx, "gen_recipe_1", Want{Draft: true})
	require.NoError(t, err)
	require.True(t, draft.Pending())
	saved, err := b.at(3).SaveAgain(ctx, "gen_recipe_1", "recipe", idOf("Pie"))
	require.NoError(t, err)
	require.True(t, saved)
	_, err = b.at(3).Resolve(ctx, "gen_recipe_1", Want{Draft: true})
	requireReasonOf(t, err, ReasonSaved)

	again, err = b.at(4).Unsave(ctx, "gen_recipe_1", idOf("Pie"))
	require.NoError(t, err)
	require.True(t, again)
	b.read(t, 4, "recipe", "Pie")
	saved, err = b.at(5).SaveAgain(ctx, "gen_recipe_1", "recipe", idOf("Pie"))
	require.NoError(t, err)
	require.False(t, saved, "the row is recipe_1 by now")

	require.NoError(t, b.at(5).Forget(ctx, "gen_recipe_2", ""))
	for ref, reason := range map[string]Reason{"gen_recipe_2": ReasonDropped, "gen_recipe_7": ReasonUnknown} {
		_, err = b.at(5).Resolve(ctx, ref, Want{Draft: true})
		requireReasonOf(t, err, reason)
	}
}

package crud_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/dbtest"
	"alfred/internal/testfactory"
	"alfred/internal/vocab"
)

// flour is the key of the row that is called so, and its version as read for a prompt.
func (b *bundle) flour() (key, version string) {
	b.t.Helper()

	found := query[[]string](b, sprintf(`SELECT ARRAY[id::text, xmin::text] FROM kitchen.inventory WHERE user_id = '%s' AND name = 'flour'`, b.scope.UserID))

	return found[0], found[1]
}

// K03: what somebody else wrote to a row after the model saw it is not overwritten: the model is shown the current
// state, and decides again.
func TestK03RowsChangedSinceTheyWereSeen(t *testing.T) {
	t.Parallel()

	b := setupAlone(t)
	b.ok("write", vocab.ToolCreate, `{"table": "inventory", "data": {"name": "flour", "quantity": 1}}`)
	key, seen := b.flour()
	b.exec(`UPDATE kitchen.inventory SET quantity = 7 WHERE name = 'flour' AND user_id = $1`, b.scope.UserID)
	b.seen.Rows = map[string]map[string]string{"inv": {key: seen}}

	for _, args := range []string{
		`{"table": "inventory", "filters": [{"field": "id", "op": "=", "value": "inv_1"}], "data": {"quantity": 2}}`,
		`{"table": "inventory", "filters": [{"field": "name", "op": "=", "value": "flour"}], "data": {"quantity": 2}}`,
	} {
		outcome := b.decide("write", call(vocab.ToolUpdate, args))
		require.Equal(t, crud.CodeStale, outcome.Results[0].ErrorCode)
		require.Len(t, outcome.Results, 2, "and what it is now")
		require.EqualValues(t, 7, b.rows(outcome.Results[1])[0]["quantity"])
		require.Equal(t, []string{"inv_1"}, outcome.Results[1].Refs)
	}
	require.Equal(t, crud.CodeStale, b.decide("write", call(vocab.ToolDelete, `{"table": "inventory", "filters": [{"field": "id", "op": "=", "value": "inv_1"}]}`)).Results[0].ErrorCode)
	require.Equal(t, "7", query[string](b, `SELECT quantity::text FROM kitchen.inventory WHERE name = 'flour' AND user_id = $1`, b.scope.UserID))

	_, now := b.flour()
	require.Equal(t, now, query[string](b, `SELECT row_version FROM entity_refs WHERE session_id = $1 AND ref = 'inv_1'`, b.scope.SessionID))
	b.seen.Rows["inv"][key] = now
	b.ok("write", vocab.ToolUpdate, `{"table": "inventory", "filters": [{"field": "id", "op": "=", "value": "inv_1"}], "data": {"quantity": 2}}`)
}

// What the decision itself writes, also through a trigger, does not count as somebody else's change.
func TestK03OwnWritesDoNotCount(t *testing.T) {
	t.Parallel()

	b := setupAlone(t)
	b.ok("write", vocab.ToolCreate, `{"table": "inventory", "data": {"name": "flour", "quantity": 1}}`)
	key, seen := b.flour()
	b.seen.Rows = map[string]map[string]string{"inv": {key: seen}}
	outcome := b.decide("write",
		call(vocab.ToolUpdate, `{"table": "inventory", "filters": [{"field": "id", "op": "=", "value": "inv_1"}], "data": {"quantity": 2}}`),
		call(vocab.ToolUpdate, `{"table": "inventory", "filters": [{"field": "name", "op": "=", "value": "flour"}], "data": {"quantity": 3}}`))
	require.False(t, outcome.Failed(), "%+v", outcome.Results)
	require.Equal(t, "3", query[string](b, `SELECT quantity::text FROM kitchen.inventory WHERE name = 'flour' AND user_id = $1`, b.scope.UserID))
}

// approve carries out what the user agreed to.
func (b *bundle) approve(asked *crud.Approval) crud.Outcome {
	b.t.Helper()

	outcome, err := b.tools.ExecuteApproved(b.t.Context(), b.tx, b.at(), b.kept(asked))
	require.NoError(b.t, err)

	return outcome
}

// kept are the calls that the user was asked about, as a question keeps them.
func (b *bundle) kept(asked *crud.Approval) (calls []crud.ApprovedCall) {
	b.t.Helper()

	kept, err := json.Marshal(asked.Calls)
	require.NoError(b.t, err)
	require.NoError(b.t, json.Unmarshal(kept, &calls))

	return calls
}

// The user agreed to the state at the time of the question.
func TestK03ApprovedRowsThatChanged(t *testing.T) {
	t.Parallel()

	b := setupAlone(t)
	b.ok("write", vocab.ToolCreate, `{"table": "inventory", "rows": [{"set": [{"column": "name", "value": "flour"}]}, {"set": [{"column": "name", "value": "salt"}]}]}`)
	asked := b.decide("write", call(vocab.ToolDelete, `{"table": "inventory", "filters": []}`)).Approval
	require.NotNil(t, asked)
	b.exec(`UPDATE kitchen.inventory SET quantity = 7 WHERE name = 'flour' AND user_id = $1`, b.scope.UserID)
	again := b.approve(asked).Approval
	require.NotNil(t, again, "it is asked again")
	require.Contains(t, again.Text, "This has changed since I asked. This would delete 2")
	require.Nil(t, b.approve(again).Approval)
	require.Zero(t, query[int64](b, `SELECT count(*) FROM kitchen.inventory WHERE user_id = $1`, b.scope.UserID))
}

// A call that was to change no row when the user agreed changes none, whatever rows there are by now.
func TestK03ApprovedForNoRows(t *testing.T) {
	t.Parallel()

	b := setupAlone(t)
	b.ok("write", vocab.ToolCreate, `{"table": "tasks", "data": {"title": "Shop"}}`)
	for tool, change := range map[string]string{vocab.ToolDelete: "", vocab.ToolUpdate: `, "data": {"title": "Bake"}`} {
		b.ok("write", vocab.ToolCreate, `{"table": "inventory", "data": {"name": "flour"}}`)
		asked := b.decide("write", call(vocab.ToolDelete, `{"table": "inventory", "filters": []}`),
			call(tool, `{"table": "tasks", "filters": [{"field": "title", "op": "ilike", "value": "Clean%"}]`+change+`}`)).Approval
		require.NotNil(t, asked)
		outcome := b.approve(asked)
		require.False(t, outcome.Failed(), "%+v", outcome.Results)
		require.Equal(t, 1, outcome.Results[0].RowCount)
		require.Zero(t, outcome.Results[1].RowCount)
	}
	require.Equal(t, "Shop", query[string](b, `SELECT string_agg(title, ' ') FROM kitchen.tasks WHERE user_id = $1`, b.scope.UserID))
}

// Calls that wait for the same yes and whose rows are as they were are named again, too.
func TestK03ApprovedBesideRowsThatChanged(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	begin := func() pgx.Tx {
		tx, err := pool.Begin(t.Context())
		require.NoError(t, err)
		t.Cleanup(func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) })

		return tx
	}
	tx := begin()
	b := setupIn(t, tx, testfactory.User(t, tx, "UTC"))
	b.ok("write", vocab.ToolCreate, `{"table": "inventory", "data": [{"name": "flour"}, {"name": "salt"}]}`)
	b.ok("write", vocab.ToolCreate, `{"table": "tasks", "data": [{"title": "Shop"}, {"title": "Bake"}]}`)
	update := func(n int, title string) vocab.Call {
		return call(vocab.ToolUpdate, sprintf(`{"table": "tasks", "filters": [{"field": "id", "op": "=", "value": "task_%d"}], "data": {"title": %q}}`, n, title))
	}
	asked := b.decide("write", call(vocab.ToolDelete, `{"table": "inventory", "filters": []}`), update(1, "Shopping"), update(2, "Baking")).Approval
	require.NotNil(t, asked)
	require.Equal(t, "This would delete 2 pantry items: flour, salt. This would change 2 tasks: Shop (title: Shopping); Bake (title: Baking). This can be undone. Shall I?", asked.Text)
	require.NoError(t, tx.Commit(t.Context()))
	b.tx = begin()
	b.exec(`UPDATE kitchen.inventory SET quantity = 7 WHERE name = 'flour' AND user_id = $1`, b.scope.UserID)
	require.NoError(t, b.tx.Commit(t.Context()))
	b.tx = begin()
	again := b.approve(asked).Approval
	require.NotNil(t, again)
	require.Equal(t, "This has changed since I asked. "+asked.Text, again.Text)
	require.Nil(t, b.approve(again).Approval)
}

// K03: the same for drafts, between a model and a person, and between two calls of one decision.
func TestK03DraftsChangedSinceTheyWereSeen(t *testing.T) {
	t.Parallel()

	b := setupAlone(t)
	b.ok("generate", vocab.ToolGenerate, `{"creates": [{"type": "recipe", "content": {"name": "Toast", "servings": 1}}]}`)
	b.seen.Drafts = map[string]int{"gen_recipe_1": 1}
	session := b.scope.SessionID
	require.NoError(t, b.tools.ChangeDraft(t.Context(), b.tx, crud.User{ID: b.scope.UserID, Session: &session}, "gen_recipe_1", 1, []byte(`{"name": "Toast", "servings": 6}`)))

	b.refused("generate", vocab.ToolGenerate, `{"updates": [{"ref": "gen_recipe_1", "content": {"servings": 2}}]}`, crud.CodeStale)
	b.refused("write", vocab.ToolCreate, `{"table": "recipes", "from_ref": "gen_recipe_1"}`, crud.CodeStale)

	b.seen.Drafts["gen_recipe_1"] = 2
	outcome := b.decide("generate",
		call(vocab.ToolGenerate, `{"updates": [{"ref": "gen_recipe_1", "content": {"name": "French toast"}}]}`),
		call(vocab.ToolGenerate, `{"updates": [{"ref": "gen_recipe_1", "content": {"description": "Sweet"}}]}`))
	require.False(t, outcome.Failed(), "%+v", outcome.Results)
	b.seen.Drafts = nil
	b.ok("write", vocab.ToolCreate, `{"table": "recipes", "from_ref": "gen_recipe_1"}`)
	require.Equal(t, "French toast Sweet 6", query[string](b, `SELECT concat_ws(' ', name, description, servings) FROM kitchen.recipes WHERE user_id = $1`, b.scope.UserID))
}

// V06: a decision may overwrite only what its prompt showed, however its filters find the row: to name it by ref, name
// or place is not to have seen it. Otherwise, the model is shown the current values, and decides again.
func TestV06AWriteIsHeldToWhatItsPromptShowed(t *testing.T) {
	t.Parallel()

	b := setupAlone(t)
	b.ok("write", vocab.ToolCreate, `{"table": "inventory", "data": {"name": "flour", "quantity": 5, "location": "pantry"}}`)
	key, _ := b.flour()
	update := func(field, op, value string) string {
		return sprintf(`{"table": "inventory", "filters": [{"field": %q, "op": %q, "value": %q}], "data": {"quantity": 2}}`, field, op, value)
	}
	filters := map[string]string{"ref": update("id", "=", "inv_1"), "name": update("name", "=", "flour"), "column": update("location", "=", "pantry"), "part": update("name", "ilike", "flo%")}
	for name, args := range filters {
		for shown, columns := range map[string][]string{"nothing of it": nil, "other columns": {"name", "location"}} {
			b.seen.Shown = map[string]map[string][]string{"inv": {key: columns}}
			outcome := b.decide("write", call(vocab.ToolUpdate, args))
			require.Equal(t, crud.CodeStale, outcome.Results[0].ErrorCode, "%s, shown %s", name, shown)
			require.Len(t, outcome.Results, 2, "and what it is")
			require.EqualValues(t, 5, b.rows(outcome.Results[1])[0]["quantity"])
		}
	}
	require.Equal(t, "5", query[string](b, `SELECT quantity::text FROM kitchen.inventory WHERE name = 'flour' AND user_id = $1`, b.scope.UserID))

	b.seen.Shown = map[string]map[string][]string{"inv": {key: {"name", "quantity"}}}
	for name, args := range filters {
		outcome := b.decide("write", call(vocab.ToolUpdate, args))
		require.False(t, outcome.Failed(), name)
	}
	b.seen.Shown = map[string]map[string][]string{}
	b.ok("write", vocab.ToolDelete, `{"table": "inventory", "filters": [{"field": "id", "op": "=", "value": "inv_1"}]}`) // a handle is enough
}

// V06: a decision knows what it has written itself, and the user looks at what a question is about.
func TestV06OwnRowsAndAskedOnesNeedNoLook(t *testing.T) {
	t.Parallel()

	b := setupAlone(t)
	b.seen.Shown = map[string]map[string][]string{}
	outcome := b.decide("write",
		call(vocab.ToolCreate, `{"table": "inventory", "data": {"name": "flour", "quantity": 5}}`),
		call(vocab.ToolUpdate, `{"table": "inventory", "filters": [{"field": "name", "op": "=", "value": "flour"}], "data": {"quantity": 6}}`))
	require.False(t, outcome.Failed(), "%+v", outcome.Results)

	unasked := `{"table": "inventory", "filters": [{"field": "name", "op": "=", "value": "flour"}], "data": {"notes": "old"}}`
	all := call(vocab.ToolUpdate, `{"table": "inventory", "filters": [], "data": {"location": "fridge"}}`)
	asked := b.decide("write", all)
	require.NotNil(t, asked.Approval)
	agreed := b.approve(asked.Approval)
	require.False(t, agreed.Failed())
	require.Equal(t, "fridge", query[string](b, `SELECT location FROM kitchen.inventory WHERE name = 'flour' AND user_id = $1`, b.scope.UserID))

	for name, calls := range map[string][]vocab.Call{"before": {call(vocab.ToolUpdate, unasked), all}, "behind": {all, call(vocab.ToolUpdate, unasked)}} {
		outcome := b.decide("write", calls...)
		require.Nil(t, outcome.Approval, "%s: a yes to one call is none to look at the rows of another", name)
		require.True(t, outcome.Failed())
	}
}

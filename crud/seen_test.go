package crud_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/crud"
)

// version is a stored row's version, as read for a prompt.
func (b *bundle) version(table, name string) (key, version string) {
	b.t.Helper()

	found := query[[]string](b, sprintf(`SELECT ARRAY[id::text, xmin::text] FROM kitchen.%s WHERE user_id = '%s' AND name = $1`, table, b.scope.UserID), name)

	return found[0], found[1]
}

// K03: what somebody else wrote to a row after the model saw it is not overwritten: the model is shown the current
// state, and decides again.
func TestK03RowsChangedSinceTheyWereSeen(t *testing.T) {
	t.Parallel()

	b := setupAlone(t)
	b.ok("write", crud.ToolCreate, `{"table": "inventory", "data": {"name": "flour", "quantity": 1}}`)
	key, seen := b.version("inventory", "flour")
	b.exec(`UPDATE kitchen.inventory SET quantity = 7 WHERE name = 'flour' AND user_id = $1`, b.scope.UserID)
	b.seen.Rows = map[string]map[string]string{"inv": {key: seen}}

	for _, args := range []string{
		`{"table": "inventory", "filters": [{"field": "id", "op": "=", "value": "inv_1"}], "data": {"quantity": 2}}`,
		`{"table": "inventory", "filters": [{"field": "name", "op": "=", "value": "flour"}], "data": {"quantity": 2}}`,
	} {
		outcome := b.decide("write", call(crud.ToolUpdate, args))
		require.Equal(t, crud.CodeStale, outcome.Results[0].ErrorCode)
		require.Len(t, outcome.Results, 2, "and what it is now")
		require.EqualValues(t, 7, b.rows(outcome.Results[1])[0]["quantity"])
		require.Equal(t, []string{"inv_1"}, outcome.Results[1].Refs)
	}
	require.Equal(t, crud.CodeStale, b.decide("write", call(crud.ToolDelete, `{"table": "inventory", "filters": [{"field": "id", "op": "=", "value": "inv_1"}]}`)).Results[0].ErrorCode)
	require.Equal(t, "7", query[string](b, `SELECT quantity::text FROM kitchen.inventory WHERE name = 'flour' AND user_id = $1`, b.scope.UserID))

	_, now := b.version("inventory", "flour")
	require.Equal(t, now, query[string](b, `SELECT row_version FROM entity_refs WHERE session_id = $1 AND ref = 'inv_1'`, b.scope.SessionID))
	b.seen.Rows["inv"][key] = now
	b.ok("write", crud.ToolUpdate, `{"table": "inventory", "filters": [{"field": "id", "op": "=", "value": "inv_1"}], "data": {"quantity": 2}}`)
}

// What the decision itself writes, also through a trigger, does not count as somebody else's change.
func TestK03OwnWritesDoNotCount(t *testing.T) {
	t.Parallel()

	b := setupAlone(t)
	b.ok("write", crud.ToolCreate, `{"table": "inventory", "data": {"name": "flour", "quantity": 1}}`)
	key, seen := b.version("inventory", "flour")
	b.seen.Rows = map[string]map[string]string{"inv": {key: seen}}
	outcome := b.decide("write",
		call(crud.ToolUpdate, `{"table": "inventory", "filters": [{"field": "id", "op": "=", "value": "inv_1"}], "data": {"quantity": 2}}`),
		call(crud.ToolUpdate, `{"table": "inventory", "filters": [{"field": "name", "op": "=", "value": "flour"}], "data": {"quantity": 3}}`))
	require.False(t, outcome.Failed(), "%+v", outcome.Results)
	require.Equal(t, "3", query[string](b, `SELECT quantity::text FROM kitchen.inventory WHERE name = 'flour' AND user_id = $1`, b.scope.UserID))
}

// approve carries out what the user agreed to.
func (b *bundle) approve(asked *crud.Approval) crud.Outcome {
	b.t.Helper()

	payload, err := json.Marshal(asked)
	require.NoError(b.t, err)
	outcome, err := b.tools.ExecuteApproved(b.t.Context(), b.tx, b.scope, payload)
	require.NoError(b.t, err)

	return outcome
}

// The user agreed to the state at the time of the question.
func TestK03ApprovedRowsThatChanged(t *testing.T) {
	t.Parallel()

	b := setupAlone(t)
	b.ok("write", crud.ToolCreate, `{"table": "inventory", "rows": [{"set": [{"column": "name", "value": "flour"}]}, {"set": [{"column": "name", "value": "salt"}]}]}`)
	asked := b.decide("write", call(crud.ToolDelete, `{"table": "inventory", "filters": []}`)).Approval
	require.NotNil(t, asked)
	b.exec(`UPDATE kitchen.inventory SET quantity = 7 WHERE name = 'flour' AND user_id = $1`, b.scope.UserID)
	again := b.approve(asked).Approval
	require.NotNil(t, again, "it is asked again")
	require.Contains(t, again.Text, "This has changed since I asked. This would delete 2")
	require.Nil(t, b.approve(again).Approval)
	require.Zero(t, query[int64](b, `SELECT count(*) FROM kitchen.inventory WHERE user_id = $1`, b.scope.UserID))
}

// K03: the same for drafts, between a model and a person, and between two calls of one decision.
func TestK03DraftsChangedSinceTheyWereSeen(t *testing.T) {
	t.Parallel()

	b := setupAlone(t)
	b.ok("generate", crud.ToolGenerate, `{"creates": [{"type": "recipe", "content": {"name": "Toast", "servings": 1}}]}`)
	b.seen.Drafts = map[string]int{"gen_recipe_1": 1}
	session := b.scope.SessionID
	require.NoError(t, b.tools.ChangeDraft(t.Context(), b.tx, crud.User{ID: b.scope.UserID, Session: &session}, "gen_recipe_1", 1, []byte(`{"name": "Toast", "servings": 6}`)))

	b.refused("generate", crud.ToolGenerate, `{"updates": [{"ref": "gen_recipe_1", "content": {"servings": 2}}]}`, crud.CodeStale)
	b.refused("write", crud.ToolCreate, `{"table": "recipes", "from_ref": "gen_recipe_1"}`, crud.CodeStale)

	b.seen.Drafts["gen_recipe_1"] = 2
	outcome := b.decide("generate",
		call(crud.ToolGenerate, `{"updates": [{"ref": "gen_recipe_1", "content": {"name": "French toast"}}]}`),
		call(crud.ToolGenerate, `{"updates": [{"ref": "gen_recipe_1", "content": {"description": "Sweet"}}]}`))
	require.False(t, outcome.Failed(), "%+v", outcome.Results)
	b.seen.Drafts = nil
	b.ok("write", crud.ToolCreate, `{"table": "recipes", "from_ref": "gen_recipe_1"}`)
	require.Equal(t, "French toast Sweet 6", query[string](b, `SELECT concat_ws(' ', name, description, servings) FROM kitchen.recipes WHERE user_id = $1`, b.scope.UserID))
}

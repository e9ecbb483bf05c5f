package crud_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/registry"
)

func requireCode(t *testing.T, err error, code crud.Code) {
	t.Helper()

	var fault *crud.Error
	require.ErrorAs(t, err, &fault)
	require.Equal(t, code, fault.Code, fault.Message)
}

// A person writes rows directly. With a version, only the row that was seen is written; without one, what was overwritten
// is returned.
func TestRowsOfAPerson(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	ctx, user := t.Context(), crud.User{ID: b.scope.UserID}

	made, err := b.tools.Create(ctx, b.tx, user, "recipe", []byte(`{"name": "Soup", "servings": 2, "recipe_ingredients": [{"name": "water"}]}`))
	require.NoError(t, err)
	require.Equal(t, "Soup", made.Data["name"])
	require.Len(t, made.Parts, 1)
	require.NotEmpty(t, made.Parts[0].Version)

	changed, err := b.tools.Patch(ctx, b.tx, user, "recipe", made.Key, made.Version, []byte(`{"servings": 4, "description": "Warm"}`))
	require.NoError(t, err)
	require.Nil(t, changed.Was, "the version says what was seen")
	changed, err = b.tools.Patch(ctx, b.tx, user, "recipe", made.Key, "", []byte(`{"servings": 6, "description": null, "name": "Soup"}`))
	require.NoError(t, err)
	require.Len(t, changed.Was, 2, "only what differs")
	require.Equal(t, "Warm", changed.Was["description"])
	require.Nil(t, changed.Data["description"])

	_, err = b.tools.Patch(ctx, b.tx, user, "recipe", made.Key, "1", []byte(`{"servings": 8}`))
	requireCode(t, err, crud.CodeStale)
	_, err = b.tools.Delete(ctx, b.tx, user, "recipe", made.Key, crud.Deletion{Version: "1"})
	requireCode(t, err, crud.CodeStale)
	for id, code := range map[string]crud.Code{"recipe_1": crud.CodeNotFound, "00000000-0000-0000-0000-000000000000": crud.CodeNotFound} {
		_, err = b.tools.Get(ctx, b.tx, user, "recipe", id)
		requireCode(t, err, code)
		_, err = b.tools.Patch(ctx, b.tx, user, "recipe", id, "", []byte(`{"servings": 8}`))
		requireCode(t, err, code)
	}
	_, err = b.tools.Create(ctx, b.tx, user, "ing", []byte(`{"name": "gold"}`))
	requireCode(t, err, crud.CodeNotAllowed)
	_, err = b.tools.Create(ctx, b.tx, user, "recipe", []byte(`[]`))
	requireCode(t, err, crud.CodeBadArgument)

	gone, err := b.tools.Delete(ctx, b.tx, user, "recipe", made.Key, crud.Deletion{Version: ""})
	require.NoError(t, err)
	require.Equal(t, "Soup", gone.Was["name"])
	require.Equal(t, "created updated updated deleted", query[string](b, `SELECT string_agg(action, ' ' ORDER BY created_at) FROM row_events WHERE user_id = $1 AND label = 'Soup'`, b.scope.UserID))
}

// A person changes, saves and discards a draft as it was seen, once.
func TestDraftsOfAPerson(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	ctx, user := t.Context(), crud.User{ID: b.scope.UserID, Session: &b.scope.SessionID}
	for _, name := range []string{"Toast", "Rice"} {
		b.ok("generate", "generate", `{"creates": [{"type": "recipe", "content": {"name": "`+name+`", "servings": 1}}]}`)
	}
	content := []byte(`{"name": "Toast", "servings": 6}`)

	require.NoError(t, b.tools.ChangeDraft(ctx, b.tx, user, "gen_recipe_1", 1, content))
	requireCode(t, b.tools.ChangeDraft(ctx, b.tx, user, "gen_recipe_1", 1, content), crud.CodeStale)
	require.NoError(t, b.tools.ChangeDraft(ctx, b.tx, user, "gen_recipe_1", crud.AnyVersion, content))
	requireCode(t, b.tools.ChangeDraft(ctx, b.tx, user, "gen_recipe_1", 3, []byte(`{"name": "Toast", "parent_recipe_id": 7}`)), crud.CodeBadValue)
	requireCode(t, b.tools.ChangeDraft(ctx, b.tx, user, "gen_recipe_1", 3, []byte(`{"name": "Toast", "parent_recipe_id": "recipe_7"}`)), crud.CodeUnknownRef)
	requireCode(t, b.tools.ChangeDraft(ctx, b.tx, crud.User{ID: b.scope.UserID}, "gen_recipe_1", 3, content), crud.CodeNotFound)

	_, err := b.tools.SaveDraft(ctx, b.tx, user, "gen_recipe_1", 2)
	requireCode(t, err, crud.CodeStale)
	b.exec(`DELETE FROM kitchen.recipes WHERE user_id = $1`, b.scope.UserID) // its caller rolls back
	b.exec(`UPDATE entity_refs SET state = 'pending', action = 'generated', entity_id = NULL, turn_promoted = NULL WHERE session_id = $1 AND ref = 'gen_recipe_1'`, b.scope.SessionID)
	saved, err := b.tools.SaveDraft(ctx, b.tx, user, "gen_recipe_1", 3)
	require.NoError(t, err)
	require.Equal(t, "Toast", saved.Data["name"])
	require.Equal(t, "promoted created:user", b.ref("gen_recipe_1"))
	var refused *registry.RefError
	_, err = b.tools.SaveDraft(ctx, b.tx, user, "gen_recipe_1", 3)
	require.ErrorAs(t, err, &refused)
	require.Equal(t, registry.ReasonSaved, refused.Reason)

	requireCode(t, b.tools.DropDraft(ctx, b.tx, user, "gen_recipe_2", 2), crud.CodeStale)
	require.NoError(t, b.tools.DropDraft(ctx, b.tx, user, "gen_recipe_2", 1))
	require.Equal(t, "dropped generated", b.ref("gen_recipe_2"))
	require.ErrorAs(t, b.tools.DropDraft(ctx, b.tx, user, "gen_recipe_2", 1), &refused)
}

// A number that the column can hold is a key, however long; any other is none of a row's.
func TestKeysAreAsLongAsTheirColumnAllows(t *testing.T) {
	t.Parallel()
	b := setupThings(t)
	ctx, user := t.Context(), crud.User{ID: b.scope.UserID}
	for _, key := range []string{"9223372036854775807", "-1"} {
		b.exec(`INSERT INTO things.things (id, user_id, n, title) OVERRIDING SYSTEM VALUE VALUES ($1::text::bigint, $2, 1, 'far')`, key, b.scope.UserID)
		row, err := b.tools.Get(ctx, b.tx, user, "thing", key)
		require.NoError(t, err)
		require.Equal(t, key, row.Key)
	}
	for _, key := range []string{"9223372036854775808", "007", "1e3", "1.0", ""} {
		_, err := b.tools.Get(ctx, b.tx, user, "thing", key)
		requireCode(t, err, crud.CodeNotFound)
	}
}

// Some programs write a UUID in capitals.
func TestKeysInCapitals(t *testing.T) {
	t.Parallel()

	b, id := setup(t), "ABCDEFAB-0000-4000-8000-00000000000A"
	user := crud.User{ID: b.scope.UserID}
	b.exec(`INSERT INTO kitchen.recipes (id, user_id, name) VALUES ($1, $2, 'Soup')`, id, b.scope.UserID)
	task, err := b.tools.Create(t.Context(), b.tx, user, "task", []byte(`{"title": "Cook", "recipe_id": "`+id+`"}`))
	require.NoError(t, err)
	require.Equal(t, strings.ToLower(id), task.Data["recipe_id"])
	task, err = b.tools.Patch(t.Context(), b.tx, user, "task", strings.ToUpper(task.Key), task.Version, []byte(`{"recipe_id": "`+id+`"}`))
	require.NoError(t, err)
	require.Equal(t, strings.ToLower(id), task.Data["recipe_id"])
}

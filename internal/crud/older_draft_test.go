package crud_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/vocab"
)

// K12: a draft older than a change of its table contains columns that no longer exist. Saving says which, and model and
// user can remove or rename them.
func TestK12DraftOlderThanItsTable(t *testing.T) {
	t.Parallel()

	for name, mend := range map[string]func(b *bundle){
		"ByTheModel": func(b *bundle) {
			b.ok("generate", vocab.ToolGenerate, `{"updates": [{"ref": "gen_recipe_1", "content": {"kitchen_style": null, "cuisine": "thai"}}]}`)
		},
		"ByTheModelInTheConstrainedForm": func(b *bundle) {
			b.ok("generate", vocab.ToolGenerate, `{"updates": [{"ref": "gen_recipe_1", "set": [{"column": "cuisine", "value": "thai"}], "clear": ["kitchen_style"]}]}`)
		},
		"ByTheModelAtOnce": func(b *bundle) {
			b.ok("write", vocab.ToolCreate, `{"table": "recipes", "from_ref": "gen_recipe_1", "patch": {"kitchen_style": null, "cuisine": "thai"}}`)
		},
		"ByThePerson": func(b *bundle) {
			session := b.scope.SessionID
			require.NoError(b.t, b.tools.ChangeDraft(b.t.Context(), b.tx, crud.User{ID: b.scope.UserID, Session: &session}, "gen_recipe_1", crud.AnyVersion, []byte(`{"name": "Curry", "cuisine": "thai"}`)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setupAlone(t)
			b.ok("generate", vocab.ToolGenerate, `{"creates": [{"type": "recipe", "content": {"name": "Curry"}}]}`)
			b.exec(`UPDATE artifacts SET content = content || '{"kitchen_style": "thai"}' WHERE session_id = $1`, b.scope.SessionID)
			said := b.refused("write", vocab.ToolCreate, `{"table": "recipes", "from_ref": "gen_recipe_1"}`, crud.CodeUnknownColumn)
			require.Contains(t, said, "kitchen_style")
			said = b.refused("generate", vocab.ToolGenerate, `{"updates": [{"ref": "gen_recipe_1", "content": {"servings": 2}}]}`, crud.CodeUnknownColumn)
			require.Contains(t, said, "kitchen_style")
			mend(b)
			if name != "ByTheModelAtOnce" {
				b.ok("write", vocab.ToolCreate, `{"table": "recipes", "from_ref": "gen_recipe_1"}`)
			}
			require.Equal(t, "Curry thai", query[string](b, `SELECT concat_ws(' ', name, cuisine) FROM kitchen.recipes WHERE user_id = $1`, b.scope.UserID))
		})
	}
}

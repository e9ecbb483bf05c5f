package crud_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/vocab"
)

// Neither a new nor a revised draft can reference what the user rejected, until the exclusion ends.
func TestDraftsCannotReferenceExcludedRows(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ok("read", vocab.ToolRead, `{"table": "recipes"}`)
	plan := `{"creates": [{"type": "meal", "content": {"date": "2026-12-01", "meal_type": "dinner", "recipe_id": "recipe_1"}}]}`
	b.exec(`UPDATE entity_refs SET excluded_reason = 'too spicy' WHERE session_id = $1 AND ref = 'recipe_1'`, b.scope.SessionID)
	require.Equal(t, "recipe_1 is excluded (too spicy): draft without it.", b.refused("generate", vocab.ToolGenerate, plan, crud.CodeNotAllowed))

	b.exec(`UPDATE entity_refs SET excluded_reason = NULL WHERE session_id = $1`, b.scope.SessionID)
	b.ok("generate", vocab.ToolGenerate, plan)
	b.exec(`UPDATE entity_refs SET excluded_reason = 'too spicy' WHERE session_id = $1 AND ref = 'recipe_1'`, b.scope.SessionID)
	b.refused("generate", vocab.ToolGenerate, `{"updates": [{"ref": "gen_meal_1", "content": {"date": "2026-12-02", "meal_type": "dinner", "recipe_id": "recipe_1"}}]}`, crud.CodeNotAllowed)
	b.ok("generate", vocab.ToolGenerate, `{"updates": [{"ref": "gen_meal_1", "content": {"date": "2026-12-02", "meal_type": "dinner"}}]}`)
}

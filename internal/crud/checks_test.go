package crud_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/vocab"
)

// V23: the owner's checks apply to drafts and to writes, whoever writes, and are reported in the owner's words.
func TestV23ChecksOfMealPlans(t *testing.T) {
	t.Parallel()

	const (
		cook    = `{"date": "2026-12-01", "meal_type": "dinner", "recipe_id": "recipe_1", "servings": 2}`
		rest    = `{"date": "2026-12-02", "meal_type": "lunch", "recipe_id": "recipe_1", "servings": 2, "notes": "Leftovers"}`
		tooMuch = `{"date": "2026-12-03", "meal_type": "lunch", "recipe_id": "recipe_1", "servings": 3, "notes": "leftover"}`
		before  = "Leftovers of Curry on Wed 2 Dec need an earlier cook of it."
		batch   = "Curry makes 4 servings; the meals planned from one cooking of it, the last on Thu 3 Dec, take 7."
	)
	start := func(t *testing.T) *bundle {
		t.Helper()
		b := setupAlone(t)
		b.ok("write", vocab.ToolCreate, `{"table": "recipes", "data": {"name": "Curry", "servings": 4}}`)

		return b
	}

	t.Run("Writes", func(t *testing.T) {
		t.Parallel()
		b := start(t)
		require.Equal(t, before, b.refused("write", vocab.ToolCreate, `{"table": "meal_plans", "data": `+rest+`}`, crud.CodeViolation))
		outcome := b.decide("write", call(vocab.ToolCreate, `{"table": "meal_plans", "data": `+rest+`}`), call(vocab.ToolCreate, `{"table": "meal_plans", "data": `+cook+`}`))
		require.False(t, outcome.Failed(), "what a later call puts right is right: %+v", outcome.Results)
		require.Equal(t, batch, b.refused("write", vocab.ToolCreate, `{"table": "meal_plans", "data": `+tooMuch+`}`, crud.CodeViolation))
		require.Contains(t, b.refused("write", vocab.ToolUpdate, `{"table": "meal_plans", "filters": [{"field": "date", "op": "=", "value": "2026-12-02"}], "data": {"servings": 3}}`, crud.CodeViolation), "take 5")
		require.Equal(t, "2 4", query[string](b, `SELECT count(*) || ' ' || sum(servings) FROM kitchen.meal_plans WHERE user_id = $1`, b.scope.UserID))
	})

	t.Run("Drafts", func(t *testing.T) {
		t.Parallel()
		b := start(t)
		draft := func(content string) string { return `{"creates": [{"type": "meal", "content": ` + content + `}]}` }
		require.Equal(t, before, b.refused("generate", vocab.ToolGenerate, draft(rest), crud.CodeViolation))
		b.ok("generate", vocab.ToolGenerate, draft(cook))
		b.ok("generate", vocab.ToolGenerate, draft(rest))
		require.Equal(t, batch, b.refused("generate", vocab.ToolGenerate, draft(tooMuch), crud.CodeViolation))
		require.Contains(t, b.refused("generate", vocab.ToolGenerate, `{"updates": [{"ref": "gen_meal_2", "content": {"servings": 9}}]}`, crud.CodeViolation), "take 11")
	})

	t.Run("Persons", func(t *testing.T) {
		t.Parallel()
		b := start(t)
		_, err := b.tools.Create(t.Context(), b.tx, crud.User{ID: b.scope.UserID}, "meal", []byte(`{"date": "2026-12-02", "meal_type": "lunch", "notes": "leftovers", "recipe_id": "`+
			query[string](b, `SELECT id::text FROM kitchen.recipes WHERE user_id = $1`, b.scope.UserID)+`"}`))
		var fault *crud.Error
		require.ErrorAs(t, err, &fault)
		require.Equal(t, before, fault.Message)
	})
}

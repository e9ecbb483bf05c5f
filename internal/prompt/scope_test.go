package prompt_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/testfactory"
)

// A step sees the schema of its subdomain's own tables and their children, may write only these, and may also read what
// its subdomain lists; request_schema shows another one, to read.
func TestStepScope(t *testing.T) {
	t.Parallel()
	b := setup(t)
	turn := testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{Number: 1, Status: db.TurnStatusRunning})
	testfactory.Step(t, b.tx, turn, testfactory.StepOpts{Step: 1, Type: db.StepTypeWrite, Subdomain: "meal_plans"})
	testfactory.Step(t, b.tx, turn, testfactory.StepOpts{Step: 2, Type: db.StepTypeWrite, Subdomain: "recipes"})
	testfactory.Step(t, b.tx, turn, testfactory.StepOpts{Step: 3, Type: db.StepTypeGenerate, Subdomain: "meal_plans"})

	in := b.act(t, turn, 1)
	require.Equal(t, []string{"meal_plans"}, in.Writable["db_create"])
	require.Equal(t, []string{"meal_plans", "recipes", "recipe_ingredients", "inventory", "preferences", "cooking_log"}, in.Tables)
	schema := body(in.Frame, "## Schema")
	require.Contains(t, schema, "meal_plans (meal)")
	require.NotContains(t, schema, "recipes (recipe)")
	require.Contains(t, schema, "Also readable:\n- recipes: name, ", "W11: its columns, to filter by")
	require.NotContains(t, body(b.act(t, turn, 3).Frame, "## Schema"), "Also readable")

	require.Equal(t, []string{"recipes", "recipe_ingredients"}, b.act(t, turn, 2).Writable["db_create"])
	require.Equal(t, []string{"meal_plans"}, b.act(t, turn, 3).Tables, "a draft needs nothing else")

	testfactory.Step(t, b.tx, turn, testfactory.StepOpts{Step: 4, Type: db.StepTypeRead, Subdomain: "recipes"})
	b.exec(t, `UPDATE turn_steps SET calls = '[{"tool": "db_read", "args": {"table": "recipes"}}, {"tool": "db_read", "args": {"table": "shopping_list"}}]' WHERE turn_id = $1 AND step = 4`, turn.ID)
	require.Contains(t, b.act(t, turn, 4).Tables, "shopping_list", "the planner may have a step read several tables at once")
	require.NotContains(t, b.act(t, turn, 2).Tables, "shopping_list")

	b.exec(t, `UPDATE turn_steps SET schema_tables = '{tasks,nonsense}' WHERE turn_id = $1`, turn.ID)
	in = b.act(t, turn, 1)
	require.Equal(t, []string{"meal_plans"}, in.Writable["db_create"])
	require.Contains(t, in.Tables, "tasks")
	require.Contains(t, body(in.Frame, "## Schema"), "tasks (task)")
	require.Zero(t, in.SchemaRequestsLeft)
}

package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// One call answers what has no row of another table, in the order of what rows point to; a draft names a row that nobody has read.
func TestQuestionsOfOneCall(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: write}
    think:
      goal: g
      decision: plan
      steps: [{type: write, subdomain: meal_plans, description: Plan two meals}]
      calls:
        - {step: 1, tool: db_create, table: meal_plans, set: [{column: date, value: "2027-01-04"}, {column: meal_type, value: dinner}, {column: recipe_id, value: Pad See Ew}]}
        - {step: 1, tool: db_create, table: meal_plans, set: [{column: date, value: "2027-01-05"}, {column: meal_type, value: dinner}, {column: recipe_id, value: Butter Chicken}]}
    reply: Both are planned.
  - understand: {intent: read}
    think: {goal: g, decision: plan, steps: [{type: read, subdomain: recipes, description: Recipes that nobody planned}], calls: [{step: 1, tool: db_read, table: recipes, filters: [{field: meal_plans, op: not_exists, value: ["date >= 2027-01-01", "date < 2027-02-01"]}]}]}
    reply: These are not planned in January.
  - understand: {intent: read}
    think: {goal: g, decision: plan, steps: [{type: read, subdomain: meal_plans, description: What is planned by dish}]}
    act: {calls: [{tool: db_read, args: {table: meal_plans, filters: [], or_filters: [], columns: [date, recipe_id.name], detail: summary, limit: 0, order_by: recipe_id.name, order_dir: asc}}, {tool: step_complete, args: {summary: read}}]}
    reply: First Butter Chicken, then Pad See Ew.
  - understand: {intent: explore}
    think: {goal: g, decision: plan, steps: [{type: generate, subdomain: meal_plans, description: Draft a meal}]}
    act: {calls: [{tool: generate, args: {creates: [{type: meal, set: [{column: date, value: "2027-01-06"}, {column: meal_type, value: dinner}, {column: recipe_id, value: butter chicken}], children: []}], updates: []}}, {tool: step_complete, args: {summary: drafted}}]}
    reply: Butter Chicken is drafted for Wednesday.
`)
	const rows = `FROM turn_step_results AS r JOIN turns AS t ON t.id = r.turn_id, jsonb_array_elements(r.rows) AS row WHERE t.session_id = $1 AND t.number = `
	c.say("plan Pad See Ew for Monday and Butter Chicken for Tuesday")
	c.say("which recipes are not planned in January?")
	require.NotEmpty(t, c.one(`SELECT string_agg(row ->> 'name', ', ') `+rows+`2`))
	c.fact(c.one(`SELECT string_agg(name, ', ' ORDER BY name) FROM kitchen.recipes AS r WHERE user_id = $2 AND NOT EXISTS (SELECT FROM kitchen.meal_plans WHERE recipe_id = r.id)`),
		`SELECT string_agg(row ->> 'name', ', ' ORDER BY row ->> 'name') `+rows+`2`)
	c.say("what is planned, by dish?")
	c.fact("Butter Chicken, Pad See Ew", `SELECT string_agg(row ->> '_recipe_id_label', ', ') `+rows+`3`)
	c.say("draft Butter Chicken for Wednesday")
	c.fact("Butter Chicken", `SELECT string_agg(row ->> '_recipe_id_label', ', ') `+rows+`4`)
}

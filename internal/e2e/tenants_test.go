package e2e_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// Another user's things do not exist, however they are named.
func TestTenants(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: read, quick: {entity_type: recipe, why: one}}
    act: {calls: [{tool: db_read, args: {table: recipes}}]}
  - understand: {intent: write}
    think: {goal: Reach across, decision: plan, steps: [{type: write, subdomain: meal_plans, description: Plan a foreign recipe}]}
    act:
      - calls: [{tool: db_create, args: {table: meal_plans, data: {date: "2026-12-01", meal_type: dinner, recipe_id: recipe_1}}}]
      - calls: [{tool: blocked, args: {code: plan_invalid, details: There is no such recipe., next: fail}}]
    reply: There is no such recipe.
  - understand: {intent: write}
    think: {goal: Delete theirs, decision: plan, steps: [{type: write, subdomain: recipes, description: Delete by name}]}
    act:
      - calls: [{tool: db_delete, args: {table: recipes, filters: [{field: name, op: "=", value: Butter Chicken}]}}, {tool: step_complete, args: {summary: deleted}}]
    reply: Nothing was found.
  - understand: {intent: write}
    think: {goal: Change shared data, decision: plan, steps: [{type: write, subdomain: inventory, description: Rename an ingredient}]}
    act:
      - calls: [{tool: db_update, args: {table: ingredients, filters: [{field: name, op: "=", value: butter}], data: {name: margarine}}}]
      - calls: [{tool: blocked, args: {code: tool_failure, details: Shared data., next: fail}}]
    reply: That is shared by all.
`)
	c.say("List my recipes") // Ada has recipe_1 ... recipe_3

	bob := c.guest("bob").talk()
	key := c.one(`SELECT entity_id FROM entity_refs WHERE session_id = $1 AND ref = 'recipe_1'`)
	bob.say("List my recipes")
	bob.fact("0", `SELECT count(*) FROM entity_refs WHERE session_id = $1`)
	said := bob.say("Plan recipe_1 for dinner")
	require.Equal(t, "write failed", said.outcomes())
	bob.fact("0", `SELECT count(*) FROM kitchen.meal_plans`)
	said = bob.say("Delete Butter Chicken")
	require.Equal(t, "write empty", said.outcomes())
	bob.fact("3", `SELECT count(*) FROM kitchen.recipes r JOIN alfred.users u ON u.id = r.user_id WHERE u.name = 'ada'`)
	bob.send(message{"message": "Rename it @[x](recipe:" + key + ")", "ui_changes": []map[string]any{{"action": "updated:user", "entity_type": "recipe", "entity_id": key, "label": "x"}}})
	bob.fact("0", `SELECT count(*) FROM entity_refs WHERE session_id = $1 AND entity_type = 'recipe'`)
	bob.fact("1", `SELECT count(*) FROM kitchen.ingredients WHERE name = 'butter'`)

	turnID := c.one(`SELECT id FROM turns WHERE session_id = $1 AND number = 1`)
	for _, path := range []string{
		c.path(""), c.path("/turns"), c.path("/entities"), c.path("/context"), c.path("/summaries"), c.path("/events"),
		"/v1/turns/" + turnID, "/v1/turns/" + turnID + "/events", "/v1/data/recipe/" + key,
	} {
		require.Equal(t, http.StatusNotFound, bob.call(http.MethodGet, path, nil, nil), path)
	}
	require.Equal(t, http.StatusNotFound, bob.call(http.MethodPost, c.path("/turns"), message{"message": "hi"}, nil))
	require.Equal(t, http.StatusNotFound, bob.call(http.MethodPost, "/v1/turns/"+turnID+"/cancel", nil, nil))
	require.Equal(t, http.StatusNotFound, bob.call(http.MethodDelete, c.path(""), nil, nil))
	require.Equal(t, http.StatusNotFound, bob.call(http.MethodPatch, "/v1/data/recipe/"+key, map[string]any{"name": "mine"}, nil))
	require.Equal(t, http.StatusNotFound, bob.call(http.MethodDelete, "/v1/data/recipe/"+key, nil, nil))
	c.fact("1", `SELECT count(*) FROM turns WHERE session_id = $1`)
	c.fact("3", recipes)
}

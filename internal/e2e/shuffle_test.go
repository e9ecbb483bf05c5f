package e2e_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/llm"
	"alfred/internal/llm/script"
	"alfred/internal/testfactory"
)

// unsteady is a model with random delays.
type unsteady struct{ llm.Model }

func (m unsteady) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	select {
	case <-time.After(rand.N(20 * time.Millisecond)):
	case <-ctx.Done():
		return nil, ctx.Err()
	}

	return m.Model.Generate(ctx, req)
}

// The same script yields the same refs, whichever workers play it, however long each node takes, and whatever else
// happens: refs are numbered in the order in which rows are seen, which the data determines.
func TestSameScriptSameRefs(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)
	yaml := `
turns:` + act("read", "read", "recipes", `{tool: db_read, args: {table: recipes, detail: full}}, {tool: db_read, args: {table: inventory, order_by: expiry_date, order_dir: desc}}`) +
		draft(basil) + save +
		act("write", "write", "meal_plans", `{tool: db_create, args: {table: meal_plans, data: [{date: "2026-01-12", meal_type: dinner, recipe_id: gen_recipe_1},
      {date: "2026-01-13", meal_type: lunch, recipe_id: recipe_2}, {date: "2026-01-12", meal_type: lunch, recipe_id: recipe_1}]}}`) +
		act("write", "write", "shopping", `{tool: db_create, args: {table: shopping_list, data: [{name: eggs, quantity: 6, unit: count}, {name: Eggs, quantity: 4, unit: count}, {name: limes}]}},
      {tool: db_read, args: {table: shopping_list}}`) +
		`
  - understand: {intent: write}
    think: {goal: Do it, decision: plan, steps: [{type: write, subdomain: recipes, description: Do it, refs: [recipe_3], needs: rows}]}
    act: {step: 2, calls: [` + `{tool: db_update, args: {table: recipes, filters: [{field: id, op: "=", value: recipe_3}], data: {servings: 6}}},
      {tool: db_delete, args: {table: recipes, filters: [{field: id, op: "=", value: gen_recipe_1}]}}` + `, {tool: step_complete, args: {summary: done}}]}
    reply: Done.`
	model, err := script.Parse([]byte(yaml))
	require.NoError(t, err)

	pool := dbtest.Pool(t)
	d := testfactory.Kitchen(t)
	h := &house{t: t, pool: pool}
	var talks []*talk
	for _, name := range []string{"ada", "bob", "cyn", "dee", "eve"} {
		c := &talk{person: h.resident(name)}
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT start_session($1)`, name).Scan(&c.session))
		for range 6 {
			_, err := pool.Exec(t.Context(), `SELECT enqueue_turn($1, 'Go on')`, c.session)
			require.NoError(t, err)
		}
		talks = append(talks, c)
	}
	for range 3 {
		talks[0].work(d, unsteady{model})
	}

	var first string
	for _, c := range talks {
		require.Eventually(t, func() bool {
			return c.one(`SELECT count(*) FROM turns WHERE session_id = $1 AND summarized_at IS NOT NULL`) == "6"
		}, dbtest.Patience, 30*time.Millisecond)
		c.fact("", `SELECT string_agg(r.tool || ': ' || r.error_message, '; ') FROM turn_step_results r JOIN turns t ON t.id = r.turn_id
			WHERE t.session_id = $1 AND r.error_code IS NOT NULL`)
		refs := c.one(`SELECT string_agg(concat_ws(' ', ref, state, action, label, turn_created, turn_last_ref, loaded), E'\n' ORDER BY ref) FROM entity_refs WHERE session_id = $1`) +
			"\n" + c.one(`SELECT string_agg(concat_ws(' ', turn_number, step, ref, action), E'\n' ORDER BY turn_number, step, ref, id) FROM entity_events WHERE session_id = $1`)
		if first == "" {
			first = refs
		}
		require.Equal(t, first, refs)
		c.checkCommon()
	}
	require.Contains(t, first, "shop_1 stored read eggs")
	require.Contains(t, first, "gen_recipe_1 deleted deleted Thai Basil Chicken")
}

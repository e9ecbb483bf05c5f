package e2e_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/llm"
	"alfred/internal/llm/lexical"
)

// read is a turn with one planned read in the pantry.
func read(subdomain, args string) string {
	return `
  - understand: {intent: read}
    think: {goal: Look, decision: plan, steps: [{type: read, subdomain: ` + subdomain + `, description: Look it up}]}
    act:
      - calls: [{tool: db_read, args: ` + args + `}]
      - calls: [{tool: step_complete, args: {summary: looked}}]
    reply: Here.`
}

// found returns the labels that the n-th turn's reads returned, in order.
func (c *talk) found(turn int) string {
	c.t.Helper()

	return c.one(fmt.Sprintf(`SELECT string_agg(x ->> 'name', ', ') FROM turn_step_results r JOIN turns t ON t.id = r.turn_id, jsonb_array_elements(r.rows) AS x
		WHERE t.session_id = $1 AND t.number = %d AND r.step > 0`, turn))
}

// A name finds the ingredient, its variants and unlinked rows alike, also misspelt.
func TestIngredientLookUp(t *testing.T) {
	t.Parallel()
	byName := func(name string) string {
		return `{table: inventory, filters: [{field: name, op: "=", value: "` + name + `"}]}`
	}
	c := converse(t, `
turns:`+read("inventory", byName("chicken"))+read("inventory", byName("chiken"))+read("inventory", byName("dragonfruit"))+
		read("shopping", `{table: shopping_list, filters: [{field: name, op: "=", value: chicken}]}`)+
		read("inventory", `{table: inventory, or_filters: [{field: name, op: "=", value: chicken}, {field: name, op: "=", value: cod}]}`))
	c.exec(`INSERT INTO kitchen.inventory (user_id, ingredient_id, name) SELECT $1, g.id, x.name
		FROM (VALUES ('chicken'), ('chicken breasts'), ('leftover chicken')) AS x (name) LEFT JOIN kitchen.ingredients g ON g.name = x.name`)
	c.exec(`INSERT INTO kitchen.shopping_list (user_id, ingredient_id, name) SELECT $1, g.id, x.name
		FROM (VALUES ('chicken thighs'), ('leftover chicken'), ('milk')) AS x (name) LEFT JOIN kitchen.ingredients g ON g.name = x.name`)
	all := "Chicken thighs, chicken, chicken breasts, leftover chicken"
	byCase := func(turn int) []string { return splitList(c.found(turn)) }
	c.say("chicken?")
	require.ElementsMatch(t, splitList(all), byCase(1))
	c.say("chiken?")
	require.ElementsMatch(t, splitList(all), byCase(2))
	said := c.say("dragonfruit?")
	require.Empty(t, c.found(3))
	require.Equal(t, "read empty", said.outcomes())
	c.say("chicken on the list?")
	require.ElementsMatch(t, []string{"chicken thighs", "leftover chicken"}, byCase(4))
	c.say("chicken or cod?")
	require.ElementsMatch(t, splitList(all+", Cod"), byCase(5))
}

// Meaning ranks and excludes nothing; filters narrow; without the embedder, words are used, and the result says so.
func TestSemanticSearch(t *testing.T) {
	t.Parallel()
	search := func(more string) string {
		return read("recipes", `{table: recipes, filters: [{field: _semantic, op: similar, value: "bright light summery salad for a hot evening"}`+more+`]}`)
	}
	yaml := `
turns:` + draft(`{name: Summer Salad, description: A bright light summery salad, cuisine: greek, servings: 2, prep_time_minutes: 5, instructions: [Toss.], tags: [], recipe_ingredients: []}`) +
		save + search("") + search(`, {field: cuisine, op: "=", value: thai}`) + search("")
	embedder := &moody{}
	c := openHouse(t, fixtures{embedder: embedder, model: playing(t, yaml)}).resident("ada").talk()
	c.say("Draft a salad")
	c.say("Save it")
	c.settle()
	c.fact("Summer Salad", `SELECT r.name FROM embeddings e JOIN kitchen.recipes r ON r.id::text = e.owner_id WHERE e.owner_kind = 'recipe' AND e.user_id = $2`)

	c.say("Something light for a hot evening")
	require.Equal(t, "Summer Salad", splitList(c.found(3))[0])
	require.Len(t, splitList(c.found(3)), 4, "no row is starved")
	c.say("Something thai")
	require.Equal(t, "Pad See Ew", c.found(4))

	embedder.down.Store(true)
	c.say("Something light again")
	require.Equal(t, "Summer Salad", splitList(c.found(5))[0])
	require.Contains(t, c.prompt(5, "act", 2)+c.prompt(5, "reply", 1), "words", "that only words were compared is said")
	embedder.down.Store(false)
}

type moody struct {
	lexical.Embedder

	down atomic.Bool
}

func (m *moody) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if m.down.Load() {
		return nil, &llm.Error{Kind: llm.KindOverloaded, Provider: "moody"}
	}

	return m.Embedder.Embed(ctx, texts)
}

// A filter that cannot be applied is an error, never a wider result.
func TestFilters(t *testing.T) {
	t.Parallel()
	// Each filter as a model writes it, with the equivalent SQL.
	cases := []struct{ filter, sql string }{
		{`{field: quantity, op: "=", value: 500}`, `quantity = 500`},
		{`{field: quantity, op: "!=", value: 500}`, `quantity <> 500`},
		{`{field: quantity, op: ">", value: 300}`, `quantity > 300`},
		{`{field: quantity, op: ">=", value: 300}`, `quantity >= 300`},
		{`{field: quantity, op: "<", value: 4}`, `quantity < 4`},
		{`{field: quantity, op: "<=", value: 4}`, `quantity <= 4`},
		{`{field: location, op: in, value: [fridge, freezer]}`, `location IN ('fridge', 'freezer')`},
		{`{field: location, op: not_in, value: [fridge, freezer]}`, `location NOT IN ('fridge', 'freezer')`},
		{`{field: name, op: ilike, value: "%pea%"}`, `name ILIKE '%pea%'`},
		{`{field: expiry_date, op: is_null}`, `expiry_date IS NULL`},
		{`{field: expiry_date, op: is_not_null}`, `expiry_date IS NOT NULL`},
		{`{field: expiry_date, op: "<", value: "2027-01-01"}`, `expiry_date < '2027-01-01'`},
		{`{field: unit, op: contains, value: g}`, `unit ILIKE '%g%'`},
	}
	bad := []string{
		`{field: quantity, op: like, value: 1}`, `{field: colour, op: "=", value: red}`, `{field: quantity, op: ">", value: much}`,
		`{field: id, op: "=", value: recipe_99}`, `{field: id, op: "=", value: 01900000-0000-7000-8000-000000000101}`,
		`{field: location, op: "=", value: moon}`, `{field: quantity, op: in, value: []}`, `{field: limit, op: "=", value: 3}`,
	}
	var yaml strings.Builder
	yaml.WriteString("turns:")
	for i := 0; i < len(cases); i += 6 {
		yaml.WriteString(`
  - understand: {intent: read}
    think: {goal: Look, decision: plan, steps: [{type: read, subdomain: inventory, description: Look}]}
    act:
      - calls: [` + filterCalls(cases[i:min(i+6, len(cases))]) + `{tool: step_complete, args: {summary: looked}}]
    reply: Here.`)
	}
	for _, filter := range bad {
		yaml.WriteString(`
  - understand: {intent: read}
    think: {goal: Look, decision: plan, steps: [{type: read, subdomain: inventory, description: Look}]}
    act:
      - calls: [{tool: db_read, args: {table: inventory, filters: [` + filter + `]}}]
      - calls: [{tool: blocked, args: {code: tool_failure, details: That filter cannot be used., next: fail}}]
    reply: I could not.`)
	}
	c := converse(t, yaml.String())
	c.exec(`UPDATE kitchen.inventory SET expiry_date = '2026-12-24' WHERE user_id = $1 AND location = 'fridge'`)
	turn := 0
	for i := 0; i < len(cases); i += 6 {
		turn++
		c.say("look")
		for k, one := range cases[i:min(i+6, len(cases))] {
			for alternative, where := range []string{one.sql, one.sql + " OR name ILIKE 'Cod'"} {
				got := c.one(fmt.Sprintf(`SELECT string_agg(x ->> 'name', ', ' ORDER BY x ->> 'name') FROM turn_step_results r JOIN turns t ON t.id = r.turn_id, jsonb_array_elements(r.rows) x
					WHERE t.session_id = $1 AND t.number = %d AND r.call = %d`, turn, 2*k+alternative+1))
				c.fact(got, `SELECT string_agg(name, ', ' ORDER BY name) FROM kitchen.inventory WHERE user_id = $2 AND (`+where+`)`)
			}
		}
	}
	for _, filter := range bad {
		turn++
		said := c.say("look")
		require.Equal(t, "read failed", said.outcomes(), filter)
		c.fact("0", fmt.Sprintf(`SELECT sum(jsonb_array_length(r.rows)) FROM turn_step_results r JOIN turns t ON t.id = r.turn_id WHERE t.session_id = $1 AND t.number = %d`, turn))
		require.NotEmpty(t, c.one(fmt.Sprintf(`SELECT r.error_code FROM turn_step_results r JOIN turns t ON t.id = r.turn_id WHERE t.session_id = $1 AND t.number = %d`, turn)), filter)
	}
	require.Contains(t, c.prompt(turn-len(bad)+4, "act", 2), "recipe_99", "the error names the ref")
}

func filterCalls(cases []struct{ filter, sql string }) string {
	var calls strings.Builder
	for _, one := range cases {
		fmt.Fprintf(&calls, `{tool: db_read, args: {table: inventory, filters: [%s], limit: 100}}, `, one.filter)
		fmt.Fprintf(&calls, `{tool: db_read, args: {table: inventory, or_filters: [%s, {field: name, op: ilike, value: Cod}], limit: 100}}, `, one.filter)
	}

	return calls.String()
}

// Numbers come from code: totals equal SQL, amounts are exact, nothing gets a ref.
func TestNumbers(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: explore}
    think: {goal: Count, decision: plan, steps: [{type: analyze, subdomain: recipes, description: Count per cuisine}]}
    act:
      - calls: [{tool: db_analyze, args: {table: recipes, aggregates: [{fn: count, as: n}], group_by: [cuisine], order_by: cuisine}}]
      - calls: [{tool: step_complete, args: {summary: one each}}]
    reply: One each.
  - understand: {intent: explore}
    think: {goal: Double it, decision: plan, steps: [{type: read, subdomain: recipes, description: Read amounts}, {type: analyze, subdomain: recipes, description: Double the amounts}]}
    act:
      - {step: 1, calls: [{tool: db_read, args: {table: recipes, filters: [{field: name, op: "=", value: Pad See Ew}], detail: rows}}, {tool: step_complete, args: {summary: read}}]}
      - {step: 2, calls: [{tool: calculate, args: {expressions: ["250 * 2", "1.5 * 2", "0.1 + 0.2"]}}]}
      - {step: 2, calls: [{tool: step_complete, args: {summary: doubled}}]}
    reply: 500 g of noodles.
`)
	c.say("How many recipes per cuisine?")
	c.fact("0", `SELECT count(*) FROM entity_refs WHERE session_id = $1`)
	c.fact("indian 1, mediterranean 1, thai 1", `SELECT string_agg(concat_ws(' ', x ->> 'cuisine', x ->> 'n'), ', ') FROM turn_step_results r JOIN turns t ON t.id = r.turn_id, jsonb_array_elements(r.rows) x WHERE t.session_id = $1`)
	require.Contains(t, c.prompt(1, "reply", 1), "mediterranean")
	c.say("Double the Pad See Ew")
	c.fact("500 3 0.3", `SELECT string_agg(x ->> 'result', ' ' ORDER BY n) FROM turn_step_results r JOIN turns t ON t.id = r.turn_id, jsonb_array_elements(r.rows) WITH ORDINALITY AS e (x, n)
		WHERE t.session_id = $1 AND r.tool = 'calculate'`)
	c.fact("250", `SELECT trim_scale(quantity) FROM kitchen.recipe_ingredients WHERE user_id = $2 AND name = 'wide rice noodles'`)
}

// The shopping list is a difference of rows, computed by code and equal to SQL.
func TestShoppingDifference(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: explore}
    think: {goal: What to buy, decision: plan, steps: [{type: read, subdomain: recipes, description: What Butter Chicken needs}, {type: read, subdomain: inventory, description: What is at home}, {type: analyze, subdomain: shopping, description: The difference}]}
    act:
      - {step: 1, calls: [{tool: db_read, args: {table: recipe_ingredients, filters: [{field: name, op: "=", value: chicken thighs}]}}, {tool: step_complete, args: {summary: read}}]}
      - {step: 2, calls: [{tool: db_read, args: {table: inventory, filters: [{field: name, op: "=", value: chicken thighs}]}}, {tool: step_complete, args: {summary: read}}]}
      - {step: 3, calls: [{tool: calculate, args: {expressions: ["1000 - 800"]}}]}
      - {step: 3, calls: [{tool: step_complete, args: {summary: 200 g more, conclusions: Buy 200 g of chicken thighs.}}]}
    reply: Buy 200 g of chicken thighs.
`)
	c.exec(`UPDATE kitchen.recipe_ingredients SET quantity = 1000 WHERE user_id = $1 AND name = 'chicken thighs'`)
	said := c.say("What would I need to buy for Butter Chicken?")
	require.Equal(t, "read ok, read ok, analyze ok", said.outcomes())
	difference := c.one(`SELECT trim_scale(r.quantity - v.quantity) FROM kitchen.recipe_ingredients r JOIN kitchen.inventory v USING (user_id, ingredient_id) WHERE r.user_id = $2 AND r.name = 'chicken thighs'`)
	c.fact(difference, `SELECT r.rows -> 0 ->> 'result' FROM turn_step_results r JOIN turns t ON t.id = r.turn_id WHERE t.session_id = $1 AND r.tool = 'calculate'`)
	data := section(c.prompt(1, "act", 3), "## Active Entities (Full Data)")
	require.Contains(t, data, `"quantity":1000`, "an analysis sees the rows of the steps before it")
	require.Contains(t, data, "(800 g)")
	c.fact("0", `SELECT count(*) FROM kitchen.shopping_list WHERE user_id = $2`)
}

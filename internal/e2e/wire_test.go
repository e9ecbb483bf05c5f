package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/domain"
	"alfred/internal/llm"
	"alfred/internal/llm/openai"
	"alfred/internal/llm/script"
	"alfred/internal/llm/wire"
	"alfred/internal/llm/wiretest"
)

// A server that speaks Chat Completions drives the whole pipeline: schemas, tools, streams, failures.
func TestOpenAICompatibleServer(t *testing.T) {
	t.Parallel()
	played, err := script.Parse([]byte(`
turns:
  - understand: {intent: read, quick: {entity_type: recipe, why: one table}}
    act: {calls: [{tool: db_read, args: {table: recipes}}]}` + draft(basil) + revise(basilWithLime) + save + `
  - understand: {raw: "Sure! Here is my answer.", repairs: [{intent: write}]}
    think: {goal: Plan it, decision: plan, steps: [{type: write, subdomain: meal_plans, description: Plan it for Friday, refs: [gen_recipe_1]}]}
    act:
      - calls: [{tool: db_create, raw: '{"table": "meal_pl'}]
        repairs:
          - calls: [{tool: db_create, args: {table: meal_plans, data: {date: "2026-12-04", meal_type: dinner, recipe_id: gen_recipe_1}}}, {tool: step_complete, args: {summary: planned}}]
    reply: Planned for Friday, as you asked, with Thai basil and lime.
    summarize: {response_summary: planned, conversation_phase: executing, tone: informative}
`))
	require.NoError(t, err)
	server := wiretest.Start(t, wiretest.OpenAI, overWire(played))
	model, err := openai.New(&wire.Config{APIKey: wiretest.Key, BaseURL: server.BaseURL, HTTPClient: server.Client(), Model: "test-model"})
	require.NoError(t, err)
	c := openHouse(t, fixtures{model: func(*domain.Domain) llm.Model { return model }}).resident("ada").talk()

	c.say("Show my recipes")
	c.refs("recipe", "recipe_1 stored read Butter Chicken", "recipe_2 stored read Pad See Ew", "recipe_3 stored read Shakshuka Classic")
	c.say("Draft a Thai basil chicken")
	c.say("Add lime")
	c.say("Save it")
	c.fact("true", savedAsShown)
	planned := c.enqueue(message{"message": "Put it on Friday's dinner"})
	types := c.follow(c.url, planned, func(int) {})
	got := c.end(planned)
	require.Equal(t, "Planned for Friday, as you asked, with Thai basil and lime.", got.Reply)
	require.Equal(t, "turn.finished", types[len(types)-1])
	c.fact("Thai Basil Chicken", `SELECT r.name FROM kitchen.meal_plans m JOIN kitchen.recipes r ON r.id = m.recipe_id WHERE m.user_id = $2`)
	c.fact("openai test-model", `SELECT string_agg(DISTINCT provider || ' ' || model, ', ') FROM llm_calls WHERE session_id = $1 AND error_code IS NULL`)
	require.Equal(t, 1, got.Number-4)

	c.checkWire(server.Calls())
}

// checkWire checks what was sent.
func (c *talk) checkWire(calls []*wiretest.Call) {
	c.t.Helper()
	schemas, streamed, tools := map[string]int{}, 0, 0
	for _, call := range calls {
		require.NotRegexp(c.t, `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, string(call.Body), "no identifier of ours")
		schemas[call.SchemaName]++
		if call.Stream && len(call.Tools) == 0 {
			require.Contains(c.t, []string{"", "understand"}, call.SchemaName)
			if call.SchemaName == "" {
				streamed++
			}
		}
		if len(call.Tools) > 0 {
			tools++
		}
	}
	require.GreaterOrEqual(c.t, schemas["understand"], 6, "one was mended")
	require.Equal(c.t, 4, schemas["think"])
	require.Equal(c.t, 4, streamed, "replies are streamed, and answers that may contain one or begin it")
	require.GreaterOrEqual(c.t, tools, 6)
}

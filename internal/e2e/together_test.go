package e2e_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/domain"
	"alfred/internal/llm"
	"alfred/internal/llm/script"
	"alfred/internal/llm/wire"
)

// cutting is a provider whose answers are too short for two decisions.
type cutting struct{ llm.Model }

// Generate implements llm.Model.
func (m *cutting) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	resp, err := m.Model.Generate(ctx, req)
	if err != nil || len(req.Holds) == 0 {
		return resp, err
	}
	resp.Text = resp.Text[:len(resp.Text)/2]

	return wire.Finish(req, resp, wire.EndCutOff)
}

// callsOf lists a turn's model calls: "understand act reply".
func (c *talk) callsOf(number int) string {
	c.t.Helper()

	return c.one(fmt.Sprintf(`SELECT string_agg(l.node, ' ' ORDER BY l.id) FROM llm_calls l JOIN turns t ON t.id = l.turn_id WHERE l.session_id = $1 AND t.number = %d AND l.node <> 'summarize'`, number))
}

// One answer contains both the meaning of the message and the plan; they remain separate decisions.
func TestUnderstandAndThinkInOneCall(t *testing.T) {
	t.Parallel()
	if *everyApart {
		t.Skip("they are asked apart")
	}
	look := `{goal: Look, decision: plan, steps: [{type: read, subdomain: recipes, description: Read the recipes}]}`
	act := `{calls: [{tool: db_read, args: {table: recipes}}, {tool: step_complete, args: {summary: read}}]}`
	c := converse(t, `
turns:
  - understand: {intent: explore}
    think: `+look+`
    act: `+act+`
    reply: Three.
  - understand: {intent: explore, curation: {exclude: [{ref: recipe_2, reason: too hot}]}}
    think: {goal: Compare, decision: plan, steps: [{type: analyze, subdomain: recipes, description: Compare, refs: [recipe_1, recipe_3]}]}
    act: {calls: [{tool: step_complete, args: {summary: same}}]}
    reply: They are alike.
  - understand: {intent: chat, curation: {forget: [recipe_2]}, think: {goal: Look, decision: plan, steps: [{type: analyze, subdomain: recipes, description: Compare, refs: [recipe_2]}]}}
    think: {goal: Talk, decision: plan, steps: []}
    reply: Forgotten.
  - understand: {intent: read, disambiguation: {question: Which one?, options: [recipe_1, recipe_3]}}
    think: `+look+`
    reply: Which one?
  - understand: {intent: explore}
    think: {goal: Delete all, decision: plan, steps: [{type: write, subdomain: recipes, description: Delete the shakshuka, refs: [recipe_3]}]}
    reply: Shall I?
`)
	c.say("what could I cook?")
	require.Equal(t, "understand act reply", c.callsOf(1))
	c.fact("1 understand, 2 think, 3 act, 4 reply, 5 summarize", `SELECT string_agg(r.position || ' ' || r.node, ', ' ORDER BY r.position) FROM node_runs r JOIN turns t ON t.id = r.turn_id WHERE t.session_id = $1 AND t.number = 1`)
	c.fact("1 2", `SELECT count(DISTINCT r.llm_call_id) || ' ' || count(DISTINCT r.river_job_id) FROM node_runs r JOIN turns t ON t.id = r.turn_id WHERE t.session_id = $1 AND t.number = 1 AND r.node IN ('understand', 'think')`)
	require.Equal(t, section(c.prompt(1, "think", 1), "## Conversation"), section(c.prompt(1, "act", 1), "## Conversation"))

	c.say("not the hot one")
	require.Equal(t, "understand act reply", c.callsOf(2))
	require.Equal(t, section(c.prompt(2, "understand", 1), "## Conversation"), section(c.prompt(2, "act", 1), "## Conversation"))

	c.say("forget it") // the plan needs what the same answer removed from view
	require.Equal(t, "understand think reply", c.callsOf(3))
	require.Contains(t, c.prompt(3, "think", 1), "\nA first plan was refused: there is no recipe_2 in this conversation; find what has no ref by name")

	c.say("that one") // a question voids the plan that came with it
	require.Equal(t, "understand", c.one(`SELECT string_agg(r.node, ' ' ORDER BY r.position) FROM node_runs r JOIN turns t ON t.id = r.turn_id WHERE t.session_id = $1 AND t.number = 4 AND r.node IN ('understand', 'think')`))

	said := c.say("what would you throw out?") // nobody asked for a write: a plan that writes is not followed
	require.Equal(t, "propose", said.Question.Kind)
	c.fact("3", `SELECT count(*) FROM kitchen.recipes WHERE user_id = $2`)
}

// An answer that the provider cuts off is requested again in two parts.
func TestLongAnswerIsCut(t *testing.T) {
	t.Parallel()
	played, err := script.Parse([]byte(`
turns:
  - understand: {intent: read}
    think: {goal: Look, decision: plan, steps: [{type: read, subdomain: recipes, description: Read the recipes}]}
    act: {calls: [{tool: db_read, args: {table: recipes}}, {tool: step_complete, args: {summary: read}}]}
    reply: Three.
`))
	require.NoError(t, err)
	model := &cutting{Model: played}
	c := openHouse(t, fixtures{model: func(*domain.Domain) llm.Model { return model }}).resident("ada").talk()
	require.Equal(t, "read ok", c.say("what could I cook?").outcomes())
	if !*everyApart {
		require.Equal(t, "understand understand think act reply", c.callsOf(1))
	}
}

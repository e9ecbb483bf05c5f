package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A question of Act's own is the reply if nothing else was done in its turn. What was read beside it, and what was
// written before it, is told with it.
func TestActsQuestionIsTheReply(t *testing.T) {
	t.Parallel()
	step := func(kind, more string) string {
		return `{type: ` + kind + `, subdomain: shopping, description: Add milk` + more + `}`
	}
	ask := `{tool: ask_user, args: {question: "Wie viel Milch, und welche?", options: [Hafermilch, Kuhmilch]}}`
	c := converse(t, `
turns:
  - understand: {intent: write}
    think: {goal: g, decision: plan, steps: [`+step("write", "")+`]}
    act: {calls: [`+ask+`]}
  - understand: {intent: write}
    think: {goal: g, decision: plan, steps: [`+step("read", "")+`, `+step("write", "")+`]}
    act:
      - {step: 1, calls: [{tool: db_read, args: {table: inventory}}, {tool: step_complete, args: {summary: read}}]}
      - {step: 2, calls: [`+ask+`]}
    reply: In the fridge are eggs. How much milk, and which?
  - understand: {intent: write}
    think: {goal: g, decision: plan, steps: [`+step("write", "")+`]}
    act:
      - calls: [{tool: db_create, args: {table: shopping_list, rows: [{set: [{column: name, value: butter}]}]}}]
      - calls: [`+ask+`]
    reply: Butter is on the list. How much milk, and which?
`)
	said := c.say("Setz Milch auf die Liste")
	require.Equal(t, "Wie viel Milch, und welche?\n1. Hafermilch\n2. Kuhmilch", said.Reply)
	require.Equal(t, "ask_user", said.Question.Kind)
	require.NotContains(t, c.callsOf(1), "reply")
	require.Contains(t, c.say("What is at home, and put milk on the list").Reply, "eggs")
	require.Contains(t, c.say("Butter and milk on the list").Reply, "Butter is on the list")
}

// A click that approves says all: code carries out what was asked about, and only the reply takes a call.
func TestAClickOnYesNeedsNoUnderstanding(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: write}
    think: {goal: g, decision: plan, steps: [{type: write, subdomain: inventory, description: Throw all away}]}
    act: {calls: [{tool: db_delete, args: {table: inventory, filters: []}}]}
    reply: Shall I?
  - reply: All is gone.
`)
	c.say("Throw away all that is at home")
	require.Equal(t, "write ok", c.click("yes", "Yes").outcomes())
	require.Equal(t, "reply", c.callsOf(2))
	c.fact("0", `SELECT count(*) FROM kitchen.inventory WHERE user_id = $2`)
	c.fact("understand act reply summarize", `SELECT string_agg(r.node, ' ' ORDER BY r.position) FROM node_runs r JOIN turns t ON t.id = r.turn_id WHERE t.session_id = $1 AND t.number = 2`)
}

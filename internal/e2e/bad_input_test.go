package e2e_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// An option of another question, and a click on a replaced question, are refused. Nothing is saved, and the draft and
// the newer offer stay.
func TestAnswersToAnotherQuestion(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:`+draft(basil)+`
  - understand: {intent: explore}
    think: {goal: Change it, decision: plan, steps: [{type: generate, subdomain: recipes, description: Change the draft, refs: [gen_recipe_1]}]}
    act: {calls: [{tool: generate, args: {updates: [{ref: gen_recipe_1, content: {servings: 3}}]}}, {tool: step_complete, args: {summary: changed}}]}
    reply: For three.
  - understand: {intent: confirm, answers_question: true}
    think: {goal: Save it, decision: plan, steps: [{type: write, subdomain: recipes, description: Save the draft, refs: [gen_recipe_1], calls: [{tool: db_create, table: recipes, from_ref: gen_recipe_1}]}]}
    reply: Saved.
`)
	c.say("draft the basil dish")
	old := c.question()
	c.say("for three")
	c.fact("superseded open", `SELECT string_agg(status, ' ' ORDER BY created_at) FROM questions WHERE session_id = $1`)
	var problem struct {
		Code   string `json:"code"`
		Detail string `json:"detail"`
	}
	for question, options := range map[string]map[string]int{
		old:                                    {"yes": http.StatusConflict, "no": http.StatusConflict},
		c.question():                           {"recipe_1": http.StatusBadRequest, "maybe": http.StatusBadRequest},
		"01900000-0000-7000-8000-000000000001": {"yes": http.StatusBadRequest},
	} {
		for option, want := range options {
			status := c.call(http.MethodPost, c.path("/turns"), message{"message": "Yes", "answer": map[string]string{"question_id": question, "option_id": option}}, &problem)
			require.Equal(t, want, status, "%s to %s: %+v", option, question, problem)
			require.NotEmpty(t, problem.Detail)
		}
	}
	c.fact("2", `SELECT last_turn FROM sessions WHERE id = $1`)
	c.fact("3 pending", `SELECT (SELECT count(*) FROM kitchen.recipes WHERE user_id = $2) || ' ' || state FROM entity_refs WHERE session_id = $1 AND ref = 'gen_recipe_1'`)

	require.Equal(t, "write ok", c.say("yes").outcomes(), "a yes in words is one to the offer that is open")
	c.fact("3", `SELECT servings FROM kitchen.recipes WHERE user_id = $2 AND name = 'Thai Basil Chicken'`)
}

// A yes after the offer is gone permits nothing, whatever the model makes of it.
func TestConsentToAQuestionThatIsSuperseded(t *testing.T) {
	t.Parallel()
	save := `{goal: Save it, decision: plan, steps: [{type: write, subdomain: recipes, description: Save the soup}]}`
	c := converse(t, `
turns:`+draft(basil)+`
  - understand: {intent: chat, curation: {forget: [gen_recipe_1]}}
    think: {goal: Forget it, decision: plan, steps: []}
    reply: It is gone.
  - understand: {intent: confirm, answers_question: true}
    think: `+save+`
    reply: Save the soup. Shall I?
`)
	c.say("draft the basil dish")
	c.say("forget that")
	c.fact("superseded", `SELECT status FROM questions WHERE session_id = $1`)
	c.say("yes please")
	c.fact("3", recipes)
	c.fact("propose open", `SELECT kind || ' ' || status FROM questions WHERE session_id = $1 ORDER BY created_at DESC LIMIT 1`)
}

// A row that another program writes while the model decides is not overwritten: the model sees its current state and
// decides again.
func TestARowThatChangesBetweenPlanAndAct(t *testing.T) {
	t.Parallel()
	change := `{tool: db_update, args: {table: inventory, filters: [{field: id, op: "=", value: inv_1}], set: [{column: quantity, value: 7}]}}`
	c, m := interruptible(t, `
turns:
  - understand: {intent: read, quick: {entity_type: inv, why: one table}}
    act: {calls: [{tool: db_read, args: {table: inventory}}]}
  - understand: {intent: write, mentions: [{text: it, ref: inv_1, resolution: inferred}]}
    think: {goal: Change it, decision: plan, steps: [{type: write, subdomain: inventory, description: Seven of it, refs: [inv_1], calls: [{tool: db_update, table: inventory, filters: [{field: id, op: "=", value: inv_1}], set: [{column: quantity, value: 7}]}]}]}
    act: [{calls: [`+change+`]}, {calls: [{tool: blocked, args: {code: plan_invalid, details: There are 9 by now., next: fail}}]}]
    reply: It is 9 by now; I left it.
`)
	c.say("what is there?")
	touch := func(quantity int) func() {
		return func() {
			c.exec(`UPDATE kitchen.inventory i SET quantity = ` + []string{8: "8", 9: "9"}[quantity] + ` FROM entity_refs r WHERE r.entity_id = i.id::text AND r.ref = 'inv_1' AND i.user_id = $1`)
		}
	}
	m.at(0, "understand", 1, touch(8)) // after the plan's prompt was made, before its calls are carried out
	m.at(0, "act", 1, touch(9))        // after Act's prompt was made, before its call is carried out
	said := c.say("seven of the first")
	require.Equal(t, "understand act act reply", c.callsOf(2), "what was planned on an old row is not carried out")
	require.Contains(t, section(c.prompt(2, "act", 1), "## Active Entities (Full Data)"), "(8")
	require.Contains(t, c.prompt(2, "act", 2), "changed while you decided")
	require.Contains(t, c.prompt(2, "act", 2), "(9 kg)")
	require.Equal(t, "read ok, write failed", said.outcomes())
	c.fact("9", `SELECT i.quantity::int::text FROM kitchen.inventory i JOIN entity_refs r ON r.entity_id = i.id::text WHERE r.session_id = $1 AND r.ref = 'inv_1'`)
}

// If a row changes after it was read, the reply shows its current state, or knows that it has changed.
func TestARowThatChangesBetweenActAndReply(t *testing.T) {
	t.Parallel()
	c, m := interruptible(t, `
turns:
  - understand: {intent: read}
    think: {goal: See it, decision: plan, steps: [{type: read, subdomain: inventory, description: Read the butter}, {type: read, subdomain: tasks, description: Read the tasks}]}
    act: [{calls: [{tool: db_read, args: {table: inventory, filters: [{field: name, op: "=", value: butter}]}}, {tool: step_complete, args: {summary: read}}]},
          {calls: [{tool: db_read, args: {table: tasks}}, {tool: step_complete, args: {summary: read}}]}]
    reply: There is butter.
`)
	calls := 0
	var again func()
	again = func() { // during the second step the butter is used up
		if calls++; calls == 1 {
			m.at(0, "act", 1, again)

			return
		}
		c.exec(`UPDATE kitchen.inventory SET quantity = 1 WHERE user_id = $1 AND name = 'Butter'`)
	}
	m.at(0, "act", 1, again)
	c.say("is there butter, and what do I have to do?")
	reply := section(c.prompt(1, "reply", 1), "## Execution Results") + section(c.prompt(1, "reply", 1), "## What You Know")
	require.NotContains(t, reply, "Butter (250 g)", "what is no longer so is not told")
	require.Contains(t, reply, "Changed since it was read, so its values are not known: Butter")
}

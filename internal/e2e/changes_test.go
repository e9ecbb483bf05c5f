package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDeleteByRefAndByFilter(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: read, quick: {entity_type: inv, why: one}}
    act: {calls: [{tool: db_read, args: {table: inventory, filters: [{field: location, op: "=", value: fridge}]}}]}
  - understand: {intent: write, mentions: [{text: the second, ref: inv_2, resolution: inferred}]}
    think: {goal: Delete it, decision: plan, steps: [{type: write, subdomain: inventory, description: Delete it, refs: [inv_2]}]}
    act: {calls: [{tool: db_delete, args: {table: inventory, filters: [{field: id, op: "=", value: inv_2}]}}, {tool: step_complete, args: {summary: deleted}}]}
    reply: Cheddar is gone.
  - understand: {intent: write}
    think: {goal: Empty the freezer, decision: plan, steps: [{type: write, subdomain: inventory, description: Delete all in the freezer}]}
    act: {calls: [{tool: db_delete, args: {table: inventory, filters: [{field: location, op: "=", value: freezer}]}}, {tool: step_complete, args: {summary: deleted}}]}
    reply: This would delete 3 things. Shall I?
  - understand: {intent: confirm, answers_question: true}
    reply: Done.
  - understand: {intent: read, mentions: [{text: cheddar, resolution: unknown}]}
    think: {goal: Tell them, decision: plan, steps: []}
    reply: Cheddar is no longer there.
`)
	c.say("What is in the fridge?")
	c.refs("inv", "inv_1 stored read Butter", "inv_2 stored read Cheddar", "inv_3 stored read Greek yogurt", "inv_4 stored read Milk", "inv_5 stored read Spinach")
	c.say("Delete the second one")
	c.fact("11", `SELECT count(*) FROM kitchen.inventory WHERE user_id = $2`)
	c.fact("0", `SELECT count(*) FROM kitchen.inventory WHERE user_id = $2 AND name = 'Cheddar'`)
	c.fact("deleted deleted hidden", `SELECT concat_ws(' ', state, action, tier) FROM v_entities WHERE session_id = $1 AND ref = 'inv_2'`)

	asked := c.say("Remove everything in the freezer")
	require.Equal(t, "approve", asked.Question.Kind)
	require.Contains(t, asked.Question.Text, "3")
	require.Equal(t, "write partial", asked.outcomes())
	c.fact("11", `SELECT count(*) FROM kitchen.inventory WHERE user_id = $2`)
	c.fact("0", `SELECT count(*) FROM v_llm_calls WHERE session_id = $1 AND request::text ~ 'keys'`)

	said := c.say("yes")
	require.Equal(t, "write ok", said.outcomes())
	c.fact("8", `SELECT count(*) FROM kitchen.inventory WHERE user_id = $2`)
	c.fact("0", `SELECT count(*) FROM llm_calls l JOIN turns t ON t.id = l.turn_id WHERE l.session_id = $1 AND t.number = 4 AND l.node IN ('think', 'act')`)
	c.fact("", `SELECT string_agg(ref, ' ') FROM active_entities($1) WHERE ref IN (SELECT ref FROM entity_refs WHERE session_id = $1 AND turn_created >= 3)`)

	c.say("And the cheddar?")
	require.NotContains(t, section(c.prompt(5, "think", 1), "## Recent Context"), "inv_2")
}

// If a model looks up rows to delete them, the user has neither seen nor named them: several such rows need approval,
// by whatever refs they are deleted. Rows that the message names do not.
func TestRowsThatNobodySawAreAskedAbout(t *testing.T) {
	t.Parallel()
	find := func(what, refs string) string {
		return `
  - understand: {intent: write}
    think:
      goal: Delete them
      decision: plan
      steps:
        - {type: read, subdomain: inventory, description: Find them, calls: [{tool: db_read, table: inventory, filters: [` + what + `]}]}
        - {type: write, subdomain: inventory, description: Delete them}
    act: {calls: [{tool: db_delete, args: {table: inventory, filters: [{field: id, op: in, value: [` + refs + `]}]}}, {tool: step_complete, args: {summary: deleted}}]}
    reply: Done.`
	}
	c := converse(t, `
turns:`+find(`{field: location, op: "=", value: freezer}`, "inv_1, inv_2, inv_3")+`
  - understand: {intent: confirm, answers_question: true}
    reply: Done.`+find(`{field: name, op: in, value: [Butter, Milk]}`, "inv_4, inv_5"))
	rows := `SELECT count(*) FROM kitchen.inventory WHERE user_id = $2`
	asked := c.say("Empty the freezer")
	require.Equal(t, "approve", asked.Question.Kind)
	require.Contains(t, asked.Question.Text, "delete 3")
	c.fact("12", rows)
	c.say("yes")
	c.fact("9", rows)
	require.Empty(t, c.say("Throw out the butter and the milk").Question)
	c.fact("7", rows)
}

// An unanswered question is kept for three turns and never carried out by another message.
func TestUnansweredQuestionIsNotCarriedOut(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: write}
    think: {goal: Empty the freezer, decision: plan, steps: [{type: write, subdomain: inventory, description: Delete all in the freezer}]}
    act: {calls: [{tool: db_delete, args: {table: inventory, filters: [{field: location, op: "=", value: freezer}]}}]}
    reply: Shall I?`+chat+`
  - understand: {intent: confirm}
    think: {goal: talk, decision: plan, steps: []}
    reply: Sure.`+chat+chat)
	c.say("Remove everything in the freezer")
	c.say("Do we have milk?")
	c.fact("open", `SELECT string_agg(status::text, ' ') FROM questions WHERE session_id = $1`)
	require.Contains(t, section(c.prompt(2, "think", 1), "## Open Question"), "delete 3")
	c.say("yes, milk is what I asked for")
	c.fact("12", `SELECT count(*) FROM kitchen.inventory WHERE user_id = $2`)
	c.say("ok")
	c.fact("expired", `SELECT string_agg(status::text, ' ') FROM questions WHERE session_id = $1`)
	c.say("and now?")
	require.Empty(t, section(c.prompt(5, "think", 1), "## Open Question"))
	c.fact("12", `SELECT count(*) FROM kitchen.inventory WHERE user_id = $2`)
}

// A question outlasts a quick read: the answer that follows is planned with the question in view, and may do what it
// proposed.
func TestAQuestionOutlastsAQuickRead(t *testing.T) {
	t.Parallel()
	const (
		look = `
  - understand: {intent: read, quick: {entity_type: inv, why: one table}}
    act: {calls: [{tool: db_read, args: {table: inventory}}]}`
		note = `
    think: {goal: Note it, decision: plan, steps: [{type: write, subdomain: tasks, description: Note it}]}
    act: {calls: [{tool: db_create, args: {table: tasks, data: {title: Thaw the cod}}}, {tool: step_complete, args: {summary: noted}}]}
    reply: Noted.`
	)
	c := converse(t, `
turns:
  - understand: {intent: explore}
    think: {goal: Offer it, decision: propose, proposal: Shall I note to thaw the cod?, steps: [{type: write, subdomain: tasks, description: Note to thaw the cod}]}`+look+`
  - understand: {intent: confirm, answers_question: true}`+note+`
  - understand: {intent: write, clarification: {questions: [For which day?]}}`+look+`
  - understand: {intent: answer, answers_question: true}`+note)
	tasks := `SELECT count(*) FROM kitchen.tasks WHERE user_id = $2`
	c.say("We have cod on Friday")
	c.say("What is at home?")
	c.fact("0", tasks)
	c.say("yes")
	c.fact("1", tasks)
	require.Contains(t, section(c.prompt(3, "think", 1), "## Open Question"), "Shall I note to thaw the cod?")

	c.say("Remind me of it once more")
	c.say("What is at home?")
	c.say("Thursday")
	c.fact("2", tasks)
	require.Contains(t, section(c.prompt(6, "think", 1), "## Open Question"), "For which day?")
	c.fact("answered answered", `SELECT string_agg(status, ' ') FROM questions WHERE session_id = $1`)
}

func TestUpdateLifecycle(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: read, quick: {entity_type: inv, why: one}}
    act: {calls: [{tool: db_read, args: {table: inventory}}]}
  - understand: {intent: write, mentions: [{text: milk, ref: inv_8, resolution: exact}]}
    think: {goal: Set milk, decision: plan, steps: [{type: write, subdomain: inventory, description: Set milk to 2 litres, refs: [inv_8]}]}
    act: {calls: [{tool: db_update, args: {table: inventory, filters: [{field: id, op: "=", value: inv_8}], data: {quantity: 2, unit: l}}}, {tool: step_complete, args: {summary: set}}]}
    reply: Set.
  - understand: {intent: write, mentions: [{text: it, ref: inv_8, resolution: inferred}]}
    think: {goal: Rename milk, decision: plan, steps: [{type: write, subdomain: inventory, description: Rename to oat milk, refs: [inv_8]}]}
    act: {calls: [{tool: db_update, args: {table: inventory, filters: [{field: id, op: "=", value: inv_8}], data: {name: oat milk}}}, {tool: step_complete, args: {summary: renamed}}]}
    reply: Renamed.
  - understand: {intent: explore, mentions: [{text: the milk, ref: inv_8, resolution: inferred}]}
    think: {goal: Say how much, decision: plan, steps: [{type: analyze, subdomain: inventory, description: How much milk, refs: [inv_8]}]}
    act: {calls: [{tool: step_complete, args: {summary: 2 litres of oat milk}}]}
    reply: Two litres of oat milk.
`)
	c.say("What's in the pantry?")
	c.fact("Milk", `SELECT label FROM entity_refs WHERE session_id = $1 AND ref = 'inv_8'`)
	c.say("Set milk to 2 litres")
	c.fact("updated", `SELECT action FROM entity_refs WHERE session_id = $1 AND ref = 'inv_8'`)
	c.say("Rename it to oat milk")
	c.fact("updated oat milk oat milk 2 l", `SELECT concat_ws(' ', e.action, e.label, g.name, trim_scale(v.quantity), v.unit) FROM entity_refs e JOIN kitchen.inventory v ON v.id::text = e.entity_id
		JOIN kitchen.ingredients g ON g.id = v.ingredient_id WHERE e.session_id = $1 AND e.ref = 'inv_8'`)
	c.say("How much milk is there?")
	data := section(c.prompt(4, "act", 1), "## Active Entities (Full Data)")
	require.Contains(t, data, "| inv_8 | oat milk | inv | (2 l) [fridge]", "the newest value of each column, once")
	require.NotContains(t, data, "Milk")
	c.fact("12", `SELECT count(*) FROM kitchen.inventory WHERE user_id = $2`)
}

// What a user changes elsewhere is known to the next message as the user's own act.
func TestUIChangeThenChat(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: write, mentions: [{text: this, ref: recipe_1, resolution: exact}]}
    think: {goal: Plan it, decision: plan, steps: [{type: write, subdomain: meal_plans, description: Plan it for Tuesday dinner, refs: [recipe_1]}]}
    act: {calls: [{tool: db_create, args: {table: meal_plans, data: {date: "2026-12-01", meal_type: dinner, recipe_id: recipe_1}}}, {tool: step_complete, args: {summary: planned}}]}
    reply: Butter Paneer is planned for Tuesday, December 1.
  - understand: {intent: read}
    think: {goal: Say, decision: plan, steps: []}
    reply: You deleted it.
`)
	c.exec(`INSERT INTO kitchen.recipes (id, user_id, name) VALUES ('01900000-0000-7000-8000-00000000abcd', $1, 'Butter Paneer')`)
	change := func(action string) []map[string]any {
		return []map[string]any{{"action": action, "entity_type": "recipe", "entity_id": "01900000-0000-7000-8000-00000000abcd", "label": "Butter Paneer"}}
	}
	c.send(message{"message": "Add this to Tuesday dinner", "ui_changes": change("created:user")})
	c.refs("recipe", "recipe_1 stored created:user Butter Paneer")
	c.fact("ui_change Butter Paneer", `SELECT concat_ws(' ', r.tool, r.rows -> 0 ->> 'name') FROM turn_step_results r JOIN turns t ON t.id = r.turn_id WHERE t.session_id = $1 AND t.number = 1 AND r.step = 0`)
	require.Contains(t, c.prompt(1, "understand", 1), "recipe_1: Butter Paneer (recipe) [created:user")
	c.fact("Butter Paneer Tuesday", `SELECT concat_ws(' ', r.name, to_char(m.date, 'FMDay')) FROM kitchen.meal_plans m JOIN kitchen.recipes r ON r.id = m.recipe_id WHERE m.user_id = $2`)
	c.fact("user", `SELECT string_agg(DISTINCT actor::text, ' ') FROM entity_events WHERE session_id = $1 AND ref = 'recipe_1' AND action = 'created:user'`)

	c.exec(`DELETE FROM kitchen.recipes WHERE id = '01900000-0000-7000-8000-00000000abcd' AND user_id = $1`)
	c.send(message{"message": "What about the paneer?", "ui_changes": change("deleted:user")})
	c.fact("deleted deleted:user hidden", `SELECT concat_ws(' ', state, action, tier) FROM v_entities WHERE session_id = $1 AND ref = 'recipe_1'`)
	require.NotContains(t, section(c.prompt(2, "think", 1), "## Recent Context"), "recipe_1: Butter Paneer", "what the user deleted cannot be planned with")
}

// A mention is read as its owner before it counts; another user's is ignored.
func TestMentions(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: explore, mentions: [{text: Butter Chicken, ref: recipe_1, resolution: exact}]}
    think: {goal: Say how long, decision: plan, steps: [{type: analyze, subdomain: recipes, description: How long, refs: [recipe_1]}]}
    act: {calls: [{tool: step_complete, args: {summary: 45 minutes}}]}
    reply: It takes 45 minutes.
  - understand: {intent: explore}
    think: {goal: Say, decision: plan, steps: []}
    reply: I cannot find that recipe.
`)
	own := c.one(`SELECT id FROM kitchen.recipes WHERE user_id = $2 AND name = 'Butter Chicken'`)
	stranger := c.resident("bob")
	var foreign string
	require.NoError(t, c.pool.QueryRow(t.Context(), `SELECT id FROM kitchen.recipes WHERE user_id = $1 AND name = 'Pad See Ew'`, stranger.user).Scan(&foreign))

	said := c.say("@[Butter Chicken](recipe:" + own + ") how long does it take?")
	require.Equal(t, "analyze ok", said.outcomes(), "the mentioned row is loaded, no read is needed")
	c.refs("recipe", "recipe_1 stored mentioned:user Butter Chicken")
	c.fact("mention", `SELECT string_agg(r.tool, ' ') FROM turn_step_results r JOIN turns t ON t.id = r.turn_id WHERE t.session_id = $1 AND r.step = 0`)
	require.Contains(t, c.prompt(1, "understand", 1), "Butter Chicken (recipe_1) how long does it take?")
	require.Contains(t, c.prompt(1, "act", 1), "total_time:45min")
	c.fact("true", `SELECT message LIKE '%](recipe:%' FROM turns WHERE session_id = $1 AND number = 1`)

	c.say("And @[Pad See Ew](recipe:" + foreign + ")?")
	c.refs("recipe", "recipe_1 stored mentioned:user Butter Chicken")
	require.Contains(t, c.prompt(2, "understand", 1), "And Pad See Ew?")
	c.fact("0", `SELECT sum(r.row_count) FROM turn_step_results r JOIN turns t ON t.id = r.turn_id WHERE t.session_id = $1 AND t.number = 2`)
	for _, node := range []string{"understand", "think", "reply"} {
		require.Contains(t, c.prompt(2, node, 1), "Pad See Ew could not be found", node)
	}
}

// A receipt is one call; an item named twice on a list is one row.
func TestBatch(t *testing.T) {
	t.Parallel()
	c := scripted(t, `
turns:
  - understand: {intent: write}
    think: {goal: Add all, decision: plan, steps: [{type: write, subdomain: shopping, description: Add the receipt}]}
    act:
      - calls:
          - tool: db_create
            args:
              table: shopping_list
              data: [{name: butter, quantity: 1, unit: piece}, {name: milk, quantity: 1, unit: l}, {name: eggs, quantity: 12, unit: count}, {name: butter, quantity: 2, unit: piece}, {name: cod}]
          - {tool: step_complete, args: {summary: five items}}
    reply: Added.
  - understand: {intent: write}
    think: {goal: Add eggs, decision: plan, steps: [{type: write, subdomain: shopping, description: Add eggs}]}
    act: {calls: [{tool: db_create, args: {table: shopping_list, data: {name: eggs, quantity: 6, unit: count}}}, {tool: step_complete, args: {summary: added}}]}
    reply: Added.
`).guest("new").talk()
	c.say("Add all of this receipt")
	c.calls("1", "db_create 1")
	c.fact("4 3", `SELECT concat_ws(' ', count(*), trim_scale(sum(quantity) FILTER (WHERE name = 'butter'))) FROM kitchen.shopping_list WHERE user_id = $2`)
	c.fact("4", `SELECT count(*) FROM entity_refs WHERE session_id = $1 AND entity_type = 'shop' AND action = 'created'`)
	c.say("and 6 more eggs")
	c.fact("4 18", `SELECT concat_ws(' ', count(*), trim_scale(sum(quantity) FILTER (WHERE name = 'eggs'))) FROM kitchen.shopping_list WHERE user_id = $2`)
	c.fact("updated", `SELECT action FROM entity_refs WHERE session_id = $1 AND label = 'eggs' AND entity_type = 'shop'`)
}

// Rows of one name are asked about by what distinguishes them, also where a step asks and its model writes their refs.
func TestQuestionOfAStepTellsRowsApart(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: read, quick: {entity_type: recipe, why: one}}
    act: {calls: [{tool: db_read, args: {table: recipes}}]}
  - understand: {intent: write}
    think: {goal: Delete it, decision: plan, steps: [{type: write, subdomain: recipes, description: Delete the curry, refs: [recipe_2, recipe_3]}]}
    act: {calls: [{tool: ask_user, args: {question: Which curry?, options: [recipe_2, recipe_3, Neither]}}]}
    reply: Which curry?
`)
	c.exec(`INSERT INTO kitchen.recipes (user_id, name, cook_time_minutes) VALUES ($1, 'Chicken Curry', 20), ($1, 'Chicken Curry', 45)`)
	c.say("List my recipes")
	asked := c.say("Delete the curry").Question
	require.Len(t, asked.Options, 3)
	require.Equal(t, "recipe_2 recipe_3 Neither", asked.Options[0].Ref+" "+asked.Options[1].Ref+" "+asked.Options[2].Label)
	require.Contains(t, asked.Options[0].Label, "20 min")
	require.Contains(t, asked.Options[1].Label, "45 min")
}

// With two candidates, the assistant asks which; the answer deletes exactly that one.
func TestDisambiguation(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: read, quick: {entity_type: recipe, why: one}}
    act: {calls: [{tool: db_read, args: {table: recipes}}]}
  - understand:
      intent: write
      mentions: [{text: the chicken one, resolution: ambiguous, candidates: [recipe_1, recipe_2]}]
      disambiguation: {question: Which chicken recipe?, options: [recipe_1, recipe_2]}
    reply: Which chicken recipe, Butter Chicken or Chicken Curry?
  - understand: {intent: answer, answers_question: true, mentions: [{text: the second, ref: recipe_2, resolution: exact}]}
    think: {goal: Delete it, decision: plan, steps: [{type: write, subdomain: recipes, description: Delete it, refs: [recipe_2]}]}
    act: {calls: [{tool: db_delete, args: {table: recipes, filters: [{field: id, op: "=", value: recipe_2}]}}, {tool: step_complete, args: {summary: deleted}}]}
    reply: Chicken Curry is gone.
`)
	c.exec(`INSERT INTO kitchen.recipes (user_id, name) VALUES ($1, 'Chicken Curry')`)
	c.say("List my recipes")
	asked := c.say("Delete the chicken one")
	require.Equal(t, "disambiguate", asked.Question.Kind)
	require.Equal(t, "Butter Chicken recipe_1, Chicken Curry recipe_2", asked.Question.Options[0].Label+" "+asked.Question.Options[0].Ref+", "+asked.Question.Options[1].Label+" "+asked.Question.Options[1].Ref)
	require.Contains(t, asked.Reply, "Chicken Curry")
	require.NotContains(t, asked.Reply, "recipe_2")
	c.fact("recipe_1 recipe_2", `SELECT string_agg(ref, ' ' ORDER BY ref) FROM entity_events WHERE session_id = $1 AND turn_number = 2 AND action = 'touched'`) // the other one stays in view, too
	c.fact("4", recipes)
	said := c.say("The second")
	require.Equal(t, "write ok", said.outcomes(), "an answer to a question about a write may write")
	c.fact("Butter Chicken, Pad See Ew, Shakshuka Classic", `SELECT string_agg(name, ', ' ORDER BY name) FROM kitchen.recipes WHERE user_id = $2`)
	c.fact("answered 3", `SELECT string_agg(concat_ws(' ', status, answered_by_turn), ', ') FROM questions WHERE session_id = $1`)
}

package e2e_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// A question about added rows is answered from what the session knows, without writing or reading again.
func TestReadThenRefer(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: read, quick: {entity_type: inv, why: one table}}
    act: {calls: [{tool: db_read, args: {table: inventory}}]}
  - understand: {intent: write}
    think: {goal: Add eggs, decision: plan, steps: [{type: write, subdomain: inventory, description: Add 12 eggs}]}
    act:
      - calls:
          - {tool: db_create, args: {table: inventory, data: {name: eggs, quantity: 12, location: fridge}}}
          - {tool: step_complete, args: {summary: 12 eggs added}}
    reply: I added 12 eggs to the fridge.
  - understand: {intent: read, mentions: [{text: what I just added, ref: inv_13, resolution: inferred}]}
    think: {goal: Say what was added, decision: plan, steps: []}
    reply: You just added 12 eggs.
`)
	c.say("What's in my pantry?")
	c.fact("12 read", `SELECT concat_ws(' ', count(*), min(action)) FROM entity_refs WHERE session_id = $1 AND entity_type = 'inv' AND ref ~ '^inv_\d+$'`)
	c.calls("1", "db_read 1")
	c.tier("recent", "inv_1", "inv_2", "inv_3", "inv_4", "inv_5", "inv_6", "inv_7", "inv_8", "inv_9", "inv_10", "inv_11", "inv_12")

	c.say("Add 12 eggs to the fridge")
	c.fact("created eggs", `SELECT concat_ws(' ', action, label) FROM entity_refs WHERE session_id = $1 AND ref = 'inv_13'`)
	c.fact("12 fridge eggs", `SELECT concat_ws(' ', trim_scale(v.quantity), v.location, g.name) FROM entity_refs e JOIN kitchen.inventory v ON v.id::text = e.entity_id
		JOIN kitchen.ingredients g ON g.id = v.ingredient_id WHERE e.session_id = $1 AND e.ref = 'inv_13'`)

	said := c.say("What did I just add?")
	require.Contains(t, said.Reply, "12 eggs")
	c.fact("13", `SELECT count(*) FROM kitchen.inventory WHERE user_id = $2`)
	c.fact("13", `SELECT count(*) FROM entity_refs WHERE session_id = $1 AND entity_type = 'inv'`)
	require.Contains(t, c.prompt(3, "think", 1), "inv_13: eggs", "the row stands in view")
	require.Contains(t, c.prompt(3, "reply", 1), "12 eggs", "the conversation is in view")
	require.NotContains(t, c.prompt(3, "reply", 1), "inv_13", "a reply speaks of rows, not of refs")
}

// A foreign key that was never read gets a name and a ref, but no place in view.
func TestLinkedRowsGetNames(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: read, quick: {entity_type: meal, why: one table}}
    act: {calls: [{tool: db_read, args: {table: meal_plans}}]}
  - understand: {intent: read, mentions: [{text: that recipe, ref: recipe_1, resolution: exact}]}
    think: {goal: Open the recipe, decision: plan, steps: [{type: read, subdomain: recipes, description: Read it in full, refs: [recipe_1]}]}
    act:
      - calls: [{tool: db_read, args: {table: recipes, filters: [{field: id, op: "=", value: recipe_1}], detail: full}}, {tool: step_complete, args: {summary: read}}]
    reply: Here it is.
`)
	c.exec(`INSERT INTO kitchen.meal_plans (user_id, date, meal_type, recipe_id) SELECT user_id, '2026-01-12', 'lunch', id FROM kitchen.recipes WHERE user_id = $1 AND name = 'Butter Chicken'`)

	said := c.say("What's planned?")
	c.refs("recipe", "recipe_1 stored linked Butter Chicken")
	c.fact("Butter Chicken", `SELECT r.rows -> 0 ->> '_recipe_id_label' FROM turn_step_results r JOIN turns t ON t.id = r.turn_id WHERE t.session_id = $1`)
	c.fact("recipe_1", `SELECT r.rows -> 0 ->> 'recipe_id' FROM turn_step_results r JOIN turns t ON t.id = r.turn_id WHERE t.session_id = $1`)
	c.tier("recent", "meal_1")
	require.Contains(t, said.Reply, "Mon 12 Jan, lunch: Butter Chicken")
	require.NotContains(t, said.Reply, "recipe_1")

	c.say("Open that recipe")
	c.refs("recipe", "recipe_1 stored read Butter Chicken")
	c.fact("true", `SELECT loaded ? 'text' FROM entity_refs WHERE session_id = $1 AND ref = 'recipe_1'`)
	c.fact("14", `SELECT count(*) FROM entity_refs WHERE session_id = $1 AND entity_type = 'ri'`)
}

// A list shows summaries; the method is read when asked for, and then not again.
func TestSummaryThenFull(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: read, quick: {entity_type: recipe, why: one table}}
    act: {calls: [{tool: db_read, args: {table: recipes}}]}
  - understand: {intent: read, mentions: [{text: the second, ref: recipe_2, resolution: inferred}]}
    think: {goal: Show the method, decision: plan, steps: [{type: read, subdomain: recipes, description: Read the method, refs: [recipe_2]}]}
    act:
      - calls: [{tool: db_read, args: {table: recipes, filters: [{field: id, op: "=", value: recipe_2}], detail: text}}]
      - calls: [{tool: step_complete, args: {summary: the method of Pad See Ew}}]
    reply: Heat a wok until it smokes.
  - understand: {intent: read, mentions: [{text: it, ref: recipe_2, resolution: inferred}]}
    think: {goal: Say whether it is spicy, decision: plan, steps: [{type: analyze, subdomain: recipes, description: Is it spicy, refs: [recipe_2]}]}
    act: {calls: [{tool: step_complete, args: {summary: not spicy, conclusions: It is mild.}}]}
    reply: No, it is mild.
`)
	c.say("List my recipes")
	c.refs("recipe", "recipe_1 stored read Butter Chicken", "recipe_2 stored read Pad See Ew", "recipe_3 stored read Shakshuka Classic")
	c.fact("", `SELECT string_agg(r.rows::text, '') FILTER (WHERE r.rows::text LIKE '%instructions%' OR r.rows::text LIKE '%embedding%') FROM turn_step_results r JOIN turns t ON t.id = r.turn_id WHERE t.session_id = $1`)

	c.say("How do I make the second one?")
	require.Contains(t, c.prompt(2, "think", 1), "recipe_2: Pad See Ew (recipe) [read:summary]")
	c.fact("2", `SELECT loaded ->> 'text' FROM entity_refs WHERE session_id = $1 AND ref = 'recipe_2'`)
	c.fact("false", `SELECT loaded ? 'text' FROM entity_refs WHERE session_id = $1 AND ref = 'recipe_1'`)
	require.Contains(t, c.prompt(2, "act", 2), "1 row: recipe_2")

	said := c.say("Is it spicy?")
	require.Equal(t, "analyze ok", said.outcomes(), "what is loaded is not read again")
	require.Contains(t, c.prompt(3, "think", 1), "recipe_2: Pad See Ew (recipe) [read:full]")
	require.Contains(t, c.prompt(3, "act", 1), "Heat a wok until it smokes", "the rows of turn 2 stand in turn 3's data")
	require.Equal(t, section(c.prompt(3, "think", 1), "## Conversation"), section(c.prompt(3, "act", 1), "## Conversation"))
}

// An analysis of rows known only by name reads them first.
func TestAnalyzeNeedsRows(t *testing.T) {
	t.Parallel()
	idle := `
  - understand: {intent: chat}
    think: {goal: chat, decision: plan, steps: []}
    reply: Sure.`
	c := converse(t, `
turns:
  - understand: {intent: read, quick: {entity_type: recipe, why: one table}}
    act: {calls: [{tool: db_read, args: {table: recipes}}]}
  - understand: {intent: chat, curation: {retain: [{ref: recipe_1, reason: to compare}, {ref: recipe_2, reason: to compare}, {ref: recipe_3, reason: to compare}]}}
    think: {goal: chat, decision: plan, steps: []}
    reply: Sure.`+idle+idle+idle+`
  - understand: {intent: explore}
    think: {goal: Compare, decision: plan, steps: [{type: analyze, subdomain: recipes, description: Compare the methods, refs: [recipe_1, recipe_2, recipe_3], needs: rows}]}
    act:
      - step: 2
        calls: [{tool: step_complete, args: {summary: compared, conclusions: Shakshuka is the shortest.}}]
    reply: Shakshuka is the shortest.
  - understand: {intent: explore}
    think: {goal: Compare again, decision: plan, steps: [{type: analyze, subdomain: recipes, description: Compare the ingredients, refs: [recipe_1], needs: rows}]}
    act: {calls: [{tool: blocked, args: {code: insufficient_info, details: The ingredients of Butter Chicken are not here., next: fail}}]}
    reply: I do not have the ingredients here.
`)
	c.say("List my recipes")
	for range 4 {
		c.say("ok")
	}
	c.tier("retained", "recipe_1", "recipe_2", "recipe_3")
	said := c.say("Compare the instructions of the three")
	require.Equal(t, "read ok, analyze ok", said.outcomes(), "code puts the read before the analysis")
	require.Contains(t, c.prompt(6, "act", 1), "Make six hollows")
	c.fact("Shakshuka is the shortest.", `SELECT analysis_conclusions FROM turn_summaries WHERE session_id = $1 AND turn_number = 6`)

	said = c.say("And the ingredients?")
	require.Equal(t, "analyze failed", said.outcomes())
	require.Contains(t, c.prompt(7, "reply", 1), "not done")
	require.Contains(t, c.prompt(7, "reply", 1), "The ingredients of Butter Chicken are not here.")
}

// A read without the filter that failed is not told as what was asked for: "Which of it is vegan?" was answered with the whole pantry.
func TestAReadWithoutItsFilterSaysSo(t *testing.T) {
	t.Parallel()
	const widened = `[{calls: [{tool: db_read, args: {table: inventory, filters: [{field: vegan, op: "=", value: true}]}}]}, {calls: [{tool: db_read, args: {table: inventory}}, {tool: step_complete, args: {summary: vegan things}}]}]`
	c := converse(t, `
turns:
  - understand: {intent: read, quick: {entity_type: inv, why: one table}}
    act: `+widened+`
  - understand: {intent: read}
    think: {goal: Find vegan things, decision: plan, steps: [{type: read, subdomain: inventory, description: Find vegan things}]}
    act: `+widened+`
    reply: These are vegan.
`)
	const told = "Found 12 pantry items, all there are, because they could not be narrowed down as asked:"
	require.Contains(t, c.say("which of it is vegan?").Reply, told)
	c.say("which of it is vegan, really?")
	require.Contains(t, c.prompt(2, "reply", 1), told)
}

// A quick question costs one model call; anything but a plain lookup is planned.
func TestQuick(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: read, quick: {entity_type: shop, why: one table}}
    act: {calls: [{tool: db_read, args: {table: shopping_list}}]}
  - understand: {intent: read}
    think: {goal: Both, decision: plan, steps: [{type: read, subdomain: inventory, description: Pantry}, {type: read, subdomain: shopping, description: List}]}
    act:
      - calls: [{tool: db_read, args: {table: inventory}}, {tool: step_complete, args: {summary: twelve}}]
      - calls: [{tool: db_read, args: {table: shopping_list}}, {tool: step_complete, args: {summary: none}}]
    reply: Twelve things at home, nothing to buy.
  - understand: {intent: chat}
    think: {goal: Answer, decision: plan, steps: []}
    reply: Yes, ghee works.
  - understand: {intent: read, quick: {entity_type: shop, why: one table}}
    act:
      - {raw: "I will look it up", repairs: [{raw: "let me see"}, {raw: "one moment"}]}
    reply: I could not look it up just now.
`)
	said := c.say("what's on my list?")
	require.Equal(t, "Your shopping list is empty.", said.Reply)
	require.LessOrEqual(t, said.Usage.Calls, 2)
	c.fact("none", `SELECT model FROM turn_summaries WHERE session_id = $1 AND turn_number = 1`)

	said = c.say("what's in the pantry and on the list?")
	require.Equal(t, "read ok, read empty", said.outcomes())

	said = c.say("can I substitute ghee for butter?")
	require.Empty(t, said.Steps)
	c.fact("0", `SELECT count(*) FROM turn_step_results r JOIN turns t ON t.id = r.turn_id WHERE t.session_id = $1 AND t.number = 3`)

	said = c.say("and what's on my list now?")
	require.Equal(t, "read failed", said.outcomes(), "V31: the step fails, not the turn")
	require.Equal(t, "I could not look it up just now.", said.Reply)
	require.Contains(t, c.prompt(4, "reply", 1), "No usable decision was made for this step.")
}

// Zero rows is a result: one query, no retry, a friendly text.
func TestEmptyResults(t *testing.T) {
	t.Parallel()
	c := scripted(t, `
turns:
  - understand: {intent: read, quick: {entity_type: recipe, why: one table}}
    act: {calls: [{tool: db_read, args: {table: recipes}}]}
  - understand: {intent: read}
    think: {goal: Tasks, decision: plan, steps: [{type: read, subdomain: tasks, description: Read the tasks}]}
    act: {calls: [{tool: db_read, args: {table: tasks}}, {tool: step_complete, args: {summary: no tasks}}]}
    reply: You have no tasks.
`).guest("new").talk()
	said := c.say("Show my recipes")
	require.Equal(t, "You have no saved recipes yet.", said.Reply)
	require.Equal(t, "read empty", said.outcomes())
	c.calls("1", "db_read 1")
	said = c.say("And tasks?")
	require.Equal(t, "read empty", said.outcomes())
	c.calls("2", "db_read 1")
	require.Contains(t, c.prompt(2, "reply", 1), "You have no tasks.")
	c.fact("0", `SELECT count(*) FROM questions WHERE session_id = $1`)
}

// Counts in the snapshot are not refs: rows known only from there are found by name.
func TestSnapshotIsNotContext(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: write}
    think:
      decision: plan
      goal: Delete Shakshuka
      steps: [{type: write, subdomain: recipes, description: Delete recipe_1, refs: [recipe_1]}]
      repairs:
        - {decision: plan, goal: Delete Shakshuka, steps: [{type: write, subdomain: recipes, description: Delete Shakshuka}]}
    act:
      - calls: [{tool: db_read, args: {table: recipes, filters: [{field: name, op: ilike, value: "%shakshuka%"}]}}]
      - calls: [{tool: db_delete, args: {table: recipes, filters: [{field: id, op: "=", value: recipe_1}]}}, {tool: step_complete, args: {summary: deleted}}]
    reply: Shakshuka is gone.
`)
	said := c.say("Delete Shakshuka")
	require.Contains(t, c.prompt(1, "think", 1), "Shakshuka Classic", "the snapshot names it")
	require.Contains(t, c.prompt(1, "think", 2), "there is no recipe_1 in this conversation")
	require.Equal(t, "write ok", said.outcomes())
	c.fact("Butter Chicken, Pad See Ew", `SELECT string_agg(name, ', ' ORDER BY name) FROM kitchen.recipes WHERE user_id = $2`)
	c.refs("recipe", "recipe_1 deleted deleted Shakshuka Classic")
}

// An unknown mode is refused before a turn exists.
func TestModes(t *testing.T) {
	t.Parallel()
	step := "{type: read, subdomain: recipes, description: look}"
	steps := func(n int) string { return many(n, step) }
	c := converse(t, `
turns:
  - understand: {intent: read}
    think: {goal: many, decision: plan, steps: [`+steps(9)+`], repairs: [{goal: many, decision: plan, steps: [`+steps(9)+`]}, {goal: many, decision: plan, steps: [`+steps(9)+`]}]}
    act: [`+acts(8)+`]
    reply: Done.
  - understand: {intent: read}
    think: {goal: few, decision: plan, steps: [`+steps(5)+`], repairs: [{goal: few, decision: plan, steps: [`+steps(4)+`]}]}
    act: [`+acts(4)+`]
    reply: Done.
  - understand: {intent: read}
    think: {goal: two, decision: plan, steps: [`+steps(3)+`], repairs: [{goal: two, decision: plan, steps: [`+steps(2)+`]}]}
    act: [`+acts(2)+`]
    reply: Done.
`)
	var problem struct {
		Code string `json:"code"`
	}
	require.Equal(t, http.StatusBadRequest, c.call(http.MethodPost, c.path("/turns"), message{"message": "hi", "mode": "cook"}, &problem))
	require.Equal(t, "invalid_request", problem.Code)
	c.fact("0", `SELECT last_turn FROM sessions WHERE id = $1`)

	said := c.say("plan everything")
	require.Equal(t, "read empty, read empty, read empty, read empty, read empty, read empty, read empty, read empty, read skipped", said.outcomes(),
		"V37: what has no room is named as not done")
	require.Contains(t, c.prompt(1, "reply", 1), "the plan was too long for one turn")
	require.Contains(t, c.prompt(1, "think", 1), "Mode: PLAN (max 8 steps)")
	require.Len(t, c.send(message{"message": "write something", "mode": "create"}).Steps, 4)
	require.Contains(t, c.prompt(2, "think", 2), "at most 4 are allowed")
	require.Len(t, c.send(message{"message": "quickly", "mode": "quick"}).Steps, 2)
}

func acts(n int) string { return many(n, "{calls: [{tool: step_complete, args: {summary: looked}}]}") }

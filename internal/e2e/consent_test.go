package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// question is the id of the open question.
func (c *talk) question() string {
	c.t.Helper()

	return c.one(`SELECT id FROM questions WHERE session_id = $1 AND status = 'open'`)
}

// click answers the open question like the page: with the label as the message and the option's id.
func (c *talk) click(option, label string) *turn {
	c.t.Helper()

	return c.send(message{"message": label, "answer": map[string]string{"question_id": c.question(), "option_id": option}})
}

// V02: a click answers with an option's id, and the model's reading of the label decides nothing: yes permits what was
// offered, no permits nothing, a chosen row is that row.
func TestV02ClicksAreAnswers(t *testing.T) {
	t.Parallel()
	save := `{goal: Save it, decision: plan, steps: [{type: write, subdomain: recipes, description: Save the draft, refs: [gen_recipe_1], calls: [{tool: db_create, table: recipes, from_ref: gen_recipe_1}]}]}`
	c := converse(t, `
turns:`+draft(basil)+`
  - understand: {intent: confirm}
    think: {goal: Nothing, decision: plan, steps: []}
    reply: As you like.
  - understand: {intent: explore}
    think: {goal: Change it, decision: plan, steps: [{type: generate, subdomain: recipes, description: Change the draft, refs: [gen_recipe_1]}]}
    act: {calls: [{tool: generate, args: {updates: [{ref: gen_recipe_1, content: {servings: 3}}]}}, {tool: step_complete, args: {summary: changed}}]}
    reply: For three.
  - understand: {intent: chat}
    think: `+save+`
    reply: Saved.
  - understand: {intent: read, disambiguation: {question: Which one?, options: [recipe_1, recipe_2]}}
    reply: Which one?
  - understand: {intent: chat, quick: {entity_type: recipe, why: no}}
    think: {goal: Talk, decision: plan, steps: []}
    reply: That one.
`)
	c.exec(`UPDATE kitchen.recipes SET name = 'Pad' WHERE user_id = $1 AND name = 'Pad See Ew'`)
	c.say("draft the basil dish")
	first := c.question()
	c.click("no", "No")
	require.Contains(t, c.prompt(2, "think", 1), "The user clicked: No", "who plans knows")

	var problem struct {
		Code string `json:"code"`
	}
	answer := func(question, option string) int {
		return c.call(http.MethodPost, c.path("/turns"), message{"message": "Yes", "answer": map[string]string{"question_id": question, "option_id": option}}, &problem)
	}
	require.Equal(t, http.StatusConflict, answer(first, "yes"), "a question that is over takes no answer")
	c.say("for three")
	require.Equal(t, http.StatusBadRequest, answer(c.question(), "recipe_1"), "an option of another question: %+v", problem)
	require.Equal(t, "write ok", c.click("yes", "Yes").outcomes(), "misread as chat")
	c.fact("3", `SELECT servings FROM kitchen.recipes WHERE user_id = $2 AND name = 'Thai Basil Chicken'`)
}

// V19: a single row is deleted at once, because that can be undone. What a declaration wants approved is still asked
// about, and a yes carries out exactly that.
func TestV19ADeletedRowCanBeTakenBack(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: read, quick: {entity_type: recipe, why: one table}}
    act: {calls: [{tool: db_read, args: {table: recipes}}]}
  - understand: {intent: write}
    think: {goal: Delete it, decision: plan, steps: [{type: write, subdomain: recipes, description: Delete the shakshuka, refs: [recipe_3], calls: [{tool: db_delete, table: recipes, filters: [{field: id, op: "=", value: recipe_3}]}]}]}
    reply: Deleted.
  - understand: {intent: write}
    think: {goal: "", decision: plan, steps: [], calls: [{tool: undo}]}
`)
	c.say("show my recipes")
	require.Equal(t, "write ok", c.say("delete the shakshuka").outcomes())
	c.fact("2", `SELECT count(*) FROM kitchen.recipes WHERE user_id = $2`)
	require.NotContains(t, c.callsOf(2), "act", "nobody has touched it since it was read")
	c.say("take that back")
	c.fact("3", `SELECT count(*) FROM kitchen.recipes WHERE user_id = $2`)
}

// A question names rows as people call them, wherever it is shown: in the reply, as a card, and in text alone.
func TestQuestionsNameRowsByTheirLabels(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: read}
    think: {goal: Look, decision: plan, steps: [{type: read, subdomain: recipes, description: Read them}]}
    act: [{calls: [{tool: db_read, args: {table: recipes}}, {tool: step_complete, args: {summary: read}}]}]
    reply: There they are.
  - understand: {intent: explore}
    think: {goal: Ask, decision: propose, proposal: "Shall I delete recipe_1?", steps: [{type: write, subdomain: recipes, description: Delete recipe_1, refs: [recipe_1]}]}
  - understand: {intent: confirm, answers_question: true}
    think: {goal: Delete, decision: plan, steps: []}
    reply: Well.
`)
	c.say("show my recipes")
	asked := c.say("which one is too much?")
	require.Equal(t, "Shall I delete Butter Chicken?\n1. Yes\n2. No", asked.Reply)
	require.Equal(t, "Shall I delete Butter Chicken?", asked.Question.Text)
	c.fact("Shall I delete Butter Chicken?", `SELECT e.data ->> 'text' FROM turn_events AS e JOIN turns AS t ON t.id = e.turn_id WHERE t.session_id = $1 AND e.type = 'question'`)
	c.say("yes")
	require.Contains(t, section(c.prompt(3, "understand", 1), "## Open Question"), "Shall I delete recipe_1?", "a model knows which one is meant")
}

// V29: a turn that wrote and then failed says what stays, in its reply, in its summary and to the next turn. A retry
// repeats it only if somebody asks for that.
func TestV29AFailedTurnSaysWhatStays(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: write}
    think: {goal: Add, decision: plan, steps: [{type: write, subdomain: shopping, description: Add milk}, {type: write, subdomain: tasks, description: Add a task}]}
    act: [{calls: [{tool: db_create, args: {table: shopping_list, data: {name: milk}}}, {tool: step_complete, args: {summary: added}}]}, {error: {kind: auth}}]
  - understand: {intent: chat}
    think: {goal: Talk, decision: plan, steps: []}
    reply: Milk is on the list.
  - understand: {intent: chat, error: {kind: auth}}
`)
	failed := c.fail("milk, and call mum")
	require.Contains(t, failed.Reply, "Done before that, and it stays: saved milk.")
	require.Equal(t, failed.Reply, failed.Error.Message)
	c.fact("Add milk ok", `SELECT (steps -> 0 ->> 'description') || ' ' || (steps -> 0 ->> 'status') FROM turn_summaries WHERE session_id = $1 AND turn_number = 1`)
	c.say("what about the milk?")
	require.Contains(t, section(c.prompt(2, "think", 1), "## What Happened"), "Add milk (write, shopping): ok")
	require.Contains(t, c.fail("hello").Reply, "The model refuses our key", "nothing was begun, so there is nothing to deny")
}

// V06: only a model that has seen a row may overwrite it: Act decides again on its current state, and rows that the
// plan would change unseen are read first.
func TestV06WhatWasNotSeenIsNotWrittenOver(t *testing.T) {
	t.Parallel()
	act := func(field, value string) string {
		return `{tool: db_update, args: {table: inventory, filters: [{field: ` + field + `, op: "=", value: ` + value + `}], set: [{column: quantity, value: 7}]}}`
	}
	plan := func(field, value string) string {
		return `{tool: db_update, table: inventory, filters: [{field: ` + field + `, op: "=", value: ` + value + `}], set: [{column: quantity, value: 8}]}`
	}
	turn := func(calls, acts string) string {
		return `
  - understand: {intent: write}
    think: {goal: Change it, decision: plan, steps: [{type: write, subdomain: inventory, description: So many of it, calls: [` + calls + `]}]}
    act: [` + acts + `]
    reply: So many.`
	}
	c := converse(t, `
turns:
  - understand: {intent: read}
    think: {goal: See names, decision: plan, steps: [{type: read, subdomain: inventory, description: Read the names}]}
    act: {calls: [{tool: db_read, args: {table: inventory, columns: [name]}}, {tool: step_complete, args: {summary: read}}]}
    reply: There.`+
		turn("", `{calls: [`+act("id", "inv_1")+`]}, {calls: [`+act("id", "inv_1")+`, {tool: step_complete, args: {summary: changed}}]}`)+
		turn(plan("id", "inv_2"), `{calls: [`+act("id", "inv_2")+`, {tool: step_complete, args: {summary: changed}}]}`)+
		turn(plan("name", "cod"), `{calls: [`+act("name", "cod")+`, {tool: step_complete, args: {summary: changed}}]}`)+
		turn("", `{calls: [`+act("name", "peas")+`]}, {calls: [`+act("name", "peas")+`, {tool: step_complete, args: {summary: changed}}]}`)+"\n")
	quantity := func(name string) string {
		return `SELECT quantity::int::text FROM kitchen.inventory WHERE user_id = $2 AND name = '` + name + `'`
	}
	c.say("what is there?")
	require.Equal(t, "write ok", c.say("seven of the first").outcomes())
	require.Equal(t, "understand act act reply", c.callsOf(2), "by ref, of which the name alone was seen")
	require.Contains(t, c.prompt(2, "act", 2), "you have not seen what would be changed")
	c.fact("7", quantity("Basmati rice"))

	require.Equal(t, "read ok, write ok", c.say("seven of the second").outcomes())
	require.Equal(t, "understand act reply", c.callsOf(3), "by a ref that is not loaded: code looks, and who decides has seen it")
	c.fact("7", quantity("Butter"))

	require.Equal(t, "read ok, write ok", c.say("seven cod").outcomes())
	require.Equal(t, "understand act reply", c.callsOf(4), "by name, likewise")
	c.fact("7", quantity("Cod"))

	require.Equal(t, "write ok", c.say("seven peas").outcomes())
	require.Equal(t, "understand act act reply", c.callsOf(5))
	c.fact("7", quantity("Peas"))
}

// A model that deletes what it has found one by one is stopped where the user has not seen what goes next.
func TestRowsDeletedOneByOneAreAskedAbout(t *testing.T) {
	t.Parallel()
	del := func(ref string) string {
		return `{calls: [{tool: db_delete, args: {table: inventory, filters: [{field: id, op: "=", value: ` + ref + `}]}}]}`
	}
	c := converse(t, `
turns:
  - understand: {intent: write}
    think: {goal: Tidy up, decision: plan, steps: [{type: read, subdomain: inventory, description: Read it}, {type: write, subdomain: inventory, description: Delete what is old}]}
    act: [{calls: [{tool: db_read, args: {table: inventory}}, {tool: step_complete, args: {summary: read}}]}, `+del("inv_1")+`, `+del("inv_2")+`]
    reply: I have deleted one.
`)
	asked := c.say("tidy up")
	require.Equal(t, "approve", asked.Question.Kind)
	require.Contains(t, asked.Question.Text, "This would delete 1 pantry item")
	c.fact("11", `SELECT count(*) FROM kitchen.inventory WHERE user_id = $2`)
}

// V19: "yes, but keep the cod" is consent to the rest of what was asked about: nothing is asked a second time. A no in words
// is none, whatever a model makes of it.
func TestV19AYesToFewerRowsIsNotAskedAboutAgain(t *testing.T) {
	t.Parallel()
	remove := func(intent, filters string) string {
		return `
  - understand: {` + intent + `}
    think: {goal: Empty the freezer, decision: plan, steps: [{type: write, subdomain: inventory, description: Delete what is in the freezer}]}
    act: {calls: [{tool: db_delete, args: {table: inventory, filters: [{field: location, op: "=", value: freezer}` + filters + `]}}, {tool: step_complete, args: {summary: deleted}}]}
    reply: There.`
	}
	const answers, butTheCod = "intent: answer, answers_question: true", `, {field: name, op: "!=", value: Cod}`
	c := converse(t, `
turns:`+remove("intent: write", "")+remove(answers, butTheCod)+remove(answers, butTheCod+`, {field: name, op: "!=", value: Peas}`)+"\n")
	rows := `SELECT string_agg(name, ' ' ORDER BY name) FROM kitchen.inventory WHERE user_id = $2 AND location = 'freezer'`
	require.Contains(t, c.say("Empty the freezer").Question.Text, "delete 3 pantry items")
	require.Contains(t, c.say("No, not the cod").Question.Text, "delete 2 pantry items")
	c.fact("Chicken thighs Cod Peas", rows)
	said := c.say("Yes, but leave the peas")
	require.Empty(t, said.Question)
	require.Equal(t, "write ok", said.outcomes())
	c.fact("Cod Peas", rows)
}

// "Yes, but make it 5" is no yes to 2, whatever a model makes of it: 2 was written, and the 5 dropped as one more way to say it.
func TestV19AYesToAnotherValueIsNoPlainYes(t *testing.T) {
	t.Parallel()
	turn := func(intent, quantity string) string {
		return `
  - understand: {` + intent + `}
    think: {goal: Set all, decision: plan, steps: [{type: write, subdomain: inventory, description: Set all, calls: [{tool: db_update, table: inventory, filters: [{field: quantity, op: ">", value: 0}], set: [{column: quantity, value: ` + quantity + `}]}]}]}
    act: {calls: [{tool: db_update, args: {table: inventory, filters: [{field: quantity, op: ">", value: 0}], set: [{column: quantity, value: ` + quantity + `}]}}, {tool: step_complete, args: {summary: set}}]}
    reply: There.`
	}
	c := converse(t, `
turns:`+turn("intent: write", "2")+turn("intent: confirm, answers_question: true", "5")+turn("intent: confirm, answers_question: true", `"5.0"`)+
		turn("intent: write", "null")+turn("intent: confirm, answers_question: true", "7")+turn("intent: confirm, answers_question: true", "null")+"\n")
	rows := `SELECT string_agg(DISTINCT quantity::int::text, ' ') FROM kitchen.inventory WHERE user_id = $2`
	require.Contains(t, c.say("Set everything to 2").Question.Text, "(quantity: 2)")
	require.Contains(t, c.say("Yes, but make it 5").Question.Text, "(quantity: 5)")
	c.say("Yes, please go on and set all of them to 5.0")
	c.fact("5", rows)
	require.Contains(t, c.say("Forget how much there is of everything").Question.Text, "(quantity: nothing)")
	require.Contains(t, c.say("Yes, but make it 7").Question.Text, "(quantity: 7)", "an amount is other than none")
	require.Contains(t, c.say("Yes, but forget it").Question.Text, "(quantity: nothing)")
	c.fact("5", rows)
}

// What is asked beside something that has to be approved is answered with the question: nobody knew it who said no. What the
// answer may change waits.
func TestWhatNeedsNoAnswerIsLookedUpBeforeTheQuestion(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: write}
    think: {goal: Empty the freezer, decision: plan, steps: [{type: write, subdomain: inventory, description: Delete what is in the freezer},
      {type: analyze, subdomain: recipes, description: Count, calls: [{tool: db_analyze, table: recipes}]},
      {type: read, subdomain: inventory, description: Read the rest, calls: [{tool: db_read, table: inventory}]},
      {type: read, subdomain: tasks, description: Read tasks, calls: [{tool: db_read, table: tasks, filters: [{field: nosuch, op: "=", value: 1}]}]}]}
    act: [{calls: [{tool: db_delete, args: {table: inventory, filters: [{field: location, op: "=", value: freezer}]}}, {tool: step_complete, args: {summary: deleted}}]}]
    reply: You have 3 recipes. This would delete 3 pantry items. Shall I?
  - understand: {intent: confirm, answers_question: true}
    think: {goal: Go on, decision: plan, steps: [{type: read, subdomain: inventory, description: Read the rest, calls: [{tool: db_read, table: inventory}]}]}
    reply: They are gone.
`)
	asked := c.say("Empty the freezer and show me what is left in the pantry. How many recipes and tasks do I have?")
	require.Equal(t, "write partial, analyze ok, read skipped, read failed", asked.outcomes())
	require.Equal(t, "approve", asked.Question.Kind)
	require.Contains(t, asked.Reply, "You have 3 recipes.")
	require.Contains(t, c.prompt(1, "reply", 1), `Figures of the recipes: [{"count":3}]`)
	require.Contains(t, c.prompt(1, "reply", 1), "Shall I?")
	c.fact("3", `SELECT count(*) FROM kitchen.inventory WHERE user_id = $2 AND location = 'freezer'`)
	require.Equal(t, "write ok, read ok", c.say("yes").outcomes(), "once, though planned again")
	require.Equal(t, "understand reply", c.callsOf(2), "the plan has written the read out")
}

// What a plan wrote out for the steps that waited for a yes is carried out after it, unless the rows that it changes have been
// written or read since: the plan was made of what was there before.
func TestWhatWaitedForAYesIsDoneAsItWasPlanned(t *testing.T) {
	t.Parallel()
	const read = `
  - understand: {intent: read}
    think: {goal: Look, decision: plan, steps: [{type: read, subdomain: inventory, description: Read it, calls: [{tool: db_read, table: inventory, filters: [{field: name, op: "=", value: Basmati rice}]}]}]}
    reply: There.`
	change := func(location, quantity string) string {
		return `
  - understand: {intent: write}
    think: {goal: Tidy up, decision: plan, steps: [{type: write, subdomain: inventory, description: Empty it},
      {type: write, subdomain: inventory, description: Change it, calls: [{tool: db_update, table: inventory, filters: [{field: id, op: "=", value: inv_1}], set: [{column: quantity, value: ` + quantity + `}]}]},
      {type: write, subdomain: shopping, description: Add it, calls: [{tool: db_create, table: shopping_list, set: [{column: name, value: milk ` + quantity + `}]}]}]}
    act: {calls: [{tool: db_delete, args: {table: inventory, filters: [{field: location, op: "=", value: ` + location + `}]}}]}
    reply: This would delete some. Shall I?`
	}
	c := converse(t, `
turns:`+read+change("freezer", "7")+`
  - understand: {intent: confirm, answers_question: true}
    reply: Done.`+change("fridge", "8")+read+`
  - understand: {intent: confirm, answers_question: true}
    act: {calls: [{tool: db_update, args: {table: inventory, filters: [{field: id, op: "=", value: inv_1}], set: [{column: quantity, value: 9}]}}, {tool: step_complete, args: {summary: changed}}]}
    reply: Done.
`)
	const quantity = `SELECT quantity::int::text FROM kitchen.inventory WHERE user_id = $2 AND name = 'Basmati rice'`
	c.say("what is there?")
	require.Equal(t, "approve", c.say("empty the freezer, seven of the first, and milk").Question.Kind)
	require.Equal(t, "write ok, write ok, write ok", c.say("yes").outcomes())
	require.Equal(t, "understand reply", c.callsOf(3))
	c.fact("7", quantity)

	require.Equal(t, "approve", c.say("empty the fridge, eight of the first, and milk").Question.Kind)
	_, err := c.pool.Exec(t.Context(), `UPDATE kitchen.inventory SET quantity = 5 WHERE name = 'Basmati rice'`)
	require.NoError(t, err)
	c.say("what is there?")
	require.Equal(t, "write ok, write ok, write ok", c.say("yes").outcomes())
	require.Equal(t, "understand act reply", c.callsOf(6), "who planned it has not seen the five")
	c.fact("9", quantity)
	c.fact("milk 7, milk 8", `SELECT string_agg(name, ', ' ORDER BY name) FROM kitchen.shopping_list WHERE user_id = $2 AND name LIKE 'milk %'`)
}

// emptiesTheFreezer begins a script with a turn that asks whether it may.
const (
	emptyFreezer      = `{tool: db_delete, args: {table: inventory, filters: [{field: location, op: "=", value: freezer}]}}`
	emptiesTheFreezer = `
turns:
  - understand: {intent: write}
    think: {goal: Empty the freezer, decision: plan, steps: [], calls: [` + emptyFreezer + `]}
    act: {calls: [` + emptyFreezer + `]}
    reply: This would delete 3 pantry items. Shall I?`
)

// What is asked beside a yes is looked up after what was approved: not told, the reply makes a number up. What the answer plans
// to write is what code carries out.
func TestWhatIsAskedBesideAYesIsLookedUpAfterIt(t *testing.T) {
	t.Parallel()
	c := converse(t, emptiesTheFreezer+`
  - understand: {intent: confirm, answers_question: true}
    think: {goal: Empty it and count, decision: plan, steps: [], calls: [{tool: db_read, table: inventory}, `+emptyFreezer+`, {tool: db_analyze, table: inventory}]}
    reply: They are gone.
`)
	require.Equal(t, "approve", c.say("Empty the freezer").Question.Kind)
	require.Equal(t, "write ok, analyze ok", c.say("Yes, and how many are left?").outcomes())
	require.Equal(t, "understand reply", c.callsOf(2))
	require.Contains(t, c.prompt(2, "reply", 1), `Figures of the pantry items: [{"count":9}]`)
}

// What is to be written beside a yes is written after it: "yes, and add milk" lost the milk. What was approved is not done twice,
// however the answer plans it again, and what needs a yes of its own is asked about.
func TestWhatIsWrittenBesideAYesIsWrittenAfterIt(t *testing.T) {
	t.Parallel()
	const (
		again  = `{tool: db_delete, table: inventory, filters: [{field: name, op: in, value: [Cod, Peas]}]}`
		lemons = `{tool: db_create, table: inventory, set: [{column: name, value: lemons}]}`
		milk   = `{tool: db_create, table: shopping_list, set: [{column: name, value: milk}]}`
		all    = `{tool: db_delete, table: recipes}`
	)
	c := converse(t, emptiesTheFreezer+`
  - understand: {intent: confirm, answers_question: true}
    think: {goal: Empty it and shop, decision: plan, steps: [], calls: [{tool: db_read, table: inventory}, `+again+`, `+lemons+`, `+milk+`, `+all+`]}
    act: {calls: [{tool: db_delete, args: {table: recipes}}]}
    reply: They are gone, and milk is on the list. Shall I delete all recipes, too?
`)
	require.Equal(t, "approve", c.say("Empty the freezer").Question.Kind)
	second := c.say("Yes, and lemons in the pantry, milk on the list, and away with all recipes")
	require.Equal(t, "write ok, write ok, write ok, write partial", second.outcomes())
	require.Equal(t, "approve", second.Question.Kind)
	c.fact("10", `SELECT count(*) FROM kitchen.inventory WHERE user_id = $2`)
	c.fact("0", `SELECT count(*) FROM kitchen.inventory WHERE user_id = $2 AND location = 'freezer'`)
	c.fact("1 3", `SELECT (SELECT count(*) FROM kitchen.shopping_list WHERE user_id = $2 AND name = 'milk') || ' ' || (SELECT count(*) FROM kitchen.recipes WHERE user_id = $2)`)
	c.fact("Add to the pantry items: name lemons", `SELECT description FROM turn_steps s JOIN turns t ON t.id = s.turn_id WHERE t.session_id = $1 AND t.number = 2 AND step = 2`)
}

// What stands beside a yes is planned and done where the plan is asked for by itself, too. A yes alone asks for no plan.
func TestWhatStandsBesideAYesIsPlannedApart(t *testing.T) {
	t.Parallel()
	const asks = `
  - understand: {intent: write}
    think: {goal: Delete it, decision: plan, steps: [], calls: [` + emptyFreezer + `]}
    act: {calls: [` + emptyFreezer + `]}
    reply: This would delete some. Shall I?`
	c := converseApart(t, `
turns:`+asks+`
  - understand: {intent: confirm, answers_question: true}
    think: {goal: Empty it and shop, decision: plan, steps: [], calls: [`+emptyFreezer+`, {tool: db_create, table: shopping_list, set: [{column: name, value: milk}]}, {tool: db_analyze, table: inventory}]}
    reply: They are gone.`+strings.ReplaceAll(asks, "freezer", "fridge")+`
  - understand: {intent: confirm, answers_question: true}
    reply: They are gone.
`)
	require.Equal(t, "approve", c.say("Empty the freezer").Question.Kind)
	require.Equal(t, "write ok, write ok, analyze ok", c.say("Yes, and put milk on the list. How many are left?").outcomes())
	require.Equal(t, "understand think reply", c.callsOf(2))
	c.fact("0 1", `SELECT (SELECT count(*) FROM kitchen.inventory WHERE user_id = $2 AND location = 'freezer') || ' ' || (SELECT count(*) FROM kitchen.shopping_list WHERE user_id = $2 AND name = 'milk')`)
	require.Contains(t, c.prompt(2, "reply", 1), `Figures of the pantry items: [{"count":9}]`)
	require.Equal(t, "approve", c.say("Empty the fridge").Question.Kind)
	require.Equal(t, "write ok", c.say("Yes").outcomes())
	require.Equal(t, "understand reply", c.callsOf(4))
}

// Another row of the same table, named beside the yes, is another wish: "yes, and the cheddar too" deleted no cheddar.
func TestAnotherRowBesideAYesIsDeletedToo(t *testing.T) {
	t.Parallel()
	const byName = `{tool: db_delete, table: inventory, filters: [{field: name, op: in, value: [Cod, peas]}]}, {tool: db_delete, table: inventory, filters: [{field: name, op: "=", value: cheddar}]}`
	c := converse(t, emptiesTheFreezer+`
  - understand: {intent: confirm, answers_question: true}
    think: {goal: Empty it, decision: plan, steps: [], calls: [`+byName+`]}
    act: {calls: [{tool: db_delete, args: {table: inventory, filters: [{field: name, op: "=", value: cheddar}]}}, {tool: step_complete, args: {summary: deleted}}]}
    reply: They are gone.
`)
	require.Equal(t, "approve", c.say("Empty the freezer").Question.Kind)
	require.Equal(t, "write ok, write ok", c.say("Yes, and the cheddar too").outcomes())
	c.fact("8 0", `SELECT count(*) || ' ' || count(*) FILTER (WHERE location = 'freezer' OR name = 'Cheddar') FROM kitchen.inventory WHERE user_id = $2`)
	c.fact("2", `SELECT count(*) FROM turn_step_results r JOIN turns t ON t.id = r.turn_id WHERE t.session_id = $1 AND t.number = 2 AND r.tool = 'db_delete'`)
}

// What waited for a yes is done once, however the answer plans it again, and whatever it calls the table.
func TestWhatWaitedForAYesIsDoneOnce(t *testing.T) {
	t.Parallel()
	steps := `steps: [{type: write, subdomain: inventory, description: Empty the freezer}, {type: write, subdomain: shopping, description: Add milk}, {type: write, subdomain: tasks, description: Add a task}], `
	milk := func(table, name string) string {
		return `{step: 2, tool: db_create, table: ` + table + `, set: [{column: name, value: ` + name + `}]}`
	}
	c := converse(t, `
turns:
  - understand: {intent: write}
    think: {goal: Three things, decision: plan, `+steps+`calls: [{step: 1, `+strings.TrimPrefix(emptyFreezer, "{")+`, `+milk("shopping_list", "milk")+`]}
    act: {calls: [`+emptyFreezer+`]}
    reply: This would delete 3 pantry items. Shall I?
  - understand: {intent: confirm, answers_question: true}
    think: {goal: Three things, decision: plan, `+steps+`calls: [{step: 1, `+strings.TrimPrefix(emptyFreezer, "{")+`, `+milk("shopping list item", "whole milk")+`, {step: 3, tool: db_create, table: tasks, set: [{column: title, value: Defrost}]}]}
    act: {calls: [{tool: db_create, args: {table: tasks, data: {title: Defrost}}}, {tool: step_complete, args: {summary: added}}]}
    reply: All is done.
`)
	require.Equal(t, "approve", c.say("Empty the freezer, add milk and a task").Question.Kind)
	require.Equal(t, "write ok, write ok, write ok", c.say("Yes").outcomes())
	c.fact("milk", `SELECT string_agg(name, ', ') FROM kitchen.shopping_list WHERE user_id = $2 AND name LIKE '%milk'`)
	c.fact("1", `SELECT count(*) FROM kitchen.tasks WHERE user_id = $2 AND title = 'Defrost'`)
}

// Who says nothing but yes gets what was asked about, whatever the answer's plan would write besides, in languages that nobody listed
// too.
func TestAYesAloneWritesWhatWasAskedAbout(t *testing.T) {
	t.Parallel()
	for _, yes := range []string{"Yes", "ok, go ahead!", "No problem, do it", "Ja, bitte.", "Kyllä kiitos", "ναι, παρακαλώ", "はい、お願いします", "हाँ"} {
		t.Run(yes, func(t *testing.T) {
			t.Parallel()
			c := converse(t, emptiesTheFreezer+`
  - understand: {intent: confirm, answers_question: true}
    think: {goal: Empty it and shop, decision: plan, steps: [], calls: [{tool: db_create, table: shopping_list, set: [{column: name, value: milk}]}]}
    reply: They are gone.
`)
			require.Equal(t, "approve", c.say("Empty the freezer").Question.Kind)
			require.Equal(t, "write ok, write skipped", c.say(yes).outcomes())
			require.Contains(t, c.prompt(2, "reply", 1), "- Add to the shopping items: name milk (write): skipped. Not done: the message does not say so plainly.", "whoever meant it is told")
			c.fact("0", `SELECT count(*) FROM kitchen.inventory WHERE user_id = $2 AND location = 'freezer'`)
			c.fact("0", `SELECT count(*) FROM kitchen.shopping_list WHERE user_id = $2 AND name = 'milk'`)
		})
	}
}

// Whoever says no anywhere in the message has not said yes, whatever a model makes of it.
func TestANoIsNoYesWhereverItStands(t *testing.T) {
	t.Parallel()
	for _, no := range []string{"STOP i was joking!!! no!!", "No, leave them", "Was? Nein!", "wait\nnon", "no the other one", "nein die andere!!", "hayir digeri", "não esse não", "wait not that", "いいえ、やめて", "不，别删"} {
		t.Run(no, func(t *testing.T) {
			t.Parallel()
			c := converse(t, emptiesTheFreezer+`
  - understand: {intent: confirm, answers_question: true}
    think: {goal: Stop, decision: plan, steps: []}
    reply: All is as it was.
`)
			require.Equal(t, "approve", c.say("Empty the freezer").Question.Kind)
			require.Equal(t, "All is as it was.", c.say(no).Reply)
			c.fact("3", `SELECT count(*) FROM kitchen.inventory WHERE user_id = $2 AND location = 'freezer'`)
		})
	}
}

// What the answer plans to write beside a yes without writing out how is told as not done. What may be the approved write itself is not.
func TestAWishWithoutCallsBesideAYesIsTold(t *testing.T) {
	t.Parallel()
	c := converse(t, emptiesTheFreezer+`
  - understand: {intent: confirm, answers_question: true}
    think: {goal: Empty it and shop, decision: plan, steps: [{type: write, subdomain: inventory, description: Empty the freezer}, {type: write, subdomain: shopping, description: Put milk on the list}]}
    reply: They are gone. Shall I put milk on the list?
`)
	require.Equal(t, "approve", c.say("Empty the freezer").Question.Kind)
	require.Equal(t, "write ok, write skipped", c.say("Yes, empty the freezer, and put milk on the list").outcomes())
	require.Contains(t, c.prompt(2, "reply", 1), "- Put milk on the list (write): skipped. Not done: it has to be asked for without the yes.")
}

// A wish beside a yes need be no longer than its thing.
func TestAShortWishBesideAYesIsWritten(t *testing.T) {
	t.Parallel()
	for yes, thing := range map[string]string{"да, и молока": "молоко", "はい、牛乳も": "牛乳", "Yes, milk too": "milk"} {
		t.Run(yes, func(t *testing.T) {
			t.Parallel()
			c := converse(t, emptiesTheFreezer+`
  - understand: {intent: confirm, answers_question: true}
    think: {goal: Empty it and shop, decision: plan, steps: [], calls: [{tool: db_create, table: shopping_list, set: [{column: name, value: `+thing+`}]}]}
    reply: They are gone.
`)
			c.say("Empty the freezer")
			require.Equal(t, "write ok, write ok", c.say(yes).outcomes())
		})
	}
}

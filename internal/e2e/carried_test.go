package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A plan that knows its calls writes them out, and code runs them; a model is asked only if one fails or something must
// be looked at first.
func TestPlansCarryCalls(t *testing.T) {
	t.Parallel()
	create := `{calls: [{tool: db_create, args: {table: shopping_list, data: {name: milk}}}, {tool: step_complete, args: {summary: added}}]}`
	c := converse(t, `
turns:
  - understand: {intent: read, quick: {entity_type: inv, why: one list}}
    think: {goal: See the fridge, decision: plan, steps: [{type: read, subdomain: inventory, description: Read the fridge}], calls: [{step: 1, tool: db_read, table: inventory, filters: [{field: location, op: "=", value: fridge}], detail: "", from_ref: "", set: []}]}
  - understand: {intent: write}
    think: {goal: Change it, decision: plan, steps: [{type: write, subdomain: inventory, description: Two litres of milk, refs: [inv_1], calls: [{tool: db_update, table: inventory, filters: [{field: id, op: "=", value: inv_1}], set: [{column: quantity, value: 7}]}]}]}
    act: {calls: [{tool: db_update, args: {table: inventory, filters: [{field: id, op: "=", value: inv_1}], set: [{column: quantity, value: 8}]}}, {tool: step_complete, args: {summary: changed}}]}
    reply: Changed.`+draft(basil)+`
  - understand: {intent: write}
    think: {goal: Save it, decision: plan, steps: [{type: write, subdomain: recipes, description: Save the draft, refs: [gen_recipe_1], calls: [{tool: db_create, table: recipes, from_ref: gen_recipe_1}]}]}
    reply: Saved.
  - understand: {intent: write}
    think: {goal: Add milk, decision: plan, steps: [{type: write, subdomain: shopping, description: Add milk, calls: [{tool: db_create, table: shopping_list, set: [{column: colour, value: white}]}]}]}
    act: `+create+`
    reply: Added.
  - understand: {intent: write}
    think: {goal: Clear, decision: plan, steps: [{type: write, subdomain: shopping, description: Delete the milk, refs: [shop_1], calls: [{tool: db_delete, table: shopping_list, filters: [{field: id, op: "=", value: shop_1}]}]}]}
    reply: Deleted.
`)
	if !*everyApart {
		reply := c.say("what is in the fridge?").Reply
		require.Contains(t, reply, "Milk (1 l)")
		require.NotContains(t, reply, "Basmati", "what the plan filters by holds")
		require.Equal(t, "understand", c.callsOf(1), "a plain read is one call")
	}
	c.say("seven of the first")
	require.NotContains(t, c.callsOf(2), "act", "the row is loaded and nobody changed it")
	c.fact("7", `SELECT i.quantity::int::text FROM kitchen.inventory i JOIN entity_refs r ON r.entity_id = i.id::text WHERE r.session_id = $1 AND r.ref = 'inv_1'`)

	c.say("draft the basil dish")
	require.Equal(t, "write ok", c.say("save it").outcomes())
	c.fact("stored 1", `SELECT 'stored ' || count(*) FROM kitchen.recipes WHERE user_id = $2 AND name LIKE 'Thai Basil%'`)
	require.NotContains(t, c.callsOf(4), "act", "a draft is saved as it is")

	require.Equal(t, "write ok", c.say("and milk").outcomes(), "a call that fails is mended by Act")
	require.Contains(t, c.callsOf(5), "act")
	require.Contains(t, c.prompt(5, "act", 1), "colour")

	require.Equal(t, "write ok", c.say("no milk").outcomes())
	require.NotContains(t, c.callsOf(6), "act", "a row that was seen and that nobody has touched since is deleted as planned; it can be taken back")
	c.fact("0", `SELECT count(*) FROM kitchen.shopping_list WHERE user_id = $2`)
}

// Act looks at what the owner's programs have changed since before overwriting it.
func TestCarriedCallsOfChangedRows(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: read, quick: {entity_type: inv, why: one list}}
    act: {calls: [{tool: db_read, args: {table: inventory}}]}
  - understand: {intent: write}
    think: {goal: Change it, decision: plan, steps: [{type: write, subdomain: inventory, description: Seven of it, refs: [inv_1], calls: [{tool: db_update, table: inventory, filters: [{field: id, op: "=", value: inv_1}], set: [{column: quantity, value: 7}]}]}]}
    act: {calls: [{tool: ask_user, args: {question: "It was changed since. Seven all the same?"}}]}
    reply: It was changed since. Seven all the same?
`)
	c.say("what is in the pantry?")
	c.exec(`UPDATE kitchen.inventory SET quantity = 99, updated_at = now() + interval '1 second' WHERE user_id = $1`)
	asked := c.say("seven of the first")
	require.Equal(t, "ask_user", asked.Question.Kind)
	c.fact("99", `SELECT min(quantity)::int::text FROM kitchen.inventory WHERE user_id = $2`)
}

// Calls or plans that contradict the rest of the same answer are not followed: a conflicting plan, calls with refs it
// gave up. If the third of eight steps fails, steps that do not need it are still done.
func TestCarriedPlansThatDoNotFit(t *testing.T) {
	t.Parallel()
	if *everyApart {
		t.Skip("nothing comes with an answer")
	}
	del := `{goal: Delete it, decision: plan, steps: [{type: write, subdomain: recipes, description: Delete it, refs: [recipe_1], calls: [{tool: db_delete, table: recipes, filters: [{field: id, op: "=", value: recipe_1}]}]}]}`
	save := `{goal: Save it, decision: plan, steps: [{type: write, subdomain: recipes, description: Save it, refs: [gen_recipe_1], calls: [{tool: db_create, table: recipes, from_ref: gen_recipe_1}]}], repairs: [{goal: Talk, decision: plan, steps: []}]}`
	task := func(n, column string) string {
		return `{type: write, subdomain: tasks, description: Task ` + n + `, calls: [{tool: db_create, table: tasks, set: [{column: ` + column + `, value: Task ` + n + `}]}]}`
	}
	look := `{type: read, subdomain: shopping, description: See the list, calls: [{tool: db_read, table: shopping_list}]}`
	c := converse(t, `
turns:
  - understand: {intent: read, quick: {entity_type: recipe, why: one table}}
    act: {calls: [{tool: db_read, args: {table: recipes}}]}
  - understand: {intent: chat}
    think: `+del+`
    reply: Shall I?`+draft(basil)+`
  - understand: {intent: write, curation: {forget: [gen_recipe_1]}}
    think: [`+save+`]
    reply: Out of mind.
  - understand: {intent: write}
    think: {goal: Eight things, decision: plan, steps: [`+look+`, `+task("2", "title")+`, {type: write, subdomain: preferences, description: A third, calls: [{tool: db_create, table: preferences, set: [{column: colour, value: red}]}]}, `+
		task("4", "title")+`, `+look+`, `+task("6", "title")+`, `+look+`, `+task("8", "title")+`]}
    act: {calls: [{tool: blocked, args: {code: plan_invalid, details: There is no such column., next: fail}}]}
    reply: All but the third.
`)
	c.say("show my recipes")
	require.Equal(t, "propose", c.say("that one is old").Question.Kind, "the message asks for nothing")
	c.fact("3", `SELECT count(*) FROM kitchen.recipes WHERE user_id = $2`)

	c.say("draft the basil dish")
	c.say("forget it, and save it")
	require.Equal(t, "understand think think reply", c.callsOf(4))
	c.fact("3", `SELECT count(*) FROM kitchen.recipes WHERE user_id = $2`)

	said := c.say("eight things")
	require.Equal(t, "read empty, write ok, write failed, write ok, read empty, write ok, read empty, write ok", said.outcomes())
	c.fact("4", `SELECT count(*) FROM kitchen.tasks WHERE user_id = $2`)
}

// Code carries out a planned write only if it can tell which rows and columns it is about, in whatever form a model
// writes that.
func TestCarriedCallsInOtherForms(t *testing.T) {
	t.Parallel()
	if *everyApart {
		t.Skip("the same, told by another call")
	}
	turn := func(call string) string {
		return `
  - understand: {intent: write}
    think: {goal: Change it, decision: plan, steps: [{type: write, subdomain: inventory, description: Note that it is open, refs: [inv_1], calls: [` + call + `]}]}
    act: {calls: [{tool: ask_user, args: {question: "Instead of what it says?"}}]}
    reply: Instead of what it says?`
	}
	update := func(change string) string {
		return turn(`{tool: db_update, table: inventory, filters: [{field: id, op: "=", value: inv_1}], ` + change + `}`)
	}
	c := converse(t, `
turns:
  - understand: {intent: read, quick: {entity_type: inv, why: one list}}
    act: {calls: [{tool: db_read, args: {table: inventory, detail: full}}]}`+
		update(`set: [{column: notes, value: open}]`)+
		update(`set: {column: notes, value: open}`)+
		update(`set: '[{"column": "notes", "value": "open"}]'`)+
		update(`data: {notes: open}`)+
		update(`clear: [notes]`)+
		turn(`{tool: db_delete, table: inventory, filters: [{field: id, op: "!=", value: inv_1}, {field: location, op: "=", value: freezer}]}`)+"\n")
	c.exec(`UPDATE kitchen.inventory SET notes = 'from the market' WHERE user_id = $1`)
	c.say("what is in the pantry?")
	for n := range 6 {
		require.Equal(t, "ask_user", c.say("note that it is open").Question.Kind, "in turn %d", n+2)
	}
	c.fact("from the market 12", `SELECT min(notes) || ' ' || count(*) FROM kitchen.inventory WHERE user_id = $2`)
}

// A model that goes on making the call that it has made is told, and its step is as good as it was.
func TestRepeatedWritesAreWrittenOnce(t *testing.T) {
	t.Parallel()
	create := func(name string) string {
		return `{tool: db_create, args: {table: shopping_list, rows: [{set: [{column: name, value: ` + name + `}], children: []}]}}`
	}
	c := converse(t, `
turns:
  - understand: {intent: write}
    think: {goal: Add milk, decision: plan, steps: [{type: write, subdomain: shopping, description: Add milk}]}
    act: [{calls: [`+create("milk")+`]}, {calls: [`+create("milk")+`]}, {calls: [{tool: step_complete, args: {summary: added}}]}]
    reply: I have added milk.
  - understand: {intent: write}
    think: {goal: Add eggs, decision: plan, steps: [{type: write, subdomain: shopping, description: Add eggs and salt}]}
    act: [{calls: [`+create("eggs")+`]}, {calls: [`+create("eggs")+`, `+create("salt")+`]}, {calls: [{tool: step_complete, args: {summary: added}}]}]
    reply: I have added eggs and salt.
`)
	require.Equal(t, "write ok", c.say("add milk").outcomes())
	require.Contains(t, c.prompt(1, "act", 3), "This step has already done that: created 1 shopping item: milk")
	require.Equal(t, "write partial", c.say("add eggs and salt").outcomes(), "the salt was not made again")
	c.fact("eggs milk", `SELECT string_agg(name, ' ' ORDER BY name) FROM kitchen.shopping_list WHERE user_id = $2`)
}

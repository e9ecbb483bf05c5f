package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// An undo is one step beside others: "undo that and add bread instead" lost one of both. What else the turn wrote counts when
// rows are undone later.
func TestUndoBesideAnotherWish(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: write}
    think: {goal: Add milk, decision: plan, steps: [], calls: [{tool: db_create, table: shopping_list, set: [{column: name, value: milk}, {column: quantity, value: 1}]}, {tool: db_read, table: recipes}]}
    reply: Added milk.
  - understand: {intent: write}
    think: {goal: Bread instead, decision: plan, steps: [], calls: [{tool: undo}, {tool: db_create, table: shopping_list, set: [{column: name, value: bread}]}]}
    reply: I have taken the milk back and added bread.
  - understand: {intent: write}
    think: {goal: "", decision: plan, steps: [], calls: [{tool: undo}]}
  - understand: {intent: write}
    think: {goal: "", decision: plan, steps: [], calls: [{tool: undo, filters: [{field: turn, op: "=", value: 1}]}, {tool: db_create, table: shopping_list, set: [{column: name, value: eggs}]}, {tool: db_delete, table: recipes, filters: [{field: id, op: "=", value: recipe_2}]}]}
    reply: The milk is off the list again, and eggs are on it.
  - understand: {intent: write}
    think: {goal: "", decision: plan, steps: [], calls: [{tool: undo}]}
  - understand: {intent: write}
    think: {goal: "", decision: plan, steps: [], calls: [{tool: undo}]}
`)
	const names = `SELECT coalesce(string_agg(name, ' ' ORDER BY name), '') FROM kitchen.shopping_list WHERE user_id = $2`
	before := c.one(names)
	first := c.say("milk on the list, and show my recipes")
	with := c.one(names)
	both := c.say("undo that and add bread instead")
	require.Equal(t, "write ok, write ok", both.outcomes())
	require.Contains(t, both.Reply, "I have taken the milk back and added bread.", "no false claim")
	require.Contains(t, c.prompt(2, "reply", 1), "Took back “milk on the list, and show my recipes”: deleted milk.")
	require.NotContains(t, c.prompt(2, "reply", 1), "Changed 1 shopping item", "it was deleted")
	require.NotContains(t, c.prompt(2, "reply", 1), "in the page")
	require.Contains(t, c.one(names), "bread")
	require.NotContains(t, c.one(names), "milk")
	require.Equal(t, "done", c.undoable(first.ID).Undo.Status)
	require.Nil(t, c.undoable(both.ID).Undoes, "it is no mere undo")
	require.Contains(t, c.say("undo that").Reply, "Took back “undo that and add bread instead”")
	require.Equal(t, with, c.one(names), "all that it did, the undo too")
	require.Equal(t, "possible", c.undoable(first.ID).Undo.Status)
	c.say("no, take back the milk after all, and eggs please, and delete the pad see ew")
	without := c.one(names)
	require.Contains(t, without, "eggs")
	require.NotContains(t, without, "milk")
	require.NotEqual(t, before, without)
	require.Regexp(t, "^Took back “no, take back the milk .*”: brought back Pad See Ew; .*deleted eggs; brought back milk.$", c.say("undo it").Reply, "whole, and all of it is told")
	require.Equal(t, with, c.one(names))
	require.Regexp(t, "^Took back “undo it”: deleted milk; .*brought back eggs; .*deleted Pad See Ew", c.say("redo it").Reply)
	require.Equal(t, without, c.one(names))
}

// What else a message wants to be written is not, where its undo cannot be: it was meant to stand on what was there before.
// What it asks is answered.
func TestUndoThatIsRefusedBesideAnotherWish(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: write}
    think: {goal: Add milk, decision: plan, steps: [], calls: [{tool: db_create, table: shopping_list, set: [{column: name, value: oat milk}, {column: quantity, value: 1}]}]}
    reply: Added milk.
  - understand: {intent: write}
    think: {goal: Bread instead, decision: plan, steps: [], calls: [{tool: undo}, {tool: db_create, table: shopping_list, set: [{column: name, value: bread}]}, {tool: db_read, table: tasks}, {tool: db_analyze, table: recipes}]}
    reply: Somebody has changed the oat milk since, so it stays as it is, and the bread is not on the list either.
`)
	c.say("oat milk on the list")
	c.exec(`UPDATE kitchen.shopping_list SET quantity = 5 WHERE user_id = $1 AND name = 'oat milk'`)
	got := c.say("undo that and add bread instead. What is left to do, and how many recipes do I have?")
	require.Equal(t, "write failed, write skipped, read empty, analyze ok", got.outcomes())
	c.fact("0", `SELECT count(*) FROM kitchen.shopping_list WHERE user_id = $2 AND name = 'bread'`)
	require.Contains(t, c.prompt(2, "reply", 1), "has changed since (quantity)")
}

// Rows that an undo brought back are among those that are read after it: the reply did not see them in the list.
func TestUndoBesideALook(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: write}
    think: {goal: Add, decision: plan, steps: [], calls: [{tool: db_create, table: shopping_list, set: [{column: name, value: quark}, {column: quantity, value: 4}]}, {tool: db_create, table: shopping_list, set: [{column: name, value: rye}]}]}
    reply: Added both.
  - understand: {intent: write}
    think: {goal: Delete, decision: plan, steps: [], calls: [{tool: db_delete, table: shopping_list, filters: [{field: id, op: "=", value: shop_1}]}]}
    reply: The quark is off the list.
  - understand: {intent: write}
    think: {goal: "", decision: plan, steps: [], calls: [{tool: undo}, {tool: db_read, table: shopping_list, how: order by name}]}
    reply: On the list are quark and rye again.
`)
	c.say("quark and rye on the list")
	c.say("delete the quark")
	require.Equal(t, "write ok, read ok", c.say("undo that and show me the list").outcomes())
	results := section(c.prompt(3, "reply", 1), "## Execution Results")
	require.Contains(t, results, "Took back “delete the quark”: brought back quark.")
	require.Regexp(t, `(?s)Found \d shopping items:.*- quark \(4\).*- rye`, results)
}

// A part of what a turn wrote is taken back exactly, and the rest later; whatever was undone can be done again.
func TestUndoOfAPart(t *testing.T) {
	t.Parallel()
	undo := func(filters string) string {
		return `
  - understand: {intent: write}
    think: {goal: "", decision: plan, steps: [], calls: [{tool: undo, filters: [` + filters + `]}]}`
	}
	c := converse(t, `
turns:
  - understand: {intent: write}
    think: {goal: Add, decision: plan, steps: [], calls: [{tool: db_create, table: shopping_list, set: [{column: name, value: quark}]}, {tool: db_create, table: shopping_list, set: [{column: name, value: rye}]}, {tool: db_create, table: shopping_list, set: [{column: name, value: soap}]}]}
    reply: Added three.`+undo(`{field: id, op: "=", value: shop_2}`)+undo("")+undo(`{field: turn, op: "=", value: 1}, {field: id, op: in, value: [shop_1, shop_2]}`)+undo(`{field: turn, op: "=", value: 1}`)+`
  - understand: {intent: write}
    think: {goal: "", decision: plan, steps: [], calls: [{tool: undo, filters: [{field: turn, op: "=", value: 1}]}]}
`)
	left := func(want string) {
		t.Helper()
		c.fact(want, `SELECT coalesce(string_agg(name, ' ' ORDER BY name), '') FROM kitchen.shopping_list WHERE user_id = $2 AND name IN ('quark', 'rye', 'soap')`)
	}
	first := c.say("quark, rye, soap")
	left("quark rye soap")
	require.Equal(t, "Took back part of “quark, rye, soap”: deleted rye.", c.say("undo only the rye").Reply)
	left("quark soap")
	require.Equal(t, "Took back “undo only the rye”: brought back rye.", c.say("undo that").Reply)
	left("quark rye soap")
	require.Equal(t, "Took back part of “quark, rye, soap”: deleted rye and quark.", c.say("quark and rye off again").Reply)
	left("soap")
	require.Equal(t, "possible", c.undoable(first.ID).Undo.Status)
	require.Equal(t, "Took back “quark, rye, soap”: deleted soap.", c.say("undo the rest too").Reply)
	left("")
	require.Equal(t, "done", c.undoable(first.ID).Undo.Status)
	require.Equal(t, "What “quark, rye, soap” wrote has been taken back already.", c.say("undo turn 1").Reply)
}

// To redo is to take back the last undo, never the write before what it took back.
func TestRedo(t *testing.T) {
	t.Parallel()
	add := func(name string) string {
		return `
  - understand: {intent: write}
    think: {goal: Add, decision: plan, steps: [], calls: [{tool: db_create, table: shopping_list, set: [{column: name, value: ` + name + `}]}]}
    reply: Added.`
	}
	undo := func(filters string) string {
		return `
  - understand: {intent: write}
    think: {goal: "", decision: plan, steps: [], calls: [{tool: undo, filters: [` + filters + `]}]}`
	}
	const last, soap = `{field: turn, op: "=", value: redo}`, `{field: id, op: "=", value: shop_3}`
	c := converse(t, "\nturns:"+add("quark")+add("rye")+undo("")+undo("")+undo("")+undo("")+undo(last)+"\n    reply: Roggen steht wieder da."+add("soap")+undo(soap)+undo("")+undo("")+"\n")
	left := func(want string) {
		t.Helper()
		c.fact(want, `SELECT coalesce(string_agg(name, ' ' ORDER BY name), '') FROM kitchen.shopping_list WHERE user_id = $2 AND name IN ('quark', 'rye', 'soap')`)
	}
	c.say("quark")
	c.say("rye")
	c.say("undo that")
	left("quark")
	require.Equal(t, "Took back “undo that”: brought back rye.", c.say("Redo it").Reply)
	left("quark rye")
	require.Equal(t, "Nothing was taken back that could be set again.", c.say("redo").Reply)
	left("quark rye")
	c.say("undo that")
	left("quark")
	c.say("Mach es doch")
	left("quark rye")
	c.say("soap")
	c.say("undo the soap")
	c.say("redo the soap")
	left("quark rye soap")
	require.Equal(t, "Nothing was taken back that could be set again.", c.say("redo").Reply)
	left("quark rye soap")
}

// Whoever asks in another language is answered in it, from what code did. Code's own reply to a person who writes German was
// in English.
func TestUndoIsToldInTheLanguageOfTheMessage(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: write}
    think: {goal: Milch, decision: plan, steps: [], calls: [{tool: db_create, table: shopping_list, set: [{column: name, value: Hafermilch}]}]}
    reply: Hafermilch steht auf der Liste.
  - understand: {intent: write}
    think: {goal: "", decision: plan, steps: [], calls: [{tool: undo}]}
    reply: Die Hafermilch steht nicht mehr auf der Liste.
`)
	c.say("Hafermilch auf die Liste")
	require.Contains(t, c.say("Mach das bitte rückgängig").Reply, "Die Hafermilch steht nicht mehr auf der Liste.")
	require.Contains(t, c.prompt(2, "reply", 1), "Took back “Hafermilch auf die Liste”: deleted Hafermilch.")
	c.fact("0", `SELECT count(*) FROM kitchen.shopping_list WHERE user_id = $2 AND name = 'Hafermilch'`)
}

// What an undo brought back or set back is shown in full by whoever asks for it beside the undo: the list came without it.
func TestUndoBesideAList(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: write}
    think: {goal: Add, decision: plan, steps: [], calls: [{tool: db_create, table: shopping_list, set: [{column: name, value: quark}, {column: quantity, value: 500}]}, {tool: db_create, table: shopping_list, set: [{column: name, value: rye}]}]}
    reply: Added two.
  - understand: {intent: write}
    think: {goal: "", decision: plan, steps: [], calls: [{tool: db_update, table: shopping_list, filters: [{field: id, op: "=", value: shop_1}], set: [{column: quantity, value: 250}]}]}
    reply: Changed.
  - understand: {intent: write}
    think: {goal: "", decision: plan, steps: [], calls: [{tool: undo}, {tool: db_read, table: shopping_list, filters: [{field: name, op: in, value: [quark, rye]}]}]}
    reply: Back to 500, and rye.
`)
	c.say("500 quark and rye on the list")
	c.say("make it 250")
	c.say("undo that and show me both")
	require.Regexp(t, `(?s)Found 2 shopping items:\n- quark \(500\).*\n- rye`, c.prompt(3, "reply", 1))
}

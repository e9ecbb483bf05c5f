package e2e_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Answers in the form that the schema asks for: a plain read, plain writes and small talk are one call each, and every
// decision still has its own row. A reply that came with the plan is used only if the turn went as planned.
func TestAnswersInParts(t *testing.T) {
	t.Parallel()
	if *everyApart {
		t.Skip("they are asked apart")
	}
	const rest = `mentions: [], memory: null, besides: null, think: null`
	add := func(column, say string) string {
		return `{intent: write, quick: null, ` + rest + `, calls: [{step: 0, tool: db_create, table: shopping_list, filters: [], detail: "", from_ref: "", set: [{column: ` + column + `, value: oat milk}]}], say: "` + say + `"}`
	}
	c := converse(t, `
turns:
  - understand: {intent: read, quick: inv, `+rest+`, calls: [{step: 0, tool: db_read, table: inventory, filters: [{field: location, op: "=", value: fridge}], detail: "", from_ref: "", set: []}], say: ""}
  - understand: `+add("name", "I have added oat milk to your list.")+`
  - understand: {intent: chat, quick: null, `+rest+`, calls: [], say: "You are welcome."}
  - understand: `+add("colour", "I have added it.")+`
    act: {calls: [{tool: db_create, args: {table: shopping_list, data: {name: milk}}}, {tool: step_complete, args: {summary: added}}]}
    reply: Milk is on the list.
  - understand: {intent: chat, quick: null, `+rest+`, calls: [], say: "I have saved everything."}
    reply: Fine.
  - understand: {intent: explore, quick: null, mentions: [], besides: null, think: null, calls: [], memory: {retain: [], demote: [], forget: [], exclude: [], clear_all: false, constraints: [{text: no cod, kind: exclude, value: null, scope: session, replaces: ""}], summary: no cod}, say: "Noted: no cod."}
`)
	require.Contains(t, c.say("what is in the fridge?").Reply, "Milk")
	require.Equal(t, "understand", c.callsOf(1))

	added := c.say("add oat milk")
	require.Contains(t, added.Reply, "I have added oat milk to your list.")
	require.Equal(t, "understand", c.callsOf(2))
	c.fact("1", `SELECT count(*) FROM kitchen.shopping_list WHERE user_id = $2 AND name = 'oat milk'`)
	c.fact("understand, think, act, reply, summarize", `SELECT string_agg(r.node, ', ' ORDER BY r.position) FROM node_runs r JOIN turns t ON t.id = r.turn_id WHERE t.session_id = $1 AND t.number = 2`)
	c.fact("1", `SELECT count(DISTINCT r.llm_call_id) FROM node_runs r JOIN turns t ON t.id = r.turn_id WHERE t.session_id = $1 AND t.number = 2 AND r.node IN ('understand', 'think', 'reply')`)

	require.Equal(t, "You are welcome.", c.say("thanks").Reply)
	require.Equal(t, "understand", c.callsOf(3))

	require.Equal(t, "Milk is on the list.", c.say("and milk").Reply, "what was promised for another call is not said")
	require.Equal(t, "understand act reply", c.callsOf(4))

	require.Equal(t, "Fine.", c.say("well done").Reply, "nothing was saved in this turn")
	require.Equal(t, "understand reply", c.callsOf(5))

	require.Equal(t, "Noted: no cod.", c.say("no cod this week").Reply)
	c.fact("no cod", `SELECT string_agg(text, ', ') FROM constraints WHERE session_id = $1`)
}

// An update to the values that stand there already changes nothing, and its reply does not say that it did: "add 2 l" was
// planned as the 2 l there were.
func TestAnUpdateThatChangesNothingIsNotToldAsDone(t *testing.T) {
	t.Parallel()
	if *everyApart {
		t.Skip("they are asked apart")
	}
	const rest = `mentions: [], memory: null, besides: null, think: null`
	c := converse(t, `
turns:
  - understand: {intent: read, quick: inv, `+rest+`, calls: [{tool: db_read, table: inventory}], say: ""}
  - understand: {intent: write, quick: null, `+rest+`, calls: [{tool: db_update, table: inventory, filters: [{field: name, op: "=", value: Milk}], set: [{column: quantity, value: 1}]}], say: "I have added a litre of milk."}
    act: {calls: [{tool: db_update, args: {table: inventory, filters: [{field: name, op: "=", value: Milk}], set: [{column: quantity, value: 1}]}}, {tool: step_complete, args: {summary: added}}]}
    reply: I have added a litre of milk.
`)
	c.say("what is in the fridge?")
	turn := c.say("add a litre of milk")
	require.Equal(t, "Nothing was changed. Found 1 pantry item:\n- Milk (1 l), fridge", turn.Reply)
	require.True(t, turn.Unwritten)
	require.Empty(t, turn.Wrote)
	c.fact("empty Nothing was saved, changed or deleted. Changed no pantry items, which had these values already: Milk (inv_8).", `
		SELECT s.outcome || ' ' || s.summary FROM turn_steps s JOIN turns t ON t.id = s.turn_id WHERE t.session_id = $1 AND t.number = 2 ORDER BY s.step DESC LIMIT 1`)
	c.fact("read", `SELECT string_agg(DISTINCT action, ', ') FROM entity_events WHERE session_id = $1 AND ref = 'inv_8' AND turn_number = 2`)
}

// "What did you just do?" is answered from what was done, of which the conversation has only what was said. A reply that tells it as
// done now is replaced by that, instead of by a request to say it in other words.
func TestWhatWasDoneBeforeIsTold(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: write}
    think: {goal: g, decision: plan, steps: [{type: write, subdomain: shopping, description: Add bread}]}
    act: {calls: [{tool: db_create, args: {table: shopping_list, data: {name: bread}}}, {tool: step_complete, args: {summary: added}}]}
    reply: I have added bread and eggs.
  - understand: {intent: chat}
    think: {goal: g, decision: plan, steps: []}
    reply: Earlier I added bread to your list.
  - understand: {intent: chat}
    think: {goal: g, decision: plan, steps: []}
    reply: I added bread and eggs to your list.
`)
	c.say("add bread")
	require.Equal(t, "Earlier I added bread to your list.", c.say("what did you just do").Reply)
	require.Contains(t, c.prompt(2, "reply", 1), `Before this turn, for "add bread": Created 1 shopping item: bread.`)
	require.Equal(t, `Nothing was saved, changed or deleted just now. Before that, for "add bread": Created 1 shopping item: bread.`, c.say("what did you do").Reply)
}

// A decision's calls fail together. What the model does not try again with the one that was wrong is told, whatever its reply claims.
func TestWhatIsNotTriedAgainIsTold(t *testing.T) {
	t.Parallel()
	add := func(name string) string {
		return `{tool: db_create, table: shopping_list, set: [{column: name, value: ` + name + `}]}`
	}
	again := func(names string) string {
		return `
    act: {calls: [` + names + `{tool: step_complete, args: {summary: All added.}}]}
    reply: I have added eggs, bread and 2 lemons to your list.`
	}
	create := func(name string) string {
		return `{tool: db_create, args: {table: shopping_list, rows: [{set: [{column: name, value: ` + name + `}]}]}}, `
	}
	wrong := `
  - understand: {intent: write, calls: [` + add("eggs") + `, ` + add("bread") + `, {tool: db_create, table: shopping_list, set: [{column: name, value: lemons}, {column: quantity, value: 2 pieces}]}], think: null, say: ""}`
	c := converse(t, "\nturns:"+wrong+again(create("lemons"))+wrong+again(create("eggs")+create("bread")+create("lemon"))+
		wrong+again(`{tool: db_update, args: {table: shopping_list, filters: [{field: name, op: "=", value: eggs}], set: [{column: quantity, value: 6}]}}, `+create("bread")+create("lemons")))
	require.Equal(t, "I have added eggs, bread and 2 lemons to your list.\n\nThis is done only in part: Created 1 shopping item: lemons. Left out: eggs, bread.", c.say("add eggs bread 2 lemons").Reply)
	require.Equal(t, "I have added eggs, bread and 2 lemons to your list.", c.say("again").Reply)
	require.Equal(t, "I have added eggs, bread and 2 lemons to your list.", c.say("and again").Reply, "eggs that are there already were changed")
}

// What was to be changed and is not there is told beside what was changed, whatever the reply claims, unless something was made of it.
func TestWhatIsNotThereToBeChangedIsTold(t *testing.T) {
	t.Parallel()
	const halved = `
  - understand: {intent: write, calls: [{tool: db_update, table: inventory, filters: [{field: name, op: "=", value: quail eggs}], set: [{column: quantity, value: 6}]}, {tool: db_update, table: inventory, filters: [{field: id, op: "=", value: inv_8}], set: [{column: quantity, value: %N}]}], think: null, say: ""}
    act: {calls: [{tool: db_update, args: {table: inventory, filters: [{field: id, op: "=", value: inv_8}], set: [{column: quantity, value: %N}]}}, %M{tool: step_complete, args: {summary: done}}]}
    reply: I have halved the eggs and changed the milk.`
	with := func(n, more string) string { return strings.NewReplacer("%N", n, "%M", more).Replace(halved) }
	c := converse(t, `
turns:
  - understand: {intent: read, quick: inv, calls: [{tool: db_read, table: inventory}], think: null, say: ""}`+
		with("2", "")+with("3", `{tool: db_create, args: {table: inventory, data: {name: quail eggs, quantity: 6}}}, `))
	c.say("what is there?")
	require.Equal(t, "I have halved the eggs and changed the milk.\n\nNot found, and so not changed: pantry items with name = quail eggs.", c.say("used half the quail eggs, and there are 2 l milk").Reply)
	require.Equal(t, "I have halved the eggs and changed the milk.", c.say("put them in").Reply)
}

// What was to be changed is told as not there no more than it was found by another name.
func TestWhatIsChangedByAnotherNameWasThere(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: read, quick: inv, calls: [{tool: db_read, table: inventory}], think: null, say: ""}
  - understand: {intent: write, calls: [{tool: db_update, table: inventory, filters: [{field: name, op: "=", value: cow juice}], set: [{column: quantity, value: 2}]}], think: null, say: ""}
    act: {calls: [{tool: db_update, args: {table: inventory, filters: [{field: id, op: "=", value: inv_8}], set: [{column: quantity, value: 2}]}}, {tool: step_complete, args: {summary: done}}]}
    reply: There are 2 l of milk.
`)
	c.say("what is there?")
	require.Equal(t, "There are 2 l of milk.", c.say("there are 2 l cow juice").Reply)
}

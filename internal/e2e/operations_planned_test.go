package e2e_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/llm/script"
)

// operated is a turn whose plan is one call of an operation.
func operated(set, say string) string {
	return `
  - understand: {intent: write, calls: [{tool: ` + set + `}], say: "` + say + `"}`
}

// An operation whose arguments the planner knows needs no call of Act: it asks by itself whether it may, and what it says is
// told. Whatever somebody has changed meanwhile, and a row without a ref, is Act's.
func TestOperationsOfAPlan(t *testing.T) {
	t.Parallel()
	if *everyApart {
		t.Skip("they are asked apart")
	}
	c := talkOver(t, "testdata/rental.sql")
	d, _ := rentalOf(t, c)
	c.exec(`INSERT INTO rental_alfred.alfred_accounts VALUES ($1, 'C1')`)
	back := `
    act: {calls: [{tool: return_tools, args: {this: hire_1}}, {tool: step_complete, args: {summary: returned}}]}
    reply: It is returned.`
	model, err := script.Parse([]byte(`
turns:` + act("read", "read", "hires", `{tool: db_read, args: {table: hires, detail: full}}`) +
		operated(`return_tools, table: hires, set: [{column: this, value: hire_2}]`, "Done.") + `
    reply: The roof's tools are returned.` +
		operated(`cancel_hire, table: hires, set: [{column: this, value: hire_3}, {column: reason, value: no time}]`, "Cancelled.") + `
    reply: Shall I?
  - understand: {intent: confirm, answers_question: true}
    reply: Cancelled.` +
		operated(`return_tools, table: hires, set: [{column: this, value: hire_1}]`, "") + back +
		operated(`return_tools, table: hires, set: [{column: this, value: Floor}]`, "") + back))
	require.NoError(t, err)
	c.work(d, model)
	c.ask("What have I hired?")

	c.ask("The roof is done")
	require.Equal(t, "understand reply", c.callsOf(2))
	c.fact("returned", `SELECT status FROM rental.hires WHERE title = 'Roof'`)
	require.Contains(t, c.prompt(2, "reply", 1), "Returned: Roof", "what the function says is told")
	c.fact("- return_tools (hire; arguments: this (hire), lines", `SELECT substring(l.request ->> 'system' FROM '- return_tools.*?lines') FROM v_llm_calls l WHERE l.session_id = $1 AND l.node = 'understand' ORDER BY l.id LIMIT 1`)

	c.asked("Cancel the shelf")
	require.Equal(t, "understand reply", c.callsOf(3))
	require.Contains(t, c.one(`SELECT payload->>'text' FROM questions WHERE session_id = $1 AND status = 'open'`), "Shelf would be cancelled and 12.50 refunded.")
	c.fact("booked", `SELECT status FROM rental.hires WHERE title = 'Shelf'`)
	c.ask("Yes")
	require.Equal(t, "understand reply", c.callsOf(4))
	c.fact("cancelled", `SELECT status FROM rental.hires WHERE title = 'Shelf'`)
	require.Contains(t, c.prompt(4, "reply", 1), "Saved 1 refund:", "it was not there before")

	c.exec(`UPDATE rental.hires SET status = 'booked' WHERE title = 'Floor' AND $1::uuid IS NOT NULL`)
	c.ask("The floor is done")
	require.Equal(t, "understand act reply", c.callsOf(5))
	c.ask("Floor, I said")
	require.Equal(t, "understand act reply", c.callsOf(6))
	c.fact("returned", `SELECT status FROM rental.hires WHERE title = 'Floor'`)
	require.Equal(t, 1, strings.Count(c.prompt(6, "act", 1), "## Current Step"))
}

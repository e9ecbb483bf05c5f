package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A message that waited behind one that interrupted has a lower number, but comes later: it knows the rows that the other
// found, and what it writes is newer than what the other read.
func TestAMessageThatAnotherOvertookKnowsWhatThatFound(t *testing.T) {
	t.Parallel()
	rice := `table: inventory, filters: [{field: name, op: "=", value: Basmati rice}]`
	read := `{calls: [{tool: db_read, args: {` + rice + `, detail: full}}, {tool: step_complete, args: {summary: read}}]}`
	c := converse(t, `
turns:
  - {}
  - understand: {intent: write}
    think: {goal: Set, decision: plan, steps: [{type: read, subdomain: inventory, description: Read the rice}, {type: write, subdomain: inventory, description: Set the rice}]}
    act:
      - `+read+`
      - {calls: [{tool: db_update, args: {`+rice+`, set: [{column: quantity, value: 7}]}}, {tool: step_complete, args: {summary: set}}]}
    reply: {error: {kind: refusal}}
  - understand: {intent: read}
    think: {goal: Look, decision: plan, steps: [{type: read, subdomain: inventory, description: Read the rice}]}
    act: [`+read+`]
    reply: There it is.
`)
	c.stopWorker()
	c.enqueue(message{"message": "hello"})
	waits := c.enqueue(message{"message": "set the rice to 7 kg"})
	goesFirst := c.enqueue(message{"message": "show the rice", "if_busy": "interrupt"})
	c.startWorker()
	require.Equal(t, "There it is.", c.end(goesFirst).Reply)
	require.Contains(t, c.end(waits).Reply, "Basmati rice (7 kg)")
	require.Contains(t, c.prompt(2, "understand", 1), "inv_1: Basmati rice")
}

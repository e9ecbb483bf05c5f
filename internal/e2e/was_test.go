package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// W11: after two updates of a row in one decision, its value before the turn is still reported.
func TestW11TwoUpdatesOfOneRow(t *testing.T) {
	t.Parallel()

	c := converse(t, `
turns:
  - understand: {intent: write}
    think:
      goal: g
      decision: plan
      steps: [{type: read, subdomain: tasks, description: Read it}, {type: write, subdomain: tasks, description: Change the task}]
      calls: [{step: 1, tool: db_read, table: tasks}]
    act:
      - {calls: [{tool: db_update, args: {table: tasks, filters: [{field: title, op: "=", value: Water the plants}], data: {category: shopping}}},
          {tool: db_update, args: {table: tasks, filters: [{field: title, op: "=", value: Water the plants}], data: {category: prep, title: Water all plants}}},
          {tool: step_complete, args: {summary: changed}}]}
    reply: Changed.
    summarize: {response_summary: s}
`)
	c.exec(`INSERT INTO kitchen.tasks (user_id, title, category) VALUES ($1, 'Water the plants', 'other')`)
	c.say("Change the task")
	require.Contains(t, c.prompt(1, "reply", 1), `was:{"category":"other","title":"Water the plants"}`)
}

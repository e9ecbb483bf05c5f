package e2e_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Steps that do not depend on each other are answered in one call, and each remains a decision of its own. Calls that
// fail, only read, or follow failed calls are requested again.
func TestStepsBesideEachOther(t *testing.T) {
	t.Parallel()
	plan := func(first, second string) string {
		return `
  - understand: {intent: write}
    think: {goal: Two things, decision: plan, steps: [{type: write, subdomain: ` + first + `, description: First}, {type: write, subdomain: ` + second + `, description: Second}]}
    reply: Done.
    act: `
	}
	milk := `{tool: db_create, args: {table: shopping_list, rows: [{set: [{column: name, value: milk}]}]}}`
	task := `{tool: db_create, args: {table: tasks, rows: [{set: [{column: title, value: Water the plants}]}]}}`
	wrong := `{tool: db_create, args: {table: tasks, rows: [{set: [{column: colour, value: green}]}]}}`
	look := `{tool: db_read, args: {table: tasks}}`
	done := `{tool: step_complete, args: {summary: done}}`
	c := converse(t, `
turns:`+
		plan("shopping", "tasks")+`{calls: [`+milk+`, `+done+`, `+task+`, `+done+`]}`+
		plan("shopping", "tasks")+`[{calls: [`+milk+`, `+done+`, `+wrong+`, `+done+`]}, {calls: [`+task+`, `+done+`]}]`+
		plan("tasks", "shopping")+`[{calls: [`+wrong+`, `+done+`, `+milk+`, `+done+`]}, {calls: [`+task+`, `+done+`]}, {calls: [`+milk+`, `+done+`]}]`+
		plan("shopping", "tasks")+`[{calls: [`+milk+`, `+done+`, `+look+`, `+done+`]}, {calls: [`+task+`, `+done+`]}]`+`
`)
	turn := c.say("milk on the list, and a task to water the plants")
	require.Equal(t, "write ok, write ok", turn.outcomes())
	require.Equal(t, 1, strings.Count(c.callsOf(1), "act"), "one answer for both")
	c.fact("1.1 2.1", `SELECT string_agg(n.step || '.' || n.call, ' ' ORDER BY n.position) FROM node_runs n JOIN turns t ON t.id = n.turn_id WHERE t.session_id = $1 AND n.node = 'act'`)
	c.fact("1 1", `SELECT (SELECT count(*) FROM kitchen.shopping_list WHERE user_id = $2) || ' ' || (SELECT count(*) FROM kitchen.tasks WHERE user_id = $2 AND title = 'Water the plants')`)
	first := c.prompt(1, "act", 1)
	require.Contains(t, first, "- Step 2 (write, tasks): Second")
	require.Contains(t, first, "tasks (task)")

	require.Equal(t, "write ok, write ok", c.say("both again").outcomes(), "the second's call fails and is mended")
	require.Equal(t, 2, strings.Count(c.callsOf(2), "act"))

	require.Equal(t, "write ok, write ok", c.say("and again").outcomes(), "the first's call failed, so all has to be answered again")
	require.Equal(t, 3, strings.Count(c.callsOf(3), "act"))
	require.Contains(t, c.prompt(3, "act", 2), "Not carried out.")

	require.Equal(t, "write ok, write ok", c.say("once more").outcomes(), "the second only looked")
	require.Equal(t, 2, strings.Count(c.callsOf(4), "act"))
	c.fact("1 4", `SELECT (SELECT count(*) FROM kitchen.shopping_list WHERE user_id = $2) || ' ' || (SELECT count(*) FROM kitchen.tasks WHERE user_id = $2 AND title = 'Water the plants')`)
}

// What is asked beside a write is looked up where the write is refused, blocked or asks: such a look shows what is there. One
// that waits for an answer keeps those that are to show what it writes.
func TestLooksBesideAWriteThatFails(t *testing.T) {
	t.Parallel()
	plan := `
  - understand: {intent: write}
    think: {goal: A task and a count, decision: plan, steps: [{type: write, subdomain: tasks, description: Add it}, {type: read, subdomain: tasks, description: The tasks}, {type: analyze, subdomain: tasks, description: How many}],
      calls: [{step: 2, tool: db_read, table: tasks}, {step: 3, tool: db_analyze, table: tasks, how: count}]}
    reply: It could not be added; these are your tasks.
    act: `
	wrong := `{calls: [{tool: db_create, args: {table: tasks, rows: [{set: [{column: colour, value: green}]}]}}]}`
	c := converse(t, `
turns:`+
		plan+`[`+wrong+`, `+wrong+`, `+wrong+`]`+
		plan+`{calls: [{tool: blocked, args: {code: tool_failure, details: There is no such column., next: fail}}]}`+
		plan+`{calls: [{tool: blocked, args: {code: insufficient_info, details: Which colour?, next: ask_user}}]}`+
		plan+`{calls: [{tool: ask_user, args: {question: Which colour?}}]}
`)
	for range 3 {
		require.Equal(t, "write failed, read empty, analyze ok", c.say("add a green task, show me the tasks and count them").outcomes())
	}
	require.Equal(t, "write partial, read skipped, analyze skipped", c.say("add a green task, show me the tasks and count them").outcomes())
}

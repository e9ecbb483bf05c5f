package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What a plan counts and adds up needs no call of Act; one that fails, or may have missed for its wording, is Act's.
func TestAnalysesOfAPlan(t *testing.T) {
	t.Parallel()
	if *everyApart {
		t.Skip("they are asked apart")
	}
	c := converse(t, `
turns:
  - understand: {intent: read}
    think: {goal: Count, decision: plan, calls: [{tool: db_analyze, table: recipes, filters: [], how: "count, max(total_time_minutes) group by cuisine order by max(total_time_minutes) desc limit 2"}]}
    reply: Indian takes longest.
  - understand: {intent: read}
    think: {goal: Count, decision: plan, calls: [{tool: db_analyze, table: recipes, filters: [{field: colour, op: "=", value: red}], how: count}]}
    act: [{calls: [{tool: db_analyze, args: {table: recipes, aggregates: [{fn: count}]}}, {tool: step_complete, args: {summary: counted}}]}]
    reply: Three.
  - understand: {intent: read}
    think: {goal: Count, decision: plan, calls: [{tool: db_analyze, table: recipes, filters: [{field: name, op: ilike, value: chicken}], how: count}]}
    reply: One.
  - understand: {intent: read}
    think: {goal: Count, decision: plan, calls: [{tool: db_analyze, table: tasks, filters: [], how: count}, {tool: db_read, table: recipes, filters: [], how: "order by name desc limit 1", detail: summary}]}
    reply: None, and the last one is Shakshuka Classic.
  - understand: {intent: read}
    think: {goal: Show, decision: plan, calls: [{tool: db_read, table: recipes, filters: [], how: "order by name desc limit 1", detail: full}]}
    reply: It takes ten minutes to prepare.
`)
	require.Equal(t, "analyze ok", c.say("Which cuisines take longest?").outcomes())
	require.Equal(t, "understand reply", c.callsOf(1))
	results := section(c.prompt(1, "reply", 1), "## Execution Results")
	require.Contains(t, results, `Figures of the recipes: [{"count":1,"cuisine":"indian","max_total_time_minutes":45},{"count":1,"cuisine":"mediterranean","max_total_time_minutes":35}], `+
		"the first 2 of 3; total_time_minutes: Preparation and cooking together, in minutes")

	require.Equal(t, "analyze ok", c.say("How many red ones?").outcomes())
	require.Equal(t, "understand act reply", c.callsOf(2))
	require.Contains(t, c.prompt(2, "act", 1), `no column "colour"`)

	require.Equal(t, "analyze ok", c.say("How many with chicken?").outcomes())
	require.Equal(t, "understand reply", c.callsOf(3))
	require.Contains(t, section(c.prompt(3, "reply", 1), "## Execution Results"), `[{"count":1}]`)

	require.Equal(t, "analyze ok, read ok", c.say("How many tasks do I have, and which recipe is the last?").outcomes())
	require.Equal(t, "understand reply", c.callsOf(4))
	require.Contains(t, section(c.prompt(4, "reply", 1), "## Execution Results"), "Shakshuka Classic")
	c.say("And how long do I prepare it?")
	require.Contains(t, section(c.prompt(5, "reply", 1), "## Execution Results"), "(prep_time_minutes of the recipes: Minutes of preparation)", "a reply knows what rows' numbers measure")
}

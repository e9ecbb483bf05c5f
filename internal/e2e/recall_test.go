package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A question about what was said long ago is answered from the search that Understand requested: no step is planned,
// and the reply's model sees the turn by number.
func TestDistantPastNeedsNoPlan(t *testing.T) {
	t.Parallel()
	var turns strings.Builder
	turns.WriteString(`
compress: {text: "They talked."}
turns:
  - understand: {intent: chat}
    think: {goal: Note it, decision: plan, steps: []}
    reply: Noted, nutmeg goes into the mash.`)
	for n := 2; n <= 9; n++ {
		fmt.Fprintf(&turns, `
  - understand: {intent: chat}
    think: {goal: talk, decision: plan, steps: []}
    reply: "Reply %d."`, n)
	}
	turns.WriteString(`
  - understand: {intent: read, recall: {query: "secret of grandmother's mash, shakshuka"}}
    think: {goal: Say what it was, decision: plan, steps: []}
    reply: It was nutmeg.`)
	c := converse(t, turns.String())
	c.say("My grandmother's secret is nutmeg in the mash")
	for n := 2; n <= 9; n++ {
		c.say(fmt.Sprintf("small talk %d", n))
	}
	c.settle()
	said := c.say("What was my grandmother's secret?")
	require.Empty(t, said.outcomes(), "no plan")
	c.fact("0 recall", `SELECT string_agg(r.step || ' ' || r.tool, ', ') FROM turn_step_results r JOIN turns t ON t.id = r.turn_id WHERE t.session_id = $1 AND t.number = 10`)
	for _, node := range []string{"think", "reply"} {
		prompt := c.prompt(10, node, 1)
		require.Contains(t, prompt, "nutmeg in the mash", node)
		require.NotContains(t, section(prompt, "## Conversation"), "nutmeg in the mash", "it had left the window")
	}
	think := c.prompt(10, "think", 1)
	require.Regexp(t, `Recalled: .*[Tt]urn 1\b`, think)
	_, recalled, _ := strings.Cut(think, "Recalled: ")
	require.Contains(t, recalled, "recipe_1", "rows are quoted by their refs")
	c.fact("true", `SELECT bool_or(reason = 'recalled') FROM v_context WHERE session_id = $1 AND number = 10`)
}

// What a fork has of its parent is in view: found in the parent as well, it stood twice in the prompt.
func TestForksRecallNothingThatTheyShow(t *testing.T) {
	t.Parallel()
	talk := `
  - understand: {intent: chat}
    think: {goal: talk, decision: plan, steps: []}
    reply: Noted, nutmeg goes into the mash.`
	c := converse(t, `
turns:`+talk+`
  - understand: {intent: read, recall: {query: "secret of grandmother's mash"}}
    think: {goal: Say what it was, decision: plan, steps: []}
    reply: It was nutmeg.`)
	c.say("My grandmother's secret is nutmeg in the mash")
	c.settle()
	fork := c.fork(1)
	fork.say("What was my grandmother's secret?")
	think := fork.prompt(2, "think", 1)
	require.Contains(t, section(think, "## Conversation"), "nutmeg in the mash")
	require.Contains(t, section(think, "## What Happened"), "Recalled: nothing fits")
}

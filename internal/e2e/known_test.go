package e2e_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// Think, Act and the reply know which rows are loaded, and how others have changed them since.
func TestLoadedMeansSeen(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: read, quick: {entity_type: recipe, why: one table}}
    act: {calls: [{tool: db_read, args: {table: recipes}}]}
  - understand: {intent: read, mentions: [{text: it, ref: recipe_1, resolution: inferred}]}
    think: {goal: Tell how long it takes, decision: plan, steps: []}
    reply: 45 minutes.
  - understand: {intent: explore}
    think: {goal: A variation, decision: plan, steps: [{type: generate, subdomain: recipes, description: Draft a variation, refs: [recipe_1], needs: rows}]}
    act:
      - calls: [{tool: generate, args: {creates: [{type: recipe, content: `+basil+`}]}}, {tool: step_complete, args: {summary: drafted}}]
    reply: Here is a variation.
  - understand: {intent: chat}
    think: {goal: talk, decision: plan, steps: []}
    reply: Sure.
`)
	c.say("Show my recipes")
	c.say("How long does it take?")
	think := section(c.prompt(2, "think", 1), "## Recent Context")
	require.Contains(t, think, "Already loaded. Do NOT re-read them.")
	require.Contains(t, think, "recipe_1: Butter Chicken (recipe) [read:summary]", "V06")
	known := section(c.prompt(2, "reply", 1), "## What You Know")
	require.Contains(t, known, "Butter Chicken", "V05: the reply sees what is loaded")
	require.Contains(t, known, "total_time")
	require.NotContains(t, known, "recipe_1")

	said := c.say("Draft a variation of it")
	require.Equal(t, "read ok, generate ok", said.outcomes(), "V06: the long texts are read before they are needed")
	require.Contains(t, c.prompt(3, "act", 1), "### recipe_1", "and by code")

	c.exec(`UPDATE kitchen.recipes SET servings = 9 WHERE user_id = $1 AND name = 'Butter Chicken'`)
	c.exec(`DELETE FROM kitchen.recipes WHERE user_id = $1 AND name = 'Shakshuka Classic'`)
	c.say("thanks")
	for _, node := range []string{"understand", "think"} {
		shown := c.prompt(4, node, 1)
		require.Contains(t, shown, "Butter Chicken (recipe) [read:full] [changed]", "V07: %s", node)
	}
	known = section(c.prompt(4, "reply", 1), "## What You Know")
	require.Contains(t, known, "Changed since it was read, so its values are not known: Butter Chicken")
	require.NotContains(t, known, "servings:4")
}

// A reply does not take text of the user's rows for a ref, or an invented ref for a name.
func TestWordsAreNotTakenForRefs(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: read}
    think: {goal: Tasks, decision: plan, steps: [{type: read, subdomain: tasks, description: Read the tasks}]}
    act: {calls: [{tool: db_read, args: {table: tasks}}, {tool: step_complete, args: {summary: read}}]}
    reply: You have to call task_1. That goes with Recipe_9 and gen_recipe_7.
`)
	c.exec(`INSERT INTO kitchen.tasks (user_id, title, due_date) VALUES ($1, 'call task_1', '2027-01-05')`)
	said := c.say("What do I have to do?")
	require.Equal(t, "You have to call task_1. That goes with recipe and recipe.", said.Reply, "V13, V14")
	results := section(c.prompt(1, "reply", 1), "## Execution Results")
	require.Contains(t, results, "call task_1", "V14")
	require.Contains(t, results, "2027-01-05 (Tue)", "V12")
}

// The reply's prompt contains what the user did on the page.
func TestReplyKnowsWhatTheUserDid(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: chat}
    think: {goal: talk, decision: plan, steps: []}
    reply: Good.
`)
	require.Equal(t, http.StatusCreated, c.call(http.MethodPost, "/v1/data/task?session="+c.session.String(), map[string]any{"title": "Sharpen the knives"}, nil))
	c.say("There, I have put it down")
	require.Contains(t, section(c.prompt(1, "reply", 1), "## What You Know"), "The user has created it in the page: Sharpen the knives (task)", "V05")
}

// Changes from the page with an unknown action or type are refused, not lost later.
func TestUIChangesAreChecked(t *testing.T) {
	t.Parallel()
	c := converse(t, "turns: []")
	for name, change := range map[string]map[string]any{
		"action": {"action": "polished", "entity_type": "recipe", "entity_id": "x", "label": "x"},
		"type":   {"action": "updated:user", "entity_type": "spaceship", "entity_id": "x", "label": "x"},
	} {
		var problem struct {
			Code   string `json:"code"`
			Detail string `json:"detail"`
		}
		status := c.call(http.MethodPost, c.path("/turns"), message{"message": "hi", "ui_changes": []any{change}}, &problem)
		require.Equal(t, http.StatusUnprocessableEntity, status, "V32: %s", name)
		require.Contains(t, problem.Detail, change[map[string]string{"action": "action", "type": "entity_type"}[name]], "V32: it names what is wrong")
	}
	c.fact("0", `SELECT last_turn FROM sessions WHERE id = $1`)
}

package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the user rejects stays out, with its reason, and nothing is read again because of it.
func TestExclusionNarrowsPlan(t *testing.T) {
	t.Parallel()
	c := converseApart(t, `
turns:
  - understand: {intent: explore}
    think: {goal: Plan dinners, decision: propose, proposal: "Shall I look at your recipes for dinners this week?", steps: []}
    reply: Shall I look at your recipes?
  - understand:
      intent: confirm
      answers_question: true
      constraints: [{text: no cod this week, kind: exclude, value: cod, scope: session}]
      curation_summary: Noted no cod this week
    think: {goal: Find dinners without cod, decision: plan, steps: [{type: read, subdomain: recipes, description: Read the recipes}, {type: read, subdomain: inventory, description: Read the pantry}, {type: analyze, subdomain: recipes, description: Rule out cod}]}
    act:
      - {step: 1, calls: [{tool: db_read, args: {table: recipes}}, {tool: step_complete, args: {summary: five}}]}
      - {step: 2, calls: [{tool: db_read, args: {table: inventory}}, {tool: step_complete, args: {summary: twelve}}]}
      - {step: 3, calls: [{tool: step_complete, args: {summary: ruled out, conclusions: None has cod.}}]}
    reply: None of your recipes has cod.
  - understand:
      intent: explore
      mentions: [{text: wings, ref: recipe_5, resolution: exact}, {text: french toast, ref: recipe_2, resolution: exact}]
      curation: {exclude: [{ref: recipe_5, reason: not this week}, {ref: recipe_2, reason: not this week}]}
      curation_summary: Excluded the wings and the French toast
    think: {goal: Narrow, decision: plan, steps: [{type: analyze, subdomain: recipes, description: What remains, refs: [recipe_1, recipe_3, recipe_4]}]}
    act: {calls: [{tool: step_complete, args: {summary: three remain}}]}
    reply: Without the wings and the French toast, Butter Chicken, Pad See Ew and Shakshuka remain.
    summarize: {response_summary: three remain, conversation_phase: narrowing, tone: collaborative}
  - understand: {intent: explore, mentions: [{text: the first two, ref: recipe_1, resolution: inferred}, {text: the first two, ref: recipe_3, resolution: inferred}]}
    think: {goal: Draft the plan, decision: plan, steps: [{type: generate, subdomain: meal_plans, description: Draft two dinners, refs: [recipe_1, recipe_3]}]}
    act: {calls: [{tool: generate, args: {creates: [{type: meal, content: {date: "2026-12-01", meal_type: dinner, recipe_id: recipe_1}}, {type: meal, content: {date: "2026-12-02", meal_type: dinner, recipe_id: recipe_3}}]}}, {tool: step_complete, args: {summary: two}}]}
    reply: Two dinners.
  - understand: {intent: write}
    think: {goal: Save the plan, decision: plan, steps: [{type: write, subdomain: meal_plans, description: Save both, refs: [gen_meal_1, gen_meal_2]}]}
    act: {calls: [{tool: db_create, args: {table: meal_plans, from_ref: gen_meal_1}}, {tool: db_create, args: {table: meal_plans, from_ref: gen_meal_2}}, {tool: step_complete, args: {summary: saved}}]}
    reply: Saved.
`)
	c.exec(`INSERT INTO kitchen.recipes (user_id, name) VALUES ($1, 'Chai French Toast'), ($1, 'Wings')`)
	asked := c.say("Help me plan dinners")
	require.Equal(t, "propose", asked.Question.Kind)
	c.fact("0", `SELECT count(*) FROM kitchen.meal_plans WHERE user_id = $2`)

	said := c.say("No cod this week")
	require.Equal(t, "read ok, read ok, analyze ok", said.outcomes())
	c.fact("exclude session Sunday", `SELECT concat_ws(' ', kind, scope, to_char(expires_at - interval '1 second', 'FMDay')) FROM constraints WHERE session_id = $1`)

	c.say("Not the wings or the french toast either")
	c.tier("excluded", "recipe_2", "recipe_5")
	c.fact("0", `SELECT count(*) FROM turn_step_results r JOIN turns t ON t.id = r.turn_id WHERE t.session_id = $1 AND t.number = 3`)
	c.fact("narrowing", `SELECT conversation_phase FROM turn_summaries WHERE session_id = $1 AND turn_number = 3`)
	reply := c.prompt(3, "reply", 1)
	require.Contains(t, reply, "no greeting")
	require.Contains(t, reply, "Excluded the wings and the French toast")
	think := c.prompt(3, "think", 1)
	require.Contains(t, section(think, "## Viable for planning"), "recipe_1, recipe_3, recipe_4")
	require.Contains(t, section(think, "## Excluded (user rejected)"), "recipe_5: Wings (recipe) [read:summary] — *not this week*")
	require.Contains(t, section(think, "## Constraints"), "no cod this week")
	require.Contains(t, c.prompt(3, "act", 1), "None has cod.", "an earlier analysis is there")

	c.say("Take the first two")
	c.refs("meal", "gen_meal_1 pending generated Tue 1 Dec dinner: Butter Chicken", "gen_meal_2 pending generated Wed 2 Dec dinner: Pad See Ew")
	require.Contains(t, section(c.prompt(4, "act", 1), "## Constraints"), "no cod this week")
	c.say("Save it")
	c.fact("Butter Chicken, Pad See Ew", `SELECT string_agg(r.name, ', ' ORDER BY m.date) FROM kitchen.meal_plans m JOIN kitchen.recipes r ON r.id = m.recipe_id WHERE m.user_id = $2`)
}

// A constraint for this week ends with it; an allergy is a lasting row that the next prompt knows.
func TestPreferenceScope(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: explore, constraints: [{text: two lighter dinners this week, kind: count, value: 2, scope: session}]}
    think: {goal: Note it, decision: plan, steps: []}
    reply: Noted.
  - understand: {intent: write, constraints: [{text: allergic to peanuts, kind: exclude, value: peanuts, scope: lasting}]}
    think: {goal: Note the allergy, decision: plan, steps: [{type: write, subdomain: preferences, description: Add peanuts to the allergies}]}
    act:
      - calls: [{tool: db_read, args: {table: preferences}}]
      - calls: [{tool: db_update, args: {table: preferences, filters: [{field: id, op: "=", value: pref_1}], data: {allergies: [peanuts]}}}, {tool: step_complete, args: {summary: noted}}]
    reply: No peanuts, ever.`+chat)
	before := c.one(`SELECT row(p.*)::text FROM kitchen.preferences p WHERE user_id = $2`)
	c.say("Two lighter dinners this week please")
	c.fact(before, `SELECT row(p.*)::text FROM kitchen.preferences p WHERE user_id = $2`)
	c.fact("session 2", `SELECT concat_ws(' ', scope, value) FROM constraints WHERE session_id = $1`)
	c.say("I'm allergic to peanuts")
	c.fact("{peanuts}", `SELECT allergies::text FROM kitchen.preferences WHERE user_id = $2`)
	require.NotContains(t, section(c.prompt(2, "think", 1), "## User Profile"), "peanuts")
	c.say("ok")
	require.Contains(t, section(c.prompt(3, "think", 1), "## User Profile"), "ALLERGIES: peanuts", "the profile is read anew")

	other := c.talk()
	var view struct {
		Text string `json:"text"`
	}
	require.Equal(t, http.StatusOK, other.call(http.MethodGet, other.path("/context?node=think"), nil, &view))
	require.Contains(t, section(view.Text, "## Constraints"), "allergic to peanuts", "a lasting constraint holds in every session of the user")
	require.NotContains(t, view.Text, "lighter dinners")
}

// Prompts do not grow with the conversation, and nothing is lost by that.
func TestMemoryLimits(t *testing.T) {
	t.Parallel()
	var turns strings.Builder
	turns.WriteString(`
compress: {text: "The pantry has 12 things."}
turns:
  - understand: {intent: read, quick: {entity_type: inv, why: one}}
    act: {calls: [{tool: db_read, args: {table: inventory}}]}` + draft(basil))
	for n := 3; n <= 12; n++ {
		fmt.Fprintf(&turns, `
  - understand: {intent: chat, curation_summary: thought %d}
    think: {goal: talk %d, decision: plan, steps: []}
    reply: "Reply %d."
    summarize: {response_summary: "fact %d"}`, n, n, n, n)
	}
	c := converseApart(t, turns.String())
	c.say("What is in the pantry?")
	c.say("Draft a basil chicken")
	for n := 3; n <= 11; n++ {
		c.say(fmt.Sprintf("message %d", n))
		c.settle()
	}
	c.say("message 12")

	talked := section(c.prompt(12, "think", 1), "## Conversation")
	for n := 1; n <= 8; n++ {
		require.NotContains(t, talked, fmt.Sprintf("Reply %d.", n))
	}
	for n := 9; n <= 11; n++ {
		require.Contains(t, talked, fmt.Sprintf("Reply %d.", n))
	}
	require.Contains(t, talked, "### Earlier")
	require.Contains(t, talked, "The pantry has 12 things.")
	happened := section(c.prompt(12, "think", 1), "## What Happened")
	require.Contains(t, happened, "talk 11")
	require.Contains(t, happened, "talk 10")
	require.NotContains(t, happened, "talk 9")
	require.Contains(t, section(c.prompt(12, "think", 1), "## Generated (NOT YET SAVED)"), "gen_recipe_1")
	require.NotContains(t, c.prompt(12, "think", 1), "inv_1")
	require.LessOrEqual(t, strings.Count(c.prompt(12, "understand", 1), "thought "), 20)
	require.Contains(t, c.prompt(12, "understand", 1), "gen_recipe_1: Thai Basil Chicken")
	c.fact("background", `SELECT tier FROM v_entities WHERE session_id = $1 AND ref = 'inv_1'`)
	c.fact("true", `SELECT bool_and(model = 'script') FROM history_summaries WHERE session_id = $1`)
	c.settle()
	c.fact("conversation 1-8, narrative 1-8", `SELECT string_agg(kind || ' ' || from_turn || '-' || most, ', ' ORDER BY kind) FROM (SELECT kind, from_turn, max(to_turn) AS most FROM history_summaries WHERE session_id = $1 GROUP BY 1, 2) AS x`)
	size := func(n int) int { return len(c.prompt(n, "think", 1)) }
	require.Less(t, size(12), size(6)*3/2)
}

// The registry as of any turn can be derived from its events, and a new process sees the same.
func TestRegistryAtAnyTurn(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: read, quick: {entity_type: recipe, why: one}}
    act: {calls: [{tool: db_read, args: {table: recipes}}]}`+draft(basil)+save+`
  - understand: {intent: chat, curation: {exclude: [{ref: recipe_2, reason: too long}], demote: [recipe_3], drop: [recipe_1]}, curation_summary: sorted}
    think: {goal: sort, decision: plan, steps: []}
    reply: Sorted.`)
	current := func() string {
		return c.one(`SELECT string_agg(concat_ws(' ', ref, label, state, action, tier), '; ' ORDER BY ref) FROM v_entities WHERE session_id = $1`)
	}
	at := func(turn int) string {
		return c.one(fmt.Sprintf(`SELECT string_agg(concat_ws(' ', ref, label, state, action, tier), '; ' ORDER BY ref) FROM registry_at($1, %d)`, turn))
	}
	var seen []string
	for i, text := range []string{"list", "draft", "save", "sort"} {
		c.say(text)
		seen = append(seen, current())
		require.Equal(t, seen[i], at(i+1), text)
	}
	for i, then := range seen {
		require.Equal(t, then, at(i+1), "turn %d, seen later", i+1)
	}
	c.fact("dropped stored stored", `SELECT string_agg(state::text, ' ' ORDER BY ref) FROM entity_refs WHERE session_id = $1 AND ref LIKE 'recipe%'`)
}

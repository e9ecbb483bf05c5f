package e2e_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// introduced is a turn that drafts the basil recipe, with words to the user beside the call.
func introduced(words string) string {
	return strings.Replace(draft(basil), "act: {calls:", "act: {text: "+words+", calls:", 1)
}

const (
	replyCalls = `SELECT count(*) FROM llm_calls WHERE session_id = $1 AND node = 'reply'`
	offered    = `SELECT payload ->> 'text' FROM questions WHERE session_id = $1 AND status = 'open'`
)

// A draft is shown as it would be saved, below the words that Act wrote beside it; no further call words it.
func TestDraftIsIntroducedByItsMaker(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:`+introduced(`"Here is a quick one for two. Shall I save it?"`)+save)
	got := c.say("Draft a simple Thai basil chicken")
	require.Equal(t, `Here is a quick one for two. Shall I save it?

**Thai Basil Chicken**; cuisine: thai; prep time: 10 minutes; cook time: 10 minutes; servings: 2; tags: smoky

- 400 g chicken thighs
- 1 bunch thai basil (leaves only)
- 3 cloves garlic
- 0.5 tbsp fish sauce
- salt (to taste), optional

1. Fry the garlic.
2. Add the chicken.`, got.Reply)
	require.Contains(t, c.prompt(1, "act", 1), "Your reply begins here")
	c.settle()
	c.fact("0", replyCalls)
	c.fact("Shall I save it?", offered)

	c.say("Yes")
	c.fact("4", recipes)
	c.fact("true", savedAsShown)
}

// In a language that code does not know, a question at the end of the words is the offer. Without one, code's offer
// follows the drafts.
func TestOfferBesideAnIntroducedDraft(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:`+introduced(`"Hier ist ein schnelles Gericht. Soll ich es speichern?"`)+introduced(`"Voilà."`))
	c.say("Entwirf ein Thai-Gericht")
	c.fact("Soll ich es speichern?", offered)
	got := c.say("Et un autre")
	require.True(t, strings.HasPrefix(got.Reply, "Voilà.\n\n**Thai Basil Chicken**"), got.Reply)
	require.True(t, strings.HasSuffix(got.Reply, "2. Add the chicken.\n\nShall I save Thai Basil Chicken?"), got.Reply)
	c.fact("0", replyCalls)
}

// A plan is drafted after an analysis, whose conclusions its maker knows: a call that only worded the reply was sent all rows
// that the analysis had read.
func TestDraftAfterAnAnalysisIsIntroducedByItsMaker(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: explore}
    think:
      goal: Draft what fits
      decision: plan
      steps: [{type: analyze, subdomain: recipes, description: Count the recipes by cuisine}, {type: generate, subdomain: recipes, description: Draft the recipe}]
    act:
      - {step: 1, calls: [{tool: db_analyze, args: {table: recipes, group_by: [cuisine], aggregates: [{fn: count}]}}, {tool: step_complete, args: {summary: counted, conclusions: Thai is rare}}]}
      - {step: 2, text: "Thai is rare among yours, so here is one. Shall I save it?", calls: [{tool: generate, args: {creates: [{type: recipe, content: `+basil+`}]}}, {tool: step_complete, args: {summary: drafted}}]}
`)
	require.True(t, strings.HasPrefix(c.say("Draft what my recipes lack").Reply, "Thai is rare among yours, so here is one. Shall I save it?"))
	c.settle()
	c.fact("0", replyCalls)
}

// Words are not used, and the reply is requested, if they claim what was not done, name a ref, or stand beside no draft
// or a failed one.
func TestWordsThatDoNotIntroduceADraft(t *testing.T) {
	t.Parallel()
	for name, turn := range map[string]string{
		"FalseClaim": introduced(`"I have saved it for you."`),
		"Ref":        introduced(`"gen_recipe_1 is ready. Shall I save it?"`),
		"NoDraft": `
  - understand: {intent: explore}
    think: {goal: Draft it, decision: plan, steps: [{type: generate, subdomain: recipes, description: Draft the recipe}]}
    act:
      - {text: Let me look first., calls: [{tool: db_read, args: {table: recipes, filters: []}}]}
      - {calls: [{tool: generate, args: {creates: [{type: recipe, content: ` + basil + `}]}}, {tool: step_complete, args: {summary: drafted}}]}
    reply: Here is a draft.`,
		"Failed": `
  - understand: {intent: explore}
    think: {goal: Draft it, decision: plan, steps: [{type: generate, subdomain: recipes, description: Draft the recipe}]}
    act:
      - {text: Here it is. Shall I save it?, calls: [{tool: generate, args: {creates: [{type: recipe, content: {colour: green}}]}}]}
      - {calls: [{tool: generate, args: {creates: [{type: recipe, content: ` + basil + `}]}}, {tool: step_complete, args: {summary: drafted}}]}
    reply: Here is a draft.`,
		"MoreToDo": `
  - understand: {intent: explore}
    think:
      goal: Draft it, then look
      decision: plan
      steps: [{type: generate, subdomain: recipes, description: Draft the recipe}, {type: read, subdomain: tasks, description: Look at the tasks}]
    act:
      - {step: 1, text: Here it is. Shall I save it?, calls: [{tool: generate, args: {creates: [{type: recipe, content: ` + basil + `}]}}, {tool: step_complete, args: {summary: drafted}}]}
      - {step: 2, calls: [{tool: db_read, args: {table: tasks, filters: []}}, {tool: step_complete, args: {summary: read}}]}
    reply: Here is a draft.`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := converse(t, "\nturns:"+turn)
			got := c.say("Draft a simple Thai basil chicken")
			require.Contains(t, got.Reply, "Here is a draft.")
			c.settle()
			c.fact("1", replyCalls)
			c.refs("recipe", "gen_recipe_1 pending generated Thai Basil Chicken")
		})
	}
}

// A result that says what a change of the draft removed is told by the reply: the words were written before it was known.
// Words that name it need no reply: each "without the salt" cost a call, and the words that people had read were replaced.
func TestWordsBesideANoticeAreNotUsed(t *testing.T) {
	t.Parallel()
	for words, reply := range map[string]string{"With less of everything.": "Changed.", "It has no salt now.": "It has no salt now."} {
		without := strings.Replace(revise(`{recipe_ingredients: {"5": null}}`), "act: {calls:", `act: {text: "`+words+` Shall I save it?", calls:`, 1)
		c := converse(t, "\nturns:"+introduced(`"Here it is. Shall I save it?"`)+without)
		c.say("Draft a simple Thai basil chicken")
		require.True(t, strings.HasPrefix(c.say("Leave out the salt").Reply, reply))
		c.settle()
		c.fact(map[bool]string{true: "1", false: "0"}[reply == "Changed."], replyCalls)
	}
}

// Unused words do not word the question either.
func TestWordsThatAreNotUsedAskNothing(t *testing.T) {
	t.Parallel()
	c := converse(t, "\nturns:"+introduced(`"gen_recipe_1 is ready. Shall I save it?"`))
	c.say("Draft a simple Thai basil chicken")
	c.fact("Shall I save Thai Basil Chicken?", offered)
}

// If the turn did or found anything else, the reply tells it, so no words beside a draft are requested.
func TestDraftBesideOtherWorkIsNotTheReply(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: write}
    think:
      goal: Add eggs and draft
      decision: plan
      steps:
        - {type: write, subdomain: shopping, description: Add eggs, calls: [{tool: db_create, table: shopping_list, rows: [{set: [{column: name, value: eggs}]}]}]}
        - {type: generate, subdomain: recipes, description: Draft the recipe}
    act: [{step: 2, text: Here it is. Shall I save it?, calls: [{tool: generate, args: {creates: [{type: recipe, content: `+basil+`}]}}, {tool: step_complete, args: {summary: drafted}}]}]
    reply: Eggs are on the list, and here is a draft.
`)
	got := c.say("Add eggs to my list and draft a Thai basil chicken")
	require.Contains(t, got.Reply, "Eggs are on the list")
	require.NotContains(t, c.prompt(1, "act", 1), "Your reply begins here")
}

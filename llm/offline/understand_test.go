package offline

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/nodes"
)

const knownEntities = `- gen_recipe_1: Thai Basil Chicken (recipe, turn 4) [needs save]
{"name": "Thai Basil Chicken", "recipe_ingredients": [{"name": "chicken"}]}
- recipe_1: Butter Chicken (recipe, turn 3) [read:summary]
- recipe_2: Cod with Peas (recipe, turn 3) [read:summary]
- recipe_3: Shakshuka Classic (recipe, turn 3) [read:full]
- inv_1..inv_12: [12 inventory items] [read]`

func TestUnderstand_Intent(t *testing.T) {
	t.Parallel()
	for message, intent := range map[string]string{
		"add 12 eggs to the fridge":        "write",
		"draft a thai basil chicken":       "explore",
		"make it vegetarian":               "explore",
		"plan dinners for Friday":          "explore",
		"save it":                          "write",
		"put it on Friday's dinner":        "write",
		"delete the shakshuka":             "write",
		"show my recipes":                  "read",
		"what did I say about the budget?": "read",
		"no cod this week":                 "explore",
		"who are you?":                     "chat",
		"I'm allergic to peanuts":          "write",
		"help me plan dinners":             "explore",
	} {
		out := understandOf(t, kitchen(t), message, knownEntities, draftTalk, "")
		require.Equal(t, intent, out.Intent, message)
		require.False(t, out.AnswersQuestion, message)
	}
}

func TestUnderstand_Mentions(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]nodes.Mention{
		"how do I make the second one": {Text: "the second one", Ref: "recipe_2", Resolution: "inferred", Candidates: []string{}, Reason: "from the conversation"},
		"delete the butter chicken":    {Text: "the butter chicken", Ref: "recipe_1", Resolution: "exact", Candidates: []string{}, Reason: "named"},
		"save it":                      {Text: "it", Ref: "gen_recipe_1", Resolution: "inferred", Candidates: []string{}, Reason: "from the conversation"},
		"delete the lasagna":           {Text: "the lasagna", Resolution: "unknown", Candidates: []string{}, Reason: "no known entity has this name"},
	} {
		talk := "User: show my recipes\nAlfred: 3 recipes:\n1. Butter Chicken total_time:45min\n2. Cod with Peas\n3. Shakshuka Classic"
		if message == "save it" {
			talk = draftTalk
		}
		out := understandOf(t, kitchen(t), message, knownEntities, talk, "")
		require.Equal(t, []nodes.Mention{want}, out.Mentions, message)
	}
}

func TestUnderstand_Disambiguates(t *testing.T) {
	t.Parallel()
	entities := "- recipe_1: Butter Chicken (recipe) [read]\n- recipe_2: Chicken Soup (recipe) [read]"
	out := understandOf(t, kitchen(t), "delete the chicken one", entities, "", "")
	require.Equal(t, &nodes.Disambiguation{Question: "Which one do you mean: Butter Chicken or Chicken Soup?", Options: []string{"recipe_1", "recipe_2"}}, out.Disambiguation)

	question := "Which one do you mean: Butter Chicken or Chicken Soup?\n- Butter Chicken (recipe_1)\n- Chicken Soup (recipe_2)"
	talk := "User: delete the chicken one\nAlfred: Which one do you mean: Butter Chicken or Chicken Soup?"
	out = understandOf(t, kitchen(t), "the second", entities, talk, question)
	require.True(t, out.AnswersQuestion)
	require.Nil(t, out.Disambiguation)
	require.Equal(t, "write", out.Intent)
	require.Equal(t, "recipe_2", out.Mentions[0].Ref)
	plan := thinkOf(t, kitchen(t), "the second", "## Recent Context\n"+entities, talk, question)
	require.Equal(t, []string{"write/recipes: Delete recipes recipe_2"}, descriptions(plan))

	out = understandOf(t, kitchen(t), "what's on the shopping list?", entities, talk, question)
	require.False(t, out.AnswersQuestion, "another request beside an open question answers nothing")
}

func TestUnderstand_Confirms(t *testing.T) {
	t.Parallel()
	question := "Thai Basil Chicken is not saved yet. Shall I save it and put it on Friday, January 16 (dinner)?"
	talk := draftTalk + "\nUser: put it on Friday's dinner\nAlfred: " + question
	plan := thinkOf(t, kitchen(t), "put it on Friday's dinner", draftContext, draftTalk, "")
	require.Equal(t, "propose", plan.Decision)
	require.Equal(t, question, plan.Proposal)

	out := understandOf(t, kitchen(t), "yes please", knownEntities, talk, question)
	require.True(t, out.AnswersQuestion)
	require.Equal(t, "confirm", out.Intent)
	plan = thinkOf(t, kitchen(t), "yes please", draftContext, talk, question)
	require.Equal(t, []string{
		"write/recipes: Save recipes gen_recipe_1",
		`write/meal_plans: Create meal_plans with [{"date":"2026-01-16","meal_type":"dinner","recipe_id":"gen_recipe_1","servings":2}]`,
	}, descriptions(plan))

	out = understandOf(t, kitchen(t), "no", knownEntities, talk, question)
	require.True(t, out.AnswersQuestion)
	require.Equal(t, "answer", out.Intent)
	require.Empty(t, thinkOf(t, kitchen(t), "no", draftContext, talk, question).Steps)
}

func TestUnderstand_Curates(t *testing.T) {
	t.Parallel()
	d := kitchen(t)
	out := understandOf(t, d, "no cod this week", knownEntities, draftTalk, "")
	require.Equal(t, []nodes.Exclude{{Ref: "recipe_2", Reason: "not wanted: cod"}}, out.Curation.Exclude)
	require.Len(t, out.Constraints, 1)
	require.Equal(t, "exclude", out.Constraints[0].Kind)
	require.JSONEq(t, `{"terms": ["cod"], "until": "2026-01-18"}`, string(out.Constraints[0].Value))

	out = understandOf(t, d, "forget the pantry", knownEntities, draftTalk, "")
	require.Len(t, out.Curation.Demote, 12)
	require.Empty(t, out.Curation.Drop)

	out = understandOf(t, d, "forget it", knownEntities, draftTalk, "")
	require.Equal(t, []string{"gen_recipe_1"}, out.Curation.Drop)

	require.True(t, understandOf(t, d, "let's start fresh", knownEntities, draftTalk, "").Curation.ClearAll)
	require.Len(t, understandOf(t, d, "not the shakshuka or butter chicken either", knownEntities, recipesTalk, "").Curation.Exclude, 2)
	require.NotNil(t, understandOf(t, d, "what did we say about the budget?", "", "", "").Recall)
}

func TestUnderstand_Quick(t *testing.T) {
	t.Parallel()
	for message, quick := range map[string]string{
		"what's on my list":                 "shop",
		"what is in my pantry?":             "inv",
		"show my recipes":                   "recipe",
		"what is planned?":                  "meal",
		"list my tasks":                     "task",
		"what's in the pantry and my list?": "",
		"can I substitute ghee for butter":  "",
		"add milk":                          "",
		"recipes that use my eggs":          "",
		"how many recipes do I have":        "",
	} {
		out := understandOf(t, kitchen(t), message, "", "", "")
		if quick == "" {
			require.Nil(t, out.Quick, message)
			continue
		}
		require.NotNil(t, out.Quick, message)
		require.Equal(t, quick, out.Quick.EntityType, message)
	}
}

func TestUnderstand_AsksWhereToAdd(t *testing.T) {
	t.Parallel()
	d := kitchen(t)
	out := understandOf(t, d, "add milk", "", "", "")
	require.NotNil(t, out.Clarification)
	question := "Where shall I add milk: the inventory items, the shopping items or the tasks?"
	plan := thinkOf(t, d, "the shopping list", "", "User: add milk\nAlfred: "+question, question)
	require.Equal(t, []string{`write/shopping: Create shopping_list with [{"name":"milk"}]`}, descriptions(plan))
}

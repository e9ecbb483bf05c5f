package offline

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestThink_Plans(t *testing.T) {
	t.Parallel()
	both := draftContext + "\n\n" + recentRecipes
	saved := "## Recent Context (last 2 turns)\nNot loaded: read before analyzing.\n- gen_recipe_1: Vegetarian Thai Basil Chicken (recipe) [created]\n- inv_1: Milk (inv) [read]\n- task_1: Buy groceries (task) [read]"
	savedTalk := "User: save it\nAlfred: Saved Vegetarian Thai Basil Chicken."
	for _, tt := range []struct {
		message, entities, talk string
		want                    []string
	}{
		{"what is in my pantry?", "", "", []string{"read/inventory: Read inventory"}},
		{"what's in the freezer", "", "", []string{`read/inventory: Read inventory where [{"field":"location","op":"=","value":"freezer"}]`}},
		{"add 12 eggs to the fridge", "", "", []string{`write/inventory: Create inventory with [{"location":"fridge","name":"eggs","quantity":12}]`}},
		{"Please add milk and bread to the shopping list", "", "", []string{`write/shopping: Create shopping_list with [{"name":"milk"},{"name":"bread"}]`}},
		{"add 2 litres of milk to my list", "", "", []string{`write/shopping: Create shopping_list with [{"name":"milk","quantity":2,"unit":"l"}]`}},
		{"remind me to buy groceries tomorrow", "", "", []string{`write/tasks: Create tasks with [{"category":"other","due_date":"2026-01-14","title":"Buy groceries"}]`}},
		{"I need to buy flour", "", "", []string{`write/shopping: Create shopping_list with [{"name":"flour"}]`}},
		{"show my recipes", "", "", []string{"read/recipes: Read recipes"}},
		{"how do I make the second one?", recentRecipes, recipesTalk, []string{"read/recipes: Read recipes recipe_2 in full"}},
		{"show me the butter chicken", recentRecipes, recipesTalk, []string{"read/recipes: Read recipes recipe_1 in full"}},
		{"draft a thai basil chicken", recentRecipes, recipesTalk, []string{`generate/recipes: Draft recipes about "a thai basil chicken"`}},
		{"make it vegetarian", both, draftTalk, []string{`generate/recipes: Revise recipes gen_recipe_1 about "make it vegetarian"`}},
		{"add lime at the end", both, draftTalk, []string{`generate/recipes: Revise recipes gen_recipe_1 about "add lime at the end"`}},
		{"for 4 people", both, draftTalk, []string{`generate/recipes: Revise recipes gen_recipe_1 about "for 4 people"`}},
		{"show me the draft", both, recipesTalk, []string{"read/recipes: Read recipes gen_recipe_1 in full"}},
		{"what did I not save yet?", both, draftTalk, nil},
		{"save it", both, draftTalk, []string{"write/recipes: Save recipes gen_recipe_1"}},
		{"put it on Friday's dinner", saved, savedTalk, []string{`write/meal_plans: Create meal_plans with [{"date":"2026-01-16","meal_type":"dinner","recipe_id":"gen_recipe_1","servings":2}]`}},
		{"no cod this week", saved, savedTalk, nil},
		{"what is planned?", saved, savedTalk, []string{"read/meal_plans: Read meal_plans"}},
		{"forget the pantry", saved, savedTalk, nil},
		{"delete the shakshuka", recentRecipes, recipesTalk, []string{"write/recipes: Delete recipes recipe_3"}},
		{"delete the shakshuka", "", "", []string{`read/recipes: Read recipes named "shakshuka"`, `write/recipes: Delete recipes named "shakshuka"`}},
		{"remove the second", recentRecipes, recipesTalk, []string{"write/recipes: Delete recipes recipe_2"}},
		{"remove everything in the freezer", "", "", []string{`write/inventory: Delete inventory where [{"field":"location","op":"=","value":"freezer"}]`}},
		{"set the milk to 2 litres", saved, "", []string{`write/inventory: Update inventory inv_1 with [{"quantity":2,"unit":"l"}]`}},
		{"rename milk to oat milk", saved, "", []string{`write/inventory: Update inventory inv_1 with [{"name":"oat milk"}]`}},
		{"mark the task done", saved, "User: tasks\nAlfred: Buy groceries @2026-01-15 [pending]", []string{`write/tasks: Update tasks task_1 with [{"completed":true}]`}},
		{"mark buy groceries as done", saved, "", []string{`write/tasks: Update tasks task_1 with [{"completed":true}]`}},
		{"move the milk to the freezer", saved, "", []string{`write/inventory: Update inventory inv_1 with [{"location":"freezer"}]`}},
		{"how many recipes per cuisine?", "", "", []string{"analyze/recipes: Count recipes by cuisine"}},
		{"what did I say about the budget?", "", "", []string{`read/recipes: Recall about "budget"`}},
		{"I'm allergic to peanuts", "", "", []string{"read/preferences: Read preferences", `write/preferences: Note preferences about "peanuts" by allergies`}},
		{"I cooked the pad see ew yesterday", recentRecipes, "", []string{`write/history: Create cooking_log with [{"cooked_at":"2026-01-12","recipe_id":"recipe_2"}]`}},
		{"plan dinners for Friday and Saturday", recentRecipes, "", []string{`generate/meal_plans: Plan meal_plans about "plan dinners for Friday and Saturday" with [{"date":"2026-01-16","meal_type":"dinner","servings":2},{"date":"2026-01-17","meal_type":"dinner","servings":2}]`}},
		{"who are you?", "", "", nil},
		{"what is the capital of France?", "", "", nil},
		{"can I substitute ghee for butter?", "", "", nil},
	} {
		t.Run(tt.message, func(t *testing.T) {
			t.Parallel()
			out := thinkOf(t, kitchen(t), tt.message, tt.entities, tt.talk, "")
			require.Equal(t, tt.want, descriptions(out))
			require.Equal(t, "plan", out.Decision)
		})
	}
}

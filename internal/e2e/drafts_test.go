package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// basil is a draft as a model writes it; its rows are in order of use.
const basil = `{name: Thai Basil Chicken, cuisine: thai, servings: 2, prep_time_minutes: 10, cook_time_minutes: 10,
  instructions: [Fry the garlic., Add the chicken.], tags: [smoky],
  recipe_ingredients: [{name: chicken thighs, quantity: 400, unit: g}, {name: thai basil, quantity: 1, unit: bunch, notes: leaves only}, {name: garlic, quantity: 3, unit: clove}, {name: fish sauce, quantity: 0.5, unit: tbsp}, {name: salt, notes: to taste, is_optional: true}]}`

const basilWithLime = `{name: Thai Basil Chicken, cuisine: thai, servings: 2, prep_time_minutes: 10, cook_time_minutes: 10,
  instructions: [Fry the garlic., Add the chicken., Finish with lime.], tags: [smoky],
  recipe_ingredients: [{name: chicken thighs, quantity: 400, unit: g}, {name: thai basil, quantity: 1, unit: bunch, notes: leaves only}, {name: garlic, quantity: 3, unit: clove}, {name: fish sauce, quantity: 0.5, unit: tbsp}, {name: salt, notes: to taste, is_optional: true}, {name: lime, quantity: 1, unit: piece}]}`

// draft is a turn that drafts one recipe.
func draft(content string) string {
	return `
  - understand: {intent: explore}
    think: {goal: Draft it, decision: plan, steps: [{type: generate, subdomain: recipes, description: Draft the recipe}]}
    act: {calls: [{tool: generate, args: {creates: [{type: recipe, content: ` + content + `}]}}, {tool: step_complete, args: {summary: drafted}}]}
    reply: Here is a draft.`
}

// revise is a turn that changes gen_recipe_1.
func revise(content string) string {
	return `
  - understand: {intent: explore, mentions: [{text: it, ref: gen_recipe_1, resolution: inferred}]}
    think: {goal: Change the draft, decision: plan, steps: [{type: generate, subdomain: recipes, description: Change it, refs: [gen_recipe_1]}]}
    act: {calls: [{tool: generate, args: {updates: [{ref: gen_recipe_1, content: ` + content + `}]}}, {tool: step_complete, args: {summary: changed}}]}
    reply: Changed.`
}

// save is a turn that saves the first draft.
const save = `
  - understand: {intent: write, mentions: [{text: it, ref: gen_recipe_1, resolution: inferred}]}
    think: {goal: Save it, decision: plan, steps: [{type: write, subdomain: recipes, description: Save the draft, refs: [gen_recipe_1]}]}
    act: {calls: [{tool: db_create, args: {table: recipes, from_ref: gen_recipe_1}}, {tool: step_complete, args: {summary: saved}}]}
    reply: Saved.`

// chat is a turn that touches nothing.
const chat = `
  - understand: {intent: chat}
    think: {goal: talk, decision: plan, steps: []}
    reply: Sure.`

// The rows of a saved recipe equal its newest version: columns, children, order.
const savedAsShown = `SELECT bool_and(ok) FROM (
	SELECT r.name = a.content ->> 'name' AND r.instructions = ARRAY(SELECT jsonb_array_elements_text(a.content -> 'instructions'))
		AND r.tags = ARRAY(SELECT jsonb_array_elements_text(a.content -> 'tags')) AND r.servings = (a.content ->> 'servings')::int
		AND r.prep_time_minutes = (a.content ->> 'prep_time_minutes')::int AND r.cuisine = a.content ->> 'cuisine'
		AND (SELECT jsonb_agg(jsonb_strip_nulls(jsonb_build_object('name', i.name, 'quantity', trim_scale(i.quantity), 'unit', i.unit, 'notes', i.notes, 'is_optional', nullif(i.is_optional, false))) ORDER BY i.position)
			FROM kitchen.recipe_ingredients i WHERE i.recipe_id = r.id)
		  = (SELECT jsonb_agg(x - 'category' - 'ingredient_id' ORDER BY n) FROM jsonb_array_elements(a.content -> 'recipe_ingredients') WITH ORDINALITY AS e (x, n)) AS ok
	FROM entity_refs e JOIN kitchen.recipes r ON r.id::text = e.entity_id
	JOIN LATERAL (SELECT content FROM artifacts a WHERE a.session_id = e.session_id AND a.ref = e.ref ORDER BY version DESC LIMIT 1) a ON true
	WHERE e.session_id = $1 AND e.ref LIKE 'gen_recipe%') AS x`

const (
	versions = `SELECT count(*) FROM artifacts WHERE session_id = $1 AND ref = 'gen_recipe_1'`
	recipes  = `SELECT count(*) FROM kitchen.recipes WHERE user_id = $2`
)

func TestDraftEditSave(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:`+draft(basil)+revise(basilWithLime)+save+chat)
	c.say("Draft a simple Thai basil chicken")
	c.refs("recipe", "gen_recipe_1 pending generated Thai Basil Chicken")
	c.tier("generated", "gen_recipe_1")
	c.fact("1", versions)
	c.fact("3", recipes)
	require.Contains(t, c.prompt(1, "reply", 1), "thai basil", "a reply can show the draft")

	c.say("Add lime at the end")
	c.refs("recipe", "gen_recipe_1 pending generated Thai Basil Chicken")
	c.fact("2", versions)
	c.fact("3", recipes)
	require.Contains(t, section(c.prompt(2, "act", 1), "## Generated (NOT YET SAVED)"), "fish sauce", "the whole draft stands before who changes it")
	require.Contains(t, c.prompt(2, "think", 1), "gen_recipe_1: Thai Basil Chicken (recipe) [needs save]")

	c.say("Save it")
	c.refs("recipe", "gen_recipe_1 promoted created Thai Basil Chicken")
	c.fact("4", recipes)
	c.fact("true", savedAsShown)
	c.fact("3", `SELECT turn_promoted FROM entity_refs WHERE session_id = $1 AND ref = 'gen_recipe_1'`)
	c.fact("0", `SELECT count(*) FROM kitchen.recipe_ingredients i JOIN kitchen.recipes r ON r.id = i.recipe_id WHERE r.name = 'Thai Basil Chicken' AND i.ingredient_id IS NULL`)

	c.say("Thanks")
	require.NotContains(t, c.prompt(4, "understand", 1), "Fry the garlic", "what is saved is a row, its content is shown no more")
	require.NotContains(t, c.prompt(4, "think", 1), "[needs save]")
	c.fact("2", versions)
}

func TestDraftSurvivesDrift(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:`+draft(basil)+`
  - understand: {intent: write}
    think: {goal: Add eggs, decision: plan, steps: [{type: write, subdomain: inventory, description: Add a dozen eggs}]}
    act: {calls: [{tool: db_create, args: {table: inventory, data: {name: eggs, quantity: 12}}}, {tool: step_complete, args: {summary: added}}]}
    reply: Added.
  - understand: {intent: write, mentions: [{text: those eggs, ref: inv_1, resolution: inferred}]}
    think: {goal: Remove them, decision: plan, steps: [{type: write, subdomain: inventory, description: Remove the eggs, refs: [inv_1]}]}
    act: {calls: [{tool: db_delete, args: {table: inventory, filters: [{field: id, op: "=", value: inv_1}]}}, {tool: step_complete, args: {summary: removed}}]}
    reply: Removed.`+chat+chat+`
  - understand: {intent: read, mentions: [{text: that draft, ref: gen_recipe_1, resolution: inferred}]}
    think: {goal: Show it, decision: plan, steps: [{type: read, subdomain: recipes, description: Read the draft, refs: [gen_recipe_1]}]}
    act: {calls: [{tool: db_read, args: {table: recipes, filters: [{field: id, op: in, value: [gen_recipe_1]}], detail: full}}, {tool: step_complete, args: {summary: read}}]}
    reply: Here it is.`+revise(basilWithLime)+save)
	c.say("Draft a basil chicken")
	c.say("Add a dozen eggs")
	c.say("Actually remove them")
	c.refs("inv", "inv_1 deleted deleted eggs")
	c.fact("12", `SELECT count(*) FROM kitchen.inventory WHERE user_id = $2`)
	c.say("ok")
	c.say("hm")
	c.tier("generated", "gen_recipe_1")

	c.say("Show me that draft")
	c.fact("gen_recipe_1", `SELECT rows -> 0 ->> 'id' FROM turn_step_results r JOIN turns t ON t.id = r.turn_id WHERE t.session_id = $1 AND t.number = 6 AND r.step = 1`)
	require.Contains(t, c.prompt(6, "reply", 1), "fish sauce", "in full, five turns later")
	c.fact("6", `SELECT turn_last_ref FROM entity_refs WHERE session_id = $1 AND ref = 'gen_recipe_1'`)
	c.say("Add lime")
	c.say("Save it")
	c.fact("true", savedAsShown)
	c.fact("0", `SELECT count(*) FROM questions WHERE session_id = $1 AND status = 'open'`)
	c.fact("1", `SELECT count(*) FROM kitchen.recipe_ingredients WHERE user_id = $2 AND name = 'lime'`)
}

func TestTwoDraftsSaveOne(t *testing.T) {
	t.Parallel()
	two := `{name: Chicken %s, servings: 2, prep_time_minutes: 5, cuisine: thai, instructions: [Cook.], tags: [], recipe_ingredients: [{name: chicken, quantity: 1, unit: piece}]}`
	c := converse(t, `
turns:
  - understand: {intent: explore}
    think: {goal: Two ideas, decision: plan, steps: [{type: generate, subdomain: recipes, description: Draft two}]}
    act: {calls: [{tool: generate, args: {creates: [{type: recipe, content: `+fmt.Sprintf(two, "One")+`}, {type: recipe, content: `+fmt.Sprintf(two, "Two")+`}]}}, {tool: step_complete, args: {summary: two}}]}
    reply: Two ideas.`+save+`
  - understand: {intent: read}
    think: {goal: Say what is not saved, decision: plan, steps: []}
    reply: Chicken Two is not saved.`)
	c.say("Two chicken ideas")
	c.refs("recipe", "gen_recipe_1 pending generated Chicken One", "gen_recipe_2 pending generated Chicken Two")
	c.say("Keep only the first")
	c.refs("recipe", "gen_recipe_1 promoted created Chicken One", "gen_recipe_2 pending generated Chicken Two")
	c.fact("4", recipes)
	c.say("Which are unsaved?")
	require.Contains(t, section(c.prompt(3, "think", 1), "## Generated (NOT YET SAVED)"), "gen_recipe_2")
	require.NotContains(t, section(c.prompt(3, "think", 1), "## Generated (NOT YET SAVED)"), "gen_recipe_1")
	c.fact("0", `SELECT count(*) FROM turn_step_results r JOIN turns t ON t.id = r.turn_id WHERE t.session_id = $1 AND t.number = 3`)
}

// A week's plan is one draft per meal; saving it is one decision, in one transaction.
func TestPlanKeptThroughOtherTopics(t *testing.T) {
	t.Parallel()
	var creates, saves, retains []string
	for day := 1; day <= 8; day++ {
		creates = append(creates, fmt.Sprintf(`{type: meal, content: {date: "2026-12-%02d", meal_type: dinner, recipe_id: recipe_%d, servings: 2}}`, day, day%3+1))
		saves = append(saves, fmt.Sprintf(`{tool: db_create, args: {table: meal_plans, from_ref: gen_meal_%d}}`, day))
		retains = append(retains, fmt.Sprintf(`{ref: gen_meal_%d, reason: the week is still being planned}`, day))
	}
	c := converse(t, `
turns:
  - understand: {intent: read, quick: {entity_type: recipe, why: one table}}
    act: {calls: [{tool: db_read, args: {table: recipes}}]}
  - understand: {intent: explore}
    think: {goal: Plan the week, decision: plan, steps: [{type: generate, subdomain: meal_plans, description: Draft 8 meals}]}
    act: {calls: [{tool: generate, args: {creates: [`+strings.Join(creates, ", ")+`]}}, {tool: step_complete, args: {summary: 8 meals}}]}
    reply: A plan.`+chat+chat+`
  - understand: {intent: chat, curation: {retain: [`+strings.Join(retains, ", ")+`]}, curation_summary: Kept the plan}
    think: {goal: talk, decision: plan, steps: []}
    reply: Sure.`+chat+`
  - understand: {intent: write}
    think: {goal: Save the plan, decision: plan, steps: [{type: write, subdomain: meal_plans, description: Save all meals}]}
    act: {calls: [`+strings.Join(saves, ", ")+`, {tool: step_complete, args: {summary: 8 saved}}]}
    reply: Saved.
`)
	c.say("List my recipes")
	c.say("Draft a plan for the week: 8 meals")
	c.fact("8 meal", `SELECT concat_ws(' ', count(*), string_agg(DISTINCT entity_type, ' ')) FROM entity_refs WHERE session_id = $1 AND state = 'pending'`)
	for range 4 {
		c.say("and what about the pantry?")
	}
	c.tier("generated", "gen_meal_1", "gen_meal_2", "gen_meal_3", "gen_meal_4", "gen_meal_5", "gen_meal_6", "gen_meal_7", "gen_meal_8")
	c.fact("8 5", `SELECT concat_ws(' ', count(*), max(turn_number)) FROM decisions WHERE session_id = $1 AND action = 'retain'`)
	require.Contains(t, c.prompt(6, "think", 1), "the week is still being planned")

	c.say("Save that plan")
	c.fact("8", `SELECT count(*) FROM kitchen.meal_plans m JOIN kitchen.recipes r ON r.id = m.recipe_id WHERE m.user_id = $2`)
	c.fact("8", `SELECT count(*) FROM entity_refs WHERE session_id = $1 AND entity_type = 'meal' AND state = 'promoted' AND action = 'created'`)
	c.calls("7", "db_create 8")
}

func TestForgetAndFreshStart(t *testing.T) {
	t.Parallel()
	c := converseApart(t, `
turns:`+draft(basil)+`
  - understand: {intent: chat, curation: {drop: [gen_recipe_1]}, curation_summary: Dropped the draft}
    think: {goal: forget, decision: plan, steps: []}
    reply: Forgotten.`+draft(basil)+`
  - understand: {intent: chat, curation: {clear_all: true}, curation_summary: Fresh start}
    think: {goal: fresh, decision: plan, steps: []}
    reply: Let's start fresh. The draft Thai Basil Chicken is gone.`+draft(basil))
	c.say("Draft a curry")
	c.say("Forget that")
	c.fact("dropped hidden", `SELECT concat_ws(' ', state, tier) FROM v_entities WHERE session_id = $1 AND ref = 'gen_recipe_1'`)
	c.fact("superseded", `SELECT status FROM questions WHERE session_id = $1`)
	shown := c.prompt(2, "think", 1)
	require.NotContains(t, section(shown, "## Generated (NOT YET SAVED)"), "Thai Basil Chicken", "what is dropped has no label in any view")
	require.NotContains(t, shown, "## Open Question", "nobody waits for an answer about what is dropped")
	c.say("Another one")
	c.fact("gen_recipe_2", `SELECT string_agg(ref, ' ') FROM active_entities($1) WHERE tier = 'generated'`)
	require.NotContains(t, section(c.prompt(3, "understand", 1), "## All Known Entities"), "Thai Basil Chicken")
	c.say("Start fresh")
	c.fact("0", `SELECT count(*) FROM active_entities($1)`)
	c.fact("3", recipes)
	require.Contains(t, c.prompt(4, "reply", 1), "Thai Basil Chicken", "the reply can name what is gone")
	c.say("And one more")
	c.tier("generated", "gen_recipe_3")
	c.fact("forget clear_all", `SELECT string_agg(DISTINCT action, ' ' ORDER BY action DESC) FROM decisions WHERE session_id = $1`)
}

// Parent and children are saved together or not at all, and a retry saves once.
func TestSaveFailsWhole(t *testing.T) {
	t.Parallel()
	attempt := `
  - understand: {intent: write, mentions: [{text: it, ref: gen_recipe_1, resolution: inferred}]}
    think: {goal: Save it, decision: plan, steps: [{type: write, subdomain: recipes, description: Save the draft, refs: [gen_recipe_1]}]}
    act:
      - calls: [{tool: db_create, args: {table: recipes, from_ref: gen_recipe_1}}, {tool: step_complete, args: {summary: saved}}]
      - calls: [{tool: blocked, args: {code: tool_failure, details: The recipe could not be saved., next: fail}}]
    reply: It could not be saved.`
	c := converse(t, `
turns:`+draft(basil)+attempt+save)
	c.say("Draft it")
	c.exec(`INSERT INTO kitchen.tasks (user_id, title) VALUES ($1, 'so that the user is known')`)
	_, err := c.pool.Exec(t.Context(), `ALTER TABLE kitchen.recipe_ingredients ADD CONSTRAINT no_salt CHECK (name <> 'salt') NOT VALID`)
	require.NoError(t, err)

	said := c.say("Save it")
	require.Equal(t, "write failed", said.outcomes())
	c.fact("3", recipes)
	c.refs("recipe", "gen_recipe_1 pending generated Thai Basil Chicken")
	c.fact("0", `SELECT count(*) FROM entity_refs WHERE session_id = $1 AND entity_type = 'ri'`)
	require.NotContains(t, c.prompt(2, "reply", 1), "Saved 1")
	require.Contains(t, c.prompt(2, "reply", 1), "not done")
	c.fact("rule_violation", `SELECT string_agg(r.error_code, ' ') FROM turn_step_results r JOIN turns t ON t.id = r.turn_id WHERE t.session_id = $1 AND t.number = 2`)
	require.NotContains(t, c.prompt(2, "act", 2), "no_salt", "no constraint's name")

	_, err = c.pool.Exec(t.Context(), `ALTER TABLE kitchen.recipe_ingredients DROP CONSTRAINT no_salt`)
	require.NoError(t, err)
	c.say("Try again")
	c.fact("4", recipes)
	c.fact("true", savedAsShown)
	require.Contains(t, c.prompt(3, "think", 1), "needs save", "a planner that sees the draft saves it, it does not draft again")
}

// A swap changes the ingredient's row by its own ref, and the reply can name the old value.
func TestIngredientSwap(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: read, quick: {entity_type: recipe, why: one}}
    act: {calls: [{tool: db_read, args: {table: recipes, filters: [{field: name, op: "=", value: Pad See Ew}], detail: full}}]}
  - understand: {intent: write, mentions: [{text: gai lan, ref: ri_3, resolution: exact}]}
    think: {goal: Swap, decision: plan, steps: [{type: write, subdomain: recipes, description: Use frozen broccoli, refs: [recipe_1, ri_3]}]}
    act:
      - calls:
          - {tool: db_update, args: {table: recipe_ingredients, filters: [{field: id, op: "=", value: ri_3}], data: {name: broccoli, notes: "frozen; gai lan works too"}}}
          - {tool: step_complete, args: {summary: swapped}}
    reply: Broccoli instead of gai lan.
  - understand: {intent: read, quick: {entity_type: recipe, why: one}}
    act: {calls: [{tool: db_read, args: {table: recipes, filters: [{field: id, op: "=", value: recipe_1}], detail: full}}]}
`)
	said := c.say("Show Pad See Ew")
	require.Contains(t, said.Reply, "gai lan")
	c.say("Use frozen broccoli instead of gai lan")
	require.Contains(t, c.prompt(2, "act", 1), "ri_3", "an ingredient row has a handle")
	c.fact("broccoli broccoli", `SELECT concat_ws(' ', i.name, g.name) FROM entity_refs e JOIN kitchen.recipe_ingredients i ON i.id::text = e.entity_id
		JOIN kitchen.ingredients g ON g.id = i.ingredient_id WHERE e.session_id = $1 AND e.ref = 'ri_3'`)
	c.fact("11", `SELECT count(*) FROM kitchen.recipe_ingredients i JOIN kitchen.recipes r ON r.id = i.recipe_id WHERE r.user_id = $2 AND r.name = 'Pad See Ew'`)
	require.Contains(t, c.prompt(2, "reply", 1), "gai lan")
	require.Contains(t, c.prompt(2, "reply", 1), "broccoli")
	said = c.say("Show it again")
	require.Contains(t, said.Reply, "broccoli")
}

// A plan that references a draft is refused, offered, and carried out after a yes.
func TestSaveFirst(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:`+draft(basil)+`
  - understand: {intent: write}
    think: {goal: Plan it, decision: plan, steps: [{type: write, subdomain: meal_plans, description: Plan it for Friday, refs: [gen_recipe_1]}]}
    act:
      - calls: [{tool: db_create, args: {table: meal_plans, data: {date: "2026-12-04", meal_type: dinner, recipe_id: gen_recipe_1}}}]
      - calls: [{tool: ask_user, args: {question: "The recipe is not saved yet. Shall I save it first?"}}]
    reply: The recipe is not saved yet. Shall I save it first?
  - understand: {intent: confirm, answers_question: true}
    think: {goal: Save and plan, decision: plan, steps: [{type: write, subdomain: recipes, description: Save the recipe, refs: [gen_recipe_1]}, {type: write, subdomain: meal_plans, description: Plan it, refs: [gen_recipe_1]}]}
    act:
      - calls: [{tool: db_create, args: {table: recipes, from_ref: gen_recipe_1}}, {tool: step_complete, args: {summary: saved}}]
      - calls: [{tool: db_create, args: {table: meal_plans, data: {date: "2026-12-04", meal_type: dinner, recipe_id: gen_recipe_1}}}, {tool: step_complete, args: {summary: planned}}]
    reply: Saved and planned.
`)
	c.say("Draft it")
	asked := c.say("Plan it for Friday")
	require.Equal(t, "ask_user", asked.Question.Kind)
	require.Equal(t, "open", asked.Question.Status)
	require.Equal(t, "write partial", asked.outcomes())
	c.fact("pending_ref", `SELECT string_agg(r.error_code, ' ') FROM turn_step_results r JOIN turns t ON t.id = r.turn_id WHERE t.session_id = $1 AND t.number = 2`)
	require.Contains(t, c.prompt(2, "act", 2), "gen_recipe_1")
	c.fact("0", `SELECT count(*) FROM kitchen.meal_plans WHERE user_id = $2`)

	said := c.say("yes")
	require.Contains(t, section(c.prompt(3, "think", 1), "## Open Question"), "Shall I save it first?")
	require.Equal(t, "write ok, write ok", said.outcomes())
	c.fact("Thai Basil Chicken", `SELECT r.name FROM kitchen.meal_plans m JOIN kitchen.recipes r ON r.id = m.recipe_id WHERE m.user_id = $2`)
	c.fact("4", recipes)
	c.fact("1", versions)
	c.fact("superseded answered", `SELECT string_agg(status::text, ' ' ORDER BY id) FROM questions WHERE session_id = $1`)
}

// Within the turn that saves it, a draft's ref names the new row.
func TestJustSavedInSameTurn(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:`+draft(basil)+`
  - understand: {intent: write}
    think: {goal: Save and plan, decision: plan, steps: [{type: write, subdomain: recipes, description: Save the recipe, refs: [gen_recipe_1]}, {type: write, subdomain: meal_plans, description: Plan it for Friday, refs: [gen_recipe_1]}]}
    act:
      - calls: [{tool: db_create, args: {table: recipes, from_ref: gen_recipe_1}}, {tool: step_complete, args: {summary: saved}}]
      - calls: [{tool: db_create, args: {table: meal_plans, data: {date: "2026-12-04", meal_type: dinner, recipe_id: gen_recipe_1}}}, {tool: step_complete, args: {summary: planned}}]
    reply: Saved and planned.
  - understand: {intent: read, mentions: [{text: it, ref: gen_recipe_1, resolution: inferred}]}
    think: {goal: Show it, decision: plan, steps: [{type: read, subdomain: recipes, description: Read it, refs: [gen_recipe_1]}]}
    act: {calls: [{tool: db_read, args: {table: recipes, filters: [{field: id, op: "=", value: gen_recipe_1}], detail: full}}, {tool: step_complete, args: {summary: read}}]}
    reply: Here it is.
`)
	c.say("Draft it")
	c.say("Save it and plan it for Friday")
	require.Contains(t, section(c.prompt(2, "act", 2), "## Just Saved This Turn"), "gen_recipe_1")
	c.fact("true", `SELECT (m.recipe_id::text = e.entity_id) FROM kitchen.meal_plans m, entity_refs e WHERE m.user_id = $2 AND e.session_id = $1 AND e.ref = 'gen_recipe_1'`)
	c.say("Show it")
	require.NotContains(t, c.prompt(3, "act", 1), "NOT YET SAVED")
	c.fact("ri_1", `SELECT r.rows -> 0 -> 'recipe_ingredients' -> 0 ->> 'id' FROM turn_step_results r JOIN turns t ON t.id = r.turn_id WHERE t.session_id = $1 AND t.number = 3 AND r.step = 1`)
}

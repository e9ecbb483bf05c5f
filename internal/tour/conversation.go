package tour

// Fact is what SQL must return after a message. The statement has the session's id as $1 and the user's as $2, and
// returns one text.
type Fact struct {
	About string
	SQL   string
	Want  string
}

// Turn is one message and what it must leave.
type Turn struct {
	Say   string
	Facts []Fact
}

// Conversation is the README's conversation. It starts from the demo user's rows: three recipes and twelve items at
// home.
func Conversation() []Turn {
	return []Turn{
		{"What is in my pantry?", []Fact{
			{"twelve refs, read from rows", refsOf("inv", "action = 'read'"), "12"},
			{"one read, of all places", `SELECT count(*) FROM turn_step_results r JOIN turns t ON t.id = r.turn_id
				WHERE t.session_id = $1 AND t.number = 1 AND r.tool = 'db_read' AND r.params::text NOT LIKE '%location%'`, "1"},
		}},
		{"Add 12 eggs to the fridge", []Fact{
			{"one row more", `SELECT count(*) FROM kitchen.inventory WHERE user_id = $2`, "13"},
			{"the new row, linked to its ingredient", `SELECT concat_ws(' ', trim_scale(v.quantity), v.location, g.name) FROM kitchen.inventory v
				JOIN kitchen.ingredients g ON g.id = v.ingredient_id WHERE v.user_id = $2 ORDER BY v.created_at DESC LIMIT 1`, "12 fridge eggs"},
			{"its ref", refsOf("inv", "action = 'created' AND ref = 'inv_13'"), "1"},
		}},
		{"Show my recipes", []Fact{
			{"three refs, in the order shown", `SELECT string_agg(ref || ' ' || label, ', ' ORDER BY ref) FROM entity_refs
				WHERE session_id = $1 AND entity_type = 'recipe'`, "recipe_1 Butter Chicken, recipe_2 Pad See Ew, recipe_3 Shakshuka Classic"},
		}},
		{"How do I make the second one?", []Fact{
			{"its text is loaded", `SELECT (loaded ? 'text')::text FROM entity_refs WHERE session_id = $1 AND ref = 'recipe_2'`, "true"},
			{"the reply has its instructions", replySays(4, "wok"), "true"},
		}},
		{"Draft a Thai basil chicken", []Fact{
			{"a draft", `SELECT concat_ws(' ', state, action, label) FROM entity_refs WHERE session_id = $1 AND ref = 'gen_recipe_1'`, "pending generated Thai Basil Chicken"},
			{"nothing saved", recipes, "3"},
		}},
		{"Make it vegetarian", []Fact{
			{"a second version of the same draft", `SELECT count(*) FROM artifacts WHERE session_id = $1 AND ref = 'gen_recipe_1'`, "2"},
			{"without chicken among its ingredients", `SELECT count(*) FROM artifacts a, jsonb_array_elements(a.content -> 'recipe_ingredients') i
				WHERE a.session_id = $1 AND a.version = 2 AND i ->> 'name' ILIKE '%chicken%'`, "0"},
			{"still one draft, not saved", refsOf("recipe", "state = 'pending'"), "1"},
		}},
		{"What did I not save yet?", []Fact{
			{"the reply names it", replySays(7, "Thai Basil"), "true"},
			{"nothing saved", recipes, "3"},
		}},
		{"Save it", []Fact{
			{"saved", recipes, "4"},
			{"the draft became the row and kept its name", `SELECT concat_ws(' ', state, action) FROM entity_refs WHERE session_id = $1 AND ref = 'gen_recipe_1'`, "promoted created"},
			{"every ingredient as drafted", `SELECT ((SELECT jsonb_agg(i ->> 'name' ORDER BY i ->> 'name') FROM jsonb_array_elements(a.content -> 'recipe_ingredients') i)
				= (SELECT jsonb_agg(r.name ORDER BY r.name) FROM kitchen.recipe_ingredients r WHERE r.recipe_id::text = e.entity_id))::text
				FROM entity_refs e JOIN artifacts a USING (session_id, ref) WHERE e.session_id = $1 AND e.ref = 'gen_recipe_1' ORDER BY a.version DESC LIMIT 1`, "true"},
		}},
		{"Put it on Friday's dinner", []Fact{
			{"one dinner, on a Friday, of that recipe", `SELECT concat_ws(' ', m.meal_type, to_char(m.date, 'FMDay'), (m.recipe_id::text = e.entity_id)::text)
				FROM kitchen.meal_plans m, entity_refs e WHERE m.user_id = $2 AND e.session_id = $1 AND e.ref = 'gen_recipe_1'`, "dinner Friday true"},
		}},
		{"No cod this week", []Fact{
			{"a constraint that ends with the week", `SELECT concat_ws(' ', kind, to_char(expires_at - interval '1 second', 'FMDay')) FROM constraints WHERE session_id = $1`, "exclude Sunday"},
		}},
		{"What is planned?", []Fact{
			{"the reply names the dinner", replySays(11, "Thai Basil"), "true"},
		}},
		{"Forget the pantry", []Fact{
			{"the refs are out of view", `SELECT count(*) FROM v_entities WHERE session_id = $1 AND entity_type = 'inv' AND tier <> 'hidden'`, "0"},
			{"the rows stay", `SELECT count(*) FROM kitchen.inventory WHERE user_id = $2`, "13"},
		}},
		{"Delete the shakshuka", []Fact{
			{"the other recipes stay", `SELECT string_agg(name, ', ' ORDER BY name) FROM kitchen.recipes WHERE user_id = $2 AND name NOT LIKE '%Thai Basil%'`, "Butter Chicken, Pad See Ew"},
			{"its ref is a tombstone", `SELECT concat_ws(' ', state, action) FROM entity_refs WHERE session_id = $1 AND ref = 'recipe_3'`, "deleted deleted"},
		}},
	}
}

// FinalFacts is what must hold when the conversation is over.
func FinalFacts() []Fact {
	return []Fact{
		{"one reply per turn, numbers without a gap", `SELECT concat_ws(' ', count(*), min(number), max(number), count(reply), count(*) FILTER (WHERE status = 'succeeded'))
			FROM turns WHERE session_id = $1`, "13 1 13 13 13"},
		{"no database id in any prompt", `SELECT count(*) FROM v_llm_calls WHERE session_id = $1
			AND request::text ~* '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'`, "0"},
		{"the right rows and no others", `SELECT concat_ws(' ', (SELECT count(*) FROM kitchen.recipes WHERE user_id = $2), (SELECT count(*) FROM kitchen.inventory WHERE user_id = $2),
			(SELECT count(*) FROM kitchen.meal_plans WHERE user_id = $2), (SELECT count(*) FROM kitchen.shopping_list WHERE user_id = $2),
			(SELECT count(*) FROM kitchen.tasks WHERE user_id = $2), (SELECT count(*) FROM kitchen.cooking_log WHERE user_id = $2))
			WHERE $1::uuid IS NOT NULL`, "3 13 1 0 0 0"},
		{"nothing else drafted", refsOf("recipe", "ref LIKE 'gen%'"), "1"},
	}
}

const recipes = `SELECT count(*) FROM kitchen.recipes WHERE user_id = $2`

func refsOf(entityType, condition string) string {
	return `SELECT count(*) FROM entity_refs WHERE session_id = $1 AND entity_type = '` + entityType + `' AND ` + condition
}

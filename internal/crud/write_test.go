package crud_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/vocab"
)

const curry = `{"creates": [{"type": "recipe", "content": {
	"name": "Thai Curry", "cuisine": "thai", "servings": 2, "prep_time_minutes": 10, "cook_time_minutes": 20,
	"instructions": ["Fry the paste.", "Add the rest."], "tags": ["smoky"],
	"recipe_ingredients": [
		{"name": "chicken thighs", "quantity": 1.5, "unit": "lb", "notes": "cut up"},
		{"name": "lime", "quantity": 1, "unit": "piece", "is_optional": true},
		{"name": "salt"}
	]}}]}`

func TestGenerate(t *testing.T) {
	t.Parallel()

	t.Run("DraftsAreNotRows", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		result := b.ok("generate", vocab.ToolGenerate, curry)
		require.Equal(t, []string{"gen_recipe_1"}, result.Refs)
		require.Equal(t, 3, query[int](b, `SELECT count(*)::int FROM kitchen.recipes`))
		rows := b.rows(b.ok("read", vocab.ToolRead, `{"table": "recipes", "filters": [{"field": "id", "op": "=", "value": "gen_recipe_1"}]}`))
		require.Len(t, rows, 1)
		require.Equal(t, "Thai Curry", rows[0]["name"])
		require.Len(t, rows[0]["recipe_ingredients"], 3)
	})

	t.Run("MixedListsAreUnited", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		b.ok("generate", vocab.ToolGenerate, curry)
		b.ok("read", vocab.ToolRead, `{"table": "recipes"}`)
		in := `{"table": "recipes", "filters": [{"field": "id", "op": "in", "value": ["gen_recipe_1", "recipe_2"]}%s]}`
		both := b.ok("read", vocab.ToolRead, sprintf(in, ""))
		require.Equal(t, []string{"gen_recipe_1", "recipe_2"}, both.Refs)
		require.Equal(t, []string{"gen_recipe_1", "recipe_2"}, column[string](b.rows(both), "id"))
		other := `{"field": "name", "op": "ilike", "value": "pad%"}`
		for _, args := range []string{sprintf(in, ", "+other), `{"table": "recipes", "or_filters": [{"field": "id", "op": "=", "value": "gen_recipe_1"}, ` + other + `]}`} {
			require.Equal(t, "gen_recipe_1 is a draft, which is read by its ref alone: leave the other filters out.", b.refused("read", vocab.ToolRead, args, crud.CodeBadFilter))
		}
		without := sprintf(`{"table": "recipes", "filters": [{"field": "id", "op": "!=", "value": "gen_recipe_1"}, %s]}`, other)
		require.Equal(t, []string{"recipe_2"}, b.ok("read", vocab.ToolRead, without).Refs)
	})

	t.Run("UpdatesAndCreatesTogether", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		b.ok("generate", vocab.ToolGenerate, curry)
		result := b.ok("generate", vocab.ToolGenerate, `{"updates": [{"ref": "gen_recipe_1", "content": {"name": "Thai Curry", "tags": []}}],
			"creates": [{"type": "task", "content": {"title": "Buy limes", "recipe_id": "gen_recipe_1"}}]}`)
		require.Equal(t, []string{"gen_recipe_1", "gen_task_1"}, result.Refs)
	})

	t.Run("Refuses", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		b.ok("read", vocab.ToolRead, `{"table": "recipes"}`)
		for args, code := range map[string]crud.Code{
			`{"creates": [{"type": "recipe", "content": {"name": "X", "ingredient_name": "y"}}]}`:                            crud.CodeUnknownColumn,
			`{"creates": [{"type": "recipe", "content": {"name": "X", "recipe_ingredients": [{"expiration_date": "y"}]}}]}`:  crud.CodeUnknownColumn,
			`{"creates": [{"type": "recipe", "content": {"cuisine": "thai"}}]}`:                                              crud.CodeViolation,
			`{"creates": [{"type": "ing", "content": {"name": "X"}}]}`:                                                       crud.CodeUnknownTable,
			`{"creates": [{"type": "meal", "content": {"date": "2026-01-12", "meal_type": "brunch"}}]}`:                      crud.CodeBadValue,
			`{"creates": [{"type": "meal", "content": {"date": "2026-01-12", "meal_type": "lunch", "recipe_id": "inv_1"}}]}`: crud.CodeUnknownRef,
			`{"creates": [{"type": "recipe", "content": ["a"]}]}`:                                                            crud.CodeBadArgument,
			`{"updates": [{"ref": "recipe_1", "content": {"name": "X"}}]}`:                                                   crud.CodeTypeMismatch,
			`{"updates": [{"ref": "gen_recipe_9", "content": {"name": "X"}}]}`:                                               crud.CodeUnknownRef,
			`{}`: crud.CodeBadArgument,
			`{"creates": [` + strings.Repeat(`{"type": "task", "content": {"title": "X"}}, `, 50) + `{"type": "task", "content": {"title": "Y"}}]}`: crud.CodeBadArgument,
		} {
			b.refused("generate", vocab.ToolGenerate, args, code)
		}
	})
}

func TestSaveDraft(t *testing.T) {
	t.Parallel()

	t.Run("StoredEqualsShown", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		b.ok("generate", vocab.ToolGenerate, curry)
		b.nextTurn()
		result := b.ok("write", vocab.ToolCreate, `{"table": "recipes", "from_ref": "gen_recipe_1"}`)
		require.Equal(t, []string{"gen_recipe_1"}, result.Refs)
		require.Equal(t, "promoted", query[string](b, `SELECT state::text FROM entity_refs WHERE ref = 'gen_recipe_1'`))
		require.Equal(t, "created", query[string](b, `SELECT action FROM entity_refs WHERE ref = 'gen_recipe_1'`))
		stored := query[string](b, `SELECT concat_ws('|', name, cuisine, servings, prep_time_minutes, cook_time_minutes, instructions, tags) FROM kitchen.recipes WHERE name = 'Thai Curry'`)
		require.Equal(t, `Thai Curry|thai|2|10|20|{"Fry the paste.","Add the rest."}|{smoky}`, stored)
		children := query[string](b, `SELECT string_agg(concat_ws('|', name, quantity, unit, notes, is_optional, ingredient_id IS NOT NULL), ' ' ORDER BY position)
			FROM kitchen.recipe_ingredients WHERE recipe_id = (SELECT id FROM kitchen.recipes WHERE name = 'Thai Curry')`)
		require.Equal(t, `chicken thighs|1.5|lb|cut up|f|t lime|1|piece|t|t salt|f|t`, children)
		require.Equal(t, "ri_1", b.rows(result)[0]["recipe_ingredients"].([]any)[0].(map[string]any)["id"])
	})

	t.Run("PatchChangesWhatItNames", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		b.ok("generate", vocab.ToolGenerate, curry)
		b.ok("write", vocab.ToolCreate, `{"table": "recipes", "from_ref": "gen_recipe_1", "patch": {"servings": 4, "cuisine": null}}`)
		require.Equal(t, "4 null Thai Curry", query[string](b, `SELECT servings || ' ' || coalesce(cuisine, 'null') || ' ' || name FROM kitchen.recipes WHERE name = 'Thai Curry'`))
	})

	t.Run("OneDecisionSavesAndUses", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		b.ok("generate", vocab.ToolGenerate, curry)
		outcome := b.decide("write", call(vocab.ToolCreate, `{"table": "recipes", "from_ref": "gen_recipe_1"}`),
			call(vocab.ToolCreate, `{"table": "meal_plans", "data": {"date": "2026-01-16", "meal_type": "dinner", "recipe_id": "gen_recipe_1"}}`))
		require.False(t, outcome.Failed(), "%+v", outcome)
		require.Equal(t, "Thai Curry", query[string](b, `SELECT r.name FROM kitchen.meal_plans AS m JOIN kitchen.recipes AS r ON r.id = m.recipe_id`))
		require.Equal(t, "gen_recipe_1", b.rows(outcome.Results[1])[0]["recipe_id"])
	})

	t.Run("PendingRefIsNoRow", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		b.ok("generate", vocab.ToolGenerate, curry)
		message := b.refused("write", vocab.ToolCreate, `{"table": "meal_plans", "data": {"date": "2026-01-16", "meal_type": "dinner", "recipe_id": "gen_recipe_1"}}`, crud.CodePendingRef)
		require.Contains(t, message, "gen_recipe_1")
		b.refused("read", vocab.ToolRead, `{"table": "meal_plans", "filters": [{"field": "recipe_id", "op": "=", "value": "gen_recipe_1"}]}`, crud.CodePendingRef)
	})

	t.Run("FailingChildUndoesTheParent", func(t *testing.T) {
		t.Parallel()

		b := setupApart(t)
		b.ok("generate", vocab.ToolGenerate, curry)
		b.exec(`ALTER TABLE kitchen.recipe_ingredients ADD CONSTRAINT no_lime CHECK (name <> 'lime')`)
		message := b.refused("write", vocab.ToolCreate, `{"table": "recipes", "from_ref": "gen_recipe_1"}`, crud.CodeViolation)
		require.Contains(t, message, "name")
		require.Equal(t, 3, query[int](b, `SELECT count(*)::int FROM kitchen.recipes`))
		require.Equal(t, "pending", query[string](b, `SELECT state::text FROM entity_refs WHERE ref = 'gen_recipe_1'`))
		b.exec(`ALTER TABLE kitchen.recipe_ingredients DROP CONSTRAINT no_lime`)
		b.ok("write", vocab.ToolCreate, `{"table": "recipes", "from_ref": "gen_recipe_1"}`)
		require.Equal(t, 4, query[int](b, `SELECT count(*)::int FROM kitchen.recipes`))
		b.refused("write", vocab.ToolCreate, `{"table": "recipes", "from_ref": "gen_recipe_1"}`, crud.CodeConflict)
	})

	t.Run("SilentRoundingIsAnError", func(t *testing.T) {
		t.Parallel()

		b := setupApart(t)
		b.exec(`ALTER TABLE kitchen.inventory ALTER COLUMN quantity TYPE numeric(6, 2)`)
		message := b.refused("write", vocab.ToolCreate, `{"table": "inventory", "data": {"name": "saffron", "quantity": 1.239}}`, crud.CodeValueChanged)
		require.Contains(t, message, "1.24")
		require.Equal(t, 12, query[int](b, `SELECT count(*)::int FROM kitchen.inventory`))
	})
}

func TestCreate(t *testing.T) {
	t.Parallel()

	t.Run("BatchLinksAndFills", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		result := b.ok("write", vocab.ToolCreate, `{"table": "inventory", "data": [
			{"name": "eggs", "quantity": 12, "unit": "count", "location": "Fridge"},
			{"name": "fresh broccoli\u0000", "location": "freezer", "expiry_date": ""},
			{"name": "unobtainium", "category": "metals"}]}`)
		require.Equal(t, []string{"inv_1", "inv_2", "inv_3"}, result.Refs)
		rows := b.rows(result)
		require.Equal(t, []string{"eggs", "fresh broccoli", "unobtainium"}, column[string](rows, "name"))
		require.Equal(t, "fridge", rows[0]["location"])
		require.Equal(t, "produce", rows[1]["category"], "taken over from the canonical row")
		require.Equal(t, "metals", rows[2]["category"])
		require.Equal(t, "broccoli", rows[1]["_ingredient_id_label"])
		require.Nil(t, rows[2]["ingredient_id"])
		require.Equal(t, "created", query[string](b, `SELECT action FROM entity_refs WHERE ref = 'inv_2'`))
	})

	t.Run("ShoppingMerges", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		first := b.ok("write", vocab.ToolCreate, `{"table": "shopping_list", "data": [{"name": "eggs", "quantity": 6, "unit": "count"}, {"name": "Egg", "quantity": 2, "unit": "count"}, {"name": "milk"}]}`)
		require.Equal(t, []string{"shop_1", "shop_2"}, first.Refs)
		second := b.ok("write", vocab.ToolCreate, `{"table": "shopping_list", "data": {"name": "Eggs", "quantity": 4, "unit": "count", "notes": "large"}}`)
		require.Equal(t, []string{"shop_1"}, second.Refs)
		require.Equal(t, "12 large", query[string](b, `SELECT quantity || ' ' || notes FROM kitchen.shopping_list WHERE name = 'eggs'`))
		require.Equal(t, 2, query[int](b, `SELECT count(*)::int FROM kitchen.shopping_list`))
		require.Equal(t, "updated", query[string](b, `SELECT action FROM entity_refs WHERE ref = 'shop_1'`))
		b.exec(`UPDATE kitchen.shopping_list SET is_purchased = true`)
		b.ok("write", vocab.ToolCreate, `{"table": "shopping_list", "data": {"name": "eggs", "quantity": 1, "unit": "count"}}`)
		require.Equal(t, 3, query[int](b, `SELECT count(*)::int FROM kitchen.shopping_list`), "what is bought takes no part")

		for _, name := range []string{"Birthday candles", "birthday candles"} {
			b.ok("write", vocab.ToolCreate, `{"table": "shopping_list", "data": {"name": "`+name+`", "notes": "for Ada"}}`)
		}
		require.Equal(t, "Birthday candles", query[string](b, `SELECT string_agg(name, ', ') FROM kitchen.shopping_list WHERE name ILIKE '%candles%'`), "the same name is the same thing, unit or none, known to the catalog or not")
	})

	t.Run("Refuses", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		b.ok("read", vocab.ToolRead, `{"table": "recipes"}`)
		for args, code := range map[string]crud.Code{
			`{"table": "inventory", "data": {"quantity": 2}}`:                             crud.CodeViolation,
			`{"table": "inventory", "data": {"name": "x", "quantity": -2}}`:               crud.CodeViolation,
			`{"table": "inventory", "data": {"name": "x", "quantity": "plenty"}}`:         crud.CodeBadValue,
			`{"table": "inventory", "data": {"name": "x", "id": "inv_9"}}`:                crud.CodeBadArgument,
			`{"table": "inventory", "data": {"name": "x", "user_id": "y"}}`:               crud.CodeUnknownColumn,
			`{"table": "inventory", "data": []}`:                                          crud.CodeBadArgument,
			`{"table": "inventory", "data": ["eggs"]}`:                                    crud.CodeBadArgument,
			`{"table": "ingredients", "data": {"name": "x"}}`:                             crud.CodeNotAllowed,
			`{"table": "recipes", "data": {"name": "x", "total_time_minutes": 3}}`:        crud.CodeNotAllowed,
			`{"table": "recipes", "data": {"name": "x", "servings": 2.5}}`:                crud.CodeBadValue,
			`{"table": "recipes", "data": {"name": "x", "tags": "spicy"}}`:                crud.CodeBadValue,
			`{"table": "tasks", "data": {"title": "x", "recipe_id": "` + demoUser + `"}}`: crud.CodeUnknownRef,
			`{"table": "tasks", "data": {"title": "x", "meal_plan_id": "recipe_1"}}`:      crud.CodeTypeMismatch,
			`{"table": "recipe_ingredients", "data": {"name": "x", "recipe_id": null}}`:   crud.CodeViolation,
			`{"table": "tasks", "data": {"title": "x"}, "from_ref": "gen_task_1"}`:        crud.CodeBadArgument,
			`{"table": "recipes", "data": {"name": "` + longText + `"}}`:                  crud.CodeViolation,
		} {
			message := b.refused("write", vocab.ToolCreate, args, code)
			require.NotContains(t, message, "user_id,", args)
		}
	})

	t.Run("OneFaultUndoesTheDecision", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		outcome := b.decide("write", call(vocab.ToolCreate, `{"table": "tasks", "data": {"title": "a"}}`), call(vocab.ToolCreate, `{"table": "tasks", "data": {}}`))
		require.Equal(t, crud.CodeNotExecuted, outcome.Results[0].ErrorCode)
		require.Equal(t, crud.CodeBadArgument, outcome.Results[1].ErrorCode)
		require.Zero(t, query[int](b, `SELECT count(*)::int FROM kitchen.tasks`))
		require.Zero(t, query[int](b, `SELECT count(*)::int FROM entity_refs WHERE session_id = $1`, b.scope.SessionID))
		next := b.ok("write", vocab.ToolCreate, `{"table": "tasks", "data": {"title": "a"}}`)
		require.Equal(t, 3, next.Call, "calls go on counting within the step")
		require.Equal(t, []string{"task_1"}, next.Refs)
	})

	t.Run("ArgumentsAreStoredAsWritten", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		result := b.ok("write", vocab.ToolCreate, `{"table": "tasks", "data": {"title": "a"}}`)
		params := query[[]byte](b, `SELECT params FROM turn_step_results WHERE turn_id = $1 AND call = $2`, b.scope.TurnID, result.Call)
		var args map[string]any
		require.NoError(t, json.Unmarshal(params, &args))
		require.Equal(t, "tasks", args["table"])
	})
}

// A write names the row that a column points to, as a read does, where exactly one has the name: a model that was to plan a
// dish needed a step to read it first.
func TestWritesNameWhatTheyPointTo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(`INSERT INTO kitchen.recipes (user_id, name) VALUES ($1, 'Red Lentil Dal'), ($1, 'Soup'), ($1, 'Soup')`, b.scope.UserID)
	b.exec(`INSERT INTO kitchen.recipes (user_id, name) SELECT $1, 'Stew' FROM generate_series(1, 60)`, b.scope.UserID)
	planned := func() string {
		return query[string](b, `SELECT string_agg(r.name, ', ' ORDER BY m.date) FROM kitchen.meal_plans AS m JOIN kitchen.recipes AS r ON r.id = m.recipe_id WHERE m.user_id = $1`, b.scope.UserID)
	}
	b.ok("write", vocab.ToolCreate, `{"table": "meal_plans", "data": [{"date": "2026-11-27", "meal_type": "dinner", "recipe_id": "red lentil dal"},
		{"date": "2026-11-28", "meal_type": "dinner"}]}`)
	require.Equal(t, "Red Lentil Dal", planned())
	b.ok("write", vocab.ToolUpdate, `{"table": "meal_plans", "filters": [{"field": "id", "op": "=", "value": "meal_2"}], "data": {"recipe_id": "Red Lentil Dal", "servings": 2}}`)
	require.Equal(t, "Red Lentil Dal, Red Lentil Dal", planned())

	for unknown, why := range map[string]string{"Soup": "Several recipes are called Soup: use the ref of the one that is meant. If it is not shown, read them, or say blocked with next: replan where a step may not read.", "Stew": "Several recipes are called Stew", "Curry": "Curry does not exist in this conversation"} {
		require.Contains(t, b.refused("write", vocab.ToolCreate, `{"table": "meal_plans", "data": {"date": "2026-11-27", "meal_type": "dinner", "recipe_id": "`+unknown+`"}}`, crud.CodeUnknownRef), why)
	}
}

// What is wrong with a row's refs and with its values is told at once: a model has few attempts.
func TestAllThatIsWrongIsToldAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	message := b.refused("write", vocab.ToolCreate, `{"table": "meal_plans", "data": {"date": "tomorrow", "meal_type": "Abendessen", "recipe_id": "Curry"}}`, crud.CodeBadValue)
	changed := b.refused("write", vocab.ToolUpdate, `{"table": "meal_plans", "filters": [{"field": "id", "op": "=", "value": "meal_1"}], "data": {"date": "tomorrow", "meal_type": "Abendessen", "recipe_id": "Curry"}}`, crud.CodeBadValue)
	for _, one := range []string{"Curry does not exist in this conversation", "date has to be a date", "meal_type has to be one of"} {
		require.Contains(t, message, one)
		require.Contains(t, changed, one)
	}
}

// So is what is wrong with several calls of an answer, those after the first that fails included.
func TestAllCallsThatAreWrongAreTold(t *testing.T) {
	t.Parallel()
	b := setup(t)
	results := b.decide("write", call(vocab.ToolCreate, `{"table": "meal_plans", "data": {"date": "2026-11-27", "meal_type": "dinner", "recipe_id": "Curry"}}`),
		call(vocab.ToolUpdate, `{"table": "meal_plans", "filters": [{"field": "id", "op": "=", "value": "meal_1"}], "data": {"date": "tomorrow"}}`),
		call(vocab.ToolCreate, `{"table": "meal_plans", "data": [{"date": "2026-11-27", "meal_type": "Abendessen"}]}`),
		call(vocab.ToolCreate, `{"table": "meal_plans", "data": {"date": "2026-11-27", "meal_type": "lunch"}}`)).Results
	require.Contains(t, results[0].ErrorMessage, "Curry does not exist in this conversation")
	require.Contains(t, results[1].ErrorMessage, "date has to be a date")
	require.Contains(t, results[2].ErrorMessage, "meal_type has to be one of")
	require.Equal(t, crud.CodeNotExecuted, results[3].ErrorCode)
}

// Words that were written before a notice was known tell it only if they name what is gone: an article names nothing.
func TestNoticesThatWordsDoNotTell(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ok("generate", vocab.ToolGenerate, `{"creates": [{"type": "recipe", "content": {"name": "Soup", "instructions": ["Boil the water", "Add the salt", "Serve with the bread"]}}]}`)
	result := b.decide("generate", call(vocab.ToolGenerate, `{"updates": [{"ref": "gen_recipe_1", "content": {"instructions": {"2": null}}}]}`)).Results[0]
	require.Equal(t, "Taken out of instructions: add the salt.", result.Notice)
	require.False(t, result.MissingFrom("Here is the soup without salt. Shall I save it?"))
	require.True(t, result.MissingFrom("Here is the soup. Shall I save it?"))
}

// An update that changed nothing is no write, also beside a deletion, which is told of all the same.
func TestAnUpdateThatChangesNothingBesideADeletion(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	b.exec(`INSERT INTO kitchen.tasks (user_id, title, category) VALUES ($1, 'Sweep', 'prep'), ($1, 'Mop', 'prep')`, b.scope.UserID)
	outcome := b.decide(vocab.StepWrite,
		call(vocab.ToolUpdate, `{"table": "tasks", "filters": [{"field": "title", "op": "=", "value": "Sweep"}], "data": {"category": "prep"}}`),
		call(vocab.ToolDelete, `{"table": "tasks", "filters": [{"field": "title", "op": "=", "value": "Mop"}]}`))
	require.False(t, outcome.Failed(), "%+v", outcome.Results)
	require.Equal(t, "deleted Mop", query[string](b, `SELECT string_agg(action || ' ' || (before ->> 'title'), ', ') FROM row_changes WHERE turn_id = $1`, b.scope.TurnID))
}

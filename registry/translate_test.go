package registry

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/domain"
	"alfred/internal/exact"
	"alfred/internal/testfactory"
)

func labelReader(labels map[string]string, asked *[]string) LabelReader {
	return func(_ context.Context, e *domain.Entity, ids []string) (map[string]string, error) {
		*asked = append(*asked, e.Type)
		found := map[string]string{}

		for _, id := range ids {
			if label, ok := labels[id]; ok {
				found[id] = label
			}
		}

		return found, nil
	}
}

func decode(t *testing.T, text string) map[string]any {
	t.Helper()

	var row map[string]any
	require.NoError(t, exact.Decode([]byte(text), &row))

	return row
}

func encode(t *testing.T, value any) string {
	t.Helper()

	text, err := json.Marshal(value)
	require.NoError(t, err)

	return string(text)
}

// Keys that are texts are those of rows only as they are written: the guids of GnuCash, without hyphens, and those of .NET in capitals
// were asked for in the form of UUIDs, and no row was found.
func TestTextsStayKeys(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"6fdac3965b3ba2bba9bcd289056c0f8a", "6FDAC396-5B3B-A2BB-A9BC-D289056C0F8A", "{6fdac396-5b3b-a2bb-a9bc-d289056c0f8a}"} {
		require.Equal(t, key, keyText(key))
	}
}

// Every key in a result becomes a ref: the row's own, known and unknown foreign keys, those of nested rows; ids in
// texts are removed.
func TestTranslateRows(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()

	b.read(t, 1, "recipe", "Known")
	row := decode(t, `{"id": "`+idOf("Curry")+`", "user_id": "`+idOf("user")+`", "created_at": "2026-01-12T10:00:00Z", "name": "Curry",
		"description": "like `+idOf("Known")+` but hot", "tags": ["`+idOf("tag")+`", "hot"],
		"parent_recipe_id": "`+idOf("Parent")+`", "total": 3,
		"recipe_ingredients": [
			{"id": "`+idOf("ri 1")+`", "recipe_id": "`+idOf("Curry")+`", "ingredient_id": "`+idOf("rice")+`", "name": "rice"},
			{"id": "`+idOf("ri 2")+`", "recipe_id": "`+idOf("Curry")+`", "ingredient_id": null, "name": "salt"}]}`)

	var asked []string

	results, err := b.at(2).TranslateRows(ctx, []Result{{
		Entity: b.kitchen.ByType("recipe"), Rows: []map[string]any{row}, Action: ActionRead, Sets: []string{"summary", "rows"},
		Versions: map[string]map[string]string{"recipe": {idOf("Curry"): "12"}},
	}}, labelReader(map[string]string{idOf("rice"): "Rice", idOf("Parent"): "Parent"}, &asked))
	require.NoError(t, err)
	require.Equal(t, []string{"recipe", "ing"}, asked, "one look-up per type")
	require.JSONEq(t, `{"id": "recipe_2", "name": "Curry", "description": "like [id] but hot", "tags": ["[id]", "hot"],
		"parent_recipe_id": "recipe_3", "_parent_recipe_id_label": "Parent", "total": 3,
		"recipe_ingredients": [
			{"id": "ri_1", "recipe_id": "recipe_2", "_recipe_id_label": "Curry", "ingredient_id": "ing_1", "_ingredient_id_label": "Rice", "name": "rice"},
			{"id": "ri_2", "recipe_id": "recipe_2", "_recipe_id_label": "Curry", "ingredient_id": null, "name": "salt"}]}`,
		encode(t, results[0].Rows[0]))
	require.Equal(t, []string{"recipe_2"}, results[0].Refs)
	require.Equal(t, map[string]int{"summary": 2, "rows": 2}, results[0].Entries[0].Loaded)
	require.Equal(t, "12", results[0].Entries[0].RowVersion)
	require.Equal(t, idOf("Curry"), row["id"], "the caller's rows are left as they are")

	found, err := b.at(2).Lookup(ctx, []string{"recipe_3", "ing_1", "ri_1"})
	require.NoError(t, err)
	require.Equal(t, ActionLinked, found["recipe_3"].Action)
	require.Equal(t, "Parent", found["recipe_3"].Label)
	require.Equal(t, ActionRead, found["ri_1"].Action)
	require.Equal(t, []string{"linked"}, b.events(t, "recipe_3"), "it has its name from the start")
}

// A label that names another row is complete once that row's label is known, in nested rows too; a missing name is
// filled in by a later lookup.
func TestTranslateLabelsFromLinks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	logs := func(id string) []Result {
		return []Result{{Entity: b.kitchen.ByType("log"), Action: ActionRead, Rows: []map[string]any{
			{"id": idOf(id), "cooked_at": "2026-01-12T18:00:00Z", "recipe_id": idOf("Soup")},
		}}}
	}
	var asked []string

	_, err := b.at(1).TranslateRows(t.Context(), logs("first"), nil)
	require.NoError(t, err)
	results, err := b.at(1).TranslateRows(t.Context(), logs("second"), labelReader(map[string]string{idOf("Soup"): "Soup"}, &asked))
	require.NoError(t, err)
	require.Equal(t, "Soup", results[0].Rows[0]["_recipe_id_label"])
	require.Equal(t, []string{"linked", "relabelled"}, b.events(t, "recipe_1"))
	require.Equal(t, []string{"read"}, b.events(t, "log_2"))
}

// A label of fixed words and optional parts is asked for too: without a row, the words alone are no label.
func TestTranslateLabelsOfOptionalParts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	label, err := domain.ParseTemplate("Recipe{?name: {name}}")
	require.NoError(t, err)
	b.kitchen = testfactory.OwnKitchen(t)
	b.kitchen.ByType("recipe").Label = label
	var asked []string

	results, err := b.at(1).TranslateRows(t.Context(), []Result{{Entity: b.kitchen.ByType("log"), Action: ActionRead, Rows: []map[string]any{
		{"id": idOf("first"), "cooked_at": "2026-01-12T18:00:00Z", "recipe_id": idOf("Soup")},
	}}}, labelReader(map[string]string{idOf("Soup"): "Recipe Soup"}, &asked))
	require.NoError(t, err)
	require.Contains(t, asked, "recipe")
	require.Equal(t, "Recipe Soup", results[0].Rows[0]["_recipe_id_label"])
}

// Nested rows were created with their parent, or else read with it, whatever was done to the parent.
func TestTranslateNestedRows(t *testing.T) {
	t.Parallel()
	b := setup(t)

	for action, nested := range map[string]string{
		ActionCreated: ActionCreated, ActionCreatedUser: ActionCreatedUser, ActionRead: ActionRead, ActionUpdated: ActionRead, ActionUpdatedUser: ActionRead,
	} {
		_, err := b.at(1).TranslateRows(t.Context(), []Result{{Entity: b.kitchen.ByType("recipe"), Action: action, Rows: []map[string]any{{
			"id": idOf(action), "name": action, "recipe_ingredients": []any{map[string]any{"id": idOf("leek " + action), "recipe_id": idOf(action), "name": "leek"}},
		}}}}, nil)
		require.NoError(t, err)
		found, err := b.at(1).LookupKeys(t.Context(), "ri", []string{idOf("leek " + action)})
		require.NoError(t, err)
		require.Equal(t, nested, found[idOf("leek "+action)].Action, action)
	}
}

// What the children of a deleted row reference is not shown and gets no ref.
func TestTranslateDeletedChildren(t *testing.T) {
	t.Parallel()
	b := setup(t)

	b.read(t, 1, "recipe", "Soup")
	b.read(t, 1, "ri", "leek")
	_, err := b.at(1).TranslateRows(t.Context(), []Result{{Entity: b.kitchen.ByType("recipe"), Action: ActionDeleted, Rows: []map[string]any{{
		"id": idOf("Soup"), "name": "Soup", "parent_recipe_id": idOf("Broth"),
		"recipe_ingredients": []any{map[string]any{"id": idOf("leek"), "recipe_id": idOf("Soup"), "ingredient_id": idOf("leeks"), "name": "leek"}},
	}}}}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"read", "deleted"}, b.events(t, "ri_1"))
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM entity_refs WHERE session_id = $1 AND action = 'linked'`), "the row that is shown points to it")
}

// V16: deleted rows become tombstones, whichever filter found them, including rows never seen before.
func TestTranslateDeletedRows(t *testing.T) {
	t.Parallel()
	b := setup(t)

	b.read(t, 1, "inv", "Eggs", "Milk")
	results, err := b.at(2).TranslateRows(t.Context(), []Result{{
		Entity: b.kitchen.ByType("inv"), Action: ActionDeleted,
		Rows: []map[string]any{{"id": idOf("Milk"), "name": "Milk"}, {"id": idOf("Tea"), "name": "Tea"}},
	}}, nil)
	require.NoError(t, err)
	require.JSONEq(t, `[{"id":"inv_2","name":"Milk"},{"id":"inv_3","name":"Tea"}]`, encode(t, results[0].Rows))
	require.Equal(t, []string{"inv_2", "inv_3"}, results[0].Refs)
	require.Equal(t, map[string]string{"inv_1": tierRecent}, b.tiers(t, 2))

	// A row that one decision changes and deletes is deleted.
	eggs := []map[string]any{{"id": idOf("Eggs"), "name": "Eggs"}}
	results, err = b.at(2).TranslateRows(t.Context(), []Result{
		{Entity: b.kitchen.ByType("inv"), Action: ActionUpdated, Rows: eggs}, {Entity: b.kitchen.ByType("inv"), Action: ActionDeleted, Rows: eggs},
	}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"inv_1"}, results[1].Refs)
	require.Equal(t, []string{"read", "updated", "deleted"}, b.events(t, "inv_1"))
	require.Empty(t, b.tiers(t, 2))

	// A row that takes its label from another one is named by it, a row without a label gets no ref.
	b.read(t, 2, "recipe", "Soup")
	results, err = b.at(3).TranslateRows(t.Context(), []Result{{Entity: b.kitchen.ByType("meal"), Action: ActionDeleted, Rows: []map[string]any{
		{"id": idOf("Dinner"), "date": "2026-01-12", "meal_type": "dinner", "recipe_id": idOf("Soup")}, {"id": idOf("bare")},
	}}}, nil)
	require.NoError(t, err)
	require.Len(t, results[0].Entries, 1)
	require.Equal(t, "Mon 12 Jan dinner: Soup", results[0].Entries[0].Label)
}

// A row that is named after another one has that name in rows that point to it too, and no known label is asked for.
func TestTranslateLabelsThroughLinks(t *testing.T) {
	t.Parallel()
	b := setup(t)

	b.read(t, 1, "recipe", "Soup")
	var asked []string
	results, err := b.at(2).TranslateRows(t.Context(), []Result{
		{Entity: b.kitchen.ByType("meal"), Action: ActionRead, Rows: []map[string]any{{"id": idOf("Dinner"), "date": "2026-01-12", "meal_type": "dinner", "recipe_id": idOf("Soup")}}},
		{Entity: b.kitchen.ByType("task"), Action: ActionRead, Rows: []map[string]any{{"id": idOf("Shop"), "title": "Shop", "meal_plan_id": idOf("Dinner")}}},
	}, labelReader(nil, &asked))
	require.NoError(t, err)
	require.Equal(t, "Mon 12 Jan dinner: Soup", results[0].Entries[0].Label)
	require.Equal(t, "Mon 12 Jan dinner: Soup", results[1].Rows[0]["_meal_plan_id_label"])
	require.NotContains(t, asked, "recipe")
	require.NotContains(t, asked, "task")

	// The row that gives the name may follow.
	results, err = b.at(3).TranslateRows(t.Context(), []Result{
		{Entity: b.kitchen.ByType("meal"), Action: ActionRead, Rows: []map[string]any{{"id": idOf("Lunch"), "date": "2026-01-13", "meal_type": "lunch", "recipe_id": idOf("Curry")}}},
		{Entity: b.kitchen.ByType("recipe"), Action: ActionRead, Rows: []map[string]any{{"id": idOf("Curry"), "name": "Curry"}}},
	}, nil)
	require.NoError(t, err)
	require.Equal(t, "Tue 13 Jan lunch: Curry", results[0].Entries[0].Label)
}

func TestTranslateFilters(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()

	b.read(t, 1, "recipe", "Soup", "Curry")
	_, err := b.at(1).Generate(ctx, []Draft{{Type: "recipe", Content: decode(t, `{"name": "Pie"}`)}})
	require.NoError(t, err)

	meal, recipe := b.kitchen.ByType("meal"), b.kitchen.ByType("recipe")
	filters, err := b.at(1).TranslateFilters(ctx, meal, []Filter{
		{"recipe_id", "in", []any{"recipe_1", "recipe_2"}}, {"notes", "=", "recipe_1"}, {"recipe_id", "is_null", "x"},
	})
	require.NoError(t, err)
	require.Equal(t, []Filter{
		{"recipe_id", "in", []any{idOf("Soup"), idOf("Curry")}}, {"notes", "=", "recipe_1"}, {"recipe_id", "is_null", "x"},
	}, filters)

	b.deleted(t, b.at(2), "recipe", "Soup")
	filters, err = b.at(2).TranslateFilters(ctx, meal, []Filter{{"recipe_id", "=", "recipe_1"}})
	require.NoError(t, err, "what pointed to a row deleted in this turn can be cleaned up")
	require.Equal(t, idOf("Soup"), filters[0].Value)

	// A ref is known in capitals, quotes or brackets; a text that has one in it is none.
	for _, spelling := range []string{"Recipe_2", " recipe_2 ", `"recipe_2"`, "`recipe_2`", "[recipe_2]", "ref:recipe_2", "@recipe_2"} {
		filters, err = b.at(2).TranslateFilters(ctx, meal, []Filter{{"recipe_id", "=", spelling}})
		require.NoError(t, err, spelling)
		require.Equal(t, idOf("Curry"), filters[0].Value, spelling)
	}
	require.Equal(t, "mp3_1", spelled("(MP3_1)"))

	// Only exact hits reach SQL.
	for value, reason := range map[string]Reason{
		"recipe_7": ReasonUnknown, "gen_recipe_1": ReasonPending, "Soup": ReasonUnknown, "recipe_2, recipe_3": ReasonUnknown, "not recipe_2": ReasonUnknown, idOf("Curry"): ReasonUUID,
	} {
		_, err = b.at(2).TranslateFilters(ctx, recipe, []Filter{{"id", "in", []any{"recipe_2", value}}})
		requireReasonOf(t, err, reason)
	}
}

// Prompts show many refs on one line as a range; a filter that names one means each ref that exists.
func TestTranslateRanges(t *testing.T) {
	t.Parallel()
	b := setup(t)

	b.read(t, 1, "recipe", "Soup", "Curry", "Pie")
	soup, curry, pie := idOf("Soup"), idOf("Curry"), idOf("Pie")
	for _, one := range []struct {
		op, asks string
		value    any
		keys     []any
	}{
		{"in", "in", []any{"recipe_1..recipe_3"}, []any{soup, curry, pie}},
		{"in", "in", []any{"recipe_3", "recipe_1..2"}, []any{pie, soup, curry}},
		{"=", "in", "recipe_2...recipe_9", []any{curry, pie}},
		{"!=", "not_in", "recipe_1..recipe_1", []any{soup}},
	} {
		filters, err := b.at(1).TranslateFilters(t.Context(), b.kitchen.ByType("meal"), []Filter{{"recipe_id", one.op, one.value}})
		require.NoError(t, err)
		require.Equal(t, []Filter{{"recipe_id", one.asks, one.keys}}, filters, "%v", one.value)
	}
	for _, wrong := range []string{"recipe_7..recipe_9", "recipe_1..inv_3", "recipe_3..recipe_1", "recipe_1..recipe_1001"} {
		_, err := b.at(1).TranslateFilters(t.Context(), b.kitchen.ByType("meal"), []Filter{{"recipe_id", "in", []any{wrong}}})
		requireReasonOf(t, err, ReasonUnknown)
	}
}

func TestTranslatePayload(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()

	b.read(t, 1, "recipe", "Soup")
	b.read(t, 1, "ing", "Rice")
	_, err := b.at(1).Generate(ctx, []Draft{{Type: "recipe", Content: decode(t, `{"name": "Pie"}`)}})
	require.NoError(t, err)

	payload := decode(t, `{"name": "recipe_1", "parent_recipe_id": "recipe_1", "tags": ["recipe_1"],
		"recipe_ingredients": [{"name": "rice", "ingredient_id": "ing_1"}, {"name": "salt", "ingredient_id": ""}]}`)
	out, err := b.at(1).TranslatePayload(ctx, b.kitchen.ByType("recipe"), payload)
	require.NoError(t, err)
	require.JSONEq(t, `{"name": "recipe_1", "parent_recipe_id": "`+idOf("Soup")+`", "tags": ["recipe_1"],
		"recipe_ingredients": [{"name": "rice", "ingredient_id": "`+idOf("Rice")+`"}, {"name": "salt", "ingredient_id": null}]}`, encode(t, out[0]))
	require.Equal(t, "recipe_1", payload["parent_recipe_id"], "the caller's payload is left as it is")

	meal := b.kitchen.ByType("meal")
	r := b.at(1)
	_, err = r.TranslatePayload(ctx, meal, map[string]any{"recipe_id": "gen_recipe_1"})
	requireReasonOf(t, err, ReasonPending)
	r.ResolveAs("gen_recipe_1", idOf("saved"))
	out, err = r.TranslatePayload(ctx, meal, map[string]any{"recipe_id": "gen_recipe_1"})
	require.NoError(t, err)
	require.Equal(t, idOf("saved"), out[0]["recipe_id"])

	out, err = r.TranslatePayload(ctx, meal, map[string]any{"recipe_id": Key("gen_recipe_1")}, map[string]any{"recipe_id": "gen_recipe_1"})
	require.NoError(t, err)
	require.Equal(t, []map[string]any{{"recipe_id": "gen_recipe_1"}, {"recipe_id": idOf("saved")}}, out, "a key stays, whatever it looks like")

	for _, bad := range []any{"ing_1", "recipe_5", idOf("Soup"), 42.0, map[string]any{"id": "recipe_1"}, true} {
		_, err = b.at(1).TranslatePayload(ctx, meal, map[string]any{"recipe_id": bad})
		require.ErrorAs(t, err, new(*RefError), "%v", bad)
	}
	_, err = b.at(1).TranslatePayload(ctx, b.kitchen.ByType("recipe"), decode(t, `{"recipe_ingredients": [{"ingredient_id": "ing_7"}]}`))
	requireReasonOf(t, err, ReasonUnknown)
}

func TestScrub(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"":                                       "",
		"recipe_1":                               "recipe_1",
		"550e8400-e29b-41d4-a716-446655440000":   "[id]",
		"550E8400-E29B-41D4-A716-446655440000":   "[id]",
		"AAAAAAAA-AAAA-4AAA-8AAA-AAAAAAAAAAAA":   "[id]",
		"{550e8400-e29b-41d4-a716-446655440000}": "{[id]}",
		"a 550e8400-e29b-41d4-a716-446655440000, 650e8400-e29b-41d4-a716-446655440000": "a [id], [id]",
		"x550e8400-e29b-41d4-a716-446655440000y":                                       "x[id]y",
		"ab550e8400-e29b-41d4-a716-446655440000":                                       "ab[id]",
		"550e8400-e29b-41d4-a716-446655440000-550e8400-e29b-41d4-a716-446655440000":    "[id]-[id]",
		"550e8400e29b41d4a716446655440000":                                             "[id]",
		"saved as 550e8400-e29b":                                                       "saved as [id]",
		"550e8400-e29b-41":                                                             "[id]",
		"12345678-1234-1234-1234-123456789012":                                         "[id]",
		"20260112-1830":                                                                "20260112-1830",
		"2026-01-12 to 2026-01-15":                                                     "2026-01-12 to 2026-01-15",
		"0123456789":                                                                   "0123456789",
		"99999999-9999-4999-8999-ffffffffffff FFFFFFFF-FFFF-4FFF-AFFF-999999999999":    "[id] [id]",
		"no. 00000000000000000007000003001000.":                                        "no. [id].", // digits alone can also be a key
		"decade-old beef-face":                                                         "decade-old beef-face",
	} {
		require.Equal(t, want, Scrub(text), text)
	}
}

package domain_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"alfred/internal/domain"
)

func TestTemplateRender(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		source string
		row    map[string]any
		want   string
	}{
		{"{name}", map[string]any{"name": "Eggs"}, "Eggs"},
		{"{name}", map[string]any{"name": nil}, ""},
		{"{name}", nil, ""},
		{"{date:Jan 2} [{meal_type}]", map[string]any{"date": "2026-01-12", "meal_type": "lunch"}, "Jan 12 [lunch]"},
		{"{at:15:04}", map[string]any{"at": "2026-01-12T18:30:00Z"}, "18:30"},
		{"{at:2006-01-02}", map[string]any{"at": "2026-01-12T18:30:00.123456+00:00"}, "2026-01-12"},
		{"{date}", map[string]any{"date": "2026-01-12"}, "2026-01-12"},
		{"{date:Jan 2}", map[string]any{"date": "some day"}, "some day"},
		{"{slot:Jan 2 15:04}", map[string]any{"slot": `["2026-11-28 08:00:00+00","2026-11-28 11:30:00+00")`}, "Nov 28 08:00 to 11:30"},
		{"{slot:Jan 2 15:04}", map[string]any{"slot": `["2026-11-28 22:00:00+05:30","2026-11-29 01:00:00+05:30")`}, "Nov 28 22:00 to Nov 29 01:00"},
		{"{slot:Jan 2 15:04}", map[string]any{"slot": `["2026-11-28 22:00:00",)`}, "from Nov 28 22:00"},
		{"{days:Jan 2}", map[string]any{"days": "[2026-01-01,2026-02-01)"}, "Jan 1 to Jan 31"},
		{"{slot:Jan 2 15:04}", map[string]any{"slot": "[2026-11-30 09:00,2026-11-30 09:40)"}, "Nov 30 09:00 to 09:40"}, // as it stands in a draft
		{"{days:Jan 2 15:04}", map[string]any{"days": "[2026-01-01,2026-01-02)"}, "Jan 1"},
		{"{days:Jan 2}", map[string]any{"days": "(,2026-02-01)"}, "until Jan 31"},
		{"{days:Jan 2}", map[string]any{"days": "[2026-01-01,infinity)"}, "[2026-01-01,infinity)"},
		{"{days:Jan 2}", map[string]any{"days": "(,)"}, "(,)"},
		{"{days:Jan 2}", map[string]any{"days": "[1,5)"}, "[1,5)"},
		{"{q}", map[string]any{"q": 12.0}, "12"},
		{"{q}", map[string]any{"q": json.Number("12.50")}, "12.5"},
		{"{q}", map[string]any{"q": json.Number("9007199254740993")}, "9007199254740993"},
		{"{q}", map[string]any{"q": int64(3)}, "3"},
		{"{pause:length}", map[string]any{"pause": "00:45:00"}, "45 min"},
		{"{pause:length}", map[string]any{"pause": "1 day 02:30:10.5"}, "1 day 2 h 30 min 10 s"},
		{"{pause:length}", map[string]any{"pause": "-00:05:00"}, "-5 min"},
		{"{pause:length}", map[string]any{"pause": "00:00:00"}, "0 min"},
		{"{pause:length}", map[string]any{"pause": "3 mons"}, "3 mons"},
		{"{q:0.00}", map[string]any{"q": json.Number("84.50")}, "84.50"},
		{"{q:0.00}", map[string]any{"q": json.Number("-84.505")}, "-84.505"},
		{"{q:0.00}", map[string]any{"q": 84.5}, "84.50"},
		{"{q:0.00}", map[string]any{"q": int64(84)}, "84.00"},
		{"{q:0}", map[string]any{"q": json.Number("84.00")}, "84"},
		{"{q:Jan 2}", map[string]any{"q": 84.5}, "84.5"},
		{"{tags}", map[string]any{"tags": []any{"a", "b"}}, "a, b"},
		{"{tags}", map[string]any{"tags": []any{"a"}}, "a"},
		{"{done}", map[string]any{"done": true}, "yes"},
		{"{data}", map[string]any{"data": map[string]any{"a": 1}}, `{"a":1}`},
		{"{n}{?q: ({q}{?u: {u}})}", map[string]any{"n": "x", "q": 1, "u": "kg"}, "x (1 kg)"},
		{"{n}{?q: ({q}{?u: {u}})}", map[string]any{"n": "x", "q": 1}, "x (1)"},
		{"{n}{?q: ({q}{?u: {u}})}", map[string]any{"n": "x", "u": "kg"}, "x"},
		{"{n}{?tags: {tags}}{?done: done}", map[string]any{"n": "x", "tags": []any{}, "done": false}, "x"},
		{"{n}{!done: open}", map[string]any{"n": "x", "done": false}, "x open"},
		{"{n}{!done: open}", map[string]any{"n": "x"}, "x"},
		{"{{{n}}}", map[string]any{"n": "x"}, "{x}"},
		{"{a}{?b: {b}}, {c}", map[string]any{"a": "x", "c": "z"}, "x, z"},
		{"{a} {?b:{b}}, {c}", map[string]any{"a": "x", "c": "z"}, "x, z"},
		{"{a} {b}, {c}", map[string]any{"a": "x  y ,", "c": "z"}, "x  y ,, z"},
		{"{a}, {b}, {c}", map[string]any{"a": "x", "c": "z"}, "x, z"},
		{"{a}, {b}, {c}", map[string]any{"c": "z"}, "z"},
		{"{a}, {b}, {c}", map[string]any{"a": "x"}, "x"},
		{"{a} · {b} - {c}", map[string]any{"a": "x", "c": "z"}, "x · z"},
		{"{a} {?b:{b}} {?c:{c}}", map[string]any{"a": "x", "c": "z"}, "x z"},
		{"{a} {?b:{b}}{?c:{c}}", map[string]any{"a": "x", "c": "z"}, "x z"},
		{"{a}/5 from {b}-{c}:{b}", map[string]any{"c": "z"}, "/5 from -z:"},
		{"{n} {{", map[string]any{"n": "x"}, "x {"},
		{`{"full name"}`, map[string]any{"full name": "Ada"}, "Ada"},
		{`{"a:b}":Jan 2}`, map[string]any{"a:b}": "2026-01-12"}, "Jan 12"},
		{`{?"say ""hi""?": said {"say ""hi""?"}}`, map[string]any{`say "hi"?`: 1}, "said 1"},
	} {
		template, err := domain.ParseTemplate(c.source)
		require.NoError(t, err, c.source)
		require.Equal(t, c.want, template.Render(c.row), "%s with %v", c.source, c.row)
		require.Equal(t, c.source, template.String())
	}
}

// Columns outside optional parts make a label complete; a read without them must not overwrite a better label.
func TestTemplateComplete(t *testing.T) {
	t.Parallel()

	template, err := domain.ParseTemplate("{date:Jan 2} [{meal_type}]{?_recipe_id_label: {_recipe_id_label}}")
	require.NoError(t, err)
	require.Equal(t, []string{"date", "meal_type", "recipe_id"}, template.Columns())
	require.NotEmpty(t, template.RenderComplete(map[string]any{"date": "2026-01-12", "meal_type": "lunch"}))
	require.Empty(t, template.RenderComplete(map[string]any{"date": "2026-01-12"}))
	require.Empty(t, template.RenderComplete(map[string]any{"date": "2026-01-12", "meal_type": nil}))
	require.Empty(t, domain.Template{}.RenderComplete(nil))

	template, err = domain.ParseTemplate("Order{?number: {number}}")
	require.NoError(t, err)
	require.Equal(t, "Order", template.RenderComplete(map[string]any{"number": nil}))
	require.Empty(t, template.RenderComplete(nil))
	require.True(t, domain.Template{}.IsZero())
}

// What only asks for a reference is told to people by the label beside it; the reference itself never is.
func TestTemplateWithout(t *testing.T) {
	t.Parallel()

	hidden := func(column string) bool { return column == "lent_to" }
	lent := map[string]any{"code": "S-5", "lent_to": "singer_1", "_lent_to_label": "Anna"}
	for source, want := range map[string]string{
		"{code}{?lent_to: lent to {_lent_to_label}}": "S-5 lent to Anna",
		"{code}{?lent_to: lent out}":                 "S-5 lent out",
		"{code}{?lent_to: ({lent_to})}":              "S-5",
		"{code} {lent_to} of {_lent_to_label}":       "S-5 of Anna",
		"{code}{!lent_to: here}":                     "S-5",
	} {
		template, err := domain.ParseTemplate(source)
		require.NoError(t, err, source)
		require.Equal(t, want, template.RenderWithout(lent, hidden), source)
	}
	template, err := domain.ParseTemplate("{code}{?lent_to: lent to {_lent_to_label}}{!lent_to: here}")
	require.NoError(t, err)
	require.Equal(t, "S-5", template.RenderWithout(map[string]any{"code": "S-5", "lent_to": "singer_1"}, hidden), "nobody's name is known")
	require.Equal(t, "S-5 here", template.RenderWithout(map[string]any{"code": "S-5", "lent_to": nil}, hidden))
}

func TestTemplateErrors(t *testing.T) {
	t.Parallel()

	for _, source := range []string{"{", "{a", "{a}}", "{}", "{?a}", "{?a: b", "{a b}", "{a:{b}}", "}", "{!: x}", `{"a}`, `{""}`, `{"a"`, `{"a"b}`, `{a"b}`, `{?"a"}`} {
		_, err := domain.ParseTemplate(source)
		require.Error(t, err, source)
	}
}

// Templates and rows are untrusted: neither may crash a process.
func TestTemplateNeverPanics(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		template, err := domain.ParseTemplate(rapid.StringOf(rapid.SampledFrom([]rune("{}?!:\"ab _2"))).Draw(t, "source"))
		if err == nil {
			template.Render(map[string]any{"a": rapid.String().Draw(t, "a"), "b": nil})
		}
	})
}

func TestFold(t *testing.T) {
	t.Parallel()

	for word, want := range map[string]string{
		"Meal Plans": "meal_plan", "meal-plan": "meal_plan", "meal_plans": "meal_plan", "berries": "berry", "time_series": "time_series", "dishes": "dish",
		"tomatoes": "tomato", "boxes": "box", "glass": "glass", "asparagus": "asparagus", "eggs": "egg", "Inventory": "inventory",
		"gas": "gas", "people": "person", "grandchildren": "grandchild", "shelves": "shelf", "olives": "olive", "": "", "recipes": "recipe",
	} {
		require.Equal(t, want, domain.Fold(word), word)
	}
}

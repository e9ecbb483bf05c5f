package crud_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"alfred/internal/crud"
	"alfred/internal/dbtest"
	"alfred/internal/vocab"
	"alfred/registry"
)

const thingsYAML = `
name: things
schema: things
owner: user_id
persona: You keep things.
entities:
  - {type: thing, table: things, name: thing, plural: things, label: "{title}", order: [n], writes: [create, update, delete],
     columns: [n, title, txt, word, words, num, flag, day, at, tags, nums, doc], fold: [word, words]}
subdomains:
  - {name: things, description: All., tables: [things], guidance: none}
`

const thingsSQL = `
CREATE SCHEMA things;
CREATE TABLE things.things (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	user_id uuid NOT NULL DEFAULT nullif(current_setting('alfred.user_id', true), '')::uuid REFERENCES users (id),
	n integer NOT NULL, title text NOT NULL DEFAULT 'x',
	txt text COLLATE "und-x-icu", -- a language's order, in which a stands before A
	word text COLLATE "und-x-icu", words text[], num numeric, flag boolean, day date, at timestamptz, tags text[], nums integer[], doc jsonb, UNIQUE (user_id, id));
COMMENT ON TABLE things.things IS 'Things.';
GRANT SELECT, DELETE, INSERT (n, title, txt, word, words, num, flag, day, at, tags, nums, doc), UPDATE (n, title, txt, word, words, num, flag, day, at, tags, nums, doc) ON things.things TO alfred_tenant`

// setupThings sets up a domain with a column of every kind and a key that is not a uuid.
func setupThings(t *testing.T) *bundle {
	t.Helper()

	return setupThingsIn(t, dbtest.OwnTx(t))
}

func setupThingsIn(t *testing.T, tx pgx.Tx) *bundle {
	t.Helper()

	return setupThingsAs(t, tx, thingsSQL)
}

func setupThingsAs(t *testing.T, tx pgx.Tx, tables string) *bundle {
	t.Helper()

	return setupDeclaredIn(t, tx, tables, thingsYAML)
}

type thing = map[string]any

// pools are a few values of each kind, so that filters often match.
var pools = map[string][]any{
	"txt":   {"a", "A", "ab", "b%", `b\`, "ä", "", "b_c", "nul", "B", "Y", "é"},
	"word":  {"hot", "Hot", "SOUR", "sweet", "Äpfel"},
	"words": {[]any{}, []any{"Hot"}, []any{"hot", "sour"}, []any{"null", "a,B\"c"}},
	"num":   {0.0, 1.0, 1.5, -2.0, 10.0, 1e6},
	"flag":  {true, false},
	"day":   {"2026-01-01", "2026-01-31", "2025-12-31"},
	"at":    {"2026-01-01T10:00:00Z", "2026-01-01T10:00:00.5Z", "2025-06-01T00:00:00Z"},
	"tags":  {[]any{}, []any{"a"}, []any{"a", "b"}, []any{"b", "a"}, []any{"A,b"}},
	"nums":  {[]any{}, []any{1.0}, []any{1.0, 2.0}},
	"doc":   {map[string]any{}, map[string]any{"a": 1.0}, map[string]any{"a": 1.0, "b": []any{"x"}}, []any{"x", 1.0}, "x"},
}

var opsByColumn = map[string][]string{
	"txt":   {"=", "!=", ">", ">=", "<", "<=", "in", "not_in", "ilike", "contains", "is_null", "is_not_null"},
	"word":  {"=", "!=", ">", ">=", "<", "<=", "in", "not_in", "is_null", "is_not_null"},
	"words": {"=", "!=", "contains", "is_null", "is_not_null"},
	"num":   {"=", "!=", ">", ">=", "<", "<=", "in", "not_in", "is_null", "is_not_null"},
	"flag":  {"=", "!=", "in", "not_in", "is_null", "is_not_null"},
	"day":   {"=", "!=", ">", ">=", "<", "<=", "in", "not_in", "is_null", "is_not_null"},
	"at":    {"=", "!=", ">", ">=", "<", "<=", "in", "not_in", "is_null", "is_not_null"},
	"tags":  {"=", "!=", "contains", "is_null", "is_not_null"},
	"nums":  {"=", "!=", "contains", "is_null", "is_not_null"},
	"doc":   {"=", "!=", "contains", "is_null", "is_not_null"},
}

// Every value of a list counts, whether the condition is one of all or one of several.
func TestListsCountEveryValue(t *testing.T) {
	t.Parallel()

	b := setupThings(t)
	b.ok("write", vocab.ToolCreate, `{"table": "things", "data": [{"n": 1, "txt": "a"}, {"n": 2, "txt": "b"}, {"n": 3, "txt": "c"}, {"n": 4}]}`)
	for _, list := range []string{"filters", "or_filters"} {
		for op, want := range map[string][]string{"in": {"a", "b"}, "not_in": {"c"}} {
			read := b.ok("read", vocab.ToolRead, sprintf(`{"table": "things", %q: [{"field": "txt", "op": %q, "value": ["a", "b"]}]}`, list, op))
			require.Equal(t, want, column[string](b.rows(read), "txt"), "%s %s", list, op)
		}
	}
}

// TestFiltersEqualOracle reads random rows with random filters and compares the results with a plain Go implementation.
func TestFiltersEqualOracle(t *testing.T) {
	t.Parallel()

	b := setupThings(t)
	var rows []thing
	for n := range 48 {
		row := thing{"n": float64(n)}
		for i, name := range sortedKeys(pools) {
			if (n*7+i*5)%11 != 0 {
				row[name] = pools[name][(n*(i+3)+n/5)%len(pools[name])]
			}
		}
		rows = append(rows, row)
	}
	raw, err := json.Marshal(map[string]any{"table": "things", "data": rows})
	require.NoError(t, err)
	b.ok("write", vocab.ToolCreate, string(raw))

	rapid.Check(t, func(rt *rapid.T) {
		filters := rapid.SliceOfN(rapid.Custom(drawFilter), 1, 2).Draw(rt, "filters")
		or := rapid.SliceOfN(rapid.Custom(drawFilter), 0, 2).Draw(rt, "or_filters")
		var want []float64
		for _, row := range rows {
			if oracle(row, filters, or) {
				want = append(want, row["n"].(float64))
			}
		}
		require.Equal(rt, want, read(rt, b, filters, or))
	})
}

func read(rt *rapid.T, b *bundle, filters, or []registry.Filter) []float64 {
	raw, err := json.Marshal(map[string]any{"table": "things", "filters": filters, "or_filters": or, "columns": []string{"n"}})
	require.NoError(rt, err)
	outcome := b.decide("read", call(vocab.ToolRead, string(raw)))
	require.Empty(rt, outcome.Results[0].ErrorMessage, string(raw))
	if outcome.Results[0].Notice != "" { // none fits to the letter
		return nil
	}
	var numbers []float64
	for _, row := range b.rows(outcome.Results[0]) {
		numbers = append(numbers, row["n"].(float64))
	}

	return numbers
}

func drawFilter(rt *rapid.T) registry.Filter {
	name := rapid.SampledFrom(sortedKeys(pools)).Draw(rt, "field")
	op := rapid.SampledFrom(opsByColumn[name]).Draw(rt, "op")
	f := registry.Filter{Field: name, Op: op}
	switch {
	case op == "in" || op == "not_in":
		f.Value = rapid.SliceOfN(rapid.SampledFrom(pools[name]), 1, 3).Draw(rt, "values")
	case op == "ilike":
		f.Value = rapid.SampledFrom([]any{"a", "%A%", "_", "b\\%", "%b%", ""}).Draw(rt, "pattern")
	case op == "contains" && name == "tags":
		f.Value = rapid.SampledFrom([]any{"a", "b", []any{"a", "b"}, "z"}).Draw(rt, "element")
	case op == "contains" && name == "words":
		f.Value = rapid.SampledFrom([]any{"HOT", "null", []any{"Hot", "Sour"}, "A,b\"c", "z"}).Draw(rt, "element")
	case op == "contains" && name == "nums":
		f.Value = rapid.SampledFrom([]any{1.0, []any{1.0, 2.0}}).Draw(rt, "element")
	case op == "contains" && name == "doc":
		f.Value = rapid.SampledFrom([]any{map[string]any{}, map[string]any{"a": 1.0}, map[string]any{"b": []any{"x"}}, []any{"x"}, "X", "a", 1.0}).Draw(rt, "part")
	case op != "is_null" && op != "is_not_null":
		f.Value = rapid.SampledFrom(pools[name]).Draw(rt, "value")
	}

	return f
}

func oracle(row thing, filters, or []registry.Filter) bool {
	fits := func(f registry.Filter) bool { return means(row[f.Field], f) }

	return !slices.ContainsFunc(filters, func(f registry.Filter) bool { return !fits(f) }) && (len(or) == 0 || slices.ContainsFunc(or, fits))
}

// means is an operator's meaning, in plain Go.
func means(value any, f registry.Filter) bool {
	if value == nil || f.Op == "is_null" {
		return value == nil && f.Op == "is_null"
	}
	if f.Field == "word" || f.Field == "words" { // free-form words: case-insensitive
		value, f.Value = lowered(value), lowered(f.Value)
	}
	equal := func(other any) bool { return reflect.DeepEqual(value, other) }
	list, _ := f.Value.([]any)
	switch f.Op {
	case "is_not_null":
		return true
	case "=":
		return equal(f.Value)
	case "!=":
		return !equal(f.Value)
	case "in":
		return slices.ContainsFunc(list, equal)
	case "not_in":
		return !slices.ContainsFunc(list, equal)
	case "ilike":
		return like(strings.ToLower(fmt.Sprint(f.Value)), strings.ToLower(fmt.Sprint(value)))
	case "contains":
		if text, ok := f.Value.(string); ok && f.Field == "doc" {
			return hasText(value, text)
		}

		return holds(value, f.Value, f.Field == "doc")
	}
	var order int
	if number, ok := value.(float64); ok {
		order = int(max(-1, min(1, (number-f.Value.(float64))*100)))
	} else {
		// Fractions sort after the whole second, unlike their texts.
		order = strings.Compare(strings.TrimSuffix(fmt.Sprint(value), "Z"), strings.TrimSuffix(fmt.Sprint(f.Value), "Z"))
	}

	return map[string]bool{">": order > 0, ">=": order >= 0, "<": order < 0, "<=": order <= 0}[f.Op]
}

func lowered(value any) any {
	switch value := value.(type) {
	case string:
		return strings.ToLower(value)
	case []any:
		list := make([]any, len(value))
		for i := range value {
			list[i] = lowered(value[i])
		}

		return list
	default:
		return value
	}
}

func like(pattern, text string) bool {
	switch {
	case pattern == "":
		return text == ""
	case pattern[0] == '%':
		return like(pattern[1:], text) || text != "" && like(pattern, text[1:])
	case text == "":
		return false
	case pattern[0] == '_':
		_, rest, _ := strings.Cut(text, string([]rune(text)[0]))

		return like(pattern[1:], rest)
	case pattern[0] == '\\':
		return len(pattern) > 1 && pattern[1] == text[0] && like(pattern[2:], text[1:])
	default:
		return pattern[0] == text[0] && like(pattern[1:], text[1:])
	}
}

// hasText reports whether some text in a JSON value contains another.
func hasText(value any, part string) bool {
	has := func(inner any) bool { return hasText(inner, part) }
	switch value := value.(type) {
	case string:
		return strings.Contains(strings.ToLower(value), strings.ToLower(part))
	case []any:
		return slices.ContainsFunc(value, has)
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(value)), has)
	default:
		return false
	}
}

func holds(value, part any, isJSON bool) bool {
	if text, ok := value.(string); ok && !isJSON {
		return strings.Contains(strings.ToLower(text), strings.ToLower(fmt.Sprint(part)))
	}
	switch value := value.(type) {
	case map[string]any:
		object, ok := part.(map[string]any)
		if !ok {
			return false
		}
		for key, inner := range object {
			if other, has := value[key]; !has || !holds(other, inner, true) {
				return false
			}
		}

		return true
	case []any:
		parts, isList := part.([]any)
		if _, isObject := part.(map[string]any); isObject {
			return false
		}
		if !isList {
			parts = []any{part}
		}

		return !slices.ContainsFunc(parts, func(p any) bool {
			return !slices.ContainsFunc(value, func(v any) bool { return reflect.DeepEqual(v, p) })
		})
	default:
		return reflect.DeepEqual(value, part)
	}
}

func sortedKeys(m map[string][]any) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)

	return keys
}

// A number is compared as such, whatever its column can hold.
func TestFiltersByNumbersBeyondTheColumn(t *testing.T) {
	t.Parallel()

	b := setupThings(t)
	b.ok("write", vocab.ToolCreate, `{"table": "things", "data": [{"n": 1, "title": "one"}, {"n": 2, "title": "two"}]}`)
	for filter, titles := range map[string][]string{
		`"op": "=", "value": 3000000000`: {}, `"op": "<", "value": 3000000000`: {"one", "two"}, `"op": ">", "value": 1.5`: {"two"}, `"op": "=", "value": 1.2`: {},
	} {
		read := b.ok("read", vocab.ToolRead, `{"table": "things", "filters": [{"field": "n", `+filter+`}]}`)
		require.Equal(t, titles, column[string](b.rows(read), "title"), filter)
	}
}

// Values and keys of a fixed length are not cut to one character.
func TestFixedLengthTexts(t *testing.T) {
	t.Parallel()

	b := setupThingsAs(t, dbtest.OwnTx(t), strings.NewReplacer("id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
		"id character(8) PRIMARY KEY DEFAULT right(md5(random()::text), 8)", "title text", "title character(3)", "tags text[]", "tags character(3)[]").Replace(thingsSQL))
	b.ok("write", vocab.ToolCreate, `{"table": "things", "data": [{"n": 1, "title": "Oak", "tags": ["KIE"]}, {"n": 2, "title": "Elm", "tags": ["FLE"]}]}`)
	for filter, n := range map[string]float64{`"title", "op": "=", "value": "Oak"`: 1, `"title", "op": "in", "value": ["Elm", "E"]`: 2, `"tags", "op": "contains", "value": ["FLE"]`: 2} {
		read := b.ok("read", vocab.ToolRead, `{"table": "things", "filters": [{"field": `+filter+`}]}`)
		require.Equal(t, []float64{n}, column[float64](b.rows(read), "n"), filter)
	}
	b.ok("write", vocab.ToolUpdate, `{"table": "things", "filters": [{"field": "id", "op": "=", "value": "thing_2"}], "data": {"title": "Ash"}}`)
	read := b.ok("read", vocab.ToolRead, `{"table": "things", "filters": [{"field": "id", "op": "=", "value": "thing_2"}]}`)
	require.Equal(t, []string{"Ash"}, column[string](b.rows(read), "title"))
}

// A filter that a column does not take is an error, and never left out, which would widen the result.
func TestColumnsRefuseOperators(t *testing.T) {
	t.Parallel()

	b := setupThings(t)
	b.exec(`INSERT INTO things.things (user_id, n, flag, tags) VALUES ($1, 1, true, '{a}')`, b.scope.UserID)
	for column, filters := range map[string][]string{
		"id":   {`"op": ">", "value": "thing_1"`, `"op": "ilike", "value": "thing%"`, `"op": "contains", "value": "thing_1"`},
		"flag": {`"op": ">", "value": true`, `"op": "contains", "value": "t"`, `"op": "ilike", "value": "t%"`},
		"n":    {`"op": "ilike", "value": "1%"`, `"op": "contains", "value": 1`, `"op": "similar", "value": "1"`},
		"day":  {`"op": "ilike", "value": "2026%"`, `"op": "contains", "value": "2026"`},
		"tags": {`"op": "in", "value": [["a"]]`, `"op": ">", "value": ["a"]`, `"op": "ilike", "value": "a%"`},
		"doc":  {`"op": "in", "value": [{}]`, `"op": "<", "value": {}`, `"op": "similar", "value": "a"`},
		"txt":  {`"op": "similar", "value": "a"`, `"op": "not_ilike", "value": "a"`},
	} {
		for _, filter := range filters {
			for _, list := range []string{"filters", "or_filters"} {
				args := `{"table": "things", "` + list + `": [{"field": "` + column + `", ` + filter + `}, {"field": "n", "op": "=", "value": 1}]}`
				require.NotEmpty(t, b.refused("read", vocab.ToolRead, args, crud.CodeBadFilter), args)
			}
		}
	}
}

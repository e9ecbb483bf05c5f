package crud_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"alfred/internal/crud"
	"alfred/internal/dbtest"
	"alfred/internal/pg"
	"alfred/internal/vocab"
)

// canary is in every text that must not become SQL.
const canary = "Zanzibar"

// wire records the statements that reach the server; values are sent separately.
type wire struct{ said []string }

func (w *wire) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	w.said = append(w.said, data.SQL)

	return ctx
}

func (*wire) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (w *wire) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	for _, q := range data.Batch.QueuedQueries {
		w.said = append(w.said, q.SQL)
	}

	return ctx
}

func (*wire) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (*wire) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}

// hostileTexts break out of an identifier, a literal, a pattern, a comment or an encoding if nothing prevents it.
var hostileTexts = []string{
	`"; DROP TABLE things.things; -- `, `'; DROP TABLE things.things; --`, `' OR '1'='1`, `n" = n OR "n`, `n)) OR true --`, `n/**/`, `n; SELECT pg_sleep(60)`,
	`n" UNION SELECT secret FROM users --`, `things"."things`, `things.things`, `$1`, `$$; DELETE FROM things.things; $$`, `E'\\x27'`, `\'; --`, `\`, `%' ESCAPE '`,
	"n\x00", "\x00\x00", "\xff\xfe", "n\xc0\xa7", "\xed\xa0\x80", "ｎ", "nаme", "ʼ; --", "＂; DROP TABLE things.things", "\u202en", "n\u200b", "n\n--", "user_id", "ctid", "xmin",
	"current_user", "n::text", "n desc", "asc; --", "count(*)", "_version", "_total", "../things", "pg_catalog.pg_class", "{1,2}", `{"a": 1}`, "NaN", "Infinity", "1e400", "0x1F", "null",
}

func drawHostile(rt *rapid.T) string {
	text := rapid.OneOf(rapid.SampledFrom(hostileTexts), rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(raw []byte) string { return string(raw) })).Draw(rt, "text")
	switch rapid.IntRange(0, 2).Draw(rt, "where") {
	case 0:
		return canary + text
	case 1:
		return text + canary
	default:
		return text
	}
}

// word is a valid word, or what an attacker would write instead.
func word(rt *rapid.T, right ...string) string {
	if rapid.IntRange(0, 7).Draw(rt, "kind") > 0 {
		return rapid.SampledFrom(right).Draw(rt, "right")
	}

	return drawHostile(rt)
}

// asJSON is JSON that preserves invalid UTF-8, as the wire might.
func asJSON(value any) string {
	switch value := value.(type) {
	case string:
		var b strings.Builder
		for i := range len(value) {
			if c := value[i]; c < ' ' || c == '"' || c == '\\' {
				fmt.Fprintf(&b, `\u%04x`, c)
			} else {
				b.WriteByte(c)
			}
		}

		return `"` + b.String() + `"`
	case []any:
		parts := make([]string, len(value))
		for i, v := range value {
			parts[i] = asJSON(v)
		}

		return "[" + strings.Join(parts, ", ") + "]"
	case [][2]any: // an object, in order
		parts := make([]string, len(value))
		for i, v := range value {
			parts[i] = asJSON(v[0]) + ": " + asJSON(v[1])
		}

		return "{" + strings.Join(parts, ", ") + "}"
	case map[string]any:
		var fields object
		for name, v := range value {
			fields = append(fields, [2]any{name, v})
		}

		return asJSON(fields)
	case nil:
		return "null"
	default:
		return fmt.Sprint(value)
	}
}

type object = [][2]any

var columnsOfThings = []string{"n", "title", "txt", "word", "words", "num", "flag", "day", "at", "tags", "nums", "doc", "id"}

func drawValue(rt *rapid.T) any {
	text := word(rt, "a", "2026-01-01", "1", "thing_1", "true")
	switch rapid.IntRange(0, 5).Draw(rt, "shape") {
	case 0:
		return []any{text, drawHostile(rt)}
	case 1:
		return object{{text, drawHostile(rt)}}
	case 2:
		return 1
	default:
		return text
	}
}

func drawConditions(rt *rapid.T) any {
	var list []any
	for range rapid.IntRange(0, 2).Draw(rt, "filters") {
		good := drawFilter(rt)
		filter := object{{"field", word(rt, good.Field)}, {"op", word(rt, good.Op)}, {"value", good.Value}}
		switch rapid.IntRange(0, 3).Draw(rt, "filter") {
		case 0:
			filter[2][1] = drawValue(rt)
		case 1:
			filter = object{{"field", word(rt, "txt", "title", "id")}, {"op", word(rt, "=", "!=", "<", "ilike", "contains", "similar")}, {"value", drawHostile(rt)}}
		}
		list = append(list, filter)
	}

	return append([]any{}, list...)
}

func drawRow(rt *rapid.T) object {
	row := object{{"n", 7}}
	for range rapid.IntRange(1, 3).Draw(rt, "cells") {
		row = append(row, [2]any{word(rt, columnsOfThings[1:]...), drawValue(rt)})
	}

	return row
}

// drawHostileCall is a call with a fault in any place that takes text.
func drawHostileCall(rt *rapid.T) (step string, c vocab.Call) {
	table := [2]any{"table", word(rt, "things", "thing", "things")}
	direction := [2]any{"order_dir", word(rt, "asc", "desc")}
	limit := [2]any{"limit", 3}
	switch rapid.IntRange(0, 6).Draw(rt, "tool") {
	case 0:
		columns := []any{word(rt, columnsOfThings...), word(rt, columnsOfThings...)}

		return "read", call(vocab.ToolRead, asJSON(object{
			table, {"filters", drawConditions(rt)}, {"or_filters", drawConditions(rt)}, {"columns", columns}, {"order_by", word(rt, columnsOfThings...)}, direction, limit,
		}))
	case 1:
		return "read", call(vocab.ToolRead, asJSON(object{table, {"filters", drawConditions(rt)}, {"detail", word(rt, "summary", "full")}, limit}))
	case 2:
		as, column := word(rt, "a", "b"), word(rt, columnsOfThings...)

		return "analyze", call(vocab.ToolAnalyze, asJSON(object{
			table, {"filters", drawConditions(rt)}, {"group_by", []any{word(rt, "txt", "flag", "day")}}, direction, limit,
			{"aggregates", []any{object{{"fn", word(rt, "count", "min", "max", "sum")}, {"column", column}, {"as", as}}}}, {"order_by", word(rt, as, "txt", "flag")},
		}))
	case 3:
		return "write", call(vocab.ToolCreate, asJSON(object{table, {"data", drawRow(rt)}}))
	case 4:
		return "write", call(vocab.ToolUpdate, asJSON(object{table, {"filters", drawConditions(rt)}, {"data", drawRow(rt)}}))
	case 5:
		return "write", call(vocab.ToolDelete, asJSON(object{table, {"filters", drawConditions(rt)}}))
	default:
		return "read", call(vocab.ToolRecall, asJSON(object{{"query", drawHostile(rt)}}))
	}
}

// TestNothingWrittenBecomesSQL puts arbitrary text wherever a call or a request takes text. The result is a typed
// error, or statements whose every word comes from this package or the catalog; reads change nothing.
func TestNothingWrittenBecomesSQL(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	w := &wire{}
	config, err := pgx.ParseConfig(dbtest.URL(t))
	require.NoError(t, err)
	config.RuntimeParams["search_path"] = pg.SearchPath
	config.Tracer = w
	conn, err := pgx.ConnectConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)
	b := setupThingsIn(t, tx)
	b.ok("write", vocab.ToolCreate, `{"table": "things", "data": [{"n": 1, "txt": "a", "tags": ["a"]}, {"n": 2, "day": "2026-01-01", "doc": {"a": 1}}]}`)
	known := b.vocabulary()
	rows := `SELECT string_agg(x::text, ' ' ORDER BY n) FROM things.things AS x`
	before := query[string](b, rows)
	checked := 0

	rapid.Check(t, func(rt *rapid.T) {
		sp, err := tx.Begin(t.Context())
		require.NoError(rt, err)
		inner := *b
		inner.tx = sp
		w.said = nil
		var reads bool
		if rapid.IntRange(0, 3).Draw(rt, "by") > 0 {
			step, c := drawHostileCall(rt)
			reads = step != "write"
			inner.mustHear(rt, step, c)
		} else {
			reads = inner.ask(rt)
		}
		for _, sql := range w.said {
			require.NotContains(rt, sql, canary)
			if strings.Contains(sql, `"things"."things"`) {
				known.require(rt, sql)
				checked++
			}
		}
		if reads {
			require.Equal(rt, before, query[string](&inner, rows))
		}
		require.NoError(rt, sp.Rollback(t.Context()))
	})
	require.Equal(t, before, query[string](b, rows))
	t.Logf("%d statements about rows", checked)
	require.Positive(t, checked)
}

// mustHear runs a call that may be refused but must not break anything.
func (b *bundle) mustHear(rt *rapid.T, step string, c vocab.Call) {
	prepared, err := b.tools.Prepare(b.t.Context(), b.tx, b.asker(), []vocab.Call{c})
	require.NoError(rt, err)
	outcome, err := b.tools.Execute(b.t.Context(), b.tx, b.at(), crud.Bounds{StepType: step}, prepared)
	require.NoError(rt, err, string(c.Args))
	require.NotContains(rt, outcome.Results[0].ErrorMessage, "SQLSTATE")
}

// ask makes a user interface's request with arbitrary values in any place. It returns whether it only read.
func (b *bundle) ask(rt *rapid.T) (reads bool) {
	user := crud.User{ID: b.scope.UserID}
	kind, id := word(rt, "thing"), word(rt, "1", "2")
	data := json.RawMessage(asJSON(drawRow(rt)))
	var err error
	verb := rapid.SampledFrom([]string{"list", "page", "get", "create", "patch", "delete", "inputs"}).Draw(rt, "verb")
	switch verb {
	case "list":
		_, err = b.tools.List(b.t.Context(), b.tx, user, kind, crud.ListParams{Query: strings.ToValidUTF8(drawHostile(rt), ""), After: drawHostile(rt), Limit: 3})
	case "page":
		at := asJSON(object{{"type", "thing"}, {"query", ""}, {"at", []any{word(rt, "1"), word(rt, "1")}}})
		_, err = b.tools.List(b.t.Context(), b.tx, user, "thing", crud.ListParams{After: base64.RawURLEncoding.EncodeToString([]byte(at)), Limit: 3})
	case "get":
		_, err = b.tools.Get(b.t.Context(), b.tx, user, kind, id)
	case "create":
		_, err = b.tools.Create(b.t.Context(), b.tx, user, kind, data)
	case "patch":
		_, err = b.tools.Patch(b.t.Context(), b.tx, user, kind, id, word(rt, "", "*"), data)
	case "delete":
		_, err = b.tools.Delete(b.t.Context(), b.tx, user, kind, id, crud.Deletion{Version: word(rt, "", "*")})
	default:
		change := asJSON([]any{object{{"action", word(rt, "deleted:user", "updated:user")}, {"entity_type", kind}, {"entity_id", id}, {"label", drawHostile(rt)}}})
		err = b.tools.ApplyInputs(b.t.Context(), b.tx, b.scope, "@["+canary+"]("+kind+":"+id+")", json.RawMessage(strings.ReplaceAll(strings.ToValidUTF8(change, ""), `\u0000`, "")), nil)
	}
	if err != nil {
		var fault *crud.Error
		require.ErrorAs(rt, err, &fault, verb)
	}

	return verb == "list" || verb == "page" || verb == "get" || verb == "inputs"
}

// vocabulary is every word that a statement may contain.
type vocabulary struct{ identifiers, words map[string]bool }

var (
	identifierForm = regexp.MustCompile(`"((?:[^"]|"")*)"`)
	literalForm    = regexp.MustCompile(`'(?:[^']|'')*'`)
	wordForm       = regexp.MustCompile(`[\pL_][\pL\pN_]*`)
	aliasForm      = regexp.MustCompile(`^[a-z][a-z0-9_]{0,59}$|^ [a-z0-9 ]+$`)
)

func (b *bundle) vocabulary() *vocabulary {
	b.t.Helper()

	v := &vocabulary{identifiers: map[string]bool{"things": true, "C": true}, words: map[string]bool{"xmin": true}} // of a row's version, from package domain
	for _, c := range b.kit.ByTable("things").Columns {
		v.identifiers[c.Name] = true
	}
	files, err := filepath.Glob("*.go")
	require.NoError(b.t, err)
	more := query[string](b, `SELECT string_agg(format_type(t.oid, NULL), ' ') || (SELECT string_agg(pg_get_expr(d.adbin, d.adrelid), ' ') FROM pg_attrdef AS d) FROM pg_type AS t WHERE t.typnamespace = 'pg_catalog'::regnamespace`)
	for _, file := range append(files, "") {
		source := []byte(more)
		if file != "" && !strings.HasSuffix(file, "_test.go") {
			source, err = os.ReadFile(file)
			require.NoError(b.t, err)
		}
		for _, word := range wordForm.FindAllString(string(source), -1) {
			v.words[word] = true
		}
	}
	require.False(b.t, v.words[canary])

	return v
}

// require checks a statement against the vocabulary. A model's own name for an aggregate (as) is also an identifier, and
// so is an alias of ours, which starts with a space. Their forms are too restricted for an attack.
func (v *vocabulary) require(rt *rapid.T, sql string) {
	for _, match := range identifierForm.FindAllStringSubmatch(sql, -1) {
		require.True(rt, v.identifiers[match[1]] || aliasForm.MatchString(match[1]), "identifier %q in %s", match[1], sql)
	}
	rest := literalForm.ReplaceAllString(identifierForm.ReplaceAllString(sql, ""), "")
	require.NotRegexp(rt, `--|/\*|;|\$\$|["'\x00]`, rest, sql)
	for _, word := range wordForm.FindAllString(rest, -1) {
		require.True(rt, v.words[word], "word %q in %s", word, sql)
	}
}

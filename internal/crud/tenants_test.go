package crud_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/dbtest"
	"alfred/internal/domain"
	"alfred/internal/llm/lexical"
	"alfred/internal/recall"
	"alfred/internal/testfactory"
	"alfred/internal/vocab"
)

// secret is in every text of Ada's, and in no answer to Bob.
const secret = "zanzibar"

// estate is a session of Bob's and Ada's data, by the names that probes use; in none, the same names refer to nothing.
type estate struct {
	*bundle

	ada          uuid.UUID
	theirs, none map[string]string
	hash         string // over Ada's rows
	asked        int    // how often for names
}

// newEstate gives Ada a row in every table, a session with a ref to each and a draft, and a turn that can be recalled.
// Bob's registry is as corrupt as could be: it contains refs to Ada's rows.
func newEstate(t *testing.T) *estate {
	t.Helper()

	pool := dbtest.Pool(t)
	e := &estate{ada: uuid.New(), theirs: map[string]string{"user": ""}, none: map[string]string{"user": uuid.NewString()}}
	e.theirs["user"] = e.ada.String()
	making, err := pool.Begin(t.Context())
	require.NoError(t, err)
	exec := func(sql string, args ...any) {
		_, err := making.Exec(t.Context(), sql, args...)
		require.NoError(t, err)
	}
	exec(`INSERT INTO users (id, name) VALUES ($1, 'ada')`, e.ada)
	for _, sql := range []string{
		`INSERT INTO kitchen.recipes (user_id, name, description) VALUES ($1, $2, $2)`,
		`INSERT INTO kitchen.recipe_ingredients (user_id, recipe_id, name) SELECT $1, id, $2 FROM kitchen.recipes WHERE user_id = $1`,
		`INSERT INTO kitchen.inventory (user_id, name) VALUES ($1, $2)`,
		`INSERT INTO kitchen.shopping_list (user_id, name) VALUES ($1, $2)`,
		`INSERT INTO kitchen.meal_plans (user_id, date, meal_type, recipe_id, notes) SELECT $1, '2026-12-01', 'lunch', id, $2 FROM kitchen.recipes WHERE user_id = $1`,
		`INSERT INTO kitchen.tasks (user_id, title) VALUES ($1, $2)`,
		`INSERT INTO kitchen.preferences (user_id, allergies) VALUES ($1, ARRAY[$2::text])`,
		`INSERT INTO kitchen.cooking_log (user_id, recipe_id, notes) SELECT $1, id, $2 FROM kitchen.recipes WHERE user_id = $1`,
	} {
		exec(sql, e.ada, secret)
	}
	session := testfactory.Session(t, making, e.ada)
	turn := testfactory.Turn(t, making, session, testfactory.TurnOpts{Number: 1, Message: "my " + secret, Reply: "your " + secret})
	testfactory.Summary(t, making, turn)
	require.NoError(t, making.Commit(t.Context()))
	kit := testfactory.Kitchen(t)
	require.NoError(t, recall.NewIndex(recall.New(kit, lexical.Embedder{}), pool).Sweep(t.Context()))
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) })
	e.bundle = setupIn(t, tx, uuid.MustParse(demoUser))
	e.nameRows(session)
	e.hash = e.bundle.hash(e.ada)

	return e
}

// nameRows names Ada's data and the refs to it: those of her own session, and those in Bob's.
func (e *estate) nameRows(session uuid.UUID) {
	e.t.Helper()

	refer := func(session uuid.UUID, ref, kind, id string) {
		e.exec(`INSERT INTO entity_refs (session_id, ref, entity_type, entity_id, state, action, label, turn_created, turn_last_ref)
			VALUES ($1, $2, $3, $4, 'stored', 'read', 'Stew', 1, 1)`, session, ref, kind, id)
	}
	for _, kind := range e.kit.Entities {
		if kind.Reference {
			continue
		}
		id := query[string](e.bundle, sprintf(`SELECT id::text FROM kitchen.%s WHERE user_id = $1`, kind.Table), e.ada)
		e.theirs["id "+kind.Table], e.none["id "+kind.Table] = id, uuid.NewString()
		for name, n := range map[string]int{"ref ": 77, "her ": 55} {
			e.theirs[name+kind.Table], e.none[name+kind.Table] = fmt.Sprint(kind.Type, "_", n), fmt.Sprint(kind.Type, "_", n+1)
		}
		refer(session, kind.Type+"_55", kind.Type, id)
		refer(e.scope.SessionID, kind.Type+"_77", kind.Type, id)
		refer(e.scope.SessionID, kind.Type+"_78", kind.Type, e.none["id "+kind.Table])
	}
	e.theirs["draft"], e.none["draft"] = "gen_recipe_55", "gen_recipe_56"
	testfactory.Ref(e.t, e.tx, session, testfactory.RefOpts{Ref: "gen_recipe_55", Label: secret})
	testfactory.Artifact(e.t, e.tx, session, "gen_recipe_55", `{"name": "`+secret+`"}`)
	own := e.ok("read", vocab.ToolRead, `{"table": "recipes", "limit": 1}`).Refs[0]
	draft := e.ok("generate", vocab.ToolGenerate, `{"creates": [{"type": "recipe", "content": {"name": "Toast"}}]}`).Refs[0]
	for _, names := range []map[string]string{e.theirs, e.none} {
		names["own"], names["own draft"] = own, draft
	}
}

// hash is a hash over everything that belongs to a user.
func (b *bundle) hash(user uuid.UUID) string {
	parts := []string{}
	for _, kind := range b.kit.Entities {
		if !kind.Reference {
			parts = append(parts, sprintf(`SELECT x::text AS line FROM kitchen.%s AS x WHERE user_id = $1`, kind.Table))
		}
	}
	for _, table := range []string{"entity_refs", "artifacts", "entity_events", "turn_summaries"} {
		parts = append(parts, sprintf(`SELECT x::text FROM %s AS x WHERE session_id IN (SELECT id FROM sessions WHERE user_id = $1)`, table))
	}
	for _, table := range []string{"sessions", "turns", "constraints", "embeddings"} {
		parts = append(parts, sprintf(`SELECT x::text FROM %s AS x WHERE user_id = $1`, table))
	}

	return query[string](b, `SELECT md5(string_agg(line, ' ' ORDER BY line)) FROM (`+strings.Join(parts, " UNION ALL ")+`) AS all_of_it`, user)
}

// attempt is one thing that Bob tries; names in braces stand for something of Ada's.
type attempt struct {
	step, tool, args string
}

var (
	placeholder = regexp.MustCompile(`\{(id|ref|her|own|draft|user)\b`)
	// lent matches the numbers of refs to Ada's things and to nothing.
	lent = regexp.MustCompile(`_(55|56|77|78)\b`)
)

// try runs an attempt in a savepoint and returns everything that Bob hears and has afterwards.
func (e *estate) try(a attempt, names map[string]string) string {
	e.t.Helper()

	for name, value := range names {
		a.args = strings.ReplaceAll(a.args, "{"+name+"}", value)
	}
	require.NotRegexp(e.t, placeholder, a.args)
	sp, err := e.tx.Begin(e.t.Context())
	require.NoError(e.t, err)
	inner := *e.bundle
	inner.tx = sp
	heard := inner.hear(a) + query[string](&inner, `SELECT concat(
		(SELECT string_agg(concat_ws(' ', tool, rows, row_count, refs, error_code, error_message), E'\n' ORDER BY step, call) FROM turn_step_results WHERE turn_id = $1),
		(SELECT string_agg(concat_ws(' ', ref, state, action, label, turn_last_ref), E'\n' ORDER BY ref, entity_id) FROM entity_refs WHERE session_id = $2 AND ref !~ '_(77|78)$'))`,
		inner.scope.TurnID, inner.scope.SessionID)
	if a.step == "" || a.step == "write" || a.step == "generate" {
		require.Equal(e.t, e.hash, inner.hash(e.ada), "%s changed something of Ada's: %s", a.tool, a.args)
	}
	require.NoError(e.t, sp.Rollback(e.t.Context()))
	require.NotContains(e.t, heard, secret, "%s: %s", a.tool, a.args)
	require.NotRegexp(e.t, hexID, heard, "%s: %s", a.tool, a.args)

	return lent.ReplaceAllString(heard, "_n")
}

// hear runs an attempt and returns the answer.
func (b *bundle) hear(a attempt) string {
	b.t.Helper()

	var (
		notices []string
		outcome crud.Outcome
		err     error
	)
	switch a.tool {
	case vocab.ToolUIChange:
		notices = b.applied(b.scope, "", a.args, "")
	case vocab.ToolMention:
		notices = b.applied(b.scope, "", "", a.args)
	case "message":
		notices = b.applied(b.scope, a.args, "", "")
	case "approval":
		var calls []crud.ApprovedCall
		require.NoError(b.t, json.Unmarshal([]byte(a.args), &calls))
		outcome, err = b.tools.ExecuteApproved(b.t.Context(), b.tx, b.at(), calls)
	default:
		outcome = b.decide(a.step, call(a.tool, a.args))
	}
	require.NoError(b.t, err, a.args)

	if outcome.Approval != nil {
		notices = append(notices, outcome.Approval.Text)
	}
	for _, result := range outcome.Results {
		notices = append(notices, fmt.Sprintf("%d changes\n", len(result.Changes))) // the rest is stored
	}

	return strings.Join(notices, "\n")
}

// Whatever of Ada's a model names for Bob, in any tool and place, it neither reads nor changes, and gets the same
// answer as for things that do not exist. TENANTS=all names each thing in each place in every way, instead of only one
// of them.
func TestNoToolLeadsToAnotherUser(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	e := newEstate(t)
	e.tryAll(e.attempts())
}

// Row-level security is not the only protection: without any policy, the statements themselves still filter by owner.
func TestNoToolLeadsToAnotherUserWithoutPolicies(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	e := newEstate(t)
	rows, err := e.tx.Query(t.Context(), `SELECT format('ALTER TABLE %s DISABLE ROW LEVEL SECURITY', c.oid::regclass)
		FROM pg_class AS c WHERE c.relrowsecurity AND c.relnamespace IN ('alfred'::regnamespace, 'kitchen'::regnamespace)`)
	require.NoError(t, err)
	walls, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Greater(t, len(walls), 20)
	for _, sql := range walls {
		e.exec(sql)
	}
	for i, a := range e.attempts() {
		if testing.Short() && i%12 > 0 && a.tool != vocab.ToolRecall && !strings.Contains(a.args, `"limit": 500`) {
			continue
		}
		e.try(a, e.theirs)
	}
}

// tryAll compares the answers about Ada's things with those about nothing.
func (e *estate) tryAll(all []attempt) {
	t := e.t
	t.Helper()

	tried := map[string]int{}
	for _, a := range all {
		heard := e.try(a, e.theirs)
		if placeholder.MatchString(a.args) && a.tool != vocab.ToolRecall { // an id's letters may match rows of Bob's
			require.Equal(t, e.try(a, e.none), heard, "%s: %s", a.tool, a.args)
		}
		tried[a.tool]++
	}
	tools := []string{vocab.ToolMention, vocab.ToolUIChange}
	for _, step := range query[[]string](e.bundle, `SELECT enum_range(NULL::step_type)::text[]`) {
		tools = append(tools, append(vocab.StepTools(step), vocab.StepTools(step)...)...)
	}
	for _, tool := range tools {
		require.Positive(t, tried[tool], "%s has no probe: say how it might reach another user's rows", tool)
	}
	t.Logf("%d probes of %d tools and inputs: %v", len(all), len(tried), tried)
	require.GreaterOrEqual(t, len(all), 500)
}

// attempts probe every tool with every table, operator and foreign key.
func (e *estate) attempts() []attempt {
	all := e.freeAttempts()
	for _, kind := range e.kit.Entities {
		table := kind.Table
		filters := e.filters(kind)
		for _, filter := range filters {
			all = append(all,
				attempt{"read", vocab.ToolRead, sprintf(`{"table": %q, "filters": [%s], "detail": "full"}`, table, filter)},
				attempt{"read", vocab.ToolRead, sprintf(`{"table": %q, "or_filters": [%s, {"field": "id", "op": "in", "value": ["{own}"]}]}`, table, filter)},
				attempt{"analyze", vocab.ToolAnalyze, sprintf(`{"table": %q, "filters": [%s], "aggregates": [{"fn": "count"}]}`, table, filter)},
			)
			if !kind.Reference {
				all = append(all,
					attempt{"write", vocab.ToolUpdate, sprintf(`{"table": %q, "filters": [%s], "data": {%s}}`, table, filter, minimal[table])},
					attempt{"write", vocab.ToolDelete, sprintf(`{"table": %q, "filters": [%s]}`, table, filter)},
				)
			}
		}
		all = append(all, attempt{"read", vocab.ToolRead, sprintf(`{"table": %q, "detail": "full", "limit": 500}`, table)})
		if !kind.Reference {
			all = append(all, e.payloads(kind)...)
		}
	}

	return all
}

// minimal content of a row of each table.
var minimal = map[string]string{
	"recipes": `"name": "Mine"`, "recipe_ingredients": `"name": "salt"`, "inventory": `"name": "Mine"`, "shopping_list": `"name": "Mine"`,
	"meal_plans": `"date": "2026-12-01", "meal_type": "dinner"`, "tasks": `"title": "Mine"`, "preferences": `"allergies": ["nuts"]`, "cooking_log": `"rating": 5`,
}

// names are the ways to name somebody else's row of a table: all three or, in the short form of the test, the next one.
func (e *estate) names(table string) []string {
	if table == "ingredients" {
		return nil // everybody's
	}
	all := []string{`"{ref ` + table + `}"`, `"{her ` + table + `}"`, `"{id ` + table + `}"`}
	if os.Getenv("TENANTS") != "" {
		return all
	}
	e.asked++

	return all[e.asked%len(all) : e.asked%len(all)+1]
}

// filters name rows by key, by every reference, by their texts, by meaning and by owner.
func (e *estate) filters(kind *domain.Entity) []string {
	list := []string{
		`{"field": "user_id", "op": "=", "value": "{user}"}`,
		sprintf(`{"field": "id", "op": "is_not_null"}, {"field": %q, "op": "is_not_null"}`, kind.Key.Name),
	}
	for _, name := range e.names(kind.Table) {
		list = append(list, sprintf(`{"field": "id", "op": "=", "value": %s}`, name), sprintf(`{"field": "id", "op": "in", "value": [%s, %s]}`, name, name))
	}
	for _, c := range kind.Columns {
		if c.FK != nil && c.FK.Entity != nil {
			for _, name := range e.names(c.FK.Entity.Table) {
				list = append(list, sprintf(`{"field": %q, "op": "=", "value": %s}`, c.Name, name), sprintf(`{"field": %q, "op": "in", "value": [%s]}`, c.Name, name))
			}
		}
		if c.Kind == domain.KindText && !c.Hidden && len(c.Enum) == 0 && c.FK == nil && c.Expr == "" {
			list = append(list, sprintf(`{"field": %q, "op": %q, "value": %q}`, c.Name, []string{"=", "contains", "ilike"}[len(list)%3], secret))
		}
	}
	for _, other := range e.kit.Entities {
		_, links := kind.Pointing(other.Table)
		if len(links) == 0 {
			continue
		}
		for _, name := range e.names(other.Table) {
			list = append(list, sprintf(`{"field": "%s.%s", "op": "exists", "value": ["id = %s"]}`, other.Table, links[0].Name, strings.Trim(name, `"`)))
		}
	}
	if !kind.Semantic.IsZero() {
		list = append(list, sprintf(`{"field": "name", "op": "similar", "value": %q}`, secret), sprintf(`{"field": "_semantic", "op": "similar", "value": %q}`, secret))
	}

	return list
}

// payloads put Ada's rows into Bob's: as references, keys, owners or children, when saving, drafting and changing.
func (e *estate) payloads(kind *domain.Entity) []attempt {
	table := kind.Table
	places := []string{`"user_id": "{user}"`, `"id": "{id ` + table + `}"`, `"id": "{ref ` + table + `}"`}
	for _, c := range kind.Columns {
		if c.FK == nil || c.FK.Entity == nil {
			continue
		}
		for _, name := range e.names(c.FK.Entity.Table) {
			places = append(places, sprintf(`%q: %s`, c.Name, name))
		}
	}
	for _, child := range kind.Children {
		for _, name := range append(e.names(child.Entity.Table), e.names(table)...) {
			for _, field := range []string{"id", child.FK.Name} {
				places = append(places, sprintf(`%q: [{%s, %q: %s}]`, child.Entity.Table, minimal[child.Entity.Table], field, name))
			}
		}
	}
	var all []attempt
	for _, place := range places {
		content := strings.Trim(minimal[table]+", "+place, ", ")
		all = append(all,
			attempt{"write", vocab.ToolCreate, sprintf(`{"table": %q, "data": {%s}}`, table, content)},
			attempt{"write", vocab.ToolCreate, sprintf(`{"table": %q, "data": [{%s}, {%s}]}`, table, minimal[table], content)},
			attempt{"generate", vocab.ToolGenerate, sprintf(`{"creates": [{"type": %q, "content": {%s}}]}`, kind.Type, content)},
		)
		if table == "recipes" {
			all = append(all,
				attempt{"write", vocab.ToolUpdate, sprintf(`{"table": "recipes", "filters": [{"field": "id", "op": "=", "value": "{own}"}], "data": {%s}}`, place)},
				attempt{"write", vocab.ToolCreate, sprintf(`{"table": "recipes", "from_ref": "{own draft}", "patch": {%s}}`, place)},
				attempt{"generate", vocab.ToolGenerate, sprintf(`{"updates": [{"ref": "{own draft}", "content": {%s}}]}`, content)},
			)
		}
	}
	for _, name := range e.names(table) {
		all = append(all,
			attempt{"write", vocab.ToolCreate, sprintf(`{"table": %q, "from_ref": %s}`, table, name)},
			attempt{"generate", vocab.ToolGenerate, sprintf(`{"updates": [{"ref": %s, "content": {%s}}]}`, name, minimal[table])},
			attempt{"read", vocab.ToolRecall, sprintf(`{"query": %s}`, name)},
			attempt{"read", vocab.ToolCalculate, sprintf(`{"expressions": ["{ref %s} + 1"]}`, table)},
		)
	}
	for _, action := range []string{"created:user", "updated:user", "deleted:user", "read"} {
		for _, field := range []string{"entity_id", "id"} {
			all = append(all, attempt{"", vocab.ToolUIChange, sprintf(`[{"action": %q, "entity_type": %q, %q: "{id %s}", "label": "Stew"}]`, action, kind.Type, field, table)})
		}
	}
	for _, tool := range []string{vocab.ToolUpdate, vocab.ToolDelete} {
		all = append(all, attempt{"", "approval", sprintf(`[{"tool": %q, "args": {"table": %q%s}, "keys": ["{id %s}"]}]`,
			tool, table, map[string]string{vocab.ToolUpdate: `, "data": {` + minimal[table] + `}`}[tool], table)})
	}

	return append(all,
		attempt{"", vocab.ToolMention, sprintf(`[{"ref_type": %q, "uuid": "{id %s}", "label": "Stew"}]`, kind.Type, table)},
		attempt{"", "message", sprintf(`again @[Stew](%s:{id %s}) and {ref %s}`, kind.Type, table, table)})
}

// freeAttempts belong to no table.
func (e *estate) freeAttempts() []attempt {
	all := []attempt{
		{"write", vocab.ToolCreate, `{"table": "recipes", "from_ref": "{draft}"}`},
		{"write", vocab.ToolCreate, `{"table": "recipes", "from_ref": "{draft}", "patch": {"name": "Mine"}}`},
		{"generate", vocab.ToolGenerate, `{"updates": [{"ref": "{draft}", "content": {"name": "Mine"}}]}`},
		{"generate", vocab.ToolGenerate, `{"creates": [{"type": "meal", "content": {"date": "2026-12-01", "meal_type": "dinner", "recipe_id": "{draft}"}}]}`},
		{"read", vocab.ToolRead, `{"table": "recipes", "filters": [{"field": "id", "op": "in", "value": ["{draft}", "{own}"]}]}`},
		{"read", vocab.ToolRead, `{"table": "recipes", "columns": ["name", "user_id"]}`},
		{"read", vocab.ToolRead, `{"table": "recipes", "order_by": "user_id"}`},
		{"analyze", vocab.ToolAnalyze, `{"table": "recipes", "group_by": ["user_id"], "aggregates": [{"fn": "count"}]}`},
		{"analyze", vocab.ToolAnalyze, `{"table": "recipes", "aggregates": [{"fn": "max", "column": "name"}, {"fn": "min", "column": "name"}, {"fn": "count"}]}`},
		{"analyze", vocab.ToolAnalyze, `{"table": "meal_plans", "group_by": ["recipe_id"], "aggregates": [{"fn": "count"}]}`},
		{"read", vocab.ToolCalculate, `{"expressions": ["{draft} + 1"]}`},
	}
	for _, words := range []string{secret, "my " + secret, "{user}", "{draft}"} {
		for _, step := range []string{"read", "analyze"} {
			all = append(all, attempt{step, vocab.ToolRecall, sprintf(`{"query": %q, "limit": 20}`, words)})
		}
	}
	for _, table := range slices.Sorted(maps.Keys(crossSchema)) {
		all = append(all, attempt{"read", vocab.ToolRead, sprintf(`{"table": %q, "filters": [{"field": %q, "op": "=", "value": "{user}"}]}`, table, crossSchema[table])})
	}

	return all
}

// crossSchema are tables outside any model's reach, with a column that would identify Ada.
var crossSchema = map[string]string{"alfred.sessions": "user_id", "turns": "user_id", "api_keys": "user_id", "users": "id", "pg_catalog.pg_authid": "oid"}

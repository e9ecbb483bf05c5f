package httpapi_test

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/httpapi"
)

// secret is in every text of Ada's, and in no answer to Bob.
const secret = "zanzibar"

// probe is a request of Bob's with names in braces. They stand first for something of Ada's, then for something that
// does not exist: the answers must be the same.
type probe struct {
	method, path string
	body         string
	header       header
	says         string // a message that is replied to while the request waits
}

// minimal bodies that create a row of each type; each is valid apart from what a probe adds.
var minimal = map[string]string{
	"recipes":            `"name": "Mine"`,
	"recipe_ingredients": `"name": "salt", "recipe_id": "{own_recipe}"`,
	"meal_plans":         `"date": "2026-12-01", "meal_type": "dinner"`,
	"tasks":              `"title": "Mine"`,
	"cooking_log":        `"recipe_id": "{own_recipe}"`,
}

// types of kitchen tables.
var typeOf = map[string]string{
	"recipes": "recipe", "recipe_ingredients": "ri", "inventory": "inv", "shopping_list": "shop", "meal_plans": "meal",
	"tasks": "task", "preferences": "pref", "cooking_log": "log",
}

// estate is Ada's data, by the names that probes use, and the same names for nothing.
type estate struct {
	*bundle

	ada    uuid.UUID
	adaKey string
	theirs map[string]string
	none   map[string]string
}

func newEstate(t *testing.T) *estate {
	t.Helper()

	b := setup(t)
	e := &estate{bundle: b, ada: b.user, adaKey: b.key, theirs: map[string]string{}, none: map[string]string{}}
	session := b.session(t)
	turn := b.message(t, session, "my "+secret)
	recipe := func() string {
		return one[string](t, b, `SELECT id::text FROM kitchen.recipes WHERE user_id = $1`, e.ada)
	}
	b.exec(t, `INSERT INTO kitchen.recipes (user_id, name) VALUES ($1, $2)`, e.ada, secret)
	b.exec(t, `INSERT INTO kitchen.recipe_ingredients (user_id, recipe_id, name) VALUES ($1, $2, $3)`, e.ada, recipe(), secret)
	b.exec(t, `INSERT INTO kitchen.inventory (user_id, name) VALUES ($1, $2)`, e.ada, secret)
	b.exec(t, `INSERT INTO kitchen.shopping_list (user_id, name) VALUES ($1, $2)`, e.ada, secret)
	b.exec(t, `INSERT INTO kitchen.meal_plans (user_id, date, meal_type, recipe_id, notes) VALUES ($1, '2026-12-01', 'lunch', $2, $3)`, e.ada, recipe(), secret)
	b.exec(t, `INSERT INTO kitchen.tasks (user_id, title) VALUES ($1, $2)`, e.ada, secret)
	b.exec(t, `INSERT INTO kitchen.preferences (user_id, allergies) VALUES ($1, ARRAY[$2::text])`, e.ada, secret)
	b.exec(t, `INSERT INTO kitchen.cooking_log (user_id, recipe_id, notes) VALUES ($1, $2, $3)`, e.ada, recipe(), secret)
	b.exec(t, `INSERT INTO entity_refs (session_id, ref, entity_type, entity_id, state, action, label, turn_created, turn_last_ref)
		VALUES ($1, 'recipe_1', 'recipe', $2, 'stored', 'read', $3, 1, 1), ($1, 'gen_recipe_1', 'recipe', NULL, 'pending', 'generated', $3, 1, 1)`, session, recipe(), secret)
	b.exec(t, `INSERT INTO artifacts (session_id, ref, version, content, turn_number, step) VALUES ($1, 'gen_recipe_1', 1, jsonb_build_object('name', $2::text), 1, 1)`, session, secret)
	b.exec(t, `INSERT INTO constraints (user_id, session_id, text, kind, value, scope, source_turn) VALUES ($1, $2, $3, 'other', '{}', 'session', 1)`, e.ada, session, secret)
	b.exec(t, `INSERT INTO llm_calls (session_id, turn_id, node, provider, model, request, response)
		VALUES ($1, $2, 'think', 'p', 'm', jsonb_build_object('system', $3::text, 'messages', '[]'::jsonb), '{"text": "", "tool_calls": null}')`, session, turn, secret)
	b.exec(t, `INSERT INTO turn_step_results (turn_id, step, call, tool, rows) VALUES ($1, 1, 1, 'db_read', jsonb_build_array(jsonb_build_object('name', $2::text)))`, turn, secret)
	b.reply(t, turn, "your "+secret)
	b.exec(t, `SELECT turn_summary_write_facts($1)`, turn)

	e.name("session", session)
	e.name("turn", turn)
	e.name("call", one[string](t, b, `SELECT id::text FROM llm_calls`))
	e.theirs["ref"], e.none["ref"] = "recipe_1", "recipe_4711"
	e.theirs["draft"], e.none["draft"] = "gen_recipe_1", "gen_recipe_4711"
	for table := range typeOf {
		e.name(table, one[string](t, b, `SELECT id::text FROM kitchen.`+table+` WHERE user_id = $1`, e.ada))
	}
	cursors := b.call(t, http.MethodGet, "/v1/sessions?limit=1", nil).text("next_cursor")
	e.theirs["cursor"], e.none["cursor"] = cursors, cursors
	for _, names := range []map[string]string{e.theirs, e.none} {
		names["call_place"] = cursor(strconv.Quote(names["call"]))
	}

	_, b.key = b.newUser(t, "bob", "chat", "read", "admin")
	own := b.session(t)
	ownRecipe := b.call(t, http.MethodPost, "/v1/data/recipe", map[string]any{"name": "Toast"}).text("id")
	for _, names := range []map[string]string{e.theirs, e.none} {
		names["own_session"], names["own_recipe"] = own, ownRecipe
	}

	return e
}

func (e *estate) name(name, id string) { e.theirs[name], e.none[name] = id, uuid.NewString() }

func one[T any](t *testing.T, b *bundle, sql string, args ...any) T {
	t.Helper()

	rows, err := b.pool.Query(t.Context(), sql, args...)
	require.NoError(t, err)
	value, err := pgx.CollectOneRow(rows, pgx.RowTo[T])
	require.NoError(t, err)

	return value
}

// probes returns the probes of each operation in the API's description.
func (e *estate) probes(t *testing.T) map[string][]probe {
	t.Helper()

	get := func(paths ...string) []probe {
		all := make([]probe, len(paths))
		for i, path := range paths {
			all[i] = probe{method: http.MethodGet, path: path}
		}

		return all
	}
	all := map[string][]probe{
		"cancel-turn":        {{method: "POST", path: "/v1/turns/{turn}/cancel"}},
		"undo-turn":          {{method: "POST", path: "/v1/turns/{turn}/undo"}},
		"fork-session":       {{method: "POST", path: "/v1/sessions/{session}/fork", body: `{"turn": 0}`}},
		"give-feedback":      {{method: "PUT", path: "/v1/turns/{turn}/feedback", body: `{"rating": "down"}`}},
		"take-back-feedback": {{method: "DELETE", path: "/v1/turns/{turn}/feedback"}},
		"create-session":     {{method: "POST", path: "/v1/sessions", body: `{"title": "{session}"}`}},
		"drop-artifact":      {{method: "DELETE", path: "/v1/sessions/{session}/artifacts/gen_recipe_1"}, {method: "DELETE", path: "/v1/sessions/{own_session}/artifacts/{draft}"}},
		"forget-session":     {{method: "DELETE", path: "/v1/sessions/{session}"}},
		"get-artifact":       get("/v1/sessions/{session}/artifacts/gen_recipe_1", "/v1/sessions/{own_session}/artifacts/{draft}", "/v1/sessions/{own_session}/artifacts/{draft}?version=1"),
		"get-call":           get("/v1/calls/{call}", "/v1/calls/{turn}"),
		"get-fork":           get("/v1/sessions/{session}/fork"),
		"get-session":        get("/v1/sessions/{session}", "/v1/sessions/{turn}"),
		"get-timeline":       get("/v1/turns/{turn}/timeline"),
		"get-turn":           get("/v1/turns/{turn}", "/v1/turns/{turn}?wait=1s", "/v1/turns/{turn}?wait=1s&until=summarized", "/v1/turns/{session}"),
		"list-branches":      get("/v1/sessions/{session}/branches"),
		"list-calls":         get("/v1/turns/{turn}/calls", "/v1/turns/{turn}/calls?cursor={call_place}"),
		"list-constraints":   get("/v1/sessions/{session}/constraints"),
		"list-decisions":     get("/v1/sessions/{session}/decisions"),
		"list-entities":      get("/v1/sessions/{session}/entities", "/v1/sessions/{session}/entities?turn=1", "/v1/sessions/{session}/entities?limit=1&cursor="+registryPlace),
		"list-mentions":      get("/v1/mentions?q="+secret, "/v1/mentions?q={recipes}", "/v1/mentions?q=%25", "/v1/mentions?q=_"),
		"list-results":       get("/v1/turns/{turn}/results"),
		"list-sessions":      get("/v1/sessions", "/v1/sessions?limit=200", "/v1/sessions?cursor={cursor}"),
		"list-summaries":     get("/v1/sessions/{session}/summaries"),
		"list-turns":         get("/v1/sessions/{session}/turns", "/v1/sessions/{session}/turns?cursor="+cursor("2")),
		"list-types":         get("/v1/data"),
		"patch-artifact":     {{method: "PATCH", path: "/v1/sessions/{session}/artifacts/gen_recipe_1", body: `{"content": {"name": "Mine"}}`}, {method: "PATCH", path: "/v1/sessions/{own_session}/artifacts/{draft}", body: `{"content": {"name": "Mine"}}`}},
		"get-user":           get("/v1/user"),
		"patch-user":         {{method: "PATCH", path: "/v1/user", body: `{"timezone": "Asia/Tokyo"}`}},
		"patch-session":      {{method: "PATCH", path: "/v1/sessions/{session}", body: `{"title": "mine"}`}, {method: "PATCH", path: "/v1/sessions/{session}", body: `{"archived": true}`}},
		"pin-entity":         {{method: "PUT", path: "/v1/sessions/{session}/entities/recipe_1/pin"}, {method: "PUT", path: "/v1/sessions/{own_session}/entities/{ref}/pin"}},
		"preview-context":    get("/v1/sessions/{session}/context", "/v1/sessions/{session}/context?node=understand", "/v1/sessions/{session}/context?node=act", "/v1/sessions/{session}/context?node=reply"),
		"save-artifact":      {{method: "POST", path: "/v1/sessions/{session}/artifacts/gen_recipe_1/save"}, {method: "POST", path: "/v1/sessions/{own_session}/artifacts/{draft}/save"}},
		"search":             get("/v1/search?q="+secret, "/v1/search?q="+secret+"&type=turn", "/v1/search?q="+secret+"&type=recipe", "/v1/search?q={recipes}"),
		"session-events":     append(get("/v1/sessions/{session}/events", "/v1/sessions/{session}/events?after=1.1"), probe{method: "GET", path: "/v1/sessions/{session}/events", header: header{"Last-Event-ID": "1.1"}}),
		"turn-events":        append(get("/v1/turns/{turn}/events", "/v1/turns/{turn}/events?after=1"), probe{method: "GET", path: "/v1/turns/{turn}/events", header: header{"Last-Event-ID": "2"}}),
		"watch-events":       get("/v1/events?session={session}", "/v1/events?session={session}.1.1", "/v1/events?session={turn}&session={session}"),
		"unpin-entity":       {{method: "DELETE", path: "/v1/sessions/{session}/entities/recipe_1/pin"}, {method: "DELETE", path: "/v1/sessions/{own_session}/entities/{ref}/pin"}},
		"enqueue-turn": {
			{method: "POST", path: "/v1/sessions/{session}/turns", body: `{"message": "mine now"}`},
			{method: "POST", path: "/v1/sessions/{session}/turns", body: `{"message": "mine now", "if_busy": "interrupt"}`},
			{method: "POST", path: "/v1/sessions/{own_session}/turns", body: `{"message": "@[x](recipe:{recipes}) and recipe_1 and {recipes}", "if_busy": "interrupt"}`},
			{method: "POST", path: "/v1/sessions/{own_session}/turns", body: `{"message": "hi", "mentioned_entities": [{"ref_type": "recipe", "uuid": "{recipes}", "label": "x"}]}`},
			{method: "POST", path: "/v1/sessions/{own_session}/turns", body: `{"message": "hi", "ui_changes": [{"action": "updated:user", "entity_type": "recipe", "entity_id": "{recipes}", "label": "x"}]}`},
			{method: "POST", path: "/v1/sessions/{own_session}/turns", body: `{"message": "hi", "ui_changes": [{"action": "deleted:user", "entity_type": "recipe", "entity_id": "{recipes}", "label": "x"}]}`},
		},
	}
	e.rowProbes(t, all)
	e.protocolProbes(t, all)

	return all
}

// rowProbes try every type's rows by key, and every foreign key between tenants' tables in the catalog.
func (e *estate) rowProbes(t *testing.T, all map[string][]probe) {
	t.Helper()

	for table, kind := range typeOf {
		path := "/v1/data/" + kind
		row := path + "/{" + table + "}"
		all["list-rows"] = append(all["list-rows"], probe{method: "GET", path: path}, probe{method: "GET", path: path + "?q=" + secret},
			probe{method: "GET", path: path + "?limit=1"})
		all["row-history"] = append(all["row-history"], probe{method: "GET", path: row + "/history"})
		all["batch-rows"] = append(all["batch-rows"], probe{method: "POST", path: row[:strings.LastIndex(row, "/")] + "/batch", body: `{"changes": [{"action": "delete", "id": "` + row[strings.LastIndex(row, "/")+1:] + `"}]}`})
		all["get-row"] = append(all["get-row"], probe{method: "GET", path: row})
		all["delete-row"] = append(all["delete-row"], probe{method: "DELETE", path: row}, probe{method: "DELETE", path: row + "?session={own_session}"},
			probe{method: "DELETE", path: row, header: header{"If-Match": "*"}})
		all["patch-row"] = append(all["patch-row"], probe{method: "PATCH", path: row, body: `{"notes": "mine"}`}, probe{method: "PATCH", path: row, body: `{}`},
			probe{method: "PATCH", path: row, body: `{"user_id": "` + e.ada.String() + `"}`})
	}
	all["create-row"] = append(all["create-row"], probe{method: "POST", path: "/v1/data/recipe?session={session}", body: `{"name": "Mine"}`},
		probe{method: "POST", path: "/v1/data/recipe", body: `{"name": "Mine", "id": "{recipes}"}`},
		probe{method: "POST", path: "/v1/data/recipe", body: `{"name": "Mine", "user_id": "{session}"}`})
	all["batch-rows"] = append(all["batch-rows"], probe{method: "POST", path: "/v1/data/recipe/batch?session={session}", body: `{"changes": [{"action": "create", "data": {"name": "Mine"}}]}`})
	all["patch-row"] = append(all["patch-row"], probe{method: "PATCH", path: "/v1/data/recipe/{own_recipe}?session={session}", body: `{"name": "Mine"}`})
	all["delete-row"] = append(all["delete-row"], probe{method: "DELETE", path: "/v1/data/recipe/{own_recipe}?session={session}"})
	all["operate-row"] = append(all["operate-row"], probe{method: "POST", path: "/v1/data/recipe/{recipes}/cook", body: `{}`},
		probe{method: "POST", path: "/v1/data/recipe/{own_recipe}/cook?session={session}", body: `{}`})

	rows, err := e.pool.Query(t.Context(), `
		SELECT k.conrelid::regclass::text, a.attname::text, k.confrelid::regclass::text FROM pg_constraint AS k
		JOIN pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey) AND a.attname <> 'user_id'
		WHERE k.contype = 'f' AND k.connamespace = 'kitchen'::regnamespace
		  AND EXISTS (SELECT FROM pg_attribute AS o WHERE o.attrelid = k.confrelid AND o.attname = 'user_id')`)
	require.NoError(t, err)
	keys, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ Table, Column, Target string }])
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(keys), 6)
	for _, key := range keys {
		table, column, target := strings.TrimPrefix(key.Table, "kitchen."), key.Column, strings.TrimPrefix(key.Target, "kitchen.")
		require.Contains(t, minimal, table, "a foreign key to a tenant's table without a probe")
		var body map[string]any
		require.NoError(t, json.Unmarshal([]byte("{"+minimal[table]+"}"), &body))
		body[column] = "{" + target + "}"
		text, err := json.Marshal(body)
		require.NoError(t, err)
		all["create-row"] = append(all["create-row"], probe{method: "POST", path: "/v1/data/" + typeOf[table], body: string(text)},
			probe{method: "POST", path: "/v1/data/" + typeOf[table] + "?session={own_session}", body: string(text)})
	}
	all["patch-row"] = append(all["patch-row"], probe{method: "PATCH", path: "/v1/data/recipe/{own_recipe}", body: `{"parent_recipe_id": "{recipes}"}`})
}

// registryPlace is a cursor before the first draft of any registry.
var registryPlace = cursor(`{"tier": "generated", "type": "a", "ref": "a_1"}`)

// cursor holds a place in a list.
func cursor(place string) string { return base64.RawURLEncoding.EncodeToString([]byte(place)) }

var (
	ids   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|chatcmpl-[0-9a-f]{32}`)
	times = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z|"created":\d+`)
	made  = regexp.MustCompile(`"(number|last_turn|total|status|next_cursor)":("[a-zA-Z0-9_-]*"|\d+)`)
	refs  = regexp.MustCompile(`(recipe)_\d+`)
)

// shape is an answer without what always differs: ids, times, counts of what earlier probes created.
func shape(a *answer) string {
	text := fmt.Sprintf("%d %s %s", a.status, a.header.Get("Content-Type"), a.raw)
	if a.status < http.StatusBadRequest {
		text = made.ReplaceAllString(text, "$1")
	}

	return refs.ReplaceAllString(times.ReplaceAllString(ids.ReplaceAllString(text, "[id]"), "[time]"), "[ref]")
}

func (e *estate) send(t *testing.T, p probe, names map[string]string) *answer {
	t.Helper()

	path, body, headers := p.path, p.body, header{"Authorization": "Bearer " + e.key}
	maps.Copy(headers, p.header)
	for name, value := range names {
		path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(value))
		body = strings.ReplaceAll(body, "{"+name+"}", value)
		for h := range headers {
			headers[h] = strings.ReplaceAll(headers[h], "{"+name+"}", value)
		}
	}
	if p.says != "" {
		return e.whileReplying(t, p.says, func() (*answer, error) {
			return fetch(t.Context(), e.url, p.method, path, body, headers)
		})
	}
	if body == "" {
		return e.call(t, p.method, path, nil, headers)
	}

	return e.call(t, p.method, path, body, headers)
}

// Whatever of Ada's Bob names, in any way the API offers, he neither reads nor changes it, and gets the same answer as
// for things that do not exist.
func TestNoRouteLeadsToAnotherUser(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	e := newEstate(t)
	all := e.probes(t)
	var served []string
	for _, r := range e.routes(t) {
		served = append(served, r.method+" "+r.path)
	}
	require.ElementsMatch(t, slices.Collect(maps.Values(wantOperations)), served, "name each route in wantOperations")
	before := rowsOf(t, e.pool, e.ada)
	count := 0
	for operation := range wantOperations {
		require.NotEmpty(t, all[operation], "%s has no probe: say how it might reach another user's rows", operation)
	}
	// Reads first: later on, Bob has texts of his own that name Ada's things.
	changes := func(operation string) int { return len(strings.TrimPrefix(all[operation][0].method, http.MethodGet)) }
	operations := slices.SortedFunc(maps.Keys(all), func(x, y string) int {
		return cmp.Or(cmp.Compare(changes(x), changes(y)), strings.Compare(x, y))
	})
	for _, operation := range operations {
		for _, p := range all[operation] {
			theirs, none := e.send(t, p, e.theirs), e.send(t, p, e.none)
			what := fmt.Sprintf("%s: %s %s %s", operation, p.method, p.path, p.body)
			require.Equal(t, shape(none), shape(theirs), what)
			require.NotEqual(t, http.StatusInternalServerError, theirs.status, what)
			require.NotContains(t, theirs.raw, secret, what)
			if p.body == "" {
				for name, id := range e.theirs {
					if !strings.HasPrefix(name, "own_") && ids.MatchString(id) {
						require.NotContains(t, theirs.raw, id, what)
					}
				}
			}
			count++
		}
		require.Equal(t, before, rowsOf(t, e.pool, e.ada), "%s changed something of Ada's", operation)
	}
	t.Logf("%d probes of %d operations", count, len(all))
	require.GreaterOrEqual(t, count, 200)

	e.key = e.adaKey
	require.Equal(t, http.StatusOK, e.send(t, probe{method: http.MethodGet, path: "/v1/turns/{turn}"}, e.theirs).status, "to Ada all is there")
	for _, p := range all["mcp"] {
		if strings.Contains(p.body, "get_turn") && strings.Contains(p.body, "{turn}") {
			require.Contains(t, e.send(t, p, e.theirs).raw, secret, "and her tools show it")
		}
	}
}

// Reads rely on row-level security rather than on care: on a role that sees no rows in any table, the same server still
// answers, because it reads as the tenant.
func TestReadsRunAsTenant(t *testing.T) {
	t.Parallel()

	e := newEstate(t)
	role := "alfred_blind_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	e.exec(t, `CREATE ROLE `+role+` LOGIN NOINHERIT PASSWORD '`+role+`'`)
	e.exec(t, `GRANT alfred_tenant TO `+role)
	// Statements are prepared before the role is set.
	e.exec(t, `GRANT USAGE ON SCHEMA alfred, kitchen TO `+role)
	e.exec(t, `GRANT EXECUTE ON FUNCTION alfred.tenant_timezone() TO `+role)
	config := e.pool.Config()
	config.ConnConfig.User, config.ConnConfig.Password = role, role
	blind, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() {
		blind.Close()
		_, err := e.pool.Exec(context.Background(), `DROP OWNED BY `+role+`; DROP ROLE `+role) // the test's own context is done
		require.NoError(t, err)
	})
	e.url = e.serve(t, func(c *httpapi.Config) { c.Pool, c.OpenUser = blind, e.ada })
	for operation, probes := range e.probes(t) {
		for _, p := range probes {
			if operation == "get-fork" { // what turns wrote to rows is the engine's: no tenant reads it
				continue
			}
			if p.method != http.MethodGet || strings.HasSuffix(operation, "-events") || strings.Contains(p.path, "own_") || strings.Contains(p.path, "{call}?") {
				continue
			}
			a := e.send(t, p, e.theirs)
			if strings.Contains(p.path, "/turns/{session}") || strings.Contains(p.path, "/sessions/{turn}") || strings.Contains(p.path, "/calls/{turn}") {
				continue
			}
			require.Equal(t, http.StatusOK, a.status, "%s %s: %s", operation, p.path, a.raw)
		}
	}
}

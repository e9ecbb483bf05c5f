package httpapi_test

import (
	"context"
	"encoding/base64"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/internal/httpapi"
)

func TestRows(t *testing.T) {
	t.Parallel()

	b := setup(t)
	made := b.call(t, http.MethodPost, "/v1/data/recipe", map[string]any{
		"name": "Butter Chicken\x00", "servings": 4, "tags": []any{"dinner"},
		"recipe_ingredients": []any{map[string]any{"name": "chicken", "quantity": 500, "unit": "g"}},
	})
	require.Equal(t, http.StatusCreated, made.status, made.raw)
	etag := made.header.Get("ETag")
	require.NotEmpty(t, etag)
	path := "/v1/data/recipe/" + made.text("id")

	got := b.call(t, http.MethodGet, path, nil)
	require.Equal(t, http.StatusOK, got.status, got.raw)
	require.Equal(t, "Butter Chicken", got.text("name"), "what cannot be stored is left out")
	require.Len(t, got.body["recipe_ingredients"], 1)
	require.Equal(t, etag, got.header.Get("ETag"))

	list := b.call(t, http.MethodGet, "/v1/data/recipe?q=butter", nil)
	require.Len(t, list.items(), 1)
	require.InDelta(t, 1, list.body["total"], 0)
	require.Empty(t, b.call(t, http.MethodGet, "/v1/data/recipe?q=%25", nil).items(), "a pattern is only text")

	changed := b.call(t, http.MethodPatch, path, map[string]any{"description": "rich"}, header{"If-Match": `"1",` + etag})
	require.Equal(t, http.StatusOK, changed.status, changed.raw)
	require.Equal(t, "rich", changed.text("description"))
	b.call(t, http.MethodPatch, path, map[string]any{"description": "mild"}, header{"If-Match": etag}).requireProblem(t, http.StatusPreconditionFailed, "conflict")
	for _, stale := range []string{etag, `""`} {
		b.call(t, http.MethodDelete, path, nil, header{"If-Match": stale}).requireProblem(t, http.StatusPreconditionFailed, "conflict")
	}
	cleared := b.call(t, http.MethodPatch, path, `{"description": null}`, header{"If-Match": "*"})
	require.Equal(t, http.StatusOK, cleared.status, cleared.raw)
	require.Nil(t, cleared.body["description"], "null clears a column")
	require.Equal(t, "Butter Chicken", cleared.text("name"), "what is not named stays")

	require.Equal(t, http.StatusNoContent, b.call(t, http.MethodDelete, path, nil, header{"If-Match": cleared.header.Get("ETag")}).status)
	b.call(t, http.MethodGet, path, nil).requireProblem(t, http.StatusNotFound, "not_found")
	b.call(t, http.MethodDelete, path, nil).requireProblem(t, http.StatusNotFound, "not_found")
}

// Pages stay consistent while rows come and go, in any order: also if the last row of a page, which the cursor refers
// to, has been deleted.
func TestRowPages(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.exec(t, `INSERT INTO kitchen.tasks (user_id, title, due_date, completed)
		SELECT $1, 'task ' || n, CASE WHEN n % 3 > 0 THEN date '2026-01-01' + n / 4 END, n % 2 = 0 FROM generate_series(1, 23) AS n`, b.user)
	b.exec(t, `INSERT INTO kitchen.cooking_log (user_id, recipe_id, cooked_at)
		SELECT $1, NULL, timestamptz '2026-01-01 12:00' + n * interval '0.000001 s' FROM generate_series(1, 9) AS n`, b.user)
	for path, total := range map[string]int{"/v1/data/task?limit=4": 23, "/v1/data/task?limit=3&q=1": 12, "/v1/data/log?limit=2": 9} {
		whole := b.call(t, http.MethodGet, strings.Replace(path, "limit=", "limit=9", 1), nil)
		require.Len(t, whole.items(), total, path)
		require.Empty(t, whole.text("next_cursor"), path)
		var seen []map[string]any
		for cursor, more := "", true; more; more = cursor != "" {
			page := b.call(t, http.MethodGet, path+"&cursor="+cursor, nil)
			require.Equal(t, http.StatusOK, page.status, page.raw)
			require.InDelta(t, total, page.body["total"], 0, "all are counted")
			seen, cursor = append(seen, page.items()...), page.text("next_cursor")
		}
		require.Equal(t, whole.items(), seen, path)
	}

	first := b.call(t, http.MethodGet, "/v1/data/task?limit=4", nil)
	last := first.items()[3]
	want := b.call(t, http.MethodGet, "/v1/data/task?limit=99", nil).items()[4]
	require.Equal(t, http.StatusNoContent, b.call(t, http.MethodDelete, "/v1/data/task/"+last["id"].(string), nil).status)
	cursor := first.text("next_cursor")
	require.Equal(t, want, b.call(t, http.MethodGet, "/v1/data/task?limit=4&cursor="+cursor, nil).items()[0])

	// Invalid, foreign and manipulated cursors are rejected.
	meddled := base64.RawURLEncoding.EncodeToString([]byte(`{"type":"task","query":"","at":["maybe","x","y","z"]}`))
	forged := base64.RawURLEncoding.EncodeToString([]byte(`{"type":"task","query":" ","at":["true","false","2026-01-01","x","2026-01-01","018f0000-0000-7000-8000-000000000000"],"reordered":[" "]}`))
	require.Equal(t, http.StatusOK, b.call(t, http.MethodGet, "/v1/data/task?q=+&cursor="+forged, nil).status)
	for _, query := range []string{"task?cursor=x", "task?cursor=4", "task?cursor=" + cursor + "&q=1", "inv?cursor=" + cursor, "task?cursor=bnVsbA", "task?cursor=" + meddled} {
		b.call(t, http.MethodGet, "/v1/data/"+query, nil).requireProblem(t, http.StatusBadRequest, "invalid_request")
	}
}

func TestRowsOfASession(t *testing.T) {
	t.Parallel()

	b := setup(t)
	session := b.session(t)
	made := b.call(t, http.MethodPost, "/v1/data/recipe?session="+session, map[string]any{"name": "Soup"})
	require.Equal(t, http.StatusCreated, made.status, made.raw)
	known := b.call(t, http.MethodGet, "/v1/sessions/"+session+"/entities", nil)
	require.Len(t, known.items(), 1)
	require.Equal(t, "recipe_1", known.items()[0]["ref"])
	require.Equal(t, "created:user", known.items()[0]["action"])
	require.NotContains(t, known.raw, made.text("id"), "the registry shows no keys")
}

func TestRowsBadInput(t *testing.T) {
	t.Parallel()

	b := setup(t)
	made := b.call(t, http.MethodPost, "/v1/data/recipe", map[string]any{"name": "Soup"})
	require.Equal(t, http.StatusCreated, made.status, made.raw)
	path := "/v1/data/recipe/" + made.text("id")
	for _, body := range []any{
		map[string]any{}, map[string]any{"name": nil}, map[string]any{"nome": "x"}, map[string]any{"name": "x", "user_id": uuid.NewString()},
		`{"name": 1e999999}`, `[]`, `"x"`, `{"name": `, nil, map[string]any{"name": []any{}},
	} {
		a := b.call(t, http.MethodPost, "/v1/data/recipe", body)
		require.Equal(t, http.StatusBadRequest, a.status, "%v: %s", body, a.raw)
		a.requireProblem(t, http.StatusBadRequest, "invalid_request")
	}
	b.call(t, http.MethodPatch, path, `{"name": null}`).requireProblem(t, http.StatusBadRequest, "invalid_request")
	b.call(t, http.MethodPost, "/v1/data/recipe", map[string]any{"name": strings.Repeat("x", 2<<20)}).requireProblem(t, http.StatusRequestEntityTooLarge, "message_too_large")

	b.call(t, http.MethodGet, "/v1/data/spaceship", nil).requireProblem(t, http.StatusNotFound, "not_found")
	b.call(t, http.MethodGet, "/v1/data/%00", nil).requireProblem(t, http.StatusNotFound, "not_found")
	for _, id := range []string{uuid.NewString(), "1", "%00", "%ff", "recipe_1"} {
		b.call(t, http.MethodGet, "/v1/data/recipe/"+id, nil).requireProblem(t, http.StatusNotFound, "not_found")
		b.call(t, http.MethodPatch, "/v1/data/recipe/"+id, map[string]any{"name": "x"}).requireProblem(t, http.StatusNotFound, "not_found")
		b.call(t, http.MethodDelete, "/v1/data/recipe/"+id, nil).requireProblem(t, http.StatusNotFound, "not_found")
	}
	for _, query := range []string{"?cursor=x", "?cursor=-1", "?limit=0", "?q=%00", "?q=%ff"} {
		a := b.call(t, http.MethodGet, "/v1/data/recipe"+query, nil)
		require.Equal(t, http.StatusBadRequest, a.status, "%s: %s", query, a.raw)
	}
	for _, session := range []string{uuid.NewString(), "x"} {
		b.call(t, http.MethodPost, "/v1/data/recipe?session="+session, map[string]any{"name": "x"}).requireProblem(t, http.StatusNotFound, "not_found")
	}
	require.Len(t, b.call(t, http.MethodGet, "/v1/data/recipe", nil).items(), 1)
}

func TestRowsOfOthers(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.call(t, http.MethodPost, "/v1/data/recipe", map[string]any{"name": "A Soup before it"})
	made := b.call(t, http.MethodPost, "/v1/data/recipe", map[string]any{"name": "Secret Soup"})
	path := "/v1/data/recipe/" + made.text("id")
	cursor := b.call(t, http.MethodGet, "/v1/data/recipe?limit=1", nil).text("next_cursor")
	require.NotEmpty(t, cursor)
	_, b.key = b.newUser(t, "bob", "chat")
	b.call(t, http.MethodGet, path, nil).requireProblem(t, http.StatusNotFound, "not_found")
	b.call(t, http.MethodPatch, path, map[string]any{"name": "mine"}).requireProblem(t, http.StatusNotFound, "not_found")
	b.call(t, http.MethodDelete, path, nil).requireProblem(t, http.StatusNotFound, "not_found")
	for _, list := range []string{"/v1/data/recipe", "/v1/data/recipe?cursor=" + cursor, "/v1/mentions?q=secret", "/v1/search?q=secret+soup"} {
		require.Empty(t, b.call(t, http.MethodGet, list, nil).items(), list)
	}
}

func TestMentions(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.exec(t, `SELECT kitchen.seed_demo($1)`, b.user)
	none := b.call(t, http.MethodGet, "/v1/mentions?q=no+such+thing+anywhere", nil)
	require.JSONEq(t, `{"items": [], "next_cursor": ""}`, none.raw)

	all := b.call(t, http.MethodGet, "/v1/mentions", nil)
	require.Equal(t, http.StatusOK, all.status, all.raw)
	require.NotEmpty(t, all.items())
	require.LessOrEqual(t, len(all.items()), 15)
	perType := map[any]int{}
	for _, item := range all.items() {
		require.NotEmpty(t, item["label"])
		require.NotEmpty(t, item["uuid"])
		require.Len(t, item, 3)
		perType[item["ref_type"]]++
		require.LessOrEqual(t, perType[item["ref_type"]], 5)
	}
	require.Contains(t, perType, "recipe")
	require.Contains(t, perType, "inv")
	require.NotContains(t, perType, "ing", "reference data is nobody's to point at")

	b.exec(t, `INSERT INTO kitchen.meal_plans (user_id, date, meal_type, recipe_id) SELECT $1, '2026-01-05', 'dinner', id FROM kitchen.recipes WHERE user_id = $1 AND name = 'Pad See Ew'`, b.user)
	require.Contains(t, b.call(t, http.MethodGet, "/v1/mentions?q=pad+see", nil).raw, `"Mon 5 Jan dinner: Pad See Ew"`, "called as everywhere")

	first := all.items()[0]
	row := b.call(t, http.MethodGet, "/v1/data/"+first["ref_type"].(string)+"/"+first["uuid"].(string), nil)
	require.Equal(t, http.StatusOK, row.status, row.raw)
	b.call(t, http.MethodGet, "/v1/mentions?q=%00", nil).requireProblem(t, http.StatusBadRequest, "invalid_request")
}

func TestSearch(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.call(t, http.MethodPost, "/v1/data/recipe", map[string]any{"name": "Butter Chicken"})
	b.call(t, http.MethodPost, "/v1/data/recipe", map[string]any{"name": "Pancakes"})
	turn := b.message(t, b.session(t), "How long does butter chicken take?")
	b.reply(t, turn, "Forty-five minutes.")
	b.exec(t, `SELECT turn_summary_write_facts($1)`, turn)

	all := b.call(t, http.MethodGet, "/v1/search?q=butter+chicken", nil)
	require.Equal(t, http.StatusOK, all.status, all.raw)
	kinds := map[any]string{}
	for _, item := range all.items() {
		kinds[item["type"]] = item["label"].(string)
	}
	require.Equal(t, "Butter Chicken", kinds["recipe"], all.raw)
	require.Equal(t, "How long does butter chicken take?", kinds["turn"])

	only := b.call(t, http.MethodGet, "/v1/search?q=butter+chicken&type=turn", nil)
	require.Len(t, only.items(), 1)
	require.Equal(t, turn, only.items()[0]["id"])
	require.Equal(t, "Forty-five minutes.", only.items()[0]["text"])

	for _, query := range []string{"", "?q=", "?q=x&type=spaceship", "?q=%00", "?q=" + strings.Repeat("x", 1001)} {
		a := b.call(t, http.MethodGet, "/v1/search"+query, nil)
		require.Equal(t, http.StatusBadRequest, a.status, "%s: %s", query, a.raw)
	}
}

// A search needs as many round trips for many rows as for one.
func TestSearchTripsDoNotGrowWithHits(t *testing.T) {
	t.Parallel()

	trips := &roundTrips{}
	b := setup(t, func(c *httpapi.Config) { c.Pool = trips.counted(t, c.Pool) })
	search := func(hits int) int64 {
		t.Helper()

		before := trips.n.Load()
		found := b.call(t, http.MethodGet, "/v1/search?q=pancakes", nil)
		require.Len(t, found.items(), hits, found.raw)

		return trips.n.Load() - before
	}
	add := func() { b.call(t, http.MethodPost, "/v1/data/recipe", map[string]any{"name": "Pancakes"}) }
	add()
	search(1) // the key's use is noted once a minute
	one := search(1)
	for range 9 {
		add()
	}
	require.Equal(t, one, search(10))
}

// roundTrips counts how often a pool's connections wait for answers.
type roundTrips struct{ n atomic.Int64 }

func (r *roundTrips) counted(t *testing.T, pool *pgxpool.Pool) *pgxpool.Pool {
	t.Helper()

	config := pool.Config()
	config.ConnConfig.Tracer = r
	counted, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(counted.Close)

	return counted
}

func (r *roundTrips) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	r.n.Add(1)

	return ctx
}

func (*roundTrips) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (r *roundTrips) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	r.n.Add(1)

	return ctx
}

func (*roundTrips) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func (*roundTrips) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

func TestTypes(t *testing.T) {
	t.Parallel()

	b := setup(t)
	types := map[any]map[string]any{}
	for _, item := range b.call(t, http.MethodGet, "/v1/data", nil).items() {
		types[item["type"]] = item
		require.Equal(t, http.StatusOK, b.call(t, http.MethodGet, "/v1/data/"+item["type"].(string)+"?limit=1", nil).status)
		require.NotContains(t, item["columns"], "id")
		require.NotContains(t, item["columns"], "user_id")
	}
	require.Equal(t, "recipes", types["recipe"]["plural"])
	require.Contains(t, types["recipe"]["columns"], "name")
	require.Equal(t, true, types["ing"]["reference"])
	require.Equal(t, false, types["inv"]["reference"])

	named := func(kind string) map[any]map[string]any {
		fields := map[any]map[string]any{}
		for _, f := range types[kind]["fields"].([]any) {
			field := f.(map[string]any)
			fields[field["name"]] = field
		}

		return fields
	}
	fields := named("meal")
	require.Equal(t, "recipe", fields["recipe_id"]["references"])
	require.NotContains(t, fields["recipe_id"], "matched")
	require.Equal(t, true, named("inv")["ingredient_id"]["matched"], "found from the name, so that no form asks for it")
	require.Equal(t, []any{"breakfast", "lunch", "dinner", "snack", "other"}, fields["meal_type"]["options"])
	require.Equal(t, true, fields["date"]["required"])
	for _, name := range []string{"id", "user_id", "slot_order", "created_at"} {
		require.NotContains(t, fields, name)
	}
	require.Equal(t, []any{map[string]any{"type": "ri", "table": "recipe_ingredients", "column": "recipe_id"}}, types["recipe"]["children"])
	require.Equal(t, true, types["pref"]["singleton"])
}

// V17, W02: refusals by rules or the declaration are the caller's errors, never the server's.
func TestV17RefusedRows(t *testing.T) {
	t.Parallel()

	b := setup(t)
	refused := b.call(t, http.MethodPost, "/v1/data/inv", map[string]any{"name": "eggs", "quantity": -1})
	refused.requireProblem(t, http.StatusBadRequest, "rule_violation")
	require.Contains(t, refused.text("detail"), "quantity has to be at least 0.")
	b.call(t, http.MethodPost, "/v1/data/ing", map[string]any{"name": "gold"}).requireProblem(t, http.StatusForbidden, "forbidden")
}

package httpapi_test

import (
	"net/http"
	"path"
	"testing"

	"github.com/stretchr/testify/require"
)

// K03: a client that does not state which version of a row it saw overwrites it and is told what that was; one that
// does overwrites nothing it has not seen, also in a batch.
func TestK03NothingIsOverwrittenSilently(t *testing.T) {
	t.Parallel()

	b := setup(t)
	made := b.call(t, http.MethodPost, "/v1/data/inv", map[string]any{"name": "flour", "quantity": 1, "unit": "kg"})
	require.Equal(t, http.StatusCreated, made.status, made.raw)
	id, seen := made.text("id"), made.header.Get("ETag")
	path := "/v1/data/inv/" + id
	patched := b.call(t, http.MethodPatch, path, map[string]any{"quantity": 7, "unit": "kg"})
	require.Equal(t, http.StatusOK, patched.status, patched.raw)
	require.Equal(t, map[string]any{"quantity": 1.0}, patched.body["_was"])
	b.call(t, http.MethodPatch, path, map[string]any{"quantity": 2}, header{"If-Match": seen}).requireProblem(t, http.StatusPreconditionFailed, "conflict")
	known := b.call(t, http.MethodPatch, path, map[string]any{"quantity": 3}, header{"If-Match": patched.header.Get("ETag")})
	require.NotContains(t, known.body, "_was", "what was seen need not be told")

	batch := func(change map[string]any) *answer {
		change["id"] = id

		return b.call(t, http.MethodPost, "/v1/data/inv/batch", map[string]any{"changes": []any{change}})
	}
	for _, stale := range []map[string]any{{"action": "update", "data": map[string]any{"quantity": 9}, "etag": seen}, {"action": "delete", "etag": seen}} {
		refused := batch(stale)
		require.InDelta(t, 0, refused.body["written"], 0, refused.raw)
		require.Equal(t, "stale", refused.body["errors"].([]any)[0].(map[string]any)["code"])
	}
	over := batch(map[string]any{"action": "update", "data": map[string]any{"quantity": 4}})
	require.Equal(t, []any{map[string]any{"index": 0.0, "was": map[string]any{"quantity": 3.0}}}, over.body["overwritten"], over.raw)
	require.Empty(t, batch(map[string]any{"action": "update", "data": map[string]any{"quantity": 4}}).body["overwritten"], "what was the same before is not written over")
	now := b.call(t, http.MethodGet, path, nil)
	require.InDelta(t, 4, now.body["quantity"], 0)
	require.InDelta(t, 1, batch(map[string]any{"action": "delete", "etag": now.header.Get("ETag")}).body["written"], 0)
}

// K03: the same for rows that are deleted: whoever does not say what they have seen can learn what went.
func TestK03NothingIsDeletedSilently(t *testing.T) {
	t.Parallel()

	b := setup(t)
	lived := func() string {
		made := b.call(t, http.MethodPost, "/v1/data/inv", map[string]any{"name": "flour", "quantity": 1})
		seen, path := made.header.Get("ETag"), "/v1/data/inv/"+made.text("id")
		require.Equal(t, http.StatusOK, b.call(t, http.MethodPatch, path, map[string]any{"quantity": 7}).status)
		b.call(t, http.MethodDelete, path, nil, header{"If-Match": seen}).requireProblem(t, http.StatusPreconditionFailed, "conflict")

		return path
	}
	asked := b.call(t, http.MethodDelete, lived(), nil, header{"Prefer": "return=representation"})
	require.Equal(t, http.StatusOK, asked.status, asked.raw)
	require.InDelta(t, 7, asked.body["_was"].(map[string]any)["quantity"], 0, "what somebody else wrote is not lost without a word")
	quiet := b.call(t, http.MethodDelete, lived(), nil)
	require.Equal(t, http.StatusNoContent, quiet.status)
	require.Empty(t, quiet.raw)

	change := map[string]any{"action": "delete", "id": path.Base(lived())}
	many := b.call(t, http.MethodPost, "/v1/data/inv/batch", map[string]any{"changes": []any{change}})
	was := many.body["overwritten"].([]any)[0].(map[string]any)["was"].(map[string]any)
	require.InDelta(t, 7, was["quantity"], 0)
}

// W10: rows without a name column are found by the text of their label and line.
func TestW10SearchByLabelAndLine(t *testing.T) {
	t.Parallel()

	b := setup(t)
	soup := b.call(t, http.MethodPost, "/v1/data/recipe", map[string]any{"name": "Onion Soup"}).text("id")
	for _, meal := range []map[string]any{
		{"date": "2026-03-02", "meal_type": "dinner", "recipe_id": soup}, {"date": "2026-03-03", "meal_type": "lunch", "notes": "At Eve's"},
	} {
		require.Equal(t, http.StatusCreated, b.call(t, http.MethodPost, "/v1/data/meal", meal).status)
	}
	for query, found := range map[string]int{"onion": 1, "lunch": 1, "eve": 1, "2026-03": 2, "breakfast": 0, "%25": 0, "": 2} {
		a := b.call(t, http.MethodGet, "/v1/data/meal?q="+query, nil)
		require.Len(t, a.items(), found, "%s: %s", query, a.raw)
	}
	first := b.call(t, http.MethodGet, "/v1/data/meal?q=2026-03&limit=1", nil)
	rest := b.call(t, http.MethodGet, "/v1/data/meal?q=2026-03&limit=1&cursor="+first.text("next_cursor"), nil)
	require.Len(t, rest.items(), 1)
	require.NotEqual(t, first.items()[0]["id"], rest.items()[0]["id"])
	require.Len(t, b.call(t, http.MethodGet, "/v1/mentions?q=onion", nil).items(), 2, "the recipe and the meal")
}

// K03: the rows that belong to a row come with versions of their own.
func TestK03PartsAreNotOverwrittenSilently(t *testing.T) {
	t.Parallel()

	b := setup(t)
	made := b.call(t, http.MethodPost, "/v1/data/recipe", map[string]any{"name": "Toast", "recipe_ingredients": []any{map[string]any{"name": "bread"}, map[string]any{"name": "butter"}}})
	require.Equal(t, http.StatusCreated, made.status, made.raw)
	for _, one := range b.call(t, http.MethodGet, "/v1/data/recipe/"+made.text("id"), nil).body["recipe_ingredients"].([]any) {
		part := one.(map[string]any)
		path, seen := "/v1/data/ri/"+part["id"].(string), header{"If-Match": part["_etag"].(string)}
		require.Equal(t, http.StatusOK, b.call(t, http.MethodPatch, path, map[string]any{"quantity": 2}, seen).status)
		b.call(t, http.MethodPatch, path, map[string]any{"quantity": 3}, seen).requireProblem(t, http.StatusPreconditionFailed, "conflict")
		b.call(t, http.MethodDelete, path, nil, seen).requireProblem(t, http.StatusPreconditionFailed, "conflict")
	}
}

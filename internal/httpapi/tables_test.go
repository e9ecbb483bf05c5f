package httpapi_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

func namesOf(a *answer) (names []string) {
	for _, row := range a.items() {
		names = append(names, row["name"].(string))
	}

	return names
}

// Y11: rows are sorted and filtered by their columns, also across pages; what cannot be applied is refused.
func TestY11ListsAreSortedAndFiltered(t *testing.T) {
	t.Parallel()

	b := setup(t)
	for name, quantity := range map[string]any{"Rice": 3, "Oats": 1, "Salt": 2, "Tea": nil} {
		made := b.call(t, http.MethodPost, "/v1/data/inv", map[string]any{"name": name, "quantity": quantity, "location": "pantry"})
		require.Equal(t, http.StatusCreated, made.status, made.raw)
	}
	list := func(query string) *answer { return b.call(t, http.MethodGet, "/v1/data/inv?"+query, nil) }
	require.Equal(t, []string{"Oats", "Salt", "Rice", "Tea"}, namesOf(list("order=quantity")))
	require.Equal(t, []string{"Rice", "Salt", "Oats", "Tea"}, namesOf(list("order=-quantity")))
	var names []string
	for cursor := ""; ; {
		page := list("order=-quantity&limit=1&cursor=" + url.QueryEscape(cursor))
		names = append(names, namesOf(page)...)
		require.InDelta(t, 4, page.body["total"], 0)
		if cursor = page.text("next_cursor"); cursor == "" {
			break
		}
	}
	require.Equal(t, []string{"Rice", "Salt", "Oats", "Tea"}, names)

	where := func(filters string) *answer { return list("order=quantity&filters=" + url.QueryEscape(filters)) }
	require.Equal(t, []string{"Salt", "Rice"}, namesOf(where(`[{"field": "quantity", "op": ">=", "value": 2}]`)))
	require.Equal(t, []string{"Salt"}, namesOf(where(`[{"field": "quantity", "op": ">=", "value": 2}, {"field": "name", "op": "ilike", "value": "%al%"}]`)))
	for _, refused := range []string{`{`, `[{"field": "user_id", "op": "=", "value": 1}]`, `[{"field": "name", "op": "like", "value": "x"}]`, `[{"field": "quantity", "op": ">", "value": "many"}]`} {
		where(refused).requireProblem(t, http.StatusBadRequest, "invalid_request")
	}
	list("order=nothing").requireProblem(t, http.StatusBadRequest, "invalid_request")
	other := list("order=quantity&limit=1").text("next_cursor")
	list("order=-quantity&cursor="+url.QueryEscape(other)).requireProblem(t, http.StatusBadRequest, "invalid_request")
}

// Y11: a batch is written completely or not at all, a preview writes nothing, and each fault is reported.
func TestY11ManyRowsAtOnce(t *testing.T) {
	t.Parallel()

	b := setup(t)
	send := func(preview bool, changes ...map[string]any) *answer {
		return b.call(t, http.MethodPost, "/v1/data/inv/batch?session="+b.session(t), map[string]any{"changes": changes, "preview": preview})
	}
	create := func(name string, quantity any) map[string]any {
		return map[string]any{"action": "create", "data": map[string]any{"name": name, "quantity": quantity}}
	}
	total := func() any { return b.call(t, http.MethodGet, "/v1/data/inv", nil).body["total"] }

	looked := send(true, create("Rice", 1), create("Oats", 2))
	require.Equal(t, http.StatusOK, looked.status, looked.raw)
	require.Empty(t, looked.body["errors"])
	require.InDelta(t, 0, total(), 0)
	refused := send(false, create("Rice", 1), create("Oats", -2), create("", 1))
	require.Len(t, refused.body["errors"], 2, refused.raw)
	require.InDelta(t, 1, refused.body["errors"].([]any)[0].(map[string]any)["index"], 0)
	require.InDelta(t, 0, total(), 0)
	require.InDelta(t, 2, send(false, create("Rice", 1), create("Oats", 2)).body["written"], 0)

	rows := b.call(t, http.MethodGet, "/v1/data/inv?order=name", nil).items()
	done := send(false, map[string]any{"action": "update", "id": rows[0]["id"], "data": map[string]any{"quantity": 9}}, map[string]any{"action": "delete", "id": rows[1]["id"]})
	require.Empty(t, done.body["errors"], done.raw)
	require.InDelta(t, 1, total(), 0)
	history := b.call(t, http.MethodGet, "/v1/data/inv/"+rows[0]["id"].(string)+"/history", nil)
	require.Len(t, history.items(), 2, history.raw)
	require.Equal(t, "updated", history.items()[0]["action"])
	require.Equal(t, "user", history.items()[0]["actor"])
	gone := b.call(t, http.MethodGet, "/v1/data/inv/"+rows[1]["id"].(string)+"/history", nil)
	require.Equal(t, []any{"deleted", "created"}, []any{gone.items()[0]["action"], gone.items()[1]["action"]}, gone.raw)
	b.call(t, http.MethodGet, "/v1/data/nothing/"+rows[0]["id"].(string)+"/history", nil).requireProblem(t, http.StatusNotFound, "not_found")
	b.call(t, http.MethodPost, "/v1/data/inv/batch", map[string]any{"changes": []any{}}).requireProblem(t, http.StatusBadRequest, "invalid_request")
}

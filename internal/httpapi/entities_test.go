package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func (b *bundle) ref(t *testing.T, session, ref, entityType, label string, turn int) {
	t.Helper()

	b.exec(t, `INSERT INTO entity_refs (session_id, ref, entity_type, entity_id, state, action, label, turn_created, turn_last_ref)
		VALUES ($1, $2, $3, $4, 'stored', 'read', $5, $6, $6)`, session, ref, entityType, uuid.NewString(), label, turn)
}

func TestEntities(t *testing.T) {
	t.Parallel()

	b := setup(t)
	session := b.session(t)
	path := "/v1/sessions/" + session + "/entities"
	require.JSONEq(t, `{"current_turn": 0, "items": [], "next_cursor": ""}`, b.call(t, http.MethodGet, path, nil).raw)

	for range 4 {
		b.reply(t, b.message(t, session, "hi"), "there")
	}
	b.ref(t, session, "recipe_1", "recipe", "Old Soup", 1)
	b.ref(t, session, "recipe_2", "recipe", "New Soup", 4)
	list := b.call(t, http.MethodGet, path, nil)
	require.InDelta(t, 4, list.body["current_turn"], 0)
	require.Len(t, list.items(), 2)
	require.Equal(t, map[string]any{
		"ref": "recipe_2", "type": "recipe", "label": "New Soup", "action": "read", "state": "stored", "tier": "recent",
		"reason": nil, "turn_created": 4.0, "turn_last_ref": 4.0,
	}, list.items()[0])
	require.Equal(t, "background", list.items()[1]["tier"])

	require.Equal(t, http.StatusNoContent, b.call(t, http.MethodPut, path+"/recipe_1/pin", nil).status)
	pinned := b.call(t, http.MethodGet, path, nil).items()[1]
	require.Equal(t, "retained", pinned["tier"])
	require.Equal(t, "pinned", pinned["reason"])
	require.Equal(t, http.StatusNoContent, b.call(t, http.MethodPut, path+"/recipe_1/pin", nil).status, "twice is as once")
	var actor string
	require.NoError(t, b.pool.QueryRow(t.Context(), `SELECT actor FROM decisions WHERE session_id = $1 ORDER BY id LIMIT 1`, session).Scan(&actor))
	require.Equal(t, "user", actor)

	require.Equal(t, http.StatusNoContent, b.call(t, http.MethodDelete, path+"/recipe_1/pin", nil).status)
	require.Equal(t, "background", b.call(t, http.MethodGet, path, nil).items()[1]["tier"])
	for _, ref := range []string{"recipe_9", "soup", uuid.NewString(), "%00", "%ff"} {
		b.call(t, http.MethodPut, path+"/"+ref+"/pin", nil).requireProblem(t, http.StatusNotFound, "not_found")
	}
}

// Pages of the registry stay consistent while it changes, and a cursor is only valid for its own list.
func TestEntityPages(t *testing.T) {
	t.Parallel()

	b := setup(t)
	session := b.session(t)
	b.reply(t, b.message(t, session, "hi"), "there")
	for _, ref := range []string{"recipe_1", "recipe_2", "recipe_10", "inv_1", "inv_3"} {
		kind, _, _ := strings.Cut(ref, "_")
		b.ref(t, session, ref, kind, ref, 1)
	}
	path := "/v1/sessions/" + session + "/entities?limit=2"
	first := b.call(t, http.MethodGet, path, nil)
	b.ref(t, session, "inv_2", "inv", "between", 1) // on the page that was read
	seen := first.items()
	for cursor := first.text("next_cursor"); cursor != ""; {
		next := b.call(t, http.MethodGet, path+"&cursor="+cursor, nil)
		require.Equal(t, http.StatusOK, next.status, next.raw)
		seen, cursor = append(seen, next.items()...), next.text("next_cursor")
	}
	refs := make([]any, len(seen))
	for i, item := range seen {
		refs[i] = item["ref"]
	}
	require.Equal(t, []any{"inv_1", "inv_3", "recipe_1", "recipe_2", "recipe_10"}, refs)

	good := first.text("next_cursor")
	for _, cursor := range []string{"x", "2", "-1", good + "x", "bnVsbA", "e30", "%00", "%ff"} {
		b.call(t, http.MethodGet, path+"&cursor="+cursor, nil).requireProblem(t, http.StatusBadRequest, "invalid_request")
	}
	b.call(t, http.MethodGet, path+"&turn=1&cursor="+good, nil).requireProblem(t, http.StatusBadRequest, "invalid_request")
}

func TestContext(t *testing.T) {
	t.Parallel()

	b := setup(t)
	session := b.session(t)
	b.reply(t, b.message(t, session, "I like soup"), "Noted.")
	for _, node := range []string{"understand", "think", "act", "reply"} {
		a := b.call(t, http.MethodGet, "/v1/sessions/"+session+"/context?node="+node, nil)
		require.Equal(t, http.StatusOK, a.status, a.raw)
		require.Equal(t, node, a.text("node"))
		require.InDelta(t, 2, a.body["turn"], 0)
		require.Contains(t, a.text("text"), "I like soup")
		require.NotContains(t, a.raw, session)
		for _, item := range a.items() {
			require.NotEmpty(t, item["section"])
			require.NotEmpty(t, item["reason"])
		}
	}
	summarize := b.call(t, http.MethodGet, "/v1/sessions/"+session+"/context?node=summarize", nil)
	require.Equal(t, http.StatusOK, summarize.status, summarize.raw)
	require.Contains(t, summarize.text("text"), "[Turn 2]", "it sees its own turn alone")
	require.Equal(t, "think", b.call(t, http.MethodGet, "/v1/sessions/"+session+"/context", nil).text("node"))
}

func TestSummaries(t *testing.T) {
	t.Parallel()

	b := setup(t)
	session := b.session(t)
	turn := b.message(t, session, "I like soup")
	b.reply(t, turn, "Noted.")
	path := "/v1/sessions/" + session + "/summaries"
	require.JSONEq(t, `{"items": [], "next_cursor": ""}`, b.call(t, http.MethodGet, path, nil).raw)
	b.exec(t, `SELECT turn_summary_write_facts($1)`, turn)
	items := b.call(t, http.MethodGet, path, nil).items()
	require.Len(t, items, 1)
	require.Equal(t, "I like soup", items[0]["user_message"])
	require.Equal(t, "Noted.", items[0]["response_summary"])
	require.Equal(t, []any{}, items[0]["steps"])
}

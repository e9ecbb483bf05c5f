package httpapi_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// worked is a turn with everything that a worker stores for one.
func (b *bundle) worked(t *testing.T, session string) (turn, call string) {
	t.Helper()

	turn, call = b.message(t, session, "Show my recipes"), uuid.Must(uuid.NewV7()).String()
	b.exec(t, `INSERT INTO llm_calls (id, session_id, turn_id, position, node, call, attempt, provider, model, request, response, input_tokens,
			output_tokens, cached_tokens, cost_usd, latency_ms)
		VALUES ($1, $2, $3, 0, 'understand', 1, 1, 'script', 'm', '{"system": "You are", "messages": []}', '{"text": "{}", "tool_calls": null}', 100, 20, 10, 0.25, 7)`,
		call, session, turn)
	b.exec(t, `INSERT INTO llm_calls (id, session_id, turn_id, position, node, step, call, provider, model, request, error_code)
		VALUES (uuid_v7(clock_timestamp() + interval '1 second'), $1, $2, 1, 'act', 1, 1, 'script', 'm', '{"system": "You are", "messages": []}', 'overloaded')`, session, turn)
	b.exec(t, `UPDATE llm_calls SET context = '[["Current Message", null, 1, "current", 5], ["All Known Entities", "recipe_1", null, "recent", 9]]' WHERE id = $1`, call)
	b.exec(t, `INSERT INTO node_runs (turn_id, position, node, call, output, llm_call_id, duration_ms) VALUES ($1, 1, 'understand', 1, '{}', $2, 12)`, turn, call)
	b.exec(t, `INSERT INTO node_runs (turn_id, position, node, step, call, output, duration_ms) VALUES ($1, 2, 'act', 1, 1, '{}', 3)`, turn)
	b.exec(t, `INSERT INTO turn_step_results (turn_id, step, call, tool, entity_type, params, rows, row_count, refs)
		VALUES ($1, 1, 1, 'db_read', 'recipe', '{"table": "recipes"}', '[{"id": "recipe_1"}]', 1, '{recipe_1}'),
			($1, 1, 2, 'db_read', NULL, '{}', '[]', 0, '{}')`, turn)
	b.exec(t, `UPDATE turn_step_results SET error_code = 'unknown_ref', error_message = 'No.' WHERE turn_id = $1 AND call = 2`, turn)
	b.reply(t, turn, "Here.")

	return turn, call
}

func TestTimeline(t *testing.T) {
	t.Parallel()

	b := setup(t)
	turn, _ := b.worked(t, b.session(t))
	lines := b.call(t, http.MethodGet, "/v1/turns/"+turn+"/timeline", nil).items()
	kinds := make([]string, len(lines))
	for i, line := range lines {
		kinds[i], _ = line["kind"].(string)
		require.InDelta(t, i+1, line["seq"], 0)
		require.Contains(t, line, "at")
	}
	require.Equal(t, []string{"message", "node", "node", "tool", "tool", "reply"}, kinds)
	require.Equal(t, "Show my recipes", lines[0]["text"])
	require.NotContains(t, lines[0], "usage")
	require.Equal(t, map[string]any{"calls": 1.0, "input_tokens": 100.0, "output_tokens": 20.0, "cached_tokens": 10.0, "cost_usd": 0.25}, lines[1]["usage"])
	require.InDelta(t, 12, lines[1]["duration_ms"], 0)
	require.Equal(t, "db_read recipe: 1 row", lines[3]["text"])
	require.Equal(t, "db_read: No.", lines[4]["text"])

	require.Equal(t, lines, b.pages(t, "/v1/turns/"+turn+"/timeline?limit=2"))
}

func TestResults(t *testing.T) {
	t.Parallel()

	b := setup(t)
	turn, _ := b.worked(t, b.session(t))
	results := b.pages(t, "/v1/turns/"+turn+"/results?limit=1")
	require.Len(t, results, 2)
	require.Equal(t, []any{map[string]any{"id": "recipe_1"}}, results[0]["rows"])
	require.Equal(t, map[string]any{"table": "recipes"}, results[0]["params"])
	require.NotContains(t, results[0], "error")
	require.Equal(t, map[string]any{"code": "unknown_ref", "message": "No."}, results[1]["error"])
}

func TestCalls(t *testing.T) {
	t.Parallel()

	b := setup(t)
	session := b.session(t)
	turn, call := b.worked(t, session)
	calls := b.pages(t, "/v1/turns/"+turn+"/calls?limit=1")
	require.Len(t, calls, 2)
	require.Equal(t, call, calls[0]["id"])
	require.Equal(t, "understand", calls[0]["node"])
	require.Nil(t, calls[0]["error_code"])
	require.Equal(t, "overloaded", calls[1]["error_code"])
	require.NotContains(t, calls[0], "request", "prompts are long")

	one := b.call(t, http.MethodGet, "/v1/calls/"+call, nil)
	require.Equal(t, http.StatusOK, one.status, one.raw)
	require.Equal(t, map[string]any{"system": "You are", "messages": []any{}}, one.body["request"])
	require.Equal(t, map[string]any{"text": "{}", "tool_calls": nil}, one.body["response"])
	require.InDelta(t, 0.25, one.body["cost_usd"], 0)
	require.Equal(t, []any{
		map[string]any{"section": "Current Message", "turn_number": 1.0, "reason": "current", "tokens": 5.0},
		map[string]any{"section": "All Known Entities", "ref": "recipe_1", "reason": "recent", "tokens": 9.0},
	}, one.body["context"])
	failed, _ := calls[1]["id"].(string)
	require.Nil(t, b.call(t, http.MethodGet, "/v1/calls/"+failed, nil).body["response"])
}

func TestRecordsOfOthers(t *testing.T) {
	t.Parallel()

	b := setup(t)
	session := b.session(t)
	turn, call := b.worked(t, session)
	_, b.key = b.newUser(t, "bob", "chat")
	for _, path := range []string{
		"/v1/turns/" + turn + "/timeline", "/v1/turns/" + turn + "/results", "/v1/turns/" + turn + "/calls", "/v1/calls/" + call,
		"/v1/sessions/" + session + "/decisions", "/v1/sessions/" + session + "/constraints", "/v1/sessions/" + session + "/entities?turn=1",
	} {
		theirs := b.call(t, http.MethodGet, path, nil)
		theirs.requireProblem(t, http.StatusNotFound, "not_found")
		nobodys := strings.NewReplacer(session, uuid.NewString(), turn, uuid.NewString(), call, uuid.NewString()).Replace(path)
		require.Equal(t, b.call(t, http.MethodGet, nobodys, nil).raw, theirs.raw, "as if it were not there")
	}
}

func TestDecisionsAndConstraints(t *testing.T) {
	t.Parallel()

	b := setup(t)
	session, other := b.session(t), b.session(t)
	b.reply(t, b.message(t, session, "hi"), "there")
	b.exec(t, `INSERT INTO decisions (session_id, turn_number, action, ref, reason, actor) VALUES ($1, 1, 'retain', 'recipe_1', 'for later', 'assistant')`, session)
	b.exec(t, `INSERT INTO decisions (session_id, turn_number, action, reason, actor) VALUES ($1, 1, 'clear_all', '', 'user')`, session)
	decisions := by(b.pages(t, "/v1/sessions/"+session+"/decisions?limit=1"), "action")
	require.Len(t, decisions, 2)
	require.Equal(t, "for later", decisions["retain"]["reason"])
	require.Nil(t, decisions["clear_all"]["ref"])

	for _, c := range []struct{ session, text, scope, more string }{
		{session, "8 meals", "session", ""}, {other, "no nuts", "lasting", ""}, {other, "elsewhere", "session", ""},
		{session, "was once", "session", "1"},
	} {
		b.exec(t, `INSERT INTO constraints (user_id, session_id, text, kind, value, scope, source_turn, ended_turn)
			VALUES ($1, $2, $3, 'other', '8', $4, 1, nullif($5, '')::int)`, b.user, c.session, c.text, c.scope, c.more)
	}
	constraints := by(b.pages(t, "/v1/sessions/"+session+"/constraints?limit=2"), "text")
	require.Len(t, constraints, 3)
	for text, inForce := range map[string]bool{"8 meals": true, "no nuts": true, "was once": false} {
		require.Equal(t, inForce, constraints[text]["in_force"])
		require.InDelta(t, 8, constraints[text]["value"], 0)
	}
}

// by indexes items: ids created in the same millisecond have no order.
func by(items []map[string]any, field string) map[any]map[string]any {
	index := map[any]map[string]any{}
	for _, item := range items {
		index[item[field]] = item
	}

	return index
}

func TestEntitiesOfATurn(t *testing.T) {
	t.Parallel()

	b := setup(t)
	session := b.session(t)
	path := "/v1/sessions/" + session + "/entities"
	for range 2 {
		b.reply(t, b.message(t, session, "hi"), "there")
		made := b.call(t, http.MethodPost, "/v1/data/recipe?session="+session, map[string]any{"name": "Soup"})
		require.Equal(t, http.StatusCreated, made.status, made.raw)
	}
	b.reply(t, b.message(t, session, "hi"), "there")
	require.Empty(t, b.call(t, http.MethodGet, path+"?turn=1", nil).items())
	second := b.call(t, http.MethodGet, path+"?turn=2", nil)
	require.Len(t, second.items(), 1)
	require.InDelta(t, 2, second.body["current_turn"], 0)
	require.Equal(t, "recipe_1", second.items()[0]["ref"])
	require.Equal(t, b.call(t, http.MethodGet, path, nil).items(), b.call(t, http.MethodGet, path+"?turn=3", nil).items())
	require.Len(t, b.pages(t, path+"?limit=1"), 2)
	b.call(t, http.MethodGet, path+"?turn=4", nil).requireProblem(t, http.StatusNotFound, "not_found")
	b.call(t, http.MethodGet, path+"?turn=0", nil).requireProblem(t, http.StatusBadRequest, "invalid_request")
}

func TestSessionSearch(t *testing.T) {
	t.Parallel()

	b := setup(t)
	ids := map[string]string{}
	for _, title := range []string{"Weekly plan", "100% rye", "Old plan"} {
		ids[title] = b.call(t, http.MethodPost, "/v1/sessions", map[string]any{"title": title}).text("id")
	}
	require.Equal(t, http.StatusOK, b.call(t, http.MethodPatch, "/v1/sessions/"+ids["Old plan"], map[string]any{"archived": true}).status)
	titles := func(query string) []string {
		list := []string{}
		for _, item := range b.pages(t, "/v1/sessions?limit=1"+query) {
			title, _ := item["title"].(string)
			list = append(list, title)
		}

		return list
	}
	require.Equal(t, []string{"Old plan", "100% rye", "Weekly plan"}, titles(""))
	require.Equal(t, []string{"Old plan", "Weekly plan"}, titles("&q=PLAN"))
	require.Equal(t, []string{"100% rye"}, titles("&q=%25"), "a pattern is only text")
	require.Equal(t, []string{"100% rye", "Weekly plan"}, titles("&archived=false"))
	require.Equal(t, []string{"Old plan"}, titles("&archived=true&q=plan"))
	b.call(t, http.MethodGet, "/v1/sessions?archived=maybe", nil).requireProblem(t, http.StatusBadRequest, "invalid_request")
}

// pages reads a list to its end.
func (b *bundle) pages(t *testing.T, path string) []map[string]any {
	t.Helper()

	var all []map[string]any
	for cursor := ""; ; {
		page := b.call(t, http.MethodGet, path+cursor, nil)
		require.Equal(t, http.StatusOK, page.status, page.raw)
		all = append(all, page.items()...)
		if page.text("next_cursor") == "" {
			return all
		}
		cursor = "&cursor=" + url.QueryEscape(page.text("next_cursor"))
	}
}

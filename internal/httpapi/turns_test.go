package httpapi_test

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"alfred/internal/httpapi"
	"alfred/jobs"
)

func TestTurn(t *testing.T) {
	t.Parallel()

	b := setup(t)
	session := b.session(t)
	sent := b.call(t, http.MethodPost, "/v1/sessions/"+session+"/turns", map[string]any{
		"message": "What is in my pantry?", "mode": "quick",
		"ui_changes":         []any{map[string]any{"action": "created:user", "entity_type": "inv", "entity_id": "x", "label": "Eggs", "data": map[string]any{"quantity": 12}}},
		"mentioned_entities": []any{map[string]any{"ref_type": "recipe", "uuid": "y", "label": "Soup"}},
	})
	require.Equal(t, http.StatusAccepted, sent.status, sent.raw)
	turn := sent.text("id")
	require.JSONEq(t, fmt.Sprintf(`{"id": %q, "session_id": %q, "number": 1, "status": "running"}`, turn, session), sent.raw)

	running := b.call(t, http.MethodGet, "/v1/turns/"+turn, nil)
	require.Equal(t, http.StatusOK, running.status, running.raw)
	require.Nil(t, running.body["reply"])
	require.Equal(t, []any{}, running.body["steps"])
	require.NotContains(t, running.body, "question")
	require.NotContains(t, running.body, "error")

	b.exec(t, `INSERT INTO turn_steps (turn_id, step, step_type, subdomain, description, refs, outcome, summary)
		VALUES ($1, 1, 'read', 'inventory', 'Read the pantry', '{inv_1}', 'ok', '1 item')`, turn)
	b.exec(t, `INSERT INTO questions (session_id, turn_id, kind, payload)
		VALUES ($1, $2, 'disambiguate', '{"text": "Which?", "options": [{"label": "Eggs", "ref": "inv_1"}], "calls": [{"keys": ["secret"]}]}')`, session, turn)
	b.exec(t, `INSERT INTO llm_calls (session_id, turn_id, node, provider, model, request, response, input_tokens, output_tokens, cached_tokens, cost_usd)
		SELECT $1, $2, 'act', 'p', 'm', '{}', '{}', 100, 20, 50, 0.25 FROM generate_series(1, 2)`, session, turn)
	b.reply(t, turn, "Eggs.")

	done := b.call(t, http.MethodGet, "/v1/turns/"+turn, nil)
	require.Equal(t, "succeeded", done.text("status"))
	require.Equal(t, "Eggs.", done.text("reply"))
	require.Equal(t, "What is in my pantry?", done.text("message"))
	require.Equal(t, map[string]any{"calls": 2.0, "input_tokens": 200.0, "output_tokens": 40.0, "cached_tokens": 100.0, "cost_usd": 0.5}, done.body["usage"])
	question, _ := done.body["question"].(map[string]any)
	require.Equal(t, "Which?", question["text"])
	require.Equal(t, []any{map[string]any{"label": "Eggs", "ref": "inv_1"}}, question["options"])
	require.NotContains(t, done.raw, "secret", "row keys of a question stay inside")
	steps, _ := done.body["steps"].([]any)
	require.Len(t, steps, 1)
	require.Equal(t, "ok", steps[0].(map[string]any)["outcome"])
}

func TestTurnList(t *testing.T) {
	t.Parallel()

	b := setup(t)
	session := b.session(t)
	for n := range 3 {
		b.reply(t, b.message(t, session, "message "+strconv.Itoa(n+1)), "reply")
	}
	first := b.call(t, http.MethodGet, "/v1/sessions/"+session+"/turns?limit=2", nil)
	require.Len(t, first.items(), 2)
	require.Equal(t, "message 1", first.items()[0]["message"])
	second := b.call(t, http.MethodGet, "/v1/sessions/"+session+"/turns?limit=2&cursor="+first.text("next_cursor"), nil)
	require.Len(t, second.items(), 1)
	require.Equal(t, "message 3", second.items()[0]["message"])
	require.Empty(t, second.text("next_cursor"))
}

func TestTurnIsSentOnce(t *testing.T) {
	t.Parallel()

	b := setup(t)
	path := "/v1/sessions/" + b.session(t) + "/turns"
	key := header{"Idempotency-Key": "one"}
	first := b.call(t, http.MethodPost, path, map[string]any{"message": "hello"}, key)
	require.Equal(t, http.StatusAccepted, first.status)
	again := b.call(t, http.MethodPost, path, map[string]any{"message": "hello"}, key)
	require.Equal(t, http.StatusOK, again.status)
	require.Equal(t, first.body, again.body)
	require.Len(t, b.call(t, http.MethodGet, path, nil).items(), 1)
}

func TestTurnWhenBusy(t *testing.T) {
	t.Parallel()

	b := setup(t)
	session := b.session(t)
	path := "/v1/sessions/" + session + "/turns"
	running := b.message(t, session, "one")

	waiting := b.call(t, http.MethodPost, path, map[string]any{"message": "two"})
	require.Equal(t, "queued", waiting.text("status"))

	refused := b.call(t, http.MethodPost, path, map[string]any{"message": "three", "if_busy": "reject"})
	refused.requireProblem(t, http.StatusConflict, "turn_running")
	require.Equal(t, running, refused.text("turn_id"))

	first := b.call(t, http.MethodPost, path, map[string]any{"message": "four", "if_busy": "interrupt"})
	require.Equal(t, "running", first.text("status"))
	cancelled := b.call(t, http.MethodGet, "/v1/turns/"+running, nil)
	require.Equal(t, "cancelled", cancelled.text("status"))
	require.Equal(t, "cancelled", cancelled.body["error"].(map[string]any)["code"])

	for n := range 19 {
		require.Equal(t, http.StatusAccepted, b.call(t, http.MethodPost, path, map[string]any{"message": strconv.Itoa(n)}).status)
	}
	b.call(t, http.MethodPost, path, map[string]any{"message": "too many"}).requireProblem(t, http.StatusTooManyRequests, "limit_exceeded")
}

func TestTurnInAnArchivedSession(t *testing.T) {
	t.Parallel()

	b := setup(t)
	session := b.session(t)
	b.call(t, http.MethodPatch, "/v1/sessions/"+session, map[string]any{"archived": true})
	b.call(t, http.MethodPost, "/v1/sessions/"+session+"/turns", map[string]any{"message": "hi"}).requireProblem(t, http.StatusConflict, "session_archived")
}

func TestTurnCancel(t *testing.T) {
	t.Parallel()

	b := setup(t)
	turn := b.message(t, b.session(t), "hi")
	require.JSONEq(t, `{"cancelled": true}`, b.call(t, http.MethodPost, "/v1/turns/"+turn+"/cancel", nil).raw)
	again := b.call(t, http.MethodPost, "/v1/turns/"+turn+"/cancel", nil)
	require.Equal(t, http.StatusOK, again.status)
	require.JSONEq(t, `{"cancelled": false}`, again.raw)
}

func TestTurnWait(t *testing.T) {
	t.Parallel()

	b := setup(t)
	turn := b.message(t, b.session(t), "hi")

	started := time.Now()
	a := b.call(t, http.MethodGet, "/v1/turns/"+turn+"?wait=50ms", nil)
	require.Equal(t, "running", a.text("status"))
	require.GreaterOrEqual(t, time.Since(started), 50*time.Millisecond)

	wait, _ := b.later(t, "/v1/turns/"+turn+"?wait=30s")
	time.Sleep(50 * time.Millisecond)
	b.reply(t, turn, "there")
	require.Equal(t, "there", wait().text("reply"))
}

func TestTurnWaitUntilSummarized(t *testing.T) {
	t.Parallel()

	b := setup(t)
	turn := b.message(t, b.session(t), "hi")
	b.reply(t, turn, "there")
	b.exec(t, `UPDATE turns SET summarized_at = NULL WHERE id = $1`, turn)
	wait, done := b.later(t, "/v1/turns/"+turn+"?wait=30s&until=summarized")
	select {
	case <-done:
		t.Fatal("did not wait for the summary")
	case <-time.After(100 * time.Millisecond):
	}
	b.exec(t, `UPDATE turns SET summarized_at = now() WHERE id = $1`, turn)
	require.Equal(t, "succeeded", wait().text("status"))
}

func TestTurnWaitEndsWhenTheServerStops(t *testing.T) {
	t.Parallel()

	b := setup(t)
	turn := b.message(t, b.session(t), "hi")
	wait, _ := b.later(t, "/v1/turns/"+turn+"?wait=30s")
	time.Sleep(50 * time.Millisecond)
	b.stop()
	a := wait()
	require.Equal(t, http.StatusOK, a.status)
	require.Equal(t, "running", a.text("status"))
}

func TestEnqueueWithinLimits(t *testing.T) {
	t.Parallel()

	b := setup(t, func(c *httpapi.Config) { c.Limits = jobs.Limits{Turns: 1} })
	session := b.session(t)
	b.message(t, session, "the first of the day")
	b.call(t, http.MethodPost, "/v1/sessions/"+session+"/turns", map[string]any{"message": "one too many"}).
		requireProblem(t, http.StatusTooManyRequests, "limit_exceeded")
}

// A message that is refused leaves no conversation that its sender has never had.
func TestRefusedMessageLeavesNoSession(t *testing.T) {
	t.Parallel()

	b := setup(t, func(c *httpapi.Config) { c.Limits = jobs.Limits{Turns: 1} })
	b.message(t, b.session(t), "the day's only message")
	sessions := len(b.call(t, http.MethodGet, "/v1/sessions", nil).items())

	hi := []any{map[string]any{"id": "1", "role": "user", "content": "hi"}}
	for _, c := range []struct {
		path   string
		body   map[string]any
		header header
	}{
		{"/v1/chat/completions", map[string]any{"model": "alfred", "messages": hi}, header{}},
		{"/v1/chat/completions", map[string]any{"model": "alfred", "messages": hi, "user": "tab 1"}, header{}},
		{"/v1/chat/completions", map[string]any{"model": "alfred", "messages": hi}, header{"Idempotency-Key": "k"}},
		{"/v1/agui", map[string]any{"threadId": "tab 1", "runId": "1", "messages": hi}, header{}},
	} {
		a := b.call(t, http.MethodPost, c.path, c.body, c.header)
		require.Equal(t, http.StatusTooManyRequests, a.status, a.raw)
	}
	for _, args := range []map[string]any{{"message": "hi"}, {"message": "hi", "idempotency_key": "k"}} {
		_, refused := callTool(t, b.mcpClient(t, b.key), "send_message", args)
		require.Contains(t, refused, "limit_exceeded")
	}
	require.Len(t, b.call(t, http.MethodGet, "/v1/sessions", nil).items(), sessions)
}

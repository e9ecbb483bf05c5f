package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func aguiBody(thread, run, text string) map[string]any {
	return map[string]any{
		"threadId": thread, "runId": run, "state": map[string]any{}, "tools": []any{}, "context": []any{},
		"messages": []map[string]any{{"id": "m1", "role": "user", "content": text}},
	}
}

// Invalid runs are rejected before a stream is open, and leave no message.
func TestAGUIRefuses(t *testing.T) {
	t.Parallel()

	b := setup(t)
	_, reader := b.newUser(t, "reader", "read")
	for name, c := range map[string]struct {
		body    any
		headers header
		status  int
		code    string
	}{
		"no key":                {aguiBody("t", "r", "hi"), header{"Authorization": ""}, 401, "unauthorized"},
		"a key that only reads": {aguiBody("t", "r", "hi"), header{"Authorization": "Bearer " + reader}, 403, "forbidden"},
		"no JSON":               {"{", nil, 400, "invalid_request"},
		"no thread":             {aguiBody("", "r", "hi"), nil, 400, "invalid_request"},
		"no run":                {aguiBody("t", "", "hi"), nil, 400, "invalid_request"},
		"no message":            {map[string]any{"threadId": "t", "runId": "r", "messages": []any{}}, nil, 400, "invalid_request"},
		"an empty message":      {aguiBody("t", "r", ""), nil, 400, "invalid_request"},
		"a long message":        {aguiBody("t", "r", strings.Repeat("a", 33<<10)), nil, 413, "message_too_large"},
		"a long run id":         {aguiBody("t", strings.Repeat("r", 300), "hi"), nil, 400, "invalid_request"},
	} {
		b.call(t, http.MethodPost, "/v1/agui", c.body, c.headers).requireProblem(t, c.status, c.code)
		require.NotEmpty(t, name)
	}
	var turns int
	require.NoError(t, b.pool.QueryRow(t.Context(), `SELECT count(*) FROM turns`).Scan(&turns))
	require.Zero(t, turns)
}

// A failed turn ends the run as failed; if the committed reply differs from the streamed one, the client's messages are
// corrected.
func TestAGUIEnds(t *testing.T) {
	t.Parallel()

	b := setup(t)
	session := b.session(t)
	for name, c := range map[string]struct {
		work func(turn string)
		want []string
		not  string
	}{
		"failed": {func(turn string) {
			b.exec(t, `SELECT turn_end($1, 'failed', 'model_unavailable', 'The model does not answer.')`, turn)
		}, []string{"RUN_STARTED", `"RUN_ERROR"`, `"code":"model_unavailable"`, "The model does not answer."}, "RUN_FINISHED"},
		"corrected": {func(turn string) {
			b.emit(t, turn, "reply.delta", map[string]any{"text": "There "})
			b.emit(t, turn, "reply.reset", map[string]any{"attempt": 2})
			b.reply(t, turn, "Here.")
		}, []string{`"delta":"There "`, `"TEXT_MESSAGE_END"`, `"MESSAGES_SNAPSHOT"`, `"content":"Here."`, `"STEP_FINISHED"`, `"RUN_FINISHED"`}, "RUN_ERROR"},
		"asked": {func(turn string) {
			b.emit(t, turn, "question", map[string]any{"kind": "clarify", "text": "Which?"})
			b.reply(t, turn, "Which?")
		}, []string{`"CUSTOM"`, `"kind":"clarify"`, `"delta":"Which?"`, `"STATE_SNAPSHOT"`}, "RUN_ERROR"},
	} {
		var a *answer
		done := make(chan struct{})
		go func() {
			defer close(done)
			a, _ = fetch(t.Context(), b.url, http.MethodPost, "/v1/agui", aguiBody(session, name, name), header{"Authorization": "Bearer " + b.key})
		}()
		c.work(b.waitForTurn(t, name))
		<-done
		require.NotNil(t, a)
		for _, want := range c.want {
			require.Contains(t, a.raw, want, name)
		}
		require.NotContains(t, a.raw, c.not, name)
		require.Equal(t, session, a.header.Get("X-Session-Id"), "a thread that is a session's id is that session")
	}
}

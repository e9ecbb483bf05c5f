package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"alfred/internal/auth"
	"alfred/internal/dbtest"
	"alfred/internal/httpapi"
)

// waiting is every kind of request that a client may hold open, by message. It acts as the key's owner.
func (b *bundle) waiting(session, turn string) map[string]func(ctx context.Context, key, message string) (*answer, error) {
	post := func(path string, body func(message string) any) func(context.Context, string, string) (*answer, error) {
		return func(ctx context.Context, key, message string) (*answer, error) {
			return fetch(ctx, b.url, http.MethodPost, path, body(message), header{
				"Authorization": "Bearer " + key, "X-Session-Id": session, "Accept": "application/json, text/event-stream",
			})
		}
	}
	get := func(path string) func(context.Context, string, string) (*answer, error) {
		return func(ctx context.Context, key, _ string) (*answer, error) {
			return fetch(ctx, b.url, http.MethodGet, path, nil, header{"Authorization": "Bearer " + key})
		}
	}
	completion := func(stream bool) func(string) any {
		return func(message string) any {
			return map[string]any{"model": "alfred", "stream": stream, "messages": []map[string]any{{"role": "user", "content": message}}}
		}
	}

	return map[string]func(context.Context, string, string) (*answer, error){
		"agui":              post("/v1/agui", func(message string) any { return aguiBody(session, message, message) }),
		"completion":        post("/v1/chat/completions", completion(false)),
		"completion stream": post("/v1/chat/completions", completion(true)),
		"mcp": post("/mcp", func(message string) any {
			return mcpCall("send_message", map[string]any{"session_id": session, "message": message})
		}),
		"session events": get("/v1/sessions/" + session + "/events"),
		"turn events":    get("/v1/turns/" + turn + "/events"),
		"turn wait":      get("/v1/turns/" + turn + "?wait=1m"),
	}
}

// mcpCall is a tool call in the wire format.
func mcpCall(tool string, arguments map[string]any) map[string]any {
	return map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": arguments}}
}

// Whatever holds a connection open counts against the key's streams, in any protocol.
func TestEveryProtocolCountsStreams(t *testing.T) {
	t.Parallel()

	b := setup(t, func(c *httpapi.Config) { c.Budget = auth.Budget{Streams: 1} })
	session := b.session(t)
	turn := b.message(t, session, "hi")
	b.openStream(t, "/v1/sessions/"+session+"/events")
	b.exec(t, `SELECT turn_end($1, 'cancelled', 'cancelled', 'Stopped.')`, turn)
	for name, ask := range b.waiting(session, turn) {
		a, err := ask(t.Context(), b.key, name)
		require.NoError(t, err)
		require.Equal(t, http.StatusTooManyRequests, a.status, "%s: %s", name, a.raw)
		require.Contains(t, a.raw, "limit_exceeded", name)
		require.NotEmpty(t, a.header.Get("Retry-After"), name)
	}
	require.Equal(t, 1, one[int](t, b, `SELECT count(*)::int FROM turns`), "what is refused leaves no message")
}

// A wait that is sent again, because its user has moved, does not begin anew.
func TestWaitsCountFromTheirArrival(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	var config httpapi.Config
	b := setup(t, func(c *httpapi.Config) { config = *c })
	turn := b.message(t, b.session(t), "hi")
	const wait = time.Minute
	arrived := auth.WithPlace(t.Context(), nil, time.Now().Add(-wait))
	request := httptest.NewRequestWithContext(arrived, http.MethodGet, "/v1/turns/"+turn+"?wait="+wait.String(), nil)
	request.Header.Set("Authorization", "Bearer "+b.key)
	answer, again := httptest.NewRecorder(), time.Now()
	httpapi.New(config).ServeHTTP(answer, request)
	require.Equal(t, http.StatusOK, answer.Code, answer.Body)
	require.Less(t, time.Since(again), wait)
}

// What happens after a key is revoked reaches nobody who started waiting with it.
func TestRevokedWhileWaiting(t *testing.T) {
	t.Parallel()

	b := setup(t)
	for _, name := range []string{"agui", "completion", "completion stream", "mcp", "session events", "turn events", "turn wait"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			user, key := b.newUser(t, name, "chat")
			mine := *b
			mine.key = key
			session := mine.session(t)
			turn := ""
			if _, verb, _ := strings.Cut(name, " "); verb == "events" || verb == "wait" {
				turn = mine.message(t, session, name)
			}
			ask := b.waiting(session, turn)[name]
			wait, _ := meanwhile(t, func() (*answer, error) { return ask(t.Context(), key, name) })
			turn = b.waitForTurn(t, name)
			b.emit(t, turn, "reply.delta", map[string]any{"text": "before "})
			b.exec(t, `UPDATE api_keys SET revoked_at = now() WHERE user_id = $1`, user)
			b.emit(t, turn, "reply.delta", map[string]any{"text": secret})
			b.reply(t, turn, secret)
			a := wait()
			require.NotContains(t, a.raw, secret)
			if a.status == http.StatusOK && strings.HasPrefix(name, "completion ") || name == "agui" || name == "mcp" {
				require.Contains(t, a.raw, "unauthorized")
			}
		})
	}
}

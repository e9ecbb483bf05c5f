package httpapi_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// forgeries would start their own line or header if nothing prevented it.
var forgeries = []string{
	"a\r\nX-Forged: 1", "a\nX-Forged: 1", "a\rX-Forged: 1", "a\r\n\r\n{\"level\":\"ERROR\"}", "a\x00X-Forged: 1", "a\x1b[2J\x1b]0;t\x07", "a\u2028X-Forged: 1",
	"a\u0085X-Forged: 1", "\"}\n{\"level\":\"ERROR\",\"msg\":\"forged\"", "a\u202eb\u2066c", "\x7f\x08", "a\vb\fc",
}

// raw sends bytes that a client library would reject, and reads the response.
func (b *bundle) raw(t *testing.T, request string) (*http.Response, string) {
	t.Helper()

	conn, err := net.Dial("tcp", strings.TrimPrefix(b.url, "http://"))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, err = io.WriteString(conn, request)
	require.NoError(t, err)
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())

	return response, string(body)
}

// Nothing a client sends can become a response header or a log line, wherever it appears: in the path, query, headers,
// names, titles or keys.
func TestNothingIsForged(t *testing.T) {
	t.Parallel()

	b := setup(t)
	session := b.session(t)
	turn := b.message(t, session, "hi")
	ask := func(method, path, headers, body string) {
		t.Helper()

		response, _ := b.raw(t, fmt.Sprintf("%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n%s",
			method, path, len(body), headers, body))
		require.Empty(t, response.Header.Get("X-Forged"), path)
		require.NotEqual(t, http.StatusInternalServerError, response.StatusCode, "%s %s %q", method, path, headers)
		for name, values := range response.Header {
			for _, value := range values {
				require.NotRegexp(t, `[\x00-\x08\x0a-\x1f\x7f]`, name+value, path)
			}
		}
	}
	key := "Authorization: Bearer " + b.key + "\r\n"
	for i, forged := range forgeries {
		inPath, inQuery := url.PathEscape(forged), url.QueryEscape(forged)
		for _, path := range []string{
			"/v1/sessions/" + inPath, "/v1/turns/" + inPath, "/v1/turns/" + turn + "?wait=" + inQuery, "/v1/data/" + inPath, "/v1/data/recipe?q=" + inQuery,
			"/v1/sessions?cursor=" + inQuery, "/v1/search?q=" + inQuery + "&type=" + inQuery, "/v1/mentions?q=" + inQuery, "/v1/models/" + inPath,
			"/v1/sessions/" + session + "/artifacts/" + inPath, "/v1/turns/" + turn + "/events?after=" + inQuery, "/" + inPath, "/v1/" + inPath,
		} {
			ask(http.MethodGet, path, key, "")
		}
		text, err := json.Marshal(forged)
		require.NoError(t, err)
		ask(http.MethodPost, "/v1/sessions", key, `{"title": `+string(text)+`}`)
		ask(http.MethodPost, "/v1/chat/completions", key, `{"model": `+string(text)+`, "messages": []}`)
		ask(http.MethodPost, "/v1/chat/completions", key, `{"model": "alfred", "user": `+string(text)+`, "messages": [{"role": "user", "content": [{"type": `+string(text)+`}]}]}`)
		ask(http.MethodPost, "/v1/agui", key, `{"threadId": `+string(text)+`, "runId": `+string(text)+`, "messages": [{"role": `+string(text)+`}]}`)
		ask(http.MethodPost, "/mcp", key+"Accept: application/json, text/event-stream\r\n", `{"jsonrpc": "2.0", "id": `+string(text)+`, "method": "tools/call", "params": {"name": `+string(text)+`}}`)
		for _, name := range []string{"Idempotency-Key", "X-Session-Id", "Last-Event-ID", "Origin", "If-Match", "If-None-Match", "Traceparent", "X-Request-Id", "X-Forwarded-For", "User-Agent", "Accept"} {
			ask(http.MethodPost, "/v1/sessions/"+session+"/turns", key+name+": "+forged+"\r\n", fmt.Sprintf(`{"message": "m%d"}`, i))
			ask(http.MethodGet, "/v1/sessions/"+session, key+name+": "+forged+"\r\n", "")
		}
		ask(http.MethodGet, "/v1/sessions", "Authorization: Bearer "+forged+"\r\n", "")
		name := strings.ReplaceAll(forged, "\x00", "") // which Postgres cannot store
		if _, err = b.pool.Exec(t.Context(), `INSERT INTO users (name) VALUES ($1)`, name); err == nil {
			mine := *b
			_, mine.key = b.newUser(t, name, "chat")
			require.Equal(t, http.StatusOK, mine.call(t, http.MethodGet, "/v1/sessions", nil).status)
		}
	}
	lines := strings.Split(strings.TrimSuffix(b.log.String(), "\n"), "\n")
	require.Greater(t, len(lines), len(forgeries))
	for _, line := range lines {
		var entry map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &entry), line)
		require.Equal(t, "request", entry["msg"], line)
		require.NotRegexp(t, `[\x00-\x1f\x7f]`, line)
		require.NotEqual(t, "ERROR", entry["level"], line)
	}
}

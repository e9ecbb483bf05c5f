package httpapi_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Whatever is sent to any route, the answer is one of our problems and reveals nothing about storage.
func TestEveryRouteRefusesBadInput(t *testing.T) {
	t.Parallel()

	b := setup(t)
	session := b.session(t)
	turn := b.message(t, session, "hi")
	huge := `{"message": "` + strings.Repeat("x", 2<<20) + `"}`
	for _, route := range b.routes(t) {
		id := session
		if strings.Contains(route.path, "/turns/{id}") {
			id = turn
		}
		path := route.at(id)
		for name, bad := range map[string]struct {
			method, query, body string
			headers             header
		}{
			"another method": {method: "TRACE"},
			"a cursor":       {query: "?cursor=%ff%00&limit=1"},
			"a limit":        {query: "?limit=-1"},
			"wrong type":     {body: `{"message": 1, "title": {}, "content": 7, "name": []}`},
			"unknown field":  {body: `{"massage": "x"}`},
			"not JSON":       {body: `{"a": `},
			"NUL":            {body: "{\"message\": \"\\u0000\", \"title\": \"\\u0000\", \"name\": \"\\u0000\", \"x\": 1}"},
			"no UTF-8":       {body: "{\"\xff\": \"\xff\"}"},
			"huge":           {body: huge},
			"a form":         {body: "message=x", headers: header{"Content-Type": "application/x-www-form-urlencoded"}},
		} {
			method, body := route.method, any(nil)
			if bad.method != "" {
				method = bad.method
			}
			if bad.body != "" {
				if method == http.MethodGet || method == http.MethodDelete {
					continue // they read no body
				}
				body = bad.body
			}
			if bad.query != "" && (method != http.MethodGet || strings.HasSuffix(path, "/events")) {
				continue
			}
			a := b.call(t, method, path+bad.query, body, bad.headers)
			require.NotEqual(t, http.StatusInternalServerError, a.status, "%s %s, %s: %s", method, path, name, a.raw)
			if a.status < http.StatusBadRequest {
				continue // this route ignores what was sent
			}
			a.requireProblem(t, a.status, a.code())
			for _, leak := range []string{"SQLSTATE", "SELECT", "alfred.", "pgx", "kitchen.", b.user.String()} {
				require.NotContains(t, a.raw, leak, "%s %s, %s", method, path, name)
			}
		}
	}
}

// A parameter that a route does not have is an error: ignored, a misspelt filter would show more than was asked for.
func TestUnknownParametersAreRefused(t *testing.T) {
	t.Parallel()

	b := setup(t)
	session := b.session(t)
	for _, route := range b.routes(t) {
		refused := b.call(t, route.method, route.at(session)+"?nonsense=1", nil)
		refused.requireProblem(t, http.StatusBadRequest, "invalid_request")
		require.Contains(t, refused.text("detail"), `There is no parameter "nonsense" here`, route.path)
	}
	for path, detail := range map[string]string{
		"/v1/sessions?limit=1&archive=true":        `There is no parameter "archive" here. Those that exist: archived, cursor, limit, q.`,
		"/v1/sessions/" + session + "?until=reply": `There is no parameter "until" here. Those that exist: none.`,
		"/v1/data/recipe?session=" + session:       `There is no parameter "session" here. Those that exist: cursor, filters, labels, limit, order, q.`,
		"/v1/sessions?limit=1;q=x":                 "The query of this address could not be read.",
		"/v1/data/recipe?filters=[]&filters=[]":    "filters is given 2 times, and only one can apply.",
	} {
		require.Equal(t, detail, b.call(t, http.MethodGet, path, nil).text("detail"))
	}
	known := b.call(t, http.MethodPatch, "/v1/data/recipe/1?session="+session, map[string]any{"name": "x"})
	known.requireProblem(t, http.StatusNotFound, "not_found")
}

// A body of nothing but faults is not answered with itself once for each.
func TestManyFaultsAreToldBriefly(t *testing.T) {
	t.Parallel()

	b := setup(t)
	strange := map[string]any{}
	for i := range 50_000 {
		strange[fmt.Sprintf("field_%d", i)] = i
	}
	refused := b.call(t, http.MethodPost, "/v1/sessions", strange)
	refused.requireProblem(t, http.StatusBadRequest, "invalid_request")
	require.Contains(t, refused.raw, "unexpected property (body.field_")
	require.Less(t, len(refused.raw), 2000)
}

// Values of three bytes each take ten times as much memory: no route decodes hundreds of thousands of them.
func TestBodiesOfTooManyValues(t *testing.T) {
	t.Parallel()

	b := setup(t)
	body := `{"%s": [` + strings.Repeat("{},", 200_000) + `{"role": "user", "content": "hi"}]%s}`
	for path, parts := range map[string][]any{
		"/v1/sessions":         {"title", ""},
		"/v1/data/recipe":      {"name", ""},
		"/v1/chat/completions": {"messages", `, "model": "alfred"`},
		"/v1/agui":             {"messages", `, "threadId": "t", "runId": "r"`},
		"/mcp":                 {"params", `, "jsonrpc": "2.0", "id": 1, "method": "tools/call"`},
	} {
		refused := b.call(t, http.MethodPost, path, fmt.Sprintf(body, parts...), header{"Accept": "application/json, text/event-stream"})
		require.Equal(t, http.StatusBadRequest, refused.status, "%s: %s", path, refused.raw)
		require.Contains(t, refused.raw, "more than 100000 values", path)
	}
	text := strings.Repeat(`{\", [`, 60_000) // what stands in a text is one value
	b.call(t, http.MethodPost, "/v1/data/recipe", `{"name": "`+text+`"}`).requireProblem(t, http.StatusBadRequest, "rule_violation")
	require.Zero(t, one[int](t, b, `SELECT count(*)::int FROM turns`))
}

// A client that sends too much, slowly, still receives the refusal.
func TestRefusedBodyIsReadToItsEnd(t *testing.T) {
	t.Parallel()

	b := setup(t)
	var dialer net.Dialer
	conn, err := dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(b.url, "http://"))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	half := strings.Repeat(" ", 3<<19)
	_, err = fmt.Fprintf(conn, "POST /v1/sessions HTTP/1.1\r\nHost: alfred\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		b.key, 2*len(half), half)
	require.NoError(t, err)
	time.Sleep(time.Second) // longer than the server waits before closing a connection
	_, err = io.WriteString(conn, half)
	require.NoError(t, err)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	require.Equal(t, http.StatusRequestEntityTooLarge, resp.StatusCode)
}

// A body that breaks off is the client's fault; no protocol waits for the rest, or takes more than it is said to.
func TestBrokenBodies(t *testing.T) {
	t.Parallel()

	b := setup(t)
	for _, path := range []string{"/v1/sessions", "/v1/agui", "/mcp"} {
		var dialer net.Dialer
		conn, err := dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(b.url, "http://"))
		require.NoError(t, err)
		_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: alfred\r\nAuthorization: Bearer %s\r\nAccept: application/json, text/event-stream\r\n"+
			"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{\"\r\nzz\r\n", path, b.key)
		require.NoError(t, err)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		raw, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusBadRequest, resp.StatusCode, "%s: %s", path, raw)
		require.Contains(t, string(raw), `"code":"invalid_request"`, path)
		require.NoError(t, conn.Close())
	}
	large := `{"jsonrpc": "2.0", "id": 1, "method": "tools/list"` + strings.Repeat(" ", 1<<20) + `}`
	b.call(t, http.MethodPost, "/mcp", large, header{"Accept": "application/json, text/event-stream"}).
		requireProblem(t, http.StatusRequestEntityTooLarge, "message_too_large")
}

package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever is sent to whatever route, the answer is a problem of ours that says
// nothing of how things are stored.
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
				continue // this route has no use for what was sent
			}
			a.requireProblem(t, a.status, a.code())
			for _, leak := range []string{"SQLSTATE", "SELECT", "alfred.", "pgx", "kitchen.", b.user.String()} {
				require.NotContains(t, a.raw, leak, "%s %s, %s", method, path, name)
			}
		}
	}
}

package httpapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"alfred/internal/auth"
	"alfred/internal/httpapi"
)

func TestKeys(t *testing.T) {
	t.Parallel()

	b := setup(t)
	_, revoked := b.newUser(t, "eve", "chat")
	b.exec(t, `UPDATE api_keys SET revoked_at = now() WHERE user_id = (SELECT id FROM users WHERE name = 'eve')`)
	never, _ := auth.NewKey()

	var first *answer
	for name, authorization := range map[string]string{
		"none": "", "no scheme": b.key, "another scheme": "Basic " + b.key, "empty": "Bearer ", "revoked": "Bearer " + revoked,
		"never made": "Bearer " + never, "cut off": "Bearer " + b.key[:20], "case": "Bearer " + strings.ToUpper(b.key), "a quote": "Bearer ' OR 1=1",
	} {
		a := send(t, b.url, http.MethodGet, "/v1/sessions", nil, header{"Authorization": authorization})
		require.Equal(t, http.StatusUnauthorized, a.status, name)
		a.requireProblem(t, http.StatusUnauthorized, "unauthorized")
		require.Equal(t, "Bearer", a.header.Get("WWW-Authenticate"))
		if first == nil {
			first = a
		}
		require.Equal(t, first.raw, a.raw, "an answer must not say what was wrong with a key")
	}
	require.Equal(t, http.StatusOK, send(t, b.url, http.MethodGet, "/v1/sessions", nil, header{"Authorization": "bearer " + b.key}).status)
	require.NotContains(t, b.log.String(), b.key)
}

func TestScopes(t *testing.T) {
	t.Parallel()

	b := setup(t)
	session := b.session(t)
	_, b.key = b.newUser(t, "ada", "read")
	require.Equal(t, http.StatusOK, b.call(t, http.MethodGet, "/v1/sessions/"+session, nil).status)
	require.Equal(t, http.StatusOK, b.call(t, http.MethodHead, "/v1/sessions/"+session, nil).status)
	for _, route := range b.routes(t) {
		if route.method != http.MethodGet {
			b.call(t, route.method, route.at(session), nil).requireProblem(t, http.StatusForbidden, "forbidden")
		}
	}
	_, b.key = b.newUser(t, "ada", "chat")
	require.Equal(t, http.StatusOK, b.call(t, http.MethodGet, "/v1/sessions/"+session, nil).status, "chat keys read, too")
	_, b.key = b.newUser(t, "ada", "admin")
	b.message(t, session, "hi")
}

func TestEveryRouteAsksForAKey(t *testing.T) {
	t.Parallel()

	b := setup(t)
	routes := b.routes(t)
	require.GreaterOrEqual(t, len(routes), 20)
	for _, route := range routes {
		a := send(t, b.url, route.method, route.at(uuid.NewString()), nil, nil)
		require.Equal(t, http.StatusUnauthorized, a.status, "%s %s", route.method, route.path)
		require.Equal(t, "unauthorized", a.code())
	}
}

func TestOpenUser(t *testing.T) {
	t.Parallel()

	b := setup(t)
	url := b.serve(t, func(c *httpapi.Config) { c.OpenUser, c.Origins = b.user, []string{"https://friend.example"} })
	get := func(h header) *answer { return send(t, url, http.MethodGet, "/v1/sessions", nil, h) }
	post := func(h header) *answer { return send(t, url, http.MethodPost, "/v1/sessions", `{}`, h) }

	require.Equal(t, http.StatusOK, get(nil).status)
	require.Equal(t, http.StatusCreated, post(nil).status)
	require.Equal(t, http.StatusCreated, post(header{"Origin": url}).status)
	require.Equal(t, http.StatusCreated, post(header{"Origin": "https://friend.example", "Sec-Fetch-Site": "cross-site"}).status)
	post(header{"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}).requireProblem(t, http.StatusForbidden, "forbidden")
	post(header{"Origin": "https://evil.example"}).requireProblem(t, http.StatusForbidden, "forbidden")

	// A host name that its owner pointed at this machine.
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/v1/sessions", nil)
	require.NoError(t, err)
	request.Host = "evil.example:8080"
	response, err := client.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusForbidden, response.StatusCode)
}

func TestOrigins(t *testing.T) {
	t.Parallel()

	b := setup(t, func(c *httpapi.Config) { c.Origins = []string{"https://friend.example"} })
	preflight := header{"Origin": "https://friend.example", "Access-Control-Request-Method": "POST", "Authorization": "", "Access-Control-Request-Headers": "prefer,x-session-id,x-stainless-os"}
	a := b.call(t, http.MethodOptions, "/v1/sessions", nil, preflight)
	require.Equal(t, http.StatusNoContent, a.status)
	require.Equal(t, "https://friend.example", a.header.Get("Access-Control-Allow-Origin"))
	require.Contains(t, a.header.Get("Access-Control-Allow-Methods"), "PATCH")
	require.Equal(t, "prefer,x-session-id,x-stainless-os", a.header.Get("Access-Control-Allow-Headers"), "whatever the protocols' clients send")

	friend := b.call(t, http.MethodGet, "/v1/sessions", nil, header{"Origin": "https://friend.example"})
	require.Equal(t, http.StatusOK, friend.status)
	require.Equal(t, "https://friend.example", friend.header.Get("Access-Control-Allow-Origin"))
	require.Contains(t, friend.header.Get("Access-Control-Expose-Headers"), "X-Session-Id")
	require.Empty(t, friend.header.Get("Access-Control-Allow-Credentials"))

	for _, origin := range []string{"https://evil.example", "null", ""} {
		a := b.call(t, http.MethodGet, "/v1/sessions", nil, header{"Origin": origin})
		require.Empty(t, a.header.Get("Access-Control-Allow-Origin"))
		require.Equal(t, "Origin", a.header.Get("Vary"))
	}
	b.call(t, http.MethodOptions, "/v1/sessions", nil, header{"Origin": "https://evil.example"}).requireProblem(t, http.StatusMethodNotAllowed, "invalid_request")
}

func TestLoopback(t *testing.T) {
	t.Parallel()

	for host, want := range map[string]bool{
		"127.0.0.1:8080": true, "localhost:8080": true, "LOCALHOST": true, "[::1]:80": true, "[::1]": true, "127.9.9.9": true,
		":8080": false, "0.0.0.0:8080": false, "": false, "localhost.evil.example:80": false, "10.0.0.1:80": false, "[::]:80": false,
	} {
		require.Equal(t, want, httpapi.Loopback(host), host)
	}
}

// route is one operation in the description.
type route struct {
	method, path string
}

func (r route) at(id string) string {
	return strings.NewReplacer("{id}", id, "{type}", "recipe", "{ref}", "recipe_1").Replace(r.path)
}

// routes are all operations in the server's own description.
func (b *bundle) routes(t *testing.T) []route {
	t.Helper()

	var spec struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	require.NoError(t, json.Unmarshal([]byte(b.call(t, http.MethodGet, "/v1/openapi.json", nil).raw), &spec))
	var routes []route
	for path, methods := range spec.Paths {
		for method := range methods {
			routes = append(routes, route{strings.ToUpper(method), path})
		}
	}

	return routes
}

package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestUnknownIDs(t *testing.T) {
	t.Parallel()

	b := setup(t)
	for _, id := range []string{uuid.NewString(), "1", "undefined", "%00", "%ff", strings.Repeat("a", 2000), uuid.Nil.String(), "..%2F..%2Fetc"} {
		for _, route := range []struct{ method, path string }{
			{"GET", "/v1/sessions/{id}"},
			{"PATCH", "/v1/sessions/{id}"},
			{"DELETE", "/v1/sessions/{id}"},
			{"POST", "/v1/sessions/{id}/turns"},
			{"GET", "/v1/sessions/{id}/turns"},
			{"GET", "/v1/sessions/{id}/events"},
			{"GET", "/v1/sessions/{id}/entities"},
			{"PUT", "/v1/sessions/{id}/entities/recipe_1/pin"},
			{"DELETE", "/v1/sessions/{id}/entities/recipe_1/pin"},
			{"GET", "/v1/sessions/{id}/context"},
			{"GET", "/v1/sessions/{id}/summaries"},
			{"GET", "/v1/turns/{id}"},
			{"GET", "/v1/turns/{id}?wait=1ms"},
			{"POST", "/v1/turns/{id}/cancel"},
			{"GET", "/v1/turns/{id}/events"},
		} {
			var body any
			switch route.method {
			case http.MethodPost:
				body = map[string]any{"message": "hi"}
			case http.MethodPatch:
				body = map[string]any{}
			}
			a := b.call(t, route.method, strings.Replace(route.path, "{id}", id, 1), body)
			require.Equal(t, http.StatusNotFound, a.status, "%s %s: %s", route.method, route.path, a.raw)
			a.requireProblem(t, http.StatusNotFound, "not_found")
		}
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()

	b := setup(t)
	path := "/v1/sessions/" + b.session(t) + "/turns"
	for name, c := range map[string]struct {
		body   any
		status int
		code   string
	}{
		"empty":                   {map[string]any{"message": ""}, 400, "invalid_request"},
		"blank":                   {map[string]any{"message": " \n\t "}, 400, "invalid_request"},
		"missing":                 {map[string]any{}, 400, "invalid_request"},
		"null":                    {`{"message": null}`, 400, "invalid_request"},
		"a number":                {`{"message": 1}`, 400, "invalid_request"},
		"100 kB":                  {map[string]any{"message": strings.Repeat("x", 100_000)}, 413, "message_too_large"},
		"one byte too many":       {map[string]any{"message": strings.Repeat("é", 16384) + "x"}, 413, "message_too_large"},
		"2 MB":                    {map[string]any{"message": strings.Repeat("x", 2_000_000)}, 413, "message_too_large"},
		"NUL":                     {`{"message": "a\u0000b"}`, 400, "invalid_request"},
		"NUL in an input":         {`{"message": "a", "ui_changes": [{"action": "created:user", "entity_type": "inv", "entity_id": "1", "label": "\u0000"}]}`, 400, "invalid_request"},
		"NUL in its data":         {`{"message": "a", "ui_changes": [{"action": "created:user", "entity_type": "inv", "entity_id": "1", "label": "x", "data": {"a": "\u0000"}}]}`, 400, "invalid_request"},
		"half a character":        {`{"message": "a", "ui_changes": [{"action": "created:user", "entity_type": "inv", "entity_id": "1", "label": "x", "data": {"a": "\ud800"}}]}`, 400, "invalid_request"},
		"a number beyond numbers": {`{"message": "a", "ui_changes": [{"action": "created:user", "entity_type": "inv", "entity_id": "1", "label": "x", "data": {"a": 1e999999}}]}`, 400, "invalid_request"},
		"a deep hole":             {`{"message": "a", "ui_changes": [{"action": "created:user", "entity_type": "inv", "entity_id": "1", "label": "x", "data": ` + strings.Repeat("[", 11000) + strings.Repeat("]", 11000) + `}]}`, 400, "invalid_request"},
		"unknown field":           {`{"message": "a", "massage": "b"}`, 400, "invalid_request"},
		"unknown mode":            {`{"message": "a", "mode": "fast"}`, 400, "invalid_request"},
		"unknown if_busy":         {`{"message": "a", "if_busy": "shout"}`, 400, "invalid_request"},
		"inputs of another shape": {`{"message": "a", "ui_changes": {}}`, 400, "invalid_request"},
		"unknown field of inputs": {`{"message": "a", "mentioned_entities": [{"ref_type": "recipe", "uuid": "1", "label": "x", "id": 1}]}`, 400, "invalid_request"},
		"unknown type changed":    {`{"message": "a", "ui_changes": [{"action": "created:user", "entity_type": "spaceship", "entity_id": "1", "label": "x"}]}`, 422, "invalid_request"},
		"unknown type mentioned":  {`{"message": "a", "mentioned_entities": [{"ref_type": "spaceship", "uuid": "1", "label": "x"}]}`, 422, "invalid_request"},
		"not JSON":                {`{"message": `, 400, "invalid_request"},
		"not an object":           {`["message"]`, 400, "invalid_request"},
		"nothing":                 {nil, 400, "invalid_request"},
	} {
		a := b.call(t, http.MethodPost, path, c.body)
		require.Equal(t, c.status, a.status, "%s: %s", name, a.raw)
		a.requireProblem(t, c.status, c.code)
	}
	require.Empty(t, b.call(t, http.MethodGet, path, nil).items(), "nothing of all that became a turn")

	// The largest bodies, invalid UTF-8, and every kind of character.
	for _, c := range []struct{ body, stored string }{
		{`{"message": "` + strings.Repeat("x", 32768) + `"}`, strings.Repeat("x", 32768)},
		{"{\"message\": \"a\xffb\"}", "a\ufffdb"},
		{`{"message": "<script>👩‍🍳 \u2028 \\ \"'; DROP TABLE turns; --"}`, "<script>👩‍🍳 \u2028 \\ \"'; DROP TABLE turns; --"},
	} {
		sent := b.call(t, http.MethodPost, path, c.body)
		require.Equal(t, http.StatusAccepted, sent.status, sent.raw)
		require.Equal(t, c.stored, b.call(t, http.MethodGet, "/v1/turns/"+sent.text("id"), nil).text("message"))
	}
}

func TestMessageHeaders(t *testing.T) {
	t.Parallel()

	b := setup(t)
	path := "/v1/sessions/" + b.session(t) + "/turns"
	message := map[string]any{"message": "hi"}
	b.call(t, http.MethodPost, path, message, header{"Idempotency-Key": strings.Repeat("k", 256)}).requireProblem(t, http.StatusBadRequest, "invalid_request")
	b.call(t, http.MethodPost, path, message, header{"Idempotency-Key": "\xff"}).requireProblem(t, http.StatusBadRequest, "invalid_request")
	b.call(t, http.MethodPost, path, "message=hi", header{"Content-Type": "application/x-www-form-urlencoded"}).requireProblem(t, http.StatusUnsupportedMediaType, "invalid_request")
	b.call(t, http.MethodPost, path, `{"message": "hi"}`, header{"Content-Type": "text/plain"}).requireProblem(t, http.StatusUnsupportedMediaType, "invalid_request")
}

func TestWrongAddresses(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.call(t, http.MethodGet, "/v1/nothing", nil).requireProblem(t, http.StatusNotFound, "not_found")
	b.call(t, http.MethodGet, "/nothing", nil).requireProblem(t, http.StatusNotFound, "not_found")
	b.call(t, http.MethodGet, "/v1/schemas/Nothing.json", nil).requireProblem(t, http.StatusNotFound, "not_found")
	b.call(t, http.MethodGet, "/assets/../../api.go", nil).requireProblem(t, http.StatusNotFound, "not_found")
	for path, allow := range map[string]string{"/v1/sessions": "GET, HEAD, POST", "/v1/turns/1": "GET, HEAD", "/healthz": "GET, HEAD"} {
		a := b.call(t, http.MethodPut, path, nil)
		a.requireProblem(t, http.StatusMethodNotAllowed, "invalid_request")
		require.Equal(t, allow, a.header.Get("Allow"))
	}
}

func TestQueries(t *testing.T) {
	t.Parallel()

	b := setup(t)
	session := b.session(t)
	turn := b.message(t, session, "hi")
	for _, path := range []string{
		"/v1/sessions?limit=0", "/v1/sessions?limit=201", "/v1/sessions?limit=many", "/v1/sessions?cursor=forged",
		"/v1/sessions?cursor=%ff%00", "/v1/sessions?cursor=MjAyNi0wMS0wMVQwMDowMDowMFp8eA",
		"/v1/sessions/" + session + "/turns?cursor=-1", "/v1/sessions/" + session + "/turns?cursor=99999999999",
		"/v1/sessions/" + session + "/turns?cursor=x", "/v1/sessions/" + session + "/summaries?cursor=x",
		"/v1/sessions/" + session + "/context?node=dream",
		"/v1/turns/" + turn + "?wait=soon", "/v1/turns/" + turn + "?wait=1h", "/v1/turns/" + turn + "?wait=-1s", "/v1/turns/" + turn + "?wait=1s&until=later",
		"/v1/turns/" + turn + "/events?after=x", "/v1/turns/" + turn + "/events?after=-1", "/v1/turns/" + turn + "/events?after=1.2",
		"/v1/sessions/" + session + "/events?after=3", "/v1/sessions/" + session + "/events?after=1.x",
	} {
		a := b.call(t, http.MethodGet, path, nil)
		require.Equal(t, http.StatusBadRequest, a.status, "%s: %s", path, a.raw)
		a.requireProblem(t, http.StatusBadRequest, "invalid_request")
	}
	for _, body := range []string{`{"title": "\u0000"}`, `{"mode": "fast"}`, `{"title": 1}`, `{"titel": "x"}`, `{"title": "` + strings.Repeat("é", 201) + `"}`} {
		b.call(t, http.MethodPost, "/v1/sessions", body).requireProblem(t, http.StatusBadRequest, "invalid_request")
	}
	b.call(t, http.MethodPatch, "/v1/sessions/"+session, `{"archived": "yes"}`).requireProblem(t, http.StatusBadRequest, "invalid_request")
}

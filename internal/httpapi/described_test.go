package httpapi_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"alfred/internal/httpapi"
)

// descriptions is the API's description, as answers are checked against it.
type descriptions struct {
	description

	routes     *http.ServeMux // finds the pattern of a request, such as GET /v1/sessions/{id}
	operations map[string]described

	mu       sync.Mutex
	resolved map[string]*jsonschema.Resolved
}

var theDescriptions = sync.OnceValues(func() (*descriptions, error) {
	d := &descriptions{routes: http.NewServeMux(), operations: map[string]described{}, resolved: map[string]*jsonschema.Resolved{}}
	text, err := httpapi.Document("1", false)
	if err == nil {
		err = json.Unmarshal(text, &d.description)
	}
	for path, methods := range d.Paths {
		for method, op := range methods {
			pattern := strings.ToUpper(method) + " " + path
			d.routes.Handle(pattern, http.NotFoundHandler())
			d.operations[pattern] = op
		}
	}

	return d, err
})

// requireDescribed checks that the description of a request's route has the answer: its status and, in JSON, its body.
// Requests to other routes may be answered in any way.
func (a *answer) requireDescribed(t *testing.T, method, path string) {
	t.Helper()

	d, err := theDescriptions()
	require.NoError(t, err)
	request, err := http.NewRequestWithContext(t.Context(), method, path, nil)
	require.NoError(t, err)
	_, route := d.routes.Handler(request)
	op, known := d.operations[route]
	if !known {
		return
	}
	response, known := op.Responses[strconv.Itoa(a.status)]
	require.True(t, known, "%s answers %d: %s", route, a.status, a.raw)
	if a.body == nil {
		return
	}
	content, known := response.Content[a.header.Get("Content-Type")]
	require.True(t, known, "%s answers %d as %s", route, a.status, a.header.Get("Content-Type"))
	require.NoError(t, d.schema(t, route+strconv.Itoa(a.status), content.Schema).Validate(a.body), "%s answers %d: %s", route, a.status, a.raw)
}

func (d *descriptions) schema(t *testing.T, name string, schema map[string]any) *jsonschema.Resolved {
	t.Helper()

	d.mu.Lock()
	defer d.mu.Unlock()
	if d.resolved[name] == nil {
		whole, err := json.Marshal(map[string]any{"allOf": []any{schema}, "$defs": d.Components.Schemas})
		require.NoError(t, err)
		parsed := &jsonschema.Schema{}
		require.NoError(t, json.Unmarshal(bytes.ReplaceAll(whole, []byte("#/components/schemas/"), []byte("#/$defs/")), parsed))
		d.resolved[name], err = parsed.Resolve(nil)
		require.NoError(t, err, name)
	}

	return d.resolved[name]
}

// Answers that no other test asks for; call checks them.
func TestRareAnswersAreDescribed(t *testing.T) {
	t.Parallel()

	b := setup(t)
	session := b.session(t)
	turn := b.message(t, session, "Add eggs")
	b.reply(t, turn, "Added.")
	path := "/v1/sessions/" + session

	strange := map[string]any{"message": "hi", "ui_changes": []any{map[string]any{"action": "eaten", "entity_type": "inv", "entity_id": "1", "label": "eggs"}}}
	b.call(t, http.MethodPost, path+"/turns", strange).requireProblem(t, http.StatusUnprocessableEntity, "invalid_request")

	b.exec(t, `UPDATE turns SET undo = 'possible' WHERE id = $1`, turn)
	undo := func() *answer {
		return b.call(t, http.MethodPost, "/v1/turns/"+turn+"/undo", nil, header{"Idempotency-Key": "once"})
	}
	first, again := undo(), undo()
	require.Equal(t, http.StatusAccepted, first.status, first.raw)
	require.Equal(t, http.StatusOK, again.status, again.raw)
	require.Equal(t, first.text("id"), again.text("id"))

	fork := b.call(t, http.MethodPost, path+"/fork", map[string]any{"turn": 1}).text("id")
	b.call(t, http.MethodDelete, path, nil)
	orphan := b.call(t, http.MethodGet, "/v1/sessions/"+fork+"/fork", nil)
	require.Equal(t, http.StatusOK, orphan.status, orphan.raw)
	require.Nil(t, orphan.body["parent_id"])

	call := one[string](t, b, `INSERT INTO llm_calls (session_id, node, provider, model, request, error_code)
		VALUES ($1::text::uuid, 'compress', 'script', 'm', '{"system": "", "messages": []}', 'overloaded') RETURNING id::text`, fork)
	require.Equal(t, http.StatusOK, b.call(t, http.MethodGet, "/v1/calls/"+call, nil).status)
}

package httpapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// description is the part of an OpenAPI document that clients are generated from.
type description struct {
	OpenAPI    string                          `json:"openapi"`
	Paths      map[string]map[string]described `json:"paths"`
	Components struct {
		Schemas         map[string]map[string]any `json:"schemas"`
		SecuritySchemes map[string]any            `json:"securitySchemes"` //nolint:tagliatelle // OpenAPI's word
	} `json:"components"`
}

type described struct {
	OperationID string                       `json:"operationId"` //nolint:tagliatelle // OpenAPI's word
	Summary     string                       `json:"summary"`
	Responses   map[string]describedResponse `json:"responses"`
	Parameters  []struct {
		Name     string `json:"name"`
		In       string `json:"in"`
		Required bool   `json:"required"`
	} `json:"parameters"`
	RequestBody *struct {
		Content map[string]any `json:"content"`
	} `json:"requestBody"` //nolint:tagliatelle // OpenAPI's word
}

type describedResponse struct {
	Description string `json:"description"`
	Content     map[string]struct {
		Schema map[string]any `json:"schema"`
	} `json:"content"`
}

func TestOpenAPI(t *testing.T) {
	t.Parallel()

	b := setup(t)
	a := send(t, b.url, http.MethodGet, "/v1/openapi.json", nil, nil)
	require.Equal(t, http.StatusOK, a.status, "the description needs no key")
	var spec description
	require.NoError(t, json.Unmarshal([]byte(a.raw), &spec))
	require.True(t, strings.HasPrefix(spec.OpenAPI, "3.1"), spec.OpenAPI)
	require.Contains(t, spec.Components.SecuritySchemes, "key")

	ids := map[string]string{}
	for path, methods := range spec.Paths {
		for method, op := range methods {
			name := strings.ToUpper(method) + " " + path
			require.NotEmpty(t, op.OperationID, name)
			require.NotEmpty(t, op.Summary, name)
			require.Empty(t, ids[op.OperationID], "%s has the id of %s", name, ids[op.OperationID])
			ids[op.OperationID] = name
			requireErrors(t, name, op)
			for part := range strings.SplitSeq(path, "/") {
				if strings.HasPrefix(part, "{") {
					requireParameter(t, name, op, strings.Trim(part, "{}"))
				}
			}
		}
	}
	require.Equal(t, wantOperations, ids)
	requireReferences(t, a.raw, spec.Components.Schemas)

	code := spec.Components.Schemas["Problem"]["properties"].(map[string]any)["code"].(map[string]any)
	require.Equal(t, []any{
		"invalid_request", "unauthorized", "forbidden", "not_found", "turn_running", "session_archived", "question_closed", "confirmation_needed", "conflict",
		"rule_violation", "schema_changed", "message_too_large", "limit_exceeded", "unavailable", "internal",
	}, code["enum"])
}

// wantOperations lists every operation; generated clients use these ids.
var wantOperations = map[string]string{
	"cancel-turn":        "POST /v1/turns/{id}/cancel",
	"fork-session":       "POST /v1/sessions/{id}/fork",
	"undo-turn":          "POST /v1/turns/{id}/undo",
	"create-row":         "POST /v1/data/{type}",
	"operate-row":        "POST /v1/data/{type}/{id}/{operation}",
	"create-session":     "POST /v1/sessions",
	"delete-row":         "DELETE /v1/data/{type}/{id}",
	"drop-artifact":      "DELETE /v1/sessions/{id}/artifacts/{ref}",
	"enqueue-turn":       "POST /v1/sessions/{id}/turns",
	"forget-session":     "DELETE /v1/sessions/{id}",
	"give-feedback":      "PUT /v1/turns/{id}/feedback",
	"take-back-feedback": "DELETE /v1/turns/{id}/feedback",
	"batch-rows":         "POST /v1/data/{type}/batch",
	"row-history":        "GET /v1/data/{type}/{id}/history",
	"get-artifact":       "GET /v1/sessions/{id}/artifacts/{ref}",
	"get-call":           "GET /v1/calls/{id}",
	"get-fork":           "GET /v1/sessions/{id}/fork",
	"get-row":            "GET /v1/data/{type}/{id}",
	"get-session":        "GET /v1/sessions/{id}",
	"get-timeline":       "GET /v1/turns/{id}/timeline",
	"get-turn":           "GET /v1/turns/{id}",
	"get-user":           "GET /v1/user",
	"list-branches":      "GET /v1/sessions/{id}/branches",
	"list-calls":         "GET /v1/turns/{id}/calls",
	"list-constraints":   "GET /v1/sessions/{id}/constraints",
	"list-decisions":     "GET /v1/sessions/{id}/decisions",
	"list-entities":      "GET /v1/sessions/{id}/entities",
	"list-mentions":      "GET /v1/mentions",
	"list-results":       "GET /v1/turns/{id}/results",
	"list-rows":          "GET /v1/data/{type}",
	"list-sessions":      "GET /v1/sessions",
	"list-summaries":     "GET /v1/sessions/{id}/summaries",
	"list-turns":         "GET /v1/sessions/{id}/turns",
	"list-types":         "GET /v1/data",
	"patch-artifact":     "PATCH /v1/sessions/{id}/artifacts/{ref}",
	"patch-row":          "PATCH /v1/data/{type}/{id}",
	"patch-session":      "PATCH /v1/sessions/{id}",
	"patch-user":         "PATCH /v1/user",
	"pin-entity":         "PUT /v1/sessions/{id}/entities/{ref}/pin",
	"preview-context":    "GET /v1/sessions/{id}/context",
	"save-artifact":      "POST /v1/sessions/{id}/artifacts/{ref}/save",
	"search":             "GET /v1/search",
	"session-events":     "GET /v1/sessions/{id}/events",
	"turn-events":        "GET /v1/turns/{id}/events",
	"unpin-entity":       "DELETE /v1/sessions/{id}/entities/{ref}/pin",
	"watch-events":       "GET /v1/events",
}

// Y16: the description is at the usual places, in sections, for programs and as a page; events have types that match
// what is streamed (see TestY16EventsAreAsDescribed).
func TestY16DescriptionIsFoundAndRead(t *testing.T) {
	t.Parallel()

	b := setup(t)
	moved := send(t, b.url, http.MethodGet, "/openapi.json", nil, nil)
	require.Equal(t, http.StatusOK, moved.status, "followed to where it is")
	var spec struct {
		Servers []struct {
			URL string `json:"url"`
		} `json:"servers"`
		Tags []struct {
			Name string `json:"name"`
		} `json:"tags"`
		Paths map[string]map[string]struct {
			Tags []string `json:"tags"`
		} `json:"paths"`
	}
	require.NoError(t, json.Unmarshal([]byte(moved.raw), &spec))
	require.Equal(t, "/", spec.Servers[0].URL)
	known := map[string]bool{}
	for _, tag := range spec.Tags {
		known[tag.Name] = true
	}
	page := send(t, b.url, http.MethodGet, "/docs", nil, nil)
	require.Equal(t, http.StatusOK, page.status)
	for path, methods := range spec.Paths {
		for method, op := range methods {
			require.Len(t, op.Tags, 1)
			require.True(t, known[op.Tags[0]], "%s %s: %s", method, path, op.Tags[0])
			require.Contains(t, page.raw, "<code>"+strings.ToUpper(method)+" "+path+"</code>")
		}
	}
	require.Contains(t, page.raw, `<a href="#TurnEvent">`)
	require.Contains(t, page.raw, `id="ReplyDeltaEvent"`)
	require.Equal(t, http.StatusOK, send(t, b.url, http.MethodGet, "/docs.css", nil, nil).status)
}

func requireErrors(t *testing.T, name string, op described) {
	t.Helper()

	want := []string{"400", "401", "403", "404", "429", "500", "503"}
	switch op.OperationID {
	case "enqueue-turn":
		want = append(want, "409", "413", "415", "422")
	case "give-feedback", "patch-session", "patch-user":
		want = append(want, "413", "415")
	case "create-session", "fork-session", "batch-rows", "create-row":
		want = append(want, "409", "413", "415")
	case "undo-turn":
		want = append(want, "409")
	case "operate-row", "patch-artifact", "patch-row":
		want = append(want, "409", "412", "413", "415")
	case "delete-row", "drop-artifact", "save-artifact":
		want = append(want, "409", "412")
	}
	var have []string
	for status, response := range op.Responses {
		if status < "400" {
			require.NotEmpty(t, response.Description, name)

			continue
		}
		have = append(have, status)
		schema := response.Content["application/problem+json"].Schema
		require.Equal(t, "#/components/schemas/Problem", schema["$ref"], "%s answers %s", name, status)
	}
	require.ElementsMatch(t, want, have, name)
}

func requireParameter(t *testing.T, name string, op described, parameter string) {
	t.Helper()

	for _, p := range op.Parameters {
		if p.Name == parameter && p.In == "path" && p.Required {
			return
		}
	}
	require.Fail(t, "undescribed", "%s does not describe %s", name, parameter)
}

// requireReferences checks that every $ref resolves.
func requireReferences(t *testing.T, raw string, schemas map[string]map[string]any) {
	t.Helper()

	parts := strings.Split(raw, `"$ref":"`)[1:]
	require.NotEmpty(t, parts)
	for _, part := range parts {
		name, _, _ := strings.Cut(part, `"`)
		require.Contains(t, schemas, strings.TrimPrefix(name, "#/components/schemas/"))
	}
}

// Whoever reads one list can read them all.
func TestListsHaveOneForm(t *testing.T) {
	t.Parallel()

	b := setup(t)
	var spec description
	require.NoError(t, json.Unmarshal([]byte(send(t, b.url, http.MethodGet, "/v1/openapi.json", nil, nil).raw), &spec))
	lists := 0
	for path, methods := range spec.Paths {
		ref, _ := methods["get"].Responses["200"].Content["application/json"].Schema["$ref"].(string)
		properties, _ := spec.Components.Schemas[strings.TrimPrefix(ref, "#/components/schemas/")]["properties"].(map[string]any)
		if properties["items"] == nil || strings.HasSuffix(path, "/context") { // which is one prompt, not a list
			continue
		}
		require.Contains(t, properties, "next_cursor", path)
		lists++
	}
	require.Greater(t, lists, 10)
}

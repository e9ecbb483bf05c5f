package httpapi_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// undescribed lists every route missing in the API's description, with the probes for it; "" if it shows no user's
// rows.
var undescribed = map[string]string{
	`"DELETE /mcp"`:               "",
	`"GET /assets/"`:              "",
	`"GET "+element`:              "", // the component's script
	`"GET /docs"`:                 "",
	`"GET /docs.css"`:             "",
	`"GET /openapi.json"`:         "",
	`"GET /{$}"`:                  "",
	`"GET /healthz"`:              "",
	`"GET /metrics"`:              "", // for admin keys, and only numbers
	`"GET /mcp"`:                  "",
	`"GET /readyz"`:               "",
	`"GET /v1/models"`:            "",
	`"GET /v1/models/{model}"`:    "",
	`"GET "+riverPrefix`:          "", // for admin keys
	`"POST /mcp"`:                 "mcp",
	`"POST /v1/agui"`:             "agui",
	`"POST /v1/chat/completions"`: "chat completions",
	`"POST /v1/responses"`:        "", // a refusal
	`riverPrefix+"/"`:             "", // for admin keys
}

// An undescribed route needs its own probes.
func TestRoutesBesideTheDescription(t *testing.T) {
	t.Parallel()

	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	others, err := filepath.Glob("*/*.go")
	require.NoError(t, err)
	served := regexp.MustCompile(`mux\.Handle(?:Func)?\(([^,]+),`)
	found := map[string]string{}
	for _, file := range append(files, others...) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, match := range served.FindAllStringSubmatch(string(source), -1) {
			found[match[1]] = undescribed[match[1]]
		}
	}
	require.Equal(t, undescribed, found)
}

// protocolProbes try the third-party protocols. Bob may give a thread any name, even that of Ada's session: it is then
// his own session.
func (e *estate) protocolProbes(t *testing.T, all map[string][]probe) {
	t.Helper()

	completion := `{"model": "alfred", %"messages": [{"role": "user", "content": "mine"}]}`
	for _, more := range []string{"", `"stream": true, `} {
		all["chat completions"] = append(all["chat completions"], probe{
			method: "POST", path: "/v1/chat/completions", body: strings.Replace(completion, "%", more, 1), header: header{"X-Session-Id": "{session}"},
		}, probe{
			method: "POST", path: "/v1/chat/completions", body: strings.Replace(completion, "%", more+`"user": "{session}", `, 1), says: "mine",
		})
	}
	for _, thread := range []string{"{session}", "thread:{session}", "{turn}"} {
		all["agui"] = append(all["agui"], probe{
			method: "POST", path: "/v1/agui", says: "see it",
			body: `{"threadId": "` + thread + `", "runId": "{turn}", "messages": [{"role": "user", "content": "see it"}]}`,
		})
	}
	e.toolProbes(t, all)
}

// toolProbes try every tool that the Model Context Protocol offers Bob.
func (e *estate) toolProbes(t *testing.T, all map[string][]probe) {
	t.Helper()

	calls := map[string][]map[string]any{
		"explain_context": {
			{"session_id": "{session}"}, {"session_id": "{session}", "node": "understand"}, {"session_id": "{session}", "node": "act"},
			{"session_id": "{session}", "node": "reply"}, {"session_id": "{session}", "turn": 1}, {"session_id": "{turn}"},
		},
		"get_turn":       {{"turn_id": "{turn}"}, {"turn_id": "{session}"}},
		"list_entities":  {{"session_id": "{session}"}, {"session_id": "{turn}"}},
		"search_history": {{}, {"query": secret}, {"query": "{recipes}"}, {"query": "{turn}"}},
		"send_message":   {{"session_id": "{session}", "message": "mine"}, {"session_id": "{turn}", "message": "mine"}},
	}
	offered := toolNames(t, e.mcpClient(t, e.key))
	for _, tool := range offered {
		require.NotEmpty(t, calls[tool], "%s has no probe: say how it might reach another user's rows", tool)
		for _, arguments := range calls[tool] {
			body, err := json.Marshal(mcpCall(tool, arguments))
			require.NoError(t, err)
			all["mcp"] = append(all["mcp"], probe{
				method: http.MethodPost, path: "/mcp", body: string(body), header: header{"Accept": "application/json, text/event-stream"},
			})
		}
	}
	require.Len(t, calls, len(offered))
}

// whileReplying replies to the message once its turn exists.
func (e *estate) whileReplying(t *testing.T, message string, ask func() (*answer, error)) *answer {
	t.Helper()

	wait, _ := meanwhile(t, ask)
	e.reply(t, e.waitForTurn(t, message), "Fine.")

	return wait()
}

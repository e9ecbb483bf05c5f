package httpapi_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// keyed adds a key to every request, like a configured client.
type keyed struct{ key string }

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+k.key)

	return client.Transport.RoundTrip(r)
}

// mcpClient is the protocol's own client.
func (b *bundle) mcpClient(t *testing.T, key string) *mcp.ClientSession {
	t.Helper()

	transport := &mcp.StreamableClientTransport{Endpoint: b.url + "/mcp", HTTPClient: &http.Client{Transport: keyed{key}}, MaxRetries: -1}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })

	return session
}

func toolNames(t *testing.T, session *mcp.ClientSession) []string {
	t.Helper()

	listed, err := session.ListTools(t.Context(), nil)
	require.NoError(t, err)
	names := []string{}
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
		require.Equal(t, tool.Name != "send_message", tool.Annotations.ReadOnlyHint)
	}
	slices.Sort(names)

	return names
}

// callTool returns the answer, or the error's text.
func callTool(t *testing.T, session *mcp.ClientSession, name string, args map[string]any) (answer map[string]any, refused string) {
	t.Helper()

	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	require.NoError(t, err)
	text, ok := result.Content[0].(*mcp.TextContent)
	require.True(t, ok)
	if result.IsError {
		return nil, text.Text
	}
	require.NoError(t, json.Unmarshal([]byte(text.Text), &answer), text.Text)

	return answer, ""
}

func TestMCP(t *testing.T) {
	t.Parallel()

	b := setup(t)
	session := b.session(t)
	turn := b.message(t, session, "What can I cook?")
	b.reply(t, turn, "A curry.")
	b.exec(t, `SELECT turn_summary_write_facts($1)`, turn)
	b.exec(t, `INSERT INTO entity_refs (session_id, ref, entity_type, entity_id, state, action, label, turn_created, turn_last_ref)
		VALUES ($1, 'recipe_1', 'recipe', gen_random_uuid()::text, 'stored', 'read', 'Curry', 1, 1)`, session)
	ada := b.mcpClient(t, b.key)
	require.Equal(t, []string{"explain_context", "get_turn", "list_entities", "search_history", "send_message"}, toolNames(t, ada))

	answer, _ := callTool(t, ada, "list_entities", map[string]any{"session_id": session})
	require.Equal(t, "recipe_1", answer["entities"].([]any)[0].(map[string]any)["ref"])
	answer, _ = callTool(t, ada, "get_turn", map[string]any{"turn_id": turn})
	require.Equal(t, "A curry.", answer["reply"])
	answer, _ = callTool(t, ada, "search_history", nil)
	require.Equal(t, turn, answer["turns"].([]any)[0].(map[string]any)["turn_id"])
	answer, refused := callTool(t, ada, "search_history", map[string]any{"query": "What can I cook?"})
	require.Empty(t, refused)
	require.Equal(t, "What can I cook?", answer["turns"].([]any)[0].(map[string]any)["message"])
	answer, _ = callTool(t, ada, "explain_context", map[string]any{"session_id": session})
	require.Contains(t, answer["text"], "recipe_1: Curry")
	answer, _ = callTool(t, ada, "explain_context", map[string]any{"turn_id": turn})
	require.Empty(t, answer["held"], "no model was asked in this turn")
	_, refused = callTool(t, ada, "explain_context", nil)
	require.Contains(t, refused, "invalid_request")
}

// Y16: each tool says what it answers, its answers are that, and a session or turn has one name in all of them: what one answers, another takes.
func TestY16MCPToolsDescribeTheirAnswers(t *testing.T) {
	t.Parallel()

	b := setup(t)
	turn := b.message(t, b.session(t), "What can I cook?")
	b.reply(t, turn, "A curry.")
	ada := b.mcpClient(t, b.key)
	listed, err := ada.ListTools(t.Context(), nil)
	require.NoError(t, err)
	schemas := map[string]*jsonschema.Resolved{}
	for _, tool := range listed.Tools {
		data, err := json.Marshal(tool.OutputSchema)
		require.NoError(t, err)
		schema := &jsonschema.Schema{}
		require.NoError(t, json.Unmarshal(data, schema))
		require.NotEmpty(t, schema.Properties, tool.Name)
		require.NotContains(t, schema.Properties, "id", tool.Name)
		schemas[tool.Name], err = schema.Resolve(nil)
		require.NoError(t, err)
	}
	found := map[string]any{}
	for _, call := range []struct{ name, takes string }{{"search_history", ""}, {"get_turn", "turn_id"}, {"explain_context", "turn_id"}, {"list_entities", "session_id"}, {"explain_context", "session_id"}} {
		args := map[string]any{}
		if call.takes != "" {
			args[call.takes] = found[call.takes]
		}
		answer, refused := callTool(t, ada, call.name, args)
		require.Empty(t, refused, call.name)
		require.NoError(t, schemas[call.name].Validate(answer), call.name)
		if turns, ok := answer["turns"].([]any); ok {
			found, _ = turns[0].(map[string]any)
		} else {
			require.Equal(t, found["session_id"], answer["session_id"], call.name)
		}
	}
	require.Equal(t, turn, found["turn_id"])
}

// Another user's conversation looks like one that does not exist, and a read key cannot send.
func TestMCPOfOthers(t *testing.T) {
	t.Parallel()

	b := setup(t)
	session := b.session(t)
	turn := b.message(t, session, "secret plans")
	b.reply(t, turn, "Sure.")
	_, reading := b.newUser(t, "eve", "read")
	_, chatting := b.newUser(t, "eve", "chat")
	eve := b.mcpClient(t, reading)
	require.Equal(t, []string{"explain_context", "get_turn", "list_entities", "search_history"}, toolNames(t, eve))
	_, err := eve.CallTool(t.Context(), &mcp.CallToolParams{Name: "send_message", Arguments: map[string]any{"message": "hi"}})
	require.Error(t, err, "a tool that is not there")

	eve = b.mcpClient(t, chatting)
	for name, args := range map[string]map[string]any{
		"list_entities":   {"session_id": session},
		"explain_context": {"turn_id": turn},
		"get_turn":        {"turn_id": turn},
		"send_message":    {"session_id": session, "message": "hi"},
	} {
		_, refused := callTool(t, eve, name, args)
		require.Equal(t, "not_found: There is no such thing here.", refused, name)
		for key, value := range args {
			if value == session || value == turn {
				args[key] = "0193e5b0-0000-7000-8000-000000000000"
			}
		}
		_, nobodys := callTool(t, eve, name, args)
		require.Equal(t, refused, nobodys, name)
	}
	_, refused := callTool(t, eve, "explain_context", map[string]any{"session_id": session})
	require.Equal(t, "not_found: There is no such thing here.", refused)
	answer, _ := callTool(t, eve, "search_history", map[string]any{"query": "secret plans"})
	require.Empty(t, answer["turns"])
}

func TestMCPSends(t *testing.T) {
	t.Parallel()

	b := setup(t)
	ada := b.mcpClient(t, b.key)
	said := map[string]any{"message": "hi there", "idempotency_key": "k"}
	turns := map[any]bool{}
	for _, work := range []func(){b.replying(t, "hi there", "Hello."), func() {}} {
		var (
			answer  map[string]any
			failure error
		)
		done := make(chan struct{})
		go func() {
			defer close(done)
			result, err := ada.CallTool(t.Context(), &mcp.CallToolParams{Name: "send_message", Arguments: said})
			if failure = err; err == nil {
				answer, _ = result.StructuredContent.(map[string]any)
			}
		}()
		work()
		<-done
		require.NoError(t, failure)
		require.Equal(t, "Hello.", answer["reply"])
		turns[answer["turn_id"]] = true
	}
	require.Len(t, turns, 1, "sent again it is the same message")

	for want, args := range map[string]map[string]any{
		"invalid_request":   {"message": " "},
		"message_too_large": {"message": strings.Repeat("a", 33<<10)},
		"not_found":         {"message": "hi", "session_id": "tab 1"},
	} {
		_, refused := callTool(t, ada, "send_message", args)
		require.Contains(t, refused, want)
	}
	a := send(t, b.url, http.MethodPost, "/mcp", map[string]any{}, nil)
	a.requireProblem(t, http.StatusUnauthorized, "unauthorized")
}

package e2e_test

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/llm"
	"alfred/internal/llm/openai"
	"alfred/internal/llm/script"
	"alfred/internal/llm/wire"
	"alfred/internal/llm/wiretest"
)

// wirePlayer infers what no wire protocol says: which decision a request is for. It follows one session whose requests come
// in order.
type wirePlayer struct {
	model llm.Model

	mu   sync.Mutex
	turn int
	last map[string]*wireDecision // by node
}

type wireDecision struct {
	turn, ordinal, attempt int
	prompt                 string
}

// overWire lets model answer the requests of one session. The schema's name identifies the node; a request with tools is
// act, one with neither is reply. Each new understand begins a turn. A request whose prompt begins like its node's last
// one is a retry if it is identical, and a repair if more messages follow.
func overWire(model llm.Model) wiretest.Handler {
	p := &wirePlayer{model: model, last: map[string]*wireDecision{}}
	return func(ctx context.Context, call *wiretest.Call) wiretest.Reply {
		request := call.Request
		p.locate(&request)
		response, err := p.model.Generate(ctx, &request)
		if err != nil {
			return wireFailure(err)
		}

		return wiretest.Reply{Text: response.Text, ToolCalls: response.ToolCalls, Usage: response.Usage}
	}
}

func (p *wirePlayer) locate(request *llm.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	request.Node = nodeOf(request)
	asked, repairs := requested(request.Messages)
	prompt := request.System
	for _, message := range asked {
		prompt += "\n" + message.Content
	}
	d := p.last[request.Node]
	switch {
	case d != nil && d.prompt == prompt:
		d.attempt = 1 + repairs
	case request.Node == "understand":
		p.turn++
		d = &wireDecision{turn: p.turn, ordinal: 1, attempt: 1, prompt: prompt}
	case d != nil && d.turn == p.turn:
		d = &wireDecision{turn: p.turn, ordinal: d.ordinal + 1, attempt: 1, prompt: prompt}
	default:
		d = &wireDecision{turn: p.turn, ordinal: 1, attempt: 1, prompt: prompt}
	}
	p.last[request.Node] = d
	request.Turn, request.Ordinal, request.Attempt = d.turn, d.ordinal, d.attempt
}

// requested divides messages into those of a decision's first request, which end with the prompt or with results, and the
// later repairs, each with a complaint and perhaps an answer.
func requested(messages []llm.Message) (asked []llm.Message, repairs int) {
	end := min(1, len(messages))
	for i, message := range messages {
		if message.Role == llm.RoleTool {
			end = i + 1
		}
	}
	for _, message := range messages[end:] {
		if message.Role == llm.RoleUser {
			repairs++
		}
	}

	return messages[:end], repairs
}

func nodeOf(request *llm.Request) string {
	switch {
	case request.SchemaName != "":
		return request.SchemaName
	case len(request.Tools) > 0:
		return "act"
	}

	return "reply"
}

// wireFailure converts a model's error to a server's response.
func wireFailure(err error) wiretest.Reply {
	reply := wiretest.Reply{Status: http.StatusBadRequest, Code: "invalid_request_error", Message: err.Error()}
	switch llm.KindOf(err) {
	case llm.KindAuth:
		reply.Status, reply.Code = http.StatusUnauthorized, "invalid_api_key"
	case llm.KindContextOverflow:
		reply.Code = "context_length_exceeded"
	case llm.KindInvalidOutput:
		return wiretest.Reply{Text: "...", End: wiretest.EndCutOff}
	case llm.KindOverloaded:
		reply.Status, reply.Code = http.StatusServiceUnavailable, "overloaded_error"
	case llm.KindRateLimit:
		reply.Status, reply.Code = http.StatusTooManyRequests, "rate_limit_error"
	case llm.KindRefusal:
		return wiretest.Reply{Text: "I can't help with that.", End: wiretest.EndRefused}
	case llm.KindInvalidRequest, llm.KindScriptExhausted, llm.KindTooLarge:
	}

	return reply
}

const wireConversation = `
turns:
  - understand: {intent: read, repairs: [{intent: explore}]}
    think: [{goal: first}, {goal: second}]
    act:
      - calls: [{tool: db_read, args: {table: recipes}}]
      - calls: [{tool: step_complete}]
    reply: Two recipes.
    summarize: {response_summary: listed}
  - understand: {intent: chat}
    reply: {text: "", error: {kind: rate_limit, retry_after: 2s}}
`

// The requests are those of two turns, as a provider would send them; the script must find its entries from what is on
// the wire alone.
func TestOverWire(t *testing.T) {
	t.Parallel()

	played, err := script.Parse([]byte(wireConversation))
	require.NoError(t, err)
	server := wiretest.Start(t, wiretest.OpenAI, overWire(played))
	model, err := openai.New(&wire.Config{APIKey: wiretest.Key, BaseURL: server.BaseURL, HTTPClient: server.Client(), Model: "m"})
	require.NoError(t, err)

	for _, tt := range []struct {
		name, schema, prompt string
		tools                bool
		repair               bool
		want                 string
	}{
		{"Understand", "understand", "turn 1", false, false, `{"intent":"read"}`},
		{"UnderstandRetry", "understand", "turn 1", false, false, `{"intent":"read"}`},
		{"UnderstandRepair", "understand", "turn 1", false, true, `{"intent":"explore"}`},
		{"Think", "think", "plan", false, false, `{"goal":"first"}`},
		{"Replan", "think", "plan again", false, false, `{"goal":"second"}`},
		{"Act", "", "step 1", true, false, "db_read"},
		{"ActRetry", "", "step 1", true, false, "db_read"},
		{"ActNext", "", "step 1, result", true, false, "step_complete"},
		{"Reply", "", "say", false, false, "Two recipes."},
		{"Summarize", "summarize", "sum up", false, false, `{"response_summary":"listed"}`},
		{"NextTurn", "understand", "turn 2", false, false, `{"intent":"chat"}`},
	} {
		response, err := model.Generate(t.Context(), wireRequest(tt.schema, tt.prompt, tt.tools, tt.repair))
		require.NoError(t, err, tt.name)
		got := response.Text
		if len(response.ToolCalls) > 0 {
			got = response.ToolCalls[0].Name
		}
		require.Equal(t, tt.want, got, tt.name)
	}

	_, err = model.Generate(t.Context(), wireRequest("", "say again", false, false))
	require.Equal(t, llm.KindRateLimit, llm.KindOf(err))
	_, err = model.Generate(t.Context(), wireRequest("think", "no such entry", false, false))
	require.ErrorContains(t, err, "script_exhausted")
}

func wireRequest(schema, prompt string, tools, repair bool) *llm.Request {
	req := &llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: prompt}}}
	if schema != "" {
		req.SchemaName, req.Schema = schema, json.RawMessage(`{"type":"object"}`)
	}
	if tools {
		req.Tools = []llm.Tool{{Name: "db_read"}}
	}
	if repair {
		req.Messages = append(req.Messages, llm.Message{Role: llm.RoleAssistant, Content: "?"}, llm.Message{Role: llm.RoleUser, Content: "mend it"})
	}

	return req
}

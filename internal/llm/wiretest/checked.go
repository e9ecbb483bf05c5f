package wiretest

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"alfred/internal/llm"
)

// Checked returns model with the same answers, but also sends every request to stand-ins for all three providers and
// passes every answer through them. The test fails if one rejects a request by its rules, or an answer arrives changed.
func Checked(t testing.TB, model llm.Model) llm.Model {
	t.Helper()
	return &checked{Model: model, t: t}
}

type checked struct {
	llm.Model

	t testing.TB
}

// Prepare passes on what llm.Prepare looks for.
func (c *checked) Prepare(req *llm.Request) { llm.Prepare(c.Model, req) }

// Generate implements llm.Model.
func (c *checked) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	response, err := c.Model.Generate(ctx, req)
	if err == nil {
		for _, protocol := range []Protocol{Anthropic, Gemini, OpenAI} {
			c.check(ctx, protocol, req, response)
		}
	}

	return response, err
}

// maxChecked bounds the answers that are played back; of longer ones, only the request is checked.
const maxChecked = 1 << 16

func (c *checked) check(ctx context.Context, protocol Protocol, req *llm.Request, want *llm.Response) {
	if len(want.Text) > maxChecked {
		want = &llm.Response{Text: "{}"}
	}
	server := newServer(protocol, func(context.Context, *Call) Reply {
		return Reply{Text: want.Text, ToolCalls: want.ToolCalls, Usage: want.Usage}
	})
	asked := *req
	asked.OnFailed, asked.OnRefused = nil, nil
	if req.OnDelta != nil {
		asked.OnDelta = func(string) {}
	}
	got, err := server.open(&http.Client{Transport: direct{server.mux}}, Key).Generate(ctx, &asked) // without a socket
	if ctx.Err() != nil {
		return // the turn was stopped meanwhile
	}
	if refusals := server.Refusals(); len(refusals) > 0 {
		c.t.Errorf("%s refuses a request of %s: %v", protocol, req.Node, refusals)
	}
	if err != nil || slices.ContainsFunc(want.ToolCalls, broken) {
		return // a scripted answer that no wire format can carry: cut off, empty, broken arguments
	}
	if len(req.Schema) == 0 && got.Text != want.Text {
		c.t.Errorf("%s, %s: the text %q arrives as %q", protocol, req.Node, want.Text, got.Text)
	}
	if len(got.ToolCalls) != len(want.ToolCalls) {
		c.t.Errorf("%s, %s: %d tool calls arrive as %d", protocol, req.Node, len(want.ToolCalls), len(got.ToolCalls))
	}
}

// broken reports whether a call's arguments are no object.
func broken(call llm.ToolCall) bool {
	var arguments map[string]any

	return len(call.Args) > 0 && json.Unmarshal(call.Args, &arguments) != nil
}

// direct passes requests to a handler.
type direct struct{ handler http.Handler }

// RoundTrip implements http.RoundTripper.
func (d direct) RoundTrip(request *http.Request) (*http.Response, error) {
	recorded := httptest.NewRecorder()
	d.handler.ServeHTTP(recorded, request)

	return recorded.Result(), nil
}

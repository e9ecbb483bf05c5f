package wire

import (
	"encoding/json"
	"errors"

	"alfred/internal/llm"
)

// End says how a provider ended an answer.
type End int

// The ends of an answer.
const (
	EndIncomplete End = iota // the stream broke off
	EndWhole
	EndCutOff
	EndOverflow // the context window was full
	EndRefused
)

// errWindow is the cause if an answer filled the context window.
var errWindow = errors.New("the context window is full")

// Finish completes an answer: it removes the reasoning in front of it, finds the calls in the text of one to a request with
// tools, names the tools as they were offered, and gives calls without arguments {}. For an incomplete answer it also returns
// a typed error; the response comes along so that its tokens are counted.
func Finish(req *llm.Request, response *llm.Response, end End) (*llm.Response, error) {
	fail := func(kind llm.Kind, cause error) (*llm.Response, error) {
		return response, &llm.Error{Kind: kind, Provider: response.Provider, Err: cause}
	}
	switch end {
	case EndIncomplete:
		return fail(llm.KindOverloaded, ErrIncomplete)
	case EndCutOff:
		return fail(llm.KindInvalidOutput, ErrCutOff)
	case EndOverflow:
		return fail(llm.KindContextOverflow, errWindow)
	case EndRefused:
		return fail(llm.KindRefusal, ErrRefused)
	case EndWhole:
	}
	response.Text = spoken(response.Text)
	if response.Text == "" && len(response.ToolCalls) == 0 {
		return fail(llm.KindInvalidOutput, ErrEmpty)
	}
	if len(response.ToolCalls) == 0 && len(req.Tools) > 0 {
		response.ToolCalls, response.Text = calls(response.Text, req.Tools)
	}
	completeCalls(response.ToolCalls, req.Tools)

	return response, nil
}

func completeCalls(made []llm.ToolCall, offered []llm.Tool) {
	for i := range made {
		if name, ok := named(made[i].Name, offered); ok {
			made[i].Name = name
		}
		if len(made[i].Args) == 0 {
			made[i].Args = json.RawMessage(`{}`)
		}
	}
}

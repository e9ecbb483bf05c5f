package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/respjson"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"alfred/internal/llm"
	"alfred/internal/llm/wire"
)

// answer translates a completion that arrived in one piece.
func (m *model) answer(req *llm.Request, completion *openai.ChatCompletion) (*llm.Response, error) {
	response := m.response(completion.Model, &completion.Usage)
	if failed, ok := completion.JSON.ExtraFields["error"]; ok && len(completion.Choices) == 0 {
		return response, m.Config.Event([]byte(`{"error":` + failed.Raw() + `}`)) // as from a router whose upstream failed
	}
	if len(completion.Choices) == 0 {
		return wire.Finish(req, response, wire.EndWhole)
	}
	choice := completion.Choices[0]
	response.Text, response.Reasoning = choice.Message.Content, reasoning(choice.Message.JSON.ExtraFields)
	for _, call := range choice.Message.ToolCalls {
		response.ToolCalls = append(response.ToolCalls, llm.ToolCall{
			Name: call.Function.Name, Args: json.RawMessage(call.Function.Arguments), Signature: signature(call.AsFunction().JSON.ExtraFields),
		})
	}

	return wire.Finish(req, response, end(cmp.Or(choice.FinishReason, "stop"), choice.Message.Refusal))
}

// reasoning is "" for servers that send none.
func reasoning(extra map[string]respjson.Field) string {
	var text string
	if field, ok := extra[reasoningField]; !ok || json.Unmarshal([]byte(field.Raw()), &text) != nil {
		return ""
	}

	return text
}

// signature is what a server wants back with a call; a later piece of the call may say null.
func signature(extra map[string]respjson.Field) string {
	field := extra[signatureField]
	if raw := field.Raw(); raw != "null" {
		return raw
	}

	return ""
}

func (m *model) response(model string, usage *openai.CompletionUsage) *llm.Response {
	return &llm.Response{
		Model: cmp.Or(model, m.Config.Model), Provider: m.Config.Provider,
		Usage: llm.Usage{
			Input: int(usage.PromptTokens), Output: int(usage.CompletionTokens), Cached: int(usage.PromptTokensDetails.CachedTokens),
		},
	}
}

func end(finishReason, refusal string) wire.End {
	switch {
	case refusal != "", finishReason == "content_filter":
		return wire.EndRefused
	case finishReason == "length":
		return wire.EndCutOff
	case finishReason == "", finishReason == "error":
		return wire.EndIncomplete
	}

	return wire.EndWhole
}

// stream reads an answer piece by piece. A connection that closes without a finish reason broke off, although reading
// it yields no error.
func (m *model) stream(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	events := m.service.NewStreaming(ctx, m.params(req))
	var parts streamed
	for events.Next() {
		chunk := events.Current()
		parts.add(&chunk, req.OnDelta)
	}
	response := m.response(parts.model, &parts.usage)
	response.Text, response.ToolCalls, response.Reasoning = parts.text.String(), parts.toolCalls(), parts.reasoning.String()
	if err := events.Err(); err != nil {
		if failed, ok := errors.AsType[*ssestream.StreamError](err); ok {
			return response, m.Config.Event(failed.Event.Data)
		}

		return response, err
	}

	return wire.Finish(req, response, end(parts.finish, parts.refusal))
}

// streamed collects the pieces of an answer.
type streamed struct {
	calls                  []*streamedCall
	finish, model, refusal string
	text, reasoning        strings.Builder
	usage                  openai.CompletionUsage
}

type streamedCall struct {
	index     int64
	id, name  string
	signature string
	args      strings.Builder
}

func (s *streamed) add(chunk *openai.ChatCompletionChunk, onDelta func(string)) {
	s.model = cmp.Or(s.model, chunk.Model)
	if chunk.Usage.TotalTokens > 0 || chunk.Usage.PromptTokens > 0 {
		s.usage = chunk.Usage
	}
	if len(chunk.Choices) == 0 {
		return
	}
	choice := chunk.Choices[0]
	s.finish = cmp.Or(choice.FinishReason, s.finish)
	s.refusal += choice.Delta.Refusal
	if choice.Delta.Content != "" {
		s.text.WriteString(choice.Delta.Content)
		onDelta(choice.Delta.Content)
	}
	s.reasoning.WriteString(reasoning(choice.Delta.JSON.ExtraFields))
	for i := range choice.Delta.ToolCalls {
		s.addCall(&choice.Delta.ToolCalls[i])
	}
}

// addCall starts a call at a new index or a new id: some servers give every call the index 0. The pieces of several
// calls may arrive in any order.
func (s *streamed) addCall(piece *openai.ChatCompletionChunkChoiceDeltaToolCall) {
	at := len(s.calls) - 1
	for at >= 0 && s.calls[at].index != piece.Index {
		at--
	}
	if at < 0 || piece.ID != "" && piece.ID != s.calls[at].id {
		s.calls = append(s.calls, &streamedCall{index: piece.Index, id: piece.ID})
		at = len(s.calls) - 1
	}
	s.calls[at].name += piece.Function.Name
	s.calls[at].args.WriteString(piece.Function.Arguments)
	s.calls[at].signature = cmp.Or(signature(piece.JSON.ExtraFields), s.calls[at].signature)
}

func (s *streamed) toolCalls() []llm.ToolCall {
	var calls []llm.ToolCall
	for i := range s.calls {
		call := s.calls[i]
		calls = append(calls, llm.ToolCall{Name: call.name, Args: json.RawMessage(call.args.String()), Signature: call.signature})
	}

	return calls
}

package wiretest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"alfred/internal/llm"
	"alfred/internal/llm/lexical"
)

// chatRequest is the part of a Chat Completions request that is checked.
type chatRequest struct {
	MaxTokens      int                           `json:"max_tokens"`
	Messages       []chatMessage                 `json:"messages"`
	Model          string                        `json:"model"`
	ResponseFormat *responseFormat               `json:"response_format"`
	Stream         bool                          `json:"stream"`
	StreamOptions  map[string]any                `json:"stream_options"`
	Temperature    *float64                      `json:"temperature"`
	Tools          []struct{ Function function } `json:"tools"`
}

type chatMessage struct {
	Content   string `json:"content"`
	Role      string `json:"role"`
	ToolCalls []struct {
		Function struct {
			Arguments string `json:"arguments"`
			Name      string `json:"name"`
		} `json:"function"`
	} `json:"tool_calls"`
}

type responseFormat struct {
	JSONSchema struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema"`
	Type string `json:"type"`
}

type function struct {
	Description string          `json:"description"`
	Name        string          `json:"name"`
	Parameters  json.RawMessage `json:"parameters"`
}

func (s *Server) chatCompletions(w http.ResponseWriter, r *http.Request) {
	var request chatRequest
	call := &Call{}
	if !s.read(w, r, &request, call) {
		return
	}
	request.into(call)
	reply, ok := s.serve(w, r, bearer(r), call)
	if !ok {
		return
	}
	if request.Stream {
		streamChat(w, &request, reply)
		return
	}
	whole(w, reply, chatCompletion(&request, reply))
}

// into translates the request.
func (c *chatRequest) into(call *Call) {
	call.Model, call.Stream = c.Model, c.Stream
	call.Temperature, call.MaxTokens = c.Temperature, c.MaxTokens
	for _, message := range c.Messages {
		if message.Role == "system" {
			call.System = message.Content
			continue
		}
		said := llm.Message{Role: message.Role, Content: message.Content}
		for _, called := range message.ToolCalls {
			said.ToolCalls = append(said.ToolCalls, llm.ToolCall{Name: called.Function.Name, Args: json.RawMessage(called.Function.Arguments)})
		}
		call.Messages = append(call.Messages, said)
	}
	for _, tool := range c.Tools {
		f := tool.Function
		call.Tools = append(call.Tools, llm.Tool{Name: f.Name, Description: f.Description, Schema: f.Parameters})
	}
	if c.ResponseFormat != nil {
		format := c.ResponseFormat.JSONSchema
		call.SchemaName, call.Schema = format.Name, format.Schema
	}
}

func chatCompletion(request *chatRequest, reply *Reply) map[string]any {
	message := map[string]any{"role": "assistant", "content": reply.Text, "refusal": nil}
	if reply.End == EndRefused {
		message["content"], message["refusal"] = nil, reply.Text
	}
	if len(reply.ToolCalls) > 0 {
		message["tool_calls"] = chatCalls(reply.ToolCalls)
	}

	return map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": request.Model,
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": finishReason(reply)}},
		"usage":   chatUsage(reply.Usage),
	}
}

func chatCalls(calls []llm.ToolCall) []any {
	list := make([]any, 0, len(calls))
	for i, call := range calls {
		list = append(list, map[string]any{
			"id": fmt.Sprintf("call_%d", i), "type": "function", "function": map[string]any{"name": call.Name, "arguments": args(call)},
		})
	}

	return list
}

func chatUsage(usage llm.Usage) map[string]any {
	return map[string]any{
		"prompt_tokens": usage.Input, "completion_tokens": usage.Output, "total_tokens": usage.Input + usage.Output,
		"prompt_tokens_details": map[string]any{"cached_tokens": usage.Cached},
	}
}

func finishReason(reply *Reply) string {
	switch {
	case reply.End == EndCutOff:
		return "length"
	case len(reply.ToolCalls) > 0:
		return "tool_calls"
	}

	return "stop"
}

// streamChat sends the answer in chunks like the real server: the role first, usage in a chunk without choices, [DONE]
// last.
func streamChat(w http.ResponseWriter, request *chatRequest, reply *Reply) {
	stream := newEvents(w)
	chunk := func(delta map[string]any, finish any) {
		stream.send("", map[string]any{
			"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": request.Model,
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}},
		})
	}
	chunk(map[string]any{"role": "assistant", "content": ""}, nil)
	deltas := chatDeltas(reply)
	if reply.End == EndDisconnect || reply.End == EndSilent {
		deltas = deltas[:len(deltas)/2]
	}
	for _, delta := range deltas {
		chunk(delta, nil)
	}
	switch reply.End {
	case EndDisconnect:
		panic(http.ErrAbortHandler)
	case EndSilent:
		return
	case EndCutOff, EndRefused:
	}
	chunk(map[string]any{}, finishReason(reply))
	if request.StreamOptions["include_usage"] == true {
		stream.send("", map[string]any{
			"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": request.Model,
			"choices": []any{}, "usage": chatUsage(reply.Usage),
		})
	}
	stream.send("", "[DONE]")
}

func chatDeltas(reply *Reply) []map[string]any {
	field := "content"
	if reply.End == EndRefused {
		field = "refusal"
	}
	var deltas []map[string]any
	for _, piece := range pieces(reply.Text) {
		deltas = append(deltas, map[string]any{field: piece})
	}
	for i, call := range reply.ToolCalls {
		deltas = append(deltas, callDelta(i, map[string]any{
			"id": fmt.Sprintf("call_%d", i), "type": "function", "function": map[string]any{"name": call.Name, "arguments": ""},
		}))
		for _, piece := range pieces(args(call)) {
			deltas = append(deltas, callDelta(i, map[string]any{"function": map[string]any{"arguments": piece}}))
		}
	}

	return deltas
}

func callDelta(index int, call map[string]any) map[string]any {
	call["index"] = index
	return map[string]any{"tool_calls": []any{call}}
}

// embeddings answers with lexical vectors, in reverse order, to test that clients use the index. The handler may make
// it fail.
func (s *Server) embeddings(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Dimensions int      `json:"dimensions"`
		Input      []string `json:"input"`
		Model      string   `json:"model"`
	}
	call := &Call{}
	if !s.read(w, r, &request, call) {
		return
	}
	call.Model = request.Model
	if _, ok := s.serve(w, r, bearer(r), call); !ok {
		return
	}
	vectors, err := lexical.Embedder{}.Embed(r.Context(), request.Input)
	if err != nil {
		return
	}
	data := make([]any, 0, len(vectors))
	for i, vector := range slices.Backward(vectors) {
		data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": vector[:request.Dimensions]})
	}
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "model": request.Model, "data": data, "usage": map[string]any{"prompt_tokens": 1, "total_tokens": 1}})
}

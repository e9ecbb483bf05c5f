package wiretest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"alfred/internal/llm"
)

// messagesRequest is the part of an Anthropic request that is checked.
type messagesRequest struct {
	MaxTokens int `json:"max_tokens"`
	Messages  []struct {
		Content turned `json:"content"`
		Role    string `json:"role"`
	} `json:"messages"`
	Model       string   `json:"model"`
	Stream      bool     `json:"stream"`
	System      blocks   `json:"system"`
	Temperature *float64 `json:"temperature"`
	ToolChoice  struct {
		Name string `json:"name"`
	} `json:"tool_choice"`
	Tools []struct {
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"input_schema"`
		Name        string          `json:"name"`
	} `json:"tools"`
}

// blocks is a text, alone or in content blocks.
type blocks string

// UnmarshalJSON joins the blocks' texts.
func (b *blocks) UnmarshalJSON(text []byte) error {
	var list []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(text, (*string)(b)) == nil {
		return nil
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return fmt.Errorf("content: %w", err)
	}
	texts := make([]string, 0, len(list))
	for _, block := range list {
		if block.Text != "" {
			texts = append(texts, block.Text)
		}
	}
	*b = blocks(strings.Join(texts, "\n"))

	return nil
}

// turned is the content of a message: its text, calls and results.
type turned struct {
	text    blocks
	calls   []llm.ToolCall
	results []llm.Message
}

// UnmarshalJSON sorts the blocks.
func (t *turned) UnmarshalJSON(text []byte) error {
	var list []struct {
		Type    string          `json:"type"`
		Name    string          `json:"name"`
		Input   json.RawMessage `json:"input"`
		Content blocks          `json:"content"`
	}
	if err := json.Unmarshal(text, &t.text); err != nil || json.Unmarshal(text, &list) != nil {
		return err
	}
	for _, block := range list {
		switch block.Type {
		case "tool_use":
			t.calls = append(t.calls, llm.ToolCall{Name: block.Name, Args: block.Input})
		case "tool_result":
			t.results = append(t.results, llm.Message{Role: llm.RoleTool, Content: string(block.Content)})
		}
	}

	return nil
}

func (s *Server) messages(w http.ResponseWriter, r *http.Request) {
	var request messagesRequest
	call := &Call{}
	if !s.read(w, r, &request, call) {
		return
	}
	if r.Header.Get("Anthropic-Version") == "" {
		s.fail(w, &Reply{Status: http.StatusBadRequest, Code: "invalid_request_error", Message: "anthropic-version: header is required"})
		return
	}
	request.into(call)
	reply, ok := s.serve(w, r, r.Header.Get("X-Api-Key"), call)
	if !ok {
		return
	}
	if request.Stream {
		streamMessage(w, &request, reply)
		return
	}
	whole(w, reply, message(&request, reply))
}

// into translates the request. The forced tool is a schema.
func (m *messagesRequest) into(call *Call) {
	call.Model, call.Stream, call.System = m.Model, m.Stream, string(m.System)
	call.Temperature, call.MaxTokens = m.Temperature, m.MaxTokens
	for _, message := range m.Messages {
		said := message.Content
		call.Messages = append(call.Messages, said.results...)
		if len(said.results) == 0 || said.text != "" {
			call.Messages = append(call.Messages, llm.Message{Role: message.Role, Content: string(said.text), ToolCalls: said.calls})
		}
	}
	for _, tool := range m.Tools {
		if tool.Name == m.ToolChoice.Name {
			call.SchemaName, call.Schema = tool.Name, tool.InputSchema
			continue
		}
		call.Tools = append(call.Tools, llm.Tool{Name: tool.Name, Description: tool.Description, Schema: tool.InputSchema})
	}
}

// content are the answer's blocks. A text that fits the forced tool becomes its input; any other remains text, as from
// a model that ignores the choice.
func (m *messagesRequest) content(reply *Reply) []map[string]any {
	calls, text := reply.ToolCalls, reply.Text
	if m.ToolChoice.Name != "" && strings.HasPrefix(text, "{") && (m.Stream || json.Valid([]byte(text))) {
		calls, text = []llm.ToolCall{{Name: m.ToolChoice.Name, Args: json.RawMessage(text)}}, ""
	}
	var content []map[string]any
	if text != "" {
		content = append(content, map[string]any{"type": "text", "text": text})
	}
	for i, call := range calls {
		content = append(content, map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", i), "name": call.Name, "input": args(call)})
	}

	return content
}

func message(request *messagesRequest, reply *Reply) map[string]any {
	content := request.content(reply)
	for _, block := range content {
		if input, ok := block["input"].(string); ok {
			block["input"] = json.RawMessage(input)
		}
	}

	return map[string]any{
		"id": "msg_1", "type": "message", "role": "assistant", "model": request.Model, "content": content,
		"stop_reason": stopReason(reply), "stop_sequence": nil, "usage": messageUsage(reply.Usage),
	}
}

// messageUsage counts cached tokens separately, as this protocol does.
func messageUsage(usage llm.Usage) map[string]any {
	return map[string]any{
		"input_tokens": usage.Input - usage.Cached, "cache_read_input_tokens": usage.Cached, "cache_creation_input_tokens": 0,
		"output_tokens": usage.Output,
	}
}

func stopReason(reply *Reply) string {
	switch {
	case reply.End == EndCutOff:
		return "max_tokens"
	case reply.End == EndRefused:
		return "refusal"
	case len(reply.ToolCalls) > 0:
		return "tool_use"
	}

	return "end_turn"
}

// streamMessage sends the answer as events: start, the blocks, the stop reason with the output tokens, the end.
func streamMessage(w http.ResponseWriter, request *messagesRequest, reply *Reply) {
	stream := newEvents(w)
	send := func(kind string, fields map[string]any) {
		fields["type"] = kind
		stream.send(kind, fields)
	}
	usage := messageUsage(reply.Usage)
	usage["output_tokens"] = 1
	send("message_start", map[string]any{"message": map[string]any{
		"id": "msg_1", "type": "message", "role": "assistant", "model": request.Model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": usage,
	}})
	for index, block := range request.content(reply) {
		if !streamBlock(send, index, block, reply.End) {
			return
		}
	}
	send("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": stopReason(reply), "stop_sequence": nil}, "usage": map[string]any{"output_tokens": reply.Usage.Output},
	})
	send("message_stop", map[string]any{})
}

// streamBlock sends one block, or half of it before the stream breaks off; it reports whether to continue.
func streamBlock(send func(string, map[string]any), index int, block map[string]any, end End) bool {
	kind, field, text := "text_delta", "text", fmt.Sprint(block["text"])
	start := map[string]any{"type": "text", "text": ""}
	if block["type"] == "tool_use" {
		kind, field, text = "input_json_delta", "partial_json", fmt.Sprint(block["input"])
		start = map[string]any{"type": "tool_use", "id": block["id"], "name": block["name"], "input": map[string]any{}}
	}
	send("content_block_start", map[string]any{"index": index, "content_block": start})
	parts := pieces(text)
	if end == EndDisconnect || end == EndSilent {
		parts = parts[:len(parts)/2]
	}
	for _, part := range parts {
		send("content_block_delta", map[string]any{"index": index, "delta": map[string]any{"type": kind, field: part}})
	}
	switch end {
	case EndDisconnect:
		panic(http.ErrAbortHandler)
	case EndSilent:
		return false
	case EndCutOff, EndRefused:
	}
	send("content_block_stop", map[string]any{"index": index})

	return true
}

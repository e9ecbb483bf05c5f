package wiretest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"alfred/internal/llm"
)

var messageReasons = reasons{cutOff: "max_tokens", refused: "refusal", calls: "tool_use", whole: "end_turn"}

// readMessages reads a request. The tool that it forces is a schema.
func readMessages(_ *http.Request, body gjson.Result, call *Call) {
	call.Model, call.Stream, call.MaxTokens = body.Get("model").String(), body.Get("stream").Bool(), int(body.Get("max_tokens").Int())
	call.Temperature, call.System = number(body.Get("temperature")), textOf(body.Get("system"), "\n")
	for _, message := range body.Get("messages").Array() {
		said := llm.Message{Role: message.Get("role").String(), Content: textOf(message.Get("content"), "\n")}
		results := message.Get(`content.#(type=="tool_result")#.content`).Array()
		for _, result := range results {
			call.Messages = append(call.Messages, llm.Message{Role: llm.RoleTool, Content: textOf(result, "\n")})
		}
		for _, used := range message.Get(`content.#(type=="tool_use")#`).Array() {
			said.ToolCalls = append(said.ToolCalls, llm.ToolCall{Name: used.Get("name").String(), Args: raw(used.Get("input"))})
		}
		if len(results) == 0 || said.Content != "" {
			call.Messages = append(call.Messages, said)
		}
	}
	forced := body.Get("tool_choice.name").String()
	for _, tool := range tools(body.Get("tools"), "input_schema") {
		if tool.Name == forced {
			call.SchemaName, call.Schema = tool.Name, tool.Schema
		} else {
			call.Tools = append(call.Tools, tool)
		}
	}
}

// blocks are an answer's content. A text that fits the forced tool becomes its input; any other remains text, as from
// a model that ignores the choice.
func blocks(call *Call, reply *Reply) []map[string]any {
	calls, text := reply.ToolCalls, reply.Text
	if call.SchemaName != "" && strings.HasPrefix(text, "{") && (call.Stream || json.Valid([]byte(text))) {
		calls, text = []llm.ToolCall{{Name: call.SchemaName, Args: json.RawMessage(text)}}, ""
	}
	var content []map[string]any
	if text != "" {
		content = append(content, map[string]any{"type": "text", "text": text})
	}
	for i, called := range calls {
		content = append(content, map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", i), "name": called.Name, "input": json.RawMessage(args(called))})
	}

	return content
}

// message is an answer. Cached tokens are counted separately, as this protocol does.
func message(call *Call, reply *Reply, content []map[string]any, stopReason any, output int) map[string]any {
	return map[string]any{
		"id": "msg_1", "type": "message", "role": "assistant", "model": call.Model, "content": content, "stop_reason": stopReason, "stop_sequence": nil,
		"usage": map[string]any{
			"input_tokens": reply.Usage.Input - reply.Usage.Cached, "cache_read_input_tokens": reply.Usage.Cached, "cache_creation_input_tokens": 0, "output_tokens": output,
		},
	}
}

func wholeMessage(call *Call, reply *Reply) any {
	return message(call, reply, blocks(call, reply), messageReasons.of(reply), reply.Usage.Output)
}

// streamMessage is the answer as events: start, the blocks, the stop reason with the output tokens, the end.
func streamMessage(call *Call, reply *Reply) (start, middle, end []event) {
	named := func(kind string, fields map[string]any) event {
		fields["type"] = kind
		return event{kind, fields}
	}
	for index, block := range blocks(call, reply) {
		kind, field, text := "text_delta", "text", fmt.Sprint(block["text"])
		first := map[string]any{"type": "text", "text": ""}
		if input, calls := block["input"].(json.RawMessage); calls {
			kind, field, text = "input_json_delta", "partial_json", string(input)
			first = map[string]any{"type": "tool_use", "id": block["id"], "name": block["name"], "input": map[string]any{}}
		}
		middle = append(middle, named("content_block_start", map[string]any{"index": index, "content_block": first}))
		for _, piece := range pieces(text) {
			middle = append(middle, named("content_block_delta", map[string]any{"index": index, "delta": map[string]any{"type": kind, field: piece}}))
		}
		middle = append(middle, named("content_block_stop", map[string]any{"index": index}))
	}

	return []event{named("message_start", map[string]any{"message": message(call, reply, []map[string]any{}, nil, 1)})}, middle, []event{
		named("message_delta", map[string]any{
			"delta": map[string]any{"stop_reason": messageReasons.of(reply), "stop_sequence": nil}, "usage": map[string]any{"output_tokens": reply.Usage.Output},
		}),
		named("message_stop", map[string]any{}),
	}
}

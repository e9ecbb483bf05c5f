package wiretest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/tidwall/gjson"

	"alfred/internal/llm"
)

var chatReasons = reasons{cutOff: "length", refused: "stop", calls: "tool_calls", whole: "stop"}

func readChat(_ *http.Request, body gjson.Result, call *Call) {
	call.Model, call.Stream, call.MaxTokens = body.Get("model").String(), body.Get("stream").Bool(), int(body.Get("max_tokens").Int())
	call.Temperature = number(body.Get("temperature"))
	for _, message := range body.Get("messages").Array() {
		said := llm.Message{Role: message.Get("role").String(), Content: message.Get("content").String()}
		if said.Role == "system" {
			call.System = said.Content
			continue
		}
		for _, called := range message.Get("tool_calls.#.function").Array() {
			said.ToolCalls = append(said.ToolCalls, llm.ToolCall{Name: called.Get("name").String(), Args: json.RawMessage(called.Get("arguments").String())})
		}
		call.Messages = append(call.Messages, said)
	}
	call.Tools = tools(body.Get("tools.#.function"), "parameters")
	format := body.Get("response_format.json_schema")
	call.SchemaName, call.Schema = format.Get("name").String(), raw(format.Get("schema"))
}

// chat is what answers and the chunks of streamed ones have in common.
func chat(call *Call, object string, choices ...any) map[string]any {
	return map[string]any{"id": "chatcmpl-1", "object": object, "created": 1, "model": call.Model, "choices": append([]any{}, choices...)}
}

func wholeChat(call *Call, reply *Reply) any {
	message := map[string]any{"role": "assistant", "content": reply.Text, "refusal": nil}
	if reply.End == EndRefused {
		message["content"], message["refusal"] = nil, reply.Text
	}
	var calls []any
	for i, called := range reply.ToolCalls {
		calls = append(calls, chatCall(i, called.Name, args(called)))
	}
	if len(calls) > 0 {
		message["tool_calls"] = calls
	}
	answer := chat(call, "chat.completion", map[string]any{"index": 0, "message": message, "finish_reason": chatReasons.of(reply)})
	answer["usage"] = chatUsage(reply.Usage)

	return answer
}

func chatCall(i int, name, arguments string) map[string]any {
	return map[string]any{"id": fmt.Sprintf("call_%d", i), "type": "function", "function": map[string]any{"name": name, "arguments": arguments}}
}

func chatUsage(usage llm.Usage) map[string]any {
	return map[string]any{
		"prompt_tokens": usage.Input, "completion_tokens": usage.Output, "total_tokens": usage.Input + usage.Output,
		"prompt_tokens_details": map[string]any{"cached_tokens": usage.Cached},
	}
}

// streamChat is the answer in chunks like the real server's: the role first, usage in a chunk without choices, [DONE]
// last.
func streamChat(call *Call, reply *Reply) (start, middle, end []event) {
	chunk := func(delta map[string]any, finish any) event {
		return event{data: chat(call, "chat.completion.chunk", map[string]any{"index": 0, "delta": delta, "finish_reason": finish})}
	}
	callDelta := func(i int, part map[string]any) event {
		part["index"] = i
		return chunk(map[string]any{"tool_calls": []any{part}}, nil)
	}
	field := "content"
	if reply.End == EndRefused {
		field = "refusal"
	}
	for _, piece := range pieces(reply.Text) {
		middle = append(middle, chunk(map[string]any{field: piece}, nil))
	}
	for i, called := range reply.ToolCalls {
		middle = append(middle, callDelta(i, chatCall(i, called.Name, "")))
		for _, piece := range pieces(args(called)) {
			middle = append(middle, callDelta(i, map[string]any{"function": map[string]any{"arguments": piece}}))
		}
	}
	end = []event{chunk(map[string]any{}, chatReasons.of(reply))}
	if gjson.GetBytes(call.Body, "stream_options.include_usage").Bool() {
		last := chat(call, "chat.completion.chunk")
		last["usage"] = chatUsage(reply.Usage)
		end = append(end, event{data: last})
	}

	return []event{chunk(map[string]any{"role": "assistant", "content": ""}, nil)}, middle, append(end, event{data: "[DONE]"})
}

// embedTexts answers in reverse order, to test that clients use the index.
func embedTexts(body gjson.Result) any {
	data := []any{}
	for i, text := range slices.Backward(body.Get("input").Array()) {
		data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": vector(text.String(), body.Get("dimensions"))})
	}

	return map[string]any{"object": "list", "model": body.Get("model").String(), "data": data, "usage": map[string]any{"prompt_tokens": 1, "total_tokens": 1}}
}

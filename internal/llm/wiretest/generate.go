package wiretest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"alfred/internal/llm"
)

var generateReasons = reasons{cutOff: "MAX_TOKENS", refused: "SAFETY", calls: "STOP", whole: "STOP"}

// readGenerate reads a request; the model and the method are in its path.
func readGenerate(r *http.Request, body gjson.Result, call *Call) {
	model, method, _ := strings.Cut(r.PathValue("call"), ":")
	config := body.Get("generationConfig")
	call.Model, call.Stream, call.System = model, method == "streamGenerateContent", textOf(body.Get("systemInstruction.parts"), "")
	call.Temperature, call.MaxTokens = number(config.Get("temperature")), int(config.Get("maxOutputTokens").Int())
	for _, message := range body.Get("contents").Array() {
		role := map[string]string{"user": llm.RoleUser, "model": llm.RoleAssistant}[message.Get("role").String()]
		said := llm.Message{Role: role, Content: textOf(message.Get("parts"), "")}
		for _, called := range message.Get("parts.#.functionCall").Array() {
			arguments := raw(called.Get("args"))
			if len(arguments) == 0 {
				arguments = json.RawMessage(`{}`) // the SDK leaves an empty object out
			}
			said.ToolCalls = append(said.ToolCalls, llm.ToolCall{Name: called.Get("name").String(), Args: arguments})
		}
		for _, output := range message.Get("parts.#.functionResponse.response.output").Array() {
			call.Messages = append(call.Messages, llm.Message{Role: llm.RoleTool, Content: output.String()})
		}
		if said.Content != "" || len(said.ToolCalls) > 0 {
			call.Messages = append(call.Messages, said)
		}
	}
	call.Tools = tools(body.Get("tools.#.functionDeclarations|@flatten"), "parametersJsonSchema")
	if schema, ok := config.Get("responseJsonSchema").Value().(map[string]any); ok {
		call.SchemaName, _ = schema["title"].(string)
		delete(schema, "title")
		call.Schema, _ = json.Marshal(schema)
	}
}

func wholeGenerate(call *Call, reply *Reply) any {
	var parts []any
	if reply.Text != "" && reply.End != EndRefused && !malformed(reply) {
		parts = append(parts, map[string]any{"text": reply.Text})
	}

	return lastGenerated(call, reply, parts)
}

// lastGenerated is the end of an answer: the parts, the calls, the reason and the usage. The protocol requires
// arguments to be objects: calls whose arguments are not are left out, and the reason says so.
func lastGenerated(call *Call, reply *Reply, parts []any) map[string]any {
	reason := "MALFORMED_FUNCTION_CALL"
	if !malformed(reply) {
		reason = generateReasons.of(reply)
		for _, called := range reply.ToolCalls {
			f := map[string]any{"name": called.Name}
			if len(called.Args) > 0 {
				f["args"] = called.Args
			}
			parts = append(parts, map[string]any{"functionCall": f})
		}
	}
	answer := generated(call, parts, map[string]any{"finishReason": reason})
	answer["usageMetadata"] = map[string]any{
		"promptTokenCount": reply.Usage.Input, "candidatesTokenCount": reply.Usage.Output, "cachedContentTokenCount": reply.Usage.Cached,
		"totalTokenCount": reply.Usage.Input + reply.Usage.Output,
	}

	return answer
}

func generated(call *Call, parts []any, candidate map[string]any) map[string]any {
	candidate["index"], candidate["content"] = 0, map[string]any{"role": "model", "parts": parts}
	return map[string]any{"modelVersion": call.Model, "candidates": []any{candidate}}
}

func malformed(reply *Reply) bool {
	return slices.ContainsFunc(reply.ToolCalls, func(c llm.ToolCall) bool { return len(c.Args) > 0 && !json.Valid(c.Args) })
}

// streamGenerate is the text in pieces; the last chunk has the calls whole, the finish reason and the usage.
func streamGenerate(call *Call, reply *Reply) (start, middle, end []event) {
	for _, text := range pieces(reply.Text) {
		if reply.End != EndRefused {
			middle = append(middle, event{data: generated(call, []any{map[string]any{"text": text}}, map[string]any{})})
		}
	}

	return nil, middle, []event{{data: lastGenerated(call, reply, nil)}}
}

func embedContents(body gjson.Result) any {
	embeddings := []any{}
	for _, one := range body.Get("requests").Array() {
		embeddings = append(embeddings, map[string]any{"values": vector(textOf(one.Get("content.parts"), ""), one.Get("outputDimensionality"))})
	}

	return map[string]any{"embeddings": embeddings}
}

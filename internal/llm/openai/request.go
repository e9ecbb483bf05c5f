package openai

import (
	"encoding/json"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"

	"alfred/internal/llm"
	"alfred/internal/llm/wire"
)

func (m *model) params(req *llm.Request) openai.ChatCompletionNewParams {
	params := openai.ChatCompletionNewParams{
		Messages: m.messages(req),
		Model:    m.Config.Model,
		Tools:    m.tools(req.Tools),
	}
	if req.Temperature != nil && !m.Drops(wire.Temperature) {
		params.Temperature = openai.Float(*req.Temperature)
	}
	if len(req.Schema) > 0 && !m.Drops(wire.ResponseFormat) {
		params.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
				Name: req.SchemaName, Schema: req.Schema, Strict: openai.Bool(m.strict(req.Schema)),
			},
		}
	}
	if req.OnDelta != nil && !m.Drops(wire.StreamOptions) {
		params.StreamOptions.IncludeUsage = openai.Bool(true)
	}
	m.limit(&params, req.MaxTokens)

	return params
}

// strict reports whether to enforce a schema: it must be within the supported subset, and the server must support it.
func (m *model) strict(schema json.RawMessage) bool {
	return wire.Strict(schema) && !m.Drops(wire.Promise)
}

// limit sets the answer's token limit. OpenAI's newer models reject the old parameter name; most other servers only
// know that one. If one is rejected, the other is sent.
func (m *model) limit(params *openai.ChatCompletionNewParams, tokens int) {
	newName := strings.Contains(m.Config.BaseURL, ".openai.com") != m.Drops(wire.TokenLimit)
	switch {
	case tokens <= 0:
	case newName:
		params.MaxCompletionTokens = openai.Int(int64(tokens))
	default:
		params.MaxTokens = openai.Int(int64(tokens))
	}
}

func (m *model) messages(req *llm.Request) []openai.ChatCompletionMessageParamUnion {
	list := make([]openai.ChatCompletionMessageParamUnion, 0, len(req.Messages)+1)
	system, before := wire.System(req), ""
	if m.Drops(wire.SystemRole) && system != "" {
		system, before = "", system+"\n\n"
	}
	if system != "" {
		list = append(list, openai.SystemMessage(system))
	}
	said := req.Messages
	if m.Drops(wire.Exchanges) {
		said = wire.Flat(said)
	}
	for _, group := range wire.Groups(said) {
		switch {
		case len(group.ToolCalls) > 0:
			list = append(list, m.called(&group))
		case len(group.Results) > 0:
			for i, result := range group.Results {
				list = append(list, openai.ToolMessage(result, group.IDs[i]))
			}
		case group.Role == llm.RoleAssistant:
			list = append(list, openai.AssistantMessage(group.Content))
		default:
			list = append(list, openai.UserMessage(before+group.Content))
			before = ""
		}
	}

	return list
}

// Fields that some servers add to an answer and want back with its calls: reasoning, and signatures of calls.
const (
	reasoningField = "reasoning_content"
	signatureField = "extra_content"
)

// called is an answer with its calls. Reasoning and signatures go back only to the server that sent them.
func (m *model) called(group *wire.Group) openai.ChatCompletionMessageParamUnion {
	message, own, extra := openai.ChatCompletionAssistantMessageParam{}, group.Provider == m.Config.Provider, map[string]any{}
	if message.Content.OfString = openai.String(group.Content); group.Content == "" {
		extra["content"] = nil // as in answers; some servers insist on the field
	}
	if own && group.Reasoning != "" {
		extra[reasoningField] = group.Reasoning
	}
	message.SetExtraFields(extra)
	for i, call := range group.ToolCalls {
		function := openai.ChatCompletionMessageFunctionToolCallParam{
			ID: group.IDs[i], Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: call.Name, Arguments: string(call.Args)},
		}
		if own && call.Signature != "" {
			function.SetExtraFields(map[string]any{signatureField: json.RawMessage(call.Signature)})
		}
		message.ToolCalls = append(message.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{OfFunction: &function})
	}

	return openai.ChatCompletionMessageParamUnion{OfAssistant: &message}
}

// tools returns nil if there are none: OpenAI rejects an empty list, although its published description allows it.
func (m *model) tools(given []llm.Tool) []openai.ChatCompletionToolUnionParam {
	var list []openai.ChatCompletionToolUnionParam
	for _, tool := range given {
		definition := shared.FunctionDefinitionParam{
			Name: tool.Name, Description: openai.String(tool.Description), Parameters: parameters(tool.Schema),
		}
		if m.strict(tool.Schema) {
			definition.Strict = openai.Bool(true)
		}
		list = append(list, openai.ChatCompletionFunctionTool(definition))
	}

	return list
}

// parameters parses a tool's schema; one that is not an object means no arguments.
func parameters(schema json.RawMessage) shared.FunctionParameters {
	if fields := wire.Object(schema); fields != nil {
		return fields
	}

	return shared.FunctionParameters{"type": "object", "properties": map[string]any{}}
}

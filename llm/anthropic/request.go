package anthropic

import (
	"encoding/json"

	"github.com/anthropics/anthropic-sdk-go"

	"alfred/llm"
	"alfred/llm/wire"
)

// params translates a request. Cache marks go to the ends of the stable parts: tools, instructions, and the messages'
// common prefix; the API orders a prompt tools, instructions, messages.
func (m *Model) params(req *llm.Request) anthropic.MessageNewParams {
	params := anthropic.MessageNewParams{
		MaxTokens: defaultMaxTokens,
		Messages:  messages(req.Messages),
		Model:     m.config.Model,
		Tools:     m.tools(req),
	}
	if req.MaxTokens > 0 {
		params.MaxTokens = int64(req.MaxTokens)
	}
	if req.System != "" {
		params.System = []anthropic.TextBlockParam{{Text: req.System, CacheControl: anthropic.NewCacheControlEphemeralParam()}}
	}
	if req.Temperature != nil && !m.dropped.Has(wire.Temperature) {
		params.Temperature = anthropic.Float(min(*req.Temperature, 1)) // other providers allow up to 2
	}
	if len(req.Schema) > 0 {
		params.ToolChoice = anthropic.ToolChoiceParamOfTool(req.SchemaName)
		params.ToolChoice.OfTool.DisableParallelToolUse = anthropic.Bool(true)
	}
	return params
}

func messages(given []llm.Message) []anthropic.MessageParam {
	list := make([]anthropic.MessageParam, 0, len(given))
	for _, message := range given {
		block := anthropic.NewTextBlock(message.Content)
		if message.Role == llm.RoleAssistant {
			list = append(list, anthropic.NewAssistantMessage(block))
			continue
		}
		if shared := message.Stable; shared > 0 && shared < len(message.Content) {
			kept := anthropic.NewTextBlock(message.Content[:shared])
			kept.OfText.CacheControl = anthropic.NewCacheControlEphemeralParam()
			list = append(list, anthropic.NewUserMessage(kept, anthropic.NewTextBlock(message.Content[shared:])))
			continue
		}
		list = append(list, anthropic.NewUserMessage(block))
	}
	return list
}

// tools are the request's, plus the schema as a tool that params forces.
func (m *Model) tools(req *llm.Request) []anthropic.ToolUnionParam {
	var list []anthropic.ToolUnionParam
	for _, tool := range req.Tools {
		list = append(list, m.tool(tool.Name, tool.Description, tool.Schema))
	}
	if len(req.Schema) > 0 {
		list = append(list, m.tool(req.SchemaName, "Give the answer.", req.Schema))
	}
	if len(list) > 0 {
		list[len(list)-1].OfTool.CacheControl = anthropic.NewCacheControlEphemeralParam()
	}
	return list
}

// tool is strict if its schema allows it: the input then has to conform.
func (m *Model) tool(name, description string, schema json.RawMessage) anthropic.ToolUnionParam {
	tool := anthropic.ToolUnionParamOfTool(inputSchema(schema), name)
	if description != "" {
		tool.OfTool.Description = anthropic.String(description)
	}
	if wire.Strict(schema) && !m.dropped.Has(wire.Promise) {
		tool.OfTool.Strict = anthropic.Bool(true)
	}
	return tool
}

// inputSchema passes the schema's fields on unchanged, definitions included.
func inputSchema(schema json.RawMessage) anthropic.ToolInputSchemaParam {
	var fields map[string]any
	if json.Unmarshal(schema, &fields) != nil {
		fields = map[string]any{}
	}
	delete(fields, "type") // "object", which the SDK sets
	return anthropic.ToolInputSchemaParam{ExtraFields: fields}
}

package anthropic

import (
	"encoding/json"

	"github.com/anthropics/anthropic-sdk-go"

	"alfred/internal/llm"
	"alfred/internal/llm/wire"
)

// params translates a request. Cache marks go to the ends of the stable parts: tools, instructions, and the messages'
// common prefix; the API orders a prompt tools, instructions, messages.
func (m *model) params(req *llm.Request) anthropic.MessageNewParams {
	params := anthropic.MessageNewParams{
		MaxTokens: defaultMaxTokens,
		Messages:  m.messages(req.Messages),
		Model:     m.Config.Model,
		Tools:     m.tools(req),
	}
	if req.MaxTokens > 0 {
		params.MaxTokens = int64(req.MaxTokens)
	}
	if req.System != "" {
		params.System = []anthropic.TextBlockParam{{Text: req.System, CacheControl: anthropic.NewCacheControlEphemeralParam()}}
	}
	if req.Temperature != nil && !m.Drops(wire.Temperature) {
		params.Temperature = anthropic.Float(min(*req.Temperature, 1)) // other providers allow up to 2
	}
	if len(req.Schema) > 0 {
		params.ToolChoice = anthropic.ToolChoiceParamOfTool(req.SchemaName)
		params.ToolChoice.OfTool.DisableParallelToolUse = anthropic.Bool(true)
	}

	return params
}

func (m *model) messages(given []llm.Message) []anthropic.MessageParam {
	if m.Drops(wire.Exchanges) {
		given = wire.Flat(given)
	}
	list := make([]anthropic.MessageParam, 0, len(given))
	for _, group := range wire.Groups(given) {
		switch shared := group.Stable; {
		case group.Role == llm.RoleAssistant:
			list = append(list, anthropic.NewAssistantMessage(called(&group)...))
		case len(group.Results) > 0:
			list = append(list, anthropic.NewUserMessage(results(&group)...))
		case shared > 0 && shared < len(group.Content):
			kept := anthropic.NewTextBlock(group.Content[:shared])
			kept.OfText.CacheControl = anthropic.NewCacheControlEphemeralParam()
			list = append(list, anthropic.NewUserMessage(kept, anthropic.NewTextBlock(group.Content[shared:])))
		default:
			list = append(list, anthropic.NewUserMessage(anthropic.NewTextBlock(group.Content)))
		}
	}
	if last := &list[len(list)-1].Content; len(*last) > 0 && (*last)[0].OfToolResult != nil {
		(*last)[len(*last)-1].OfToolResult.CacheControl = anthropic.NewCacheControlEphemeralParam() // the next call begins with all of it
	}

	return list
}

// called is an answer's text and calls. Thinking is never requested, so there is none to return.
func called(group *wire.Group) []anthropic.ContentBlockParamUnion {
	var blocks []anthropic.ContentBlockParamUnion
	if group.Content != "" {
		blocks = append(blocks, anthropic.NewTextBlock(group.Content))
	}
	for i, call := range group.ToolCalls {
		blocks = append(blocks, anthropic.NewToolUseBlock(group.IDs[i], call.Args, call.Name))
	}

	return blocks
}

func results(group *wire.Group) []anthropic.ContentBlockParamUnion {
	blocks := make([]anthropic.ContentBlockParamUnion, 0, len(group.Results))
	for i, result := range group.Results {
		blocks = append(blocks, anthropic.NewToolResultBlock(group.IDs[i], result, false))
	}

	return blocks
}

// tools are the request's, plus the schema as a tool that params forces.
func (m *model) tools(req *llm.Request) []anthropic.ToolUnionParam {
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
func (m *model) tool(name, description string, schema json.RawMessage) anthropic.ToolUnionParam {
	tool := anthropic.ToolUnionParamOfTool(inputSchema(schema), name)
	if description != "" {
		tool.OfTool.Description = anthropic.String(description)
	}
	if wire.Strict(schema) && !m.Drops(wire.Promise) {
		tool.OfTool.Strict = anthropic.Bool(true)
	}

	return tool
}

// inputSchema passes the schema's fields on unchanged, definitions included.
func inputSchema(schema json.RawMessage) anthropic.ToolInputSchemaParam {
	fields := wire.Object(schema)
	if fields == nil {
		fields = map[string]any{} // the SDK omits a tool's schema without fields
	}
	delete(fields, "type") // "object", which the SDK sets

	return anthropic.ToolInputSchemaParam{ExtraFields: fields}
}

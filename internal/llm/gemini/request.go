package gemini

import (
	"encoding/base64"
	"slices"

	"google.golang.org/genai"

	"alfred/internal/llm"
	"alfred/internal/llm/wire"
)

func (m *model) params(req *llm.Request) ([]*genai.Content, *genai.GenerateContentConfig) {
	config := &genai.GenerateContentConfig{MaxOutputTokens: int32(req.MaxTokens)}
	if system := wire.System(req); system != "" {
		config.SystemInstruction = genai.NewContentFromText(system, genai.RoleUser)
	}
	if req.Temperature != nil && !m.Drops(wire.Temperature) {
		config.Temperature = new(float32(*req.Temperature))
	}
	if schema := wire.Object(req.Schema); schema != nil && !m.Drops(wire.ResponseFormat) {
		schema["title"] = req.SchemaName
		config.ResponseMIMEType, config.ResponseJsonSchema = "application/json", schema
	}
	if len(req.Tools) > 0 {
		config.Tools = []*genai.Tool{{FunctionDeclarations: functions(req.Tools)}}
		if m.strict(req.Tools) {
			config.ToolConfig = &genai.ToolConfig{FunctionCallingConfig: &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeValidated}}
		}
	}

	return m.contents(req.Messages), config
}

func (m *model) contents(given []llm.Message) []*genai.Content {
	if m.Drops(wire.Exchanges) {
		given = wire.Flat(given)
	}
	contents := make([]*genai.Content, 0, len(given))
	for _, group := range wire.Groups(given) {
		role, parts := genai.Role(genai.RoleUser), []*genai.Part{}
		if group.Role == llm.RoleAssistant {
			role = genai.RoleModel
		}
		if group.Content != "" {
			parts = append(parts, genai.NewPartFromText(group.Content))
		}
		for _, call := range group.ToolCalls {
			parts = append(parts, called(&call, group.Provider == m.Config.Provider))
		}
		for i, result := range group.Results {
			parts = append(parts, genai.NewPartFromFunctionResponse(group.Names[i], map[string]any{"output": result}))
		}
		contents = append(contents, genai.NewContentFromParts(parts, role))
	}

	return contents
}

// called is a call with the server's signature, which newer models want back; own is false for another provider's call.
func called(call *llm.ToolCall, own bool) *genai.Part {
	part := genai.NewPartFromFunctionCall(call.Name, wire.Object(call.Args))
	if signature, err := base64.StdEncoding.DecodeString(call.Signature); own && err == nil && len(signature) > 0 {
		part.ThoughtSignature = signature
	}

	return part
}

// strict reports whether the server can enforce the tools' schemas.
func (m *model) strict(tools []llm.Tool) bool {
	lax := func(tool llm.Tool) bool { return !wire.Strict(tool.Schema) }
	return !m.Drops(wire.Promise) && !slices.ContainsFunc(tools, lax)
}

func functions(tools []llm.Tool) []*genai.FunctionDeclaration {
	list := make([]*genai.FunctionDeclaration, 0, len(tools))
	for _, tool := range tools {
		declaration := &genai.FunctionDeclaration{Name: tool.Name, Description: tool.Description}
		if schema := wire.Object(tool.Schema); schema != nil {
			declaration.ParametersJsonSchema = schema
		}
		list = append(list, declaration)
	}

	return list
}

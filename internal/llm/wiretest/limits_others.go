package wiretest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// rolesOfAnthropic: the first message must be the user's, and newer models reject a final one of the assistant
// (prefill).
func rolesOfAnthropic(request map[string]any) string {
	messages := list(request["messages"])
	if messages[0]["role"] != "user" {
		return "messages: first message must use the \"user\" role"
	}
	if messages[len(messages)-1]["role"] == "assistant" {
		return "This model does not support assistant message prefill. The conversation must end with a user message."
	}

	return ""
}

// cacheMarks: a request may have at most 4.
func cacheMarks(request map[string]any) string {
	text, _ := json.Marshal(request) //nolint:errchkjson // was JSON a moment ago
	if marks := strings.Count(string(text), `"cache_control"`); marks > 4 {
		return fmt.Sprintf("A maximum of 4 blocks with cache_control may be provided. Found %d.", marks)
	}

	return ""
}

// grammarOfAnthropic: all strict tools of a request form one grammar of at most 20 tools, 24 optional properties and 16
// unions; it does not support numeric and length constraints (anthropics/anthropic-sdk-python#1185 and its
// transform_schema).
func grammarOfAnthropic(request map[string]any) string {
	tools, optional, unions, unknown := 0, 0, 0, ""
	for _, tool := range list(request["tools"]) {
		if tool["strict"] != true {
			continue
		}
		tools++
		walk(tool["input_schema"], 0, func(node map[string]any, _ int) {
			if _, types := node["type"].([]any); types || node["anyOf"] != nil {
				unions++
			}
			if properties, ok := node["properties"].(map[string]any); ok {
				required, _ := node["required"].([]any)
				optional += len(properties) - len(required)
				if node["additionalProperties"] != false {
					unknown = "additionalProperties"
				}
			}
			for _, name := range []string{"minimum", "maximum", "multipleOf", "minLength", "maxLength", "maxItems", "pattern", "oneOf", "not"} {
				if _, there := node[name]; there {
					unknown = name
				}
			}
		})
		if unknown != "" {
			return fmt.Sprintf("tools.%v: For this type, property '%s' is not supported", tool["name"], unknown)
		}
	}
	switch {
	case tools > 20:
		return "The compiled grammar is too large: too many strict tools."
	case optional > 24:
		return "Schemas contains too many optional parameters, which would make grammar compilation inefficient."
	case unions > 16:
		return fmt.Sprintf("Schemas contains too many parameters with union types (%d parameters with type arrays or anyOf).", unions)
	}

	return ""
}

func forcedTool(request map[string]any) string {
	choice := object(request["tool_choice"])
	if choice == nil || choice["type"] != "tool" {
		return ""
	}
	for _, tool := range list(request["tools"]) {
		if tool["name"] == choice["name"] {
			return ""
		}
	}

	return fmt.Sprintf("Tool '%v' not found in provided tools", choice["name"])
}

// rolesOfGemini: a conversation must end with the user.
func rolesOfGemini(request map[string]any) string {
	contents := list(request["contents"])
	if contents[0]["role"] == "model" || contents[len(contents)-1]["role"] == "model" {
		return "Please ensure that multiturn requests begin and end with a user role."
	}

	return ""
}

func schemaNeedsType(request map[string]any) string {
	config := object(request["generationConfig"])
	if config["responseJsonSchema"] != nil && config["responseMimeType"] != "application/json" {
		return "response_json_schema needs response_mime_type application/json"
	}

	return ""
}

// schemasOfGemini: only the documented keywords are allowed.
func schemasOfGemini(request map[string]any) string {
	schemas := []any{object(request["generationConfig"])["responseJsonSchema"]}
	for _, tool := range list(request["tools"]) {
		for _, function := range list(tool["functionDeclarations"]) {
			schemas = append(schemas, function["parametersJsonSchema"])
		}
	}
	if unknown := unknownKeyword(schemas); unknown != "" {
		return "Invalid JSON payload received. Unknown keyword in the specified schema: " + unknown
	}

	return ""
}

var keywordsOfGemini = []string{
	"$anchor", "$defs", "$id", "$ref", "additionalProperties", "anyOf", "description", "enum", "format", "items", "maxItems", "maximum", "minItems", "minimum",
	"oneOf", "prefixItems", "properties", "propertyOrdering", "required", "title", "type",
}

func unknownKeyword(schema any) string {
	children, _ := schema.([]any)
	node, _ := schema.(map[string]any)
	for name, child := range node {
		if !slices.Contains(keywordsOfGemini, name) {
			return name
		}
		if named, ok := child.(map[string]any); ok && (name == "properties" || name == "$defs") {
			children = slices.AppendSeq(children, maps.Values(named)) // their names are no keywords
		} else {
			children = append(children, child)
		}
	}
	for _, child := range children {
		if unknown := unknownKeyword(child); unknown != "" {
			return unknown
		}
	}

	return ""
}

package wiretest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"alfred/internal/llm/wire"
)

// emptyTools: an empty list is valid by the description but rejected by the server; the maximum is 128 tools
// (dnakov/anon-kode#20, julep-ai/julep#330).
func emptyTools(request map[string]any) string {
	tools, given := request["tools"].([]any)
	switch {
	case given && len(tools) == 0:
		return "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead."
	case len(tools) > 128:
		return "Invalid 'tools': array too long. Expected an array with maximum length 128."
	}

	return ""
}

func bothLimits(request map[string]any) string {
	if request["max_tokens"] != nil && request["max_completion_tokens"] != nil {
		return "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."
	}

	return ""
}

// reasoningModels accept only the default temperature and only the new name of the token limit (BerriAI/litellm#8192).
func reasoningModels(request map[string]any) string {
	model, _ := request["model"].(string)
	named := func(prefix string) bool { return strings.HasPrefix(model, prefix) }
	if !slices.ContainsFunc([]string{"o1", "o3", "o4", "gpt-5"}, named) {
		return ""
	}
	if temperature, ok := request["temperature"].(float64); ok && temperature != 1 {
		return "Unsupported value: 'temperature' does not support this value with this model. Only the default (1) value is supported."
	}
	if request["max_tokens"] != nil {
		return "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
	}

	return ""
}

// strictSchemas must be in the documented subset: closed objects, all properties required, 5 levels (10 for newer
// models), 5,000 properties, 1,000 enum values.
func strictSchemas(request map[string]any) string {
	schemas := map[string]any{}
	if format := object(request["response_format"], "json_schema"); format["strict"] == true {
		schemas[fmt.Sprintf("response_format '%v'", format["name"])] = format["schema"]
	}
	for _, tool := range list(request["tools"]) {
		if function := object(tool, "function"); function["strict"] == true {
			schemas[fmt.Sprintf("function '%v'", function["name"])] = function["parameters"]
		}
	}
	for where, schema := range schemas {
		text, _ := json.Marshal(schema) //nolint:errchkjson // was JSON a moment ago
		levels, properties, enums := 0, 0, 0
		walk(schema, 0, func(node map[string]any, level int) {
			own, _ := node["properties"].(map[string]any)
			values, _ := node["enum"].([]any)
			levels, properties, enums = max(levels, level), properties+len(own), enums+len(values)
		})
		switch {
		case !wire.Strict(text):
			return "Invalid schema for " + where + ": it is outside the subset of strict mode."
		case levels > 5:
			return fmt.Sprintf("Invalid schema for %s: %d levels of nesting exceeds limit of 5.", where, levels)
		case properties > 5000 || enums > 1000:
			return "Invalid schema for " + where + ": too large."
		}
	}

	return ""
}

func streamOptions(request map[string]any) string {
	if request["stream_options"] != nil && request["stream"] != true {
		return "The 'stream_options' parameter is only allowed when 'stream' is enabled."
	}

	return ""
}

func toolNames(request map[string]any) string {
	var names []any
	for _, tool := range list(request["tools"]) {
		name := object(tool, "function")["name"]
		if slices.Contains(names, name) {
			return fmt.Sprintf("Duplicate function name %v.", name)
		}
		names = append(names, name)
	}

	return ""
}

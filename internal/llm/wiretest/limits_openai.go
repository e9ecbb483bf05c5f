package wiretest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"alfred/internal/llm/wire"
)

// emptyTools: an empty list is valid by the description but rejected by the server; the maximum is 128 tools
// (dnakov/anon-kode#20, julep-ai/julep#330).
func emptyTools(request gjson.Result) string {
	tools := request.Get("tools")
	switch count := len(tools.Array()); {
	case tools.Exists() && count == 0:
		return "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead."
	case count > 128:
		return "Invalid 'tools': array too long. Expected an array with maximum length 128."
	}

	return ""
}

func bothLimits(request gjson.Result) string {
	if request.Get("max_tokens").Exists() && request.Get("max_completion_tokens").Exists() {
		return "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."
	}

	return ""
}

// reasoningModels accept only the default temperature and only the new name of the token limit (BerriAI/litellm#8192).
func reasoningModels(request gjson.Result) string {
	named := func(prefix string) bool { return strings.HasPrefix(request.Get("model").String(), prefix) }
	temperature := request.Get("temperature")
	switch {
	case !slices.ContainsFunc([]string{"o1", "o3", "o4", "gpt-5"}, named):
		return ""
	case temperature.Exists() && temperature.Float() != 1:
		return "Unsupported value: 'temperature' does not support this value with this model. Only the default (1) value is supported."
	case request.Get("max_tokens").Exists():
		return "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
	}

	return ""
}

// strictSchemas must be in the documented subset: closed objects, all properties required, 5 levels (10 for newer
// models), 5,000 properties, 1,000 enum values.
func strictSchemas(request gjson.Result) string {
	schemas := map[string]gjson.Result{}
	if format := request.Get("response_format.json_schema"); format.Get("strict").Bool() {
		schemas["response_format '"+format.Get("name").String()+"'"] = format.Get("schema")
	}
	for _, function := range request.Get("tools.#.function").Array() {
		if function.Get("strict").Bool() {
			schemas["function '"+function.Get("name").String()+"'"] = function.Get("parameters")
		}
	}
	for where, schema := range schemas {
		levels, properties, enums := 0, 0, 0
		walk(schema, 0, func(node gjson.Result, level int) {
			levels, properties, enums = max(levels, level), properties+len(node.Get("properties").Map()), enums+len(node.Get("enum").Array())
		})
		switch {
		case !wire.Strict(raw(schema)):
			return "Invalid schema for " + where + ": it is outside the subset of strict mode."
		case levels > 5:
			return fmt.Sprintf("Invalid schema for %s: %d levels of nesting exceeds limit of 5.", where, levels)
		case properties > 5000 || enums > 1000:
			return "Invalid schema for " + where + ": too large."
		}
	}

	return ""
}

func streamOptions(request gjson.Result) string {
	if request.Get("stream_options").Exists() && !request.Get("stream").Bool() {
		return "The 'stream_options' parameter is only allowed when 'stream' is enabled."
	}

	return ""
}

func toolNames(request gjson.Result) string {
	seen := map[string]bool{}
	for _, name := range request.Get("tools.#.function.name").Array() {
		if seen[name.String()] {
			return "Duplicate function name " + name.String() + "."
		}
		seen[name.String()] = true
	}

	return ""
}

package wiretest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// rolesOfAnthropic: the first message must be the user's, and newer models reject a final one of the assistant
// (prefill).
func rolesOfAnthropic(request gjson.Result) string {
	roles := request.Get("messages.#.role").Array()
	if roles[0].String() != "user" {
		return "messages: first message must use the \"user\" role"
	}
	if roles[len(roles)-1].String() == "assistant" {
		return "This model does not support assistant message prefill. The conversation must end with a user message."
	}

	return ""
}

// cacheMarks: a request may have at most 4.
func cacheMarks(request gjson.Result) string {
	marks := 0
	walk(request, 0, func(node gjson.Result, _ int) {
		if node.Get("cache_control").Exists() {
			marks++
		}
	})
	if marks > 4 {
		return fmt.Sprintf("A maximum of 4 blocks with cache_control may be provided. Found %d.", marks)
	}

	return ""
}

// grammarOfAnthropic: all strict tools of a request form one grammar of at most 20 tools, 24 optional properties and 16
// unions (anthropics/anthropic-sdk-python#1185 and its transform_schema).
func grammarOfAnthropic(request gjson.Result) string {
	tools, optional, unions := 0, 0, 0
	for _, tool := range request.Get("tools.#(strict==true)#").Array() {
		tools++
		unknown := ""
		walk(tool.Get("input_schema"), 0, func(node gjson.Result, _ int) {
			unknown = cmp.Or(unknown, unsupportedByGrammar(node))
			if node.Get("type").IsArray() || node.Get("anyOf").Exists() {
				unions++
			}
			if properties := node.Get("properties"); properties.IsObject() {
				optional += len(properties.Map()) - len(node.Get("required").Array())
			}
		})
		if unknown != "" {
			return fmt.Sprintf("tools.%s: For this type, property '%s' is not supported", tool.Get("name"), unknown)
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

// unsupportedByGrammar is an open object, or a constraint on numbers or lengths.
func unsupportedByGrammar(node gjson.Result) string {
	if node.Get("properties").IsObject() && node.Get("additionalProperties").Raw != "false" {
		return "additionalProperties"
	}
	for _, name := range []string{"minimum", "maximum", "multipleOf", "minLength", "maxLength", "maxItems", "pattern", "oneOf", "not"} {
		if node.Get(name).Exists() {
			return name
		}
	}

	return ""
}

func forcedTool(request gjson.Result) string {
	choice := request.Get("tool_choice")
	if choice.Get("type").String() != "tool" {
		return ""
	}
	for _, name := range request.Get("tools.#.name").Array() {
		if name.String() == choice.Get("name").String() {
			return ""
		}
	}

	return fmt.Sprintf("Tool '%s' not found in provided tools", choice.Get("name"))
}

// rolesOfGemini: a conversation must end with the user.
func rolesOfGemini(request gjson.Result) string {
	roles := request.Get("contents.#.role").Array()
	if roles[0].String() == "model" || roles[len(roles)-1].String() == "model" {
		return "Please ensure that multiturn requests begin and end with a user role."
	}

	return ""
}

func schemaNeedsType(request gjson.Result) string {
	config := request.Get("generationConfig")
	if config.Get("responseJsonSchema").Exists() && config.Get("responseMimeType").String() != "application/json" {
		return "response_json_schema needs response_mime_type application/json"
	}

	return ""
}

// schemasOfGemini: only the documented keywords are allowed.
func schemasOfGemini(request gjson.Result) string {
	schemas := append(request.Get("tools.#.functionDeclarations.#.parametersJsonSchema|@flatten").Array(), request.Get("generationConfig.responseJsonSchema"))
	for _, schema := range schemas {
		if unknown := unknownKeyword(schema); unknown != "" {
			return "Invalid JSON payload received. Unknown keyword in the specified schema: " + unknown
		}
	}

	return ""
}

var keywordsOfGemini = strings.Fields(`
	$anchor $defs $id $ref additionalProperties anyOf description enum format items maxItems maximum minItems minimum
	oneOf prefixItems properties propertyOrdering required title type`)

func unknownKeyword(schema gjson.Result) (unknown string) {
	schema.ForEach(func(name, child gjson.Result) bool {
		switch {
		case schema.IsObject() && !slices.Contains(keywordsOfGemini, name.String()):
			unknown = name.String()
		case name.String() == "properties" || name.String() == "$defs": // their names are no keywords
			child.ForEach(func(_, named gjson.Result) bool {
				unknown = unknownKeyword(named)

				return unknown == ""
			})
		case child.IsObject() || child.IsArray():
			unknown = unknownKeyword(child)
		}

		return unknown == ""
	})

	return unknown
}

package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"alfred/internal/llm"
)

// System returns req's instructions. The schema is added in words, for servers that ignore or do not support structured
// output.
func System(req *llm.Request) string {
	if len(req.Schema) == 0 {
		return req.System
	}
	var compact bytes.Buffer
	if json.Compact(&compact, req.Schema) != nil {
		return req.System
	}
	const format = "%s\n\nAnswer with one JSON object named %q that follows this JSON schema, and with nothing else:\n%s"

	return strings.TrimSpace(fmt.Sprintf(format, req.System, req.SchemaName, plainSigns.Replace(compact.String())))
}

// plainSigns undoes encoding/json's HTML escapes, so that a model reads operators as they are written.
var plainSigns = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&")

// Object parses a JSON object, such as a tool's schema; nil if it is none.
func Object(text json.RawMessage) map[string]any {
	var fields map[string]any
	if json.Unmarshal(text, &fields) != nil {
		return nil
	}

	return fields
}

// Strict reports whether OpenAI's strict mode can enforce schema: every object closed, every property required and
// typed.
func Strict(schema json.RawMessage) bool {
	root := Object(schema)

	return root["type"] == "object" && strict(root)
}

func strict(node map[string]any) bool {
	for key := range node {
		if !slices.Contains(strictKeywords, key) {
			return false
		}
	}
	if node["$ref"] == nil && node["type"] == nil && node["anyOf"] == nil && node["enum"] == nil && node["const"] == nil {
		return false
	}
	if properties, ok := node["properties"].(map[string]any); ok || node["type"] == "object" {
		if !strictObject(node, properties) {
			return false
		}
	}

	return strictChildren(node)
}

var strictKeywords = []string{
	"$defs", "$ref", "$schema", "additionalProperties", "anyOf", "const", "description", "enum", "exclusiveMaximum", "exclusiveMinimum",
	"format", "items", "maxItems", "maximum", "minItems", "minimum", "multipleOf", "pattern", "properties", "required", "title", "type",
}

func strictObject(node, properties map[string]any) bool {
	required, _ := node["required"].([]any)
	if node["additionalProperties"] != false {
		return false
	}
	for name := range properties {
		if !slices.Contains(required, any(name)) {
			return false
		}
	}

	return true
}

func strictChildren(node map[string]any) bool {
	var children []any
	for _, key := range []string{"properties", "$defs"} {
		named, _ := node[key].(map[string]any)
		children = slices.AppendSeq(children, maps.Values(named))
	}
	if alternatives, ok := node["anyOf"].([]any); ok {
		children = append(children, alternatives...)
	}
	if items, ok := node["items"]; ok {
		children = append(children, items)
	}

	return !slices.ContainsFunc(children, func(child any) bool {
		object, ok := child.(map[string]any)
		return !ok || !strict(object)
	})
}

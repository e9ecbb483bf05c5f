package wiretest

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

//go:embed rules/*.json
var extracts embed.FS

// published are extracts of the providers' own API descriptions, by protocol. Each file names its source.
var published = sync.OnceValue(func() map[Protocol]*jsonschema.Resolved {
	resolved := map[Protocol]*jsonschema.Resolved{}
	for _, protocol := range []Protocol{Anthropic, Gemini, OpenAI} {
		text, err := extracts.ReadFile("rules/" + string(protocol) + ".json")
		var extract struct {
			Schema *jsonschema.Schema `json:"schema"`
		}
		if err == nil {
			err = json.Unmarshal(text, &extract)
		}
		if err == nil {
			resolved[protocol], err = extract.Schema.Resolve(nil)
		}
		if err != nil {
			panic(fmt.Sprintf("rules of %s: %v", protocol, err))
		}
	}

	return resolved
})

// refusal is the message of the provider's 400 response, or "". limits adds what its description omits.
func refusal(protocol Protocol, body []byte) string {
	var request map[string]any
	if err := json.Unmarshal(body, &request); err != nil {
		return "the body is not JSON: " + err.Error()
	}
	if err := published()[protocol].Validate(request); err != nil {
		return err.Error()
	}
	for _, limit := range limits[protocol] {
		if says := limit(request); says != "" {
			return says
		}
	}

	return ""
}

// limits are reported by documentation and issue threads but missing in the descriptions.
var limits = map[Protocol][]func(map[string]any) string{
	Anthropic: {rolesOfAnthropic, pairsOfAnthropic, cacheMarks, grammarOfAnthropic, forcedTool},
	Gemini:    {rolesOfGemini, pairsOfGemini, schemaNeedsType, schemasOfGemini},
	OpenAI:    {emptyTools, bothLimits, pairsOfOpenAI, reasoningModels, strictSchemas, streamOptions, toolNames},
}

func list(value any) []map[string]any {
	items, _ := value.([]any)
	var objects []map[string]any
	for _, item := range items {
		if object, ok := item.(map[string]any); ok {
			objects = append(objects, object)
		}
	}

	return objects
}

func object(value any, path ...string) map[string]any {
	at, _ := value.(map[string]any)
	for _, name := range path {
		at, _ = at[name].(map[string]any)
	}

	return at
}

// walk visits the objects within a JSON value. level counts the schemas of type "object" around each, itself included.
func walk(value any, level int, visit func(node map[string]any, level int)) {
	children, _ := value.([]any)
	if node, ok := value.(map[string]any); ok {
		if node["type"] == "object" {
			level++
		}
		visit(node, level)
		children = slices.Collect(maps.Values(node))
	}
	for _, child := range children {
		walk(child, level, visit)
	}
}

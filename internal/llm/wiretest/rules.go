package wiretest

import (
	"embed"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/tidwall/gjson"
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
	parsed := gjson.ParseBytes(body)
	for _, limit := range limits[protocol] {
		if says := limit(parsed); says != "" {
			return says
		}
	}

	return ""
}

// limits are reported by documentation and issue threads but missing in the descriptions.
var limits = map[Protocol][]func(gjson.Result) string{
	Anthropic: {rolesOfAnthropic, pairsOfAnthropic, cacheMarks, grammarOfAnthropic, forcedTool},
	Gemini:    {rolesOfGemini, pairsOfGemini, schemaNeedsType, schemasOfGemini},
	OpenAI:    {emptyTools, bothLimits, pairsOfOpenAI, reasoningModels, strictSchemas, streamOptions, toolNames},
}

// strs are the texts of a list.
func strs(list gjson.Result) []string {
	var texts []string
	for _, item := range list.Array() {
		texts = append(texts, item.String())
	}

	return texts
}

// walk visits the objects within a JSON value. level counts the schemas of type "object" around each, itself included.
func walk(value gjson.Result, level int, visit func(node gjson.Result, level int)) {
	if value.IsObject() {
		if value.Get("type").String() == "object" {
			level++
		}
		visit(value, level)
	}
	if value.IsObject() || value.IsArray() {
		value.ForEach(func(_, child gjson.Result) bool {
			walk(child, level, visit)

			return true
		})
	}
}

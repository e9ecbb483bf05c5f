package wiretest

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"alfred/internal/llm"
	"alfred/internal/llm/anthropic"
	"alfred/internal/llm/gemini"
	"alfred/internal/llm/lexical"
	"alfred/internal/llm/openai"
	"alfred/internal/llm/wire"
)

// dialect is what a protocol does in its own way.
type dialect struct {
	paths  []string // of requests, below the server's address
	prefix string   // of the base URL's path
	key    string   // header with the API key
	scheme string   // before the key
	read   func(r *http.Request, body gjson.Result, call *Call)
	whole  func(call *Call, reply *Reply) any
	// stream is the answer in events. A connection that breaks off does so in the middle.
	stream func(call *Call, reply *Reply) (start, middle, end []event)
	embed  func(body gjson.Result) any // answers with vectors; nil: there are none
	open   func(config *wire.Config) (*wire.Model, error)
}

var dialects = map[Protocol]*dialect{
	Anthropic: {
		paths: []string{"/v1/messages"}, key: "X-Api-Key", read: readMessages, whole: wholeMessage, stream: streamMessage, open: anthropic.New,
	},
	Gemini: {
		paths: []string{"/v1beta/models/{call}"}, key: "X-Goog-Api-Key", read: readGenerate, whole: wholeGenerate, stream: streamGenerate, embed: embedContents, open: gemini.New,
	},
	OpenAI: {
		paths: []string{"/v1/chat/completions", "/v1/embeddings"}, prefix: "/v1", key: "Authorization", scheme: "Bearer ", read: readChat, whole: wholeChat, stream: streamChat, embed: embedTexts, open: openai.New,
	},
}

// pieces splits text into deltas of a few runes.
func pieces(text string) []string {
	const size = 7
	var list []string
	for part := range slices.Chunk([]rune(text), size) {
		list = append(list, string(part))
	}

	return list
}

// args returns a model's arguments; none means no arguments.
func args(call llm.ToolCall) string {
	if len(call.Args) == 0 {
		return "{}"
	}

	return string(call.Args)
}

// reasons are a protocol's words for how an answer ended.
type reasons struct{ cutOff, refused, calls, whole string }

func (r reasons) of(reply *Reply) string {
	switch {
	case reply.End == EndCutOff:
		return r.cutOff
	case reply.End == EndRefused:
		return r.refused
	case len(reply.ToolCalls) > 0:
		return r.calls
	}

	return r.whole
}

// textOf is a content's text: the content itself, or that of its blocks.
func textOf(content gjson.Result, separator string) string {
	if !content.IsArray() {
		return content.String()
	}
	var texts []string
	for _, block := range content.Array() {
		if text := block.Get("text").String(); text != "" {
			texts = append(texts, text)
		}
	}

	return strings.Join(texts, separator)
}

func tools(list gjson.Result, schema string) []llm.Tool {
	var tools []llm.Tool
	for _, tool := range list.Array() {
		tools = append(tools, llm.Tool{Name: tool.Get("name").String(), Description: tool.Get("description").String(), Schema: raw(tool.Get(schema))})
	}

	return tools
}

// raw is a value as it was written, nil if there is none.
func raw(value gjson.Result) json.RawMessage {
	if !value.Exists() {
		return nil
	}

	return json.RawMessage(value.Raw)
}

func number(value gjson.Result) *float64 {
	if !value.Exists() {
		return nil
	}

	return new(value.Float())
}

// embedding holds the fields of both protocols' requests for vectors. A server rejects other types of them.
type embedding struct {
	Dimensions int      `json:"dimensions"`
	Input      []string `json:"input"`
	Model      string   `json:"model"`
	Requests   []struct {
		Content struct {
			Parts []struct {
				Text string `json:"text"`
			} `json:"parts"`
		} `json:"content"`
		OutputDimensionality int `json:"outputDimensionality"`
	} `json:"requests"`
}

// vector is the lexical one in the length that the request asks for, if any, cut or filled up with zeros.
func vector(text string, length gjson.Result) []float32 {
	vectors, _ := lexical.Embedder{}.Embed(context.Background(), []string{text}) // fails only if the context is done
	filled := make([]float32, cmp.Or(int(length.Int()), len(vectors[0])))
	copy(filled, vectors[0])

	return filled
}

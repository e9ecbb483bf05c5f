package wiretest_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"alfred/internal/llm/wiretest"
)

const (
	chatBody     = `"model": "gpt-4.1", "messages": [{"role": "user", "content": "hi"}]`
	messagesBody = `"model": "claude", "max_tokens": 100, "messages": [{"role": "user", "content": "hi"}]`
	generateBody = `"contents": [{"role": "user", "parts": [{"text": "hi"}]}]`
	closed       = `{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false}`
	openSchema   = `{"type": "object", "properties": {"a": {"type": "string"}}}`
)

// A stand-in that rejects nothing proves nothing: each rule must reject a violation.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func TestRules(t *testing.T) {
	t.Parallel()

	function := func(strict, schema string) string {
		return `"tools": [{"type": "function", "function": {"name": "t", "strict": ` + strict + `, "parameters": ` + schema + `}}]`
	}
	tool := func(schema string) string {
		return `"tools": [{"name": "t", "strict": true, "input_schema": ` + schema + `}]`
	}
	unions := `{"type": "object", "additionalProperties": false, "required": [], "properties": {`
	many := `{"type": "object", "additionalProperties": false, "required": [], "properties": {`
	for i := range 25 {
		comma := map[bool]string{true: ", ", false: ""}[i > 0]
		unions += fmt.Sprintf(`%s"p%d": {"type": ["string", "null"]}`, comma, i)
		many += fmt.Sprintf(`%s"p%d": {"type": "string"}`, comma, i)
	}
	unions, many = strings.Replace(unions, `"required": []`, `"required": [`+names(25)+`]`, 1)+"}}", many+"}}"
	deep := `{"type": "string"}`
	for range 6 {
		deep = `{"type": "object", "properties": {"a": ` + deep + `}, "required": ["a"], "additionalProperties": false}`
	}
	marked := `{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}`

	for name, tt := range map[string]struct {
		protocol wiretest.Protocol
		body     string
		says     string // "" for an accepted request
	}{
		"OpenAI/Good":              {wiretest.OpenAI, chatBody + `, ` + function("true", closed), ""},
		"OpenAI/NoMessages":        {wiretest.OpenAI, `"model": "m", "messages": []`, "messages"},
		"OpenAI/UnknownField":      {wiretest.OpenAI, chatBody + `, "max_token": 3`, "max_token"},
		"OpenAI/UnknownRole":       {wiretest.OpenAI, `"model": "m", "messages": [{"role": "model", "content": "hi"}]`, "messages"},
		"OpenAI/EmptyTools":        {wiretest.OpenAI, chatBody + `, "tools": []`, "empty array"},
		"OpenAI/BothLimits":        {wiretest.OpenAI, chatBody + `, "max_tokens": 3, "max_completion_tokens": 3`, "same time"},
		"OpenAI/TooHot":            {wiretest.OpenAI, chatBody + `, "temperature": 3`, "temperature"},
		"OpenAI/ReasoningHot":      {wiretest.OpenAI, strings.Replace(chatBody, "gpt-4.1", "o3-mini", 1) + `, "temperature": 0.2`, "default (1)"},
		"OpenAI/ReasoningLimit":    {wiretest.OpenAI, strings.Replace(chatBody, "gpt-4.1", "gpt-5-mini", 1) + `, "max_tokens": 9`, "max_completion_tokens"},
		"OpenAI/StrictOpen":        {wiretest.OpenAI, chatBody + `, ` + function("true", openSchema), "Invalid schema for function"},
		"OpenAI/LaxOpen":           {wiretest.OpenAI, chatBody + `, ` + function("false", openSchema), ""},
		"OpenAI/StrictDeep":        {wiretest.OpenAI, chatBody + `, ` + function("true", deep), "levels of nesting"},
		"OpenAI/StrictFormat":      {wiretest.OpenAI, chatBody + `, "response_format": {"type": "json_schema", "json_schema": {"name": "n", "strict": true, "schema": ` + openSchema + `}}`, "response_format"},
		"OpenAI/ToolName":          {wiretest.OpenAI, chatBody + `, "tools": [{"type": "function", "function": {"name": "a tool"}}]`, "tools"},
		"OpenAI/ToolTwice":         {wiretest.OpenAI, chatBody + `, "tools": [{"type": "function", "function": {"name": "a"}}, {"type": "function", "function": {"name": "a"}}]`, "Duplicate"},
		"OpenAI/UsageNoStream":     {wiretest.OpenAI, chatBody + `, "stream_options": {"include_usage": true}`, "stream_options"},
		"Anthropic/Good":           {wiretest.Anthropic, messagesBody + `, ` + tool(closed), ""},
		"Anthropic/NoLimit":        {wiretest.Anthropic, `"model": "m", "messages": [{"role": "user", "content": "hi"}]`, "max_tokens"},
		"Anthropic/SystemRole":     {wiretest.Anthropic, `"model": "m", "max_tokens": 1, "messages": [{"role": "system", "content": "hi"}]`, "messages"},
		"Anthropic/EmptyText":      {wiretest.Anthropic, `"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": [{"type": "text", "text": ""}]}]`, "messages"},
		"Anthropic/TooHot":         {wiretest.Anthropic, messagesBody + `, "temperature": 1.5`, "temperature"},
		"Anthropic/AssistantFirst": {wiretest.Anthropic, `"model": "m", "max_tokens": 1, "messages": [{"role": "assistant", "content": "hi"}, {"role": "user", "content": "hi"}]`, "first message"},
		"Anthropic/Prefill":        {wiretest.Anthropic, `"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "{"}]`, "prefill"},
		"Anthropic/FiveMarks":      {wiretest.Anthropic, messagesBody + `, "system": [` + strings.Repeat(marked+",", 4) + marked + `]`, "cache_control"},
		"Anthropic/StrictOpen":     {wiretest.Anthropic, messagesBody + `, ` + tool(openSchema), "additionalProperties"},
		"Anthropic/StrictBounds":   {wiretest.Anthropic, messagesBody + `, ` + tool(strings.Replace(closed, `"string"`, `"integer", "minimum": 1`, 1)), "minimum"},
		"Anthropic/Unions":         {wiretest.Anthropic, messagesBody + `, ` + tool(unions), "union types"},
		"Anthropic/Optional":       {wiretest.Anthropic, messagesBody + `, ` + tool(many), "optional parameters"},
		"Anthropic/OtherTool":      {wiretest.Anthropic, messagesBody + `, ` + tool(closed) + `, "tool_choice": {"type": "tool", "name": "u"}`, "not found"},
		"Anthropic/UnknownField":   {wiretest.Anthropic, messagesBody + `, "response_format": {}`, "response_format"},
		"Gemini/Good":              {wiretest.Gemini, generateBody + `, "tools": [{"functionDeclarations": [{"name": "t", "parametersJsonSchema": ` + closed + `}]}]`, ""},
		"Gemini/NoContents":        {wiretest.Gemini, `"contents": []`, "contents"},
		"Gemini/EmptyPart":         {wiretest.Gemini, `"contents": [{"role": "user", "parts": [{"text": ""}]}]`, "contents"},
		"Gemini/AssistantRole":     {wiretest.Gemini, `"contents": [{"role": "assistant", "parts": [{"text": "a"}]}]`, "contents"},
		"Gemini/EndsWithModel":     {wiretest.Gemini, `"contents": [{"role": "user", "parts": [{"text": "a"}]}, {"role": "model", "parts": [{"text": "a"}]}]`, "user role"},
		"Gemini/EmptyTools":        {wiretest.Gemini, generateBody + `, "tools": [{"functionDeclarations": []}]`, "functionDeclarations"},
		"Gemini/ToolName":          {wiretest.Gemini, generateBody + `, "tools": [{"functionDeclarations": [{"name": "1 tool"}]}]`, "name"},
		"Gemini/SchemaNoType":      {wiretest.Gemini, generateBody + `, "generationConfig": {"responseJsonSchema": {"type": "object"}}`, "response_mime_type"},
		"Gemini/SchemaKeyword":     {wiretest.Gemini, generateBody + `, "generationConfig": {"responseMimeType": "application/json", "responseJsonSchema": {"type": "object", "allOf": []}}`, "allOf"},
		"Gemini/UnknownField":      {wiretest.Gemini, generateBody + `, "temperature": 1`, "temperature"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := wiretest.Start(t, tt.protocol, func(context.Context, *wiretest.Call) wiretest.Reply { return wiretest.Reply{Text: "hi"} })
			status, answer := post(t, server, tt.protocol, "{"+tt.body+"}")
			if tt.says == "" {
				require.Equal(t, http.StatusOK, status, answer)
				return
			}
			require.Equal(t, http.StatusBadRequest, status, answer)
			require.Contains(t, answer, tt.says)
			require.Len(t, server.Refusals(), 1)
		})
	}
}

func names(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`"p%d"`, i)
	}

	return strings.Join(list, ", ")
}

func post(t *testing.T, server *wiretest.Server, protocol wiretest.Protocol, body string) (int, string) {
	t.Helper()
	path := map[wiretest.Protocol]string{
		wiretest.OpenAI: "/chat/completions", wiretest.Anthropic: "/v1/messages", wiretest.Gemini: "/v1beta/models/m:generateContent",
	}[protocol]
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.BaseURL+path, bytes.NewReader([]byte(body)))
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+wiretest.Key)
	request.Header.Set("X-Api-Key", wiretest.Key)
	request.Header.Set("X-Goog-Api-Key", wiretest.Key)
	request.Header.Set("Anthropic-Version", "2023-06-01")
	response, err := server.Client().Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)

	return response.StatusCode, string(text)
}

package nodes

import (
	"encoding/json"
	"strings"

	"alfred/internal/llm"
)

// cleaned removes from an answer what Postgres cannot store: NUL and invalid UTF-8. It runs once, where an answer is
// read, so that no text of any output can fail a commit. What JSON writes as escapes, decode removes.
func cleaned(resp *llm.Response) *llm.Response {
	clean := *resp
	clean.Text, clean.ToolCalls = cleanText(resp.Text), nil
	for _, call := range resp.ToolCalls {
		clean.ToolCalls = append(clean.ToolCalls, llm.ToolCall{Name: cleanText(call.Name), Args: json.RawMessage(cleanText(string(call.Args)))})
	}

	return &clean
}

func cleanText(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "\uFFFD")
}

// cleaning removes from pieces what cleaned removes from the whole.
func cleaning(onDelta func(string)) func(string) {
	if onDelta == nil {
		return nil
	}

	return func(piece string) { onDelta(cleanText(piece)) }
}

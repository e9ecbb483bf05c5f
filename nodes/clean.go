package nodes

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"

	"alfred/internal/llm"
)

// cleaned removes from an answer what Postgres cannot store: NUL, invalid UTF-8 and, in JSON, escapes for NUL or half a
// surrogate pair. It runs once, where an answer is read, so that no field of any output can fail a commit.
func cleaned(resp *llm.Response, structured bool) *llm.Response {
	clean := *resp
	clean.Text = cleanText(resp.Text)
	if structured {
		clean.Text = cleanEscapes(clean.Text)
	}
	clean.ToolCalls = nil
	for _, call := range resp.ToolCalls {
		clean.ToolCalls = append(clean.ToolCalls, llm.ToolCall{
			Name: cleanText(call.Name), Args: json.RawMessage(cleanEscapes(cleanText(string(call.Args)))),
		})
	}

	return &clean
}

func cleanText(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "\uFFFD")
}

// cleanEscapes works on JSON that may be invalid: whoever reads the answer repairs it, not this function.
func cleanEscapes(text string) string {
	if !strings.Contains(text, `\u`) {
		return text
	}
	var out strings.Builder
	for len(text) > 0 {
		at := strings.IndexByte(text, '\\')
		if at < 0 || at+1 >= len(text) {
			break
		}
		out.WriteString(text[:at])
		text = text[at:]
		escape := text[:2]
		if escape == `\u` {
			escape = text[:min(6, len(text))]
		}
		kept, length := cleanEscape(text, escape)
		out.WriteString(kept)
		text = text[length:]
	}

	return out.String() + text
}

// cleanEscape returns the replacement for the escape at the start of text, and how much of text it replaces.
func cleanEscape(text, escape string) (kept string, length int) {
	code, ok := codeUnit(escape)
	switch {
	case !ok:
		return escape, len(escape)
	case code == 0:
		return "", len(escape)
	case !utf16.IsSurrogate(code):
		return escape, len(escape)
	}
	if pair := text[:min(12, len(text))]; len(pair) == 12 {
		if second, ok := codeUnit(pair[6:]); ok && utf16.DecodeRune(code, second) != '\uFFFD' {
			return pair, len(pair)
		}
	}

	return `\ufffd`, len(escape)
}

// codeUnit reads an escape such as \u0041.
func codeUnit(escape string) (rune, bool) {
	digits, ok := strings.CutPrefix(escape, `\u`)
	code, err := strconv.ParseUint(digits, 16, 16)

	return rune(code), ok && err == nil && len(digits) == 4
}

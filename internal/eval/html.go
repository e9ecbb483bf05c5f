package eval

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"

	"alfred/internal/llm"
)

//go:embed junit.xml replay.html report.html style.html
var pages embed.FS

// writePage renders one of this folder's page templates. The page is self-contained.
func writePage(out io.Writer, name string, data any) error {
	page, err := template.New(name).Funcs(template.FuncMap{
		"clean": clean, "pretty": pretty, "next": func(n int) int { return n + 1 }, "share": func(part, whole int) string { return fmt.Sprintf("%d/%d", part, whole) },
	}).ParseFS(pages, name, "style.html")
	if err == nil {
		err = page.Execute(out, data)
	}
	if err != nil {
		return fmt.Errorf("write the page: %w", err)
	}

	return nil
}

// HTML writes a page: totals, the comparison of two runs, and for each failed trial what was wrong, what happened, and
// the models' prompts and answers.
func (r *Report) HTML(out io.Writer) error {
	return writePage(out, "report.html", r)
}

// pretty formats a request or an answer for people: text as text, JSON indented.
func pretty(raw json.RawMessage) string {
	var call struct {
		System   string        `json:"system"`
		Messages []llm.Message `json:"messages"`
		llm.Response
	}
	if json.Unmarshal(raw, &call) != nil {
		return string(raw)
	}
	if len(call.Messages) > 0 {
		text := "system\n" + call.System
		for _, m := range call.Messages {
			text += "\n\n" + m.Role + "\n" + m.Content + called(m.ToolCalls)
		}

		return text
	}

	return strings.TrimPrefix(indented(call.Text)+called(call.ToolCalls), "\n")
}

// called lists calls, each on lines of its own.
func called(calls []llm.ToolCall) string {
	text := ""
	for _, c := range calls {
		text += "\n" + c.Name + " " + indented(string(c.Args))
	}

	return text
}

// indented indents JSON and returns any other text unchanged.
func indented(text string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(text), "", "  ") != nil {
		return text
	}

	return b.String()
}

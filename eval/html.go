package eval

import (
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
)

//go:embed replay.html report.html style.html
var pages embed.FS

// writePage renders one of this folder's page templates. The page is self-contained.
func writePage(out io.Writer, name string, data any) error {
	page, err := template.New(name).Funcs(template.FuncMap{"pretty": pretty, "share": func(part, whole int) string { return fmt.Sprintf("%d/%d", part, whole) }}).
		ParseFS(pages, name, "style.html")
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
	return writePage(out, "report.html", struct {
		*Report
		Rows []row
	}{r, r.rows()})
}

// row is a case in both runs.
type row struct {
	*Result

	Other *Result
	Trend string // better, worse or ""
}

func (r *Report) rows() []row {
	trends := map[string]string{}
	for _, d := range r.Differences() {
		if trends[d.Case] = "worse"; d.Better() {
			trends[d.Case] = "better"
		}
	}
	before, rows := r.before(), make([]row, len(r.Run.Cases))
	for i := range r.Run.Cases {
		c := &r.Run.Cases[i]
		rows[i] = row{Result: c, Other: before[c.Case], Trend: trends[c.Case]}
	}

	return rows
}

// pretty formats part of a call for people, with message texts as text.
func pretty(raw json.RawMessage) string {
	var request struct {
		System   string `json:"system"`
		Messages []struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		} `json:"messages"`
	}
	if json.Unmarshal(raw, &request) == nil && len(request.Messages) > 0 {
		text := "system\n" + request.System
		for _, m := range request.Messages {
			text += "\n\n" + m.Role + "\n" + m.Content
		}

		return text
	}
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return string(raw)
	}
	indented, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return string(raw)
	}

	return string(indented)
}

package crud

import (
	"fmt"
	"strings"

	"alfred/internal/domain"
	"alfred/internal/vocab"
)

// Told says what the calls did: "Created 1 meal: Spaghetti (meal_3)."; "" for no calls.
func (o *Outcome) Told() string {
	parts := make([]string, 0, len(o.Results))
	for i := range o.Results {
		parts = append(parts, o.Results[i].Told)
	}
	text := strings.Join(parts, "; ")
	if text == "" {
		return ""
	}

	return capital(text) + "."
}

// maxTold is how many rows a result names.
const maxTold = 3

// toldWords are what a call did to the rows that it counts.
var toldWords = map[string]string{
	vocab.ToolRead: "found", vocab.ToolCreate: "created", vocab.ToolUpdate: "changed", vocab.ToolDelete: "deleted", vocab.ToolGenerate: "drafted",
}

// told says what a call did, for people and models alike: "created 1 meal: Spaghetti (meal_3)". What was only read is
// counted, since its rows are shown.
func (s *step) told(r *Result) string {
	word := toldWords[r.Tool]
	switch {
	case r.Tool == vocab.ToolRecall:
		return "looked back: " + counted(r.RowCount, "hit", "hits")
	case r.Tool == vocab.ToolCalculate:
		return "calculated"
	case s.entity == nil && word != "":
		return word + " " + counted(r.RowCount, "row", "rows")
	case s.entity == nil:
		return strings.ReplaceAll(r.Tool, "_", " ")
	case r.Tool == vocab.ToolAnalyze:
		return "counted " + s.entity.Plural + ": " + counted(r.RowCount, "result", "results")
	case word == "": // an operation
		return strings.ReplaceAll(r.Tool, "_", " ") + ": " + counted(r.RowCount, s.entity.Name, s.entity.Plural)
	}
	text := word + " " + counted(r.RowCount, s.entity.Name, s.entity.Plural)
	if r.Tool == vocab.ToolRead {
		return text
	}

	return text + namesOf(s.entity, s.result.rows, r.RowCount)
}

func counted(n int, one, many string) string {
	switch n {
	case 0:
		return "no " + many
	case 1:
		return "1 " + one
	default:
		return fmt.Sprintf("%d %s", n, many)
	}
}

// namesOf are the first few rows by label and ref. Rows without a label of their own are not named.
func namesOf(e *domain.Entity, rows []map[string]any, all int) string {
	var names []string
	for _, row := range rows {
		ref, _ := row[e.Key.Name].(string)
		label := e.Label.RenderComplete(row)
		if ref == "" || label == "" || len(names) == maxTold {
			continue
		}
		names = append(names, label+" ("+ref+")")
	}
	if len(names) == 0 {
		return ""
	}
	text := ": " + strings.Join(names, ", ")
	if more := all - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}

	return text
}

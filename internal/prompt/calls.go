package prompt

import (
	"fmt"
	"slices"
	"strings"

	"alfred/db"
	"alfred/internal/domain"
)

// analysisFramework tells an analyze step how to reach a conclusion that the next step and the reply can rely on.
const analysisFramework = `### How To Analyze
1. What is asked, and which constraints hold.
2. Which rows count, and which are ruled out, each with the reason.
3. Compare exactly, by what stands in the rows; totals with db_analyze or calculate, not in your head.
4. conclusions: what fits, by ref and name, best first; what was ruled out and why; what is missing to be sure.`

// callExamples returns real calls for the step's type, on one of its subdomain's tables: models copy what they see.
func (t *page) callExamples(step *db.TurnSteps) string {
	sub := t.Domain.Subdomain(step.Subdomain)
	if sub == nil || len(sub.Tables) == 0 {
		return ""
	}
	e := t.Domain.Entity(sub.Tables[0])
	if e == nil || len(e.Label.Columns()) == 0 {
		return ""
	}
	lines := t.callsOf(step.StepType, e)
	if len(lines) == 0 {
		return ""
	}
	text := "### Examples Of Calls\n- " + strings.Join(lines, "\n- ")
	if step.StepType == db.StepTypeAnalyze {
		text = analysisFramework + "\n\n" + text
	}

	return text
}

func (t *page) callsOf(kind db.StepType, e *domain.Entity) []string {
	table, name := e.Table, e.Label.Columns()[0]
	done := `, with ` + "`step_complete`" + ` {"summary": "...", "conclusions": "", "note": ""} in the same answer`
	byRef := fmt.Sprintf(`[{"field": "id", "op": "=", "value": "%s_1"}]`, e.Type)
	set, children := setExample(e), childExample(e)
	switch kind {
	case db.StepTypeRead:
		return []string{
			fmt.Sprintf(`By ref, in full: db_read {"table": "%s", "filters": %s, "detail": "full"}%s`, table, byRef, done),
			readExample(e, name),
		}
	case db.StepTypeAnalyze:
		return []string{fmt.Sprintf(`How many of each: db_analyze {"table": "%s", "aggregates": [{"fn": "count", "as": "n"}], "group_by": ["%s"], "filters": []}`, table, grouped(e, name))}
	case db.StepTypeGenerate:
		return []string{
			fmt.Sprintf(`A new draft: generate {"creates": [{"type": "%s", "set": %s, "children": %s}], "updates": []}%s`, e.Type, set, children, done),
			fmt.Sprintf(`A change of a draft, only what changes: generate {"creates": [], "updates": [{"ref": "gen_%s_1", "set": %s, "clear": [], "children": []}]}`, e.Type, set),
		}
	case db.StepTypeWrite:
		return writesOf(e, byRef, set, children, done)
	default:
		return nil
	}
}

// readExample finds rows by their name, or, where they are called by a time or by other rows, by a range of it or by
// such a row.
func readExample(e *domain.Entity, name string) string {
	read := fmt.Sprintf(`db_read {"table": "%s", "filters": `, e.Table)
	c := labelColumn(e)
	switch {
	case c == nil, c.FK == nil && c.Kind == domain.KindText:
		return fmt.Sprintf(`By name: %s[{"field": "%s", "op": "=", "value": "..."}]}; a part of a name: "op": "ilike", "value": "%%...%%"`, read, name)
	case c.Target() != nil:
		return fmt.Sprintf(`By what it points at: %s[{"field": "%s", "op": "=", "value": "%s_1"}]}`, read, c.Name, c.Target().Type)
	default:
		return fmt.Sprintf(`From one to before another: %s[{"field": "%[2]s", "op": ">=", "value": "..."}, {"field": "%[2]s", "op": "<", "value": "..."}]}`, read, c.Name)
	}
}

// grouped is a column whose values recur, else the label's.
func grouped(e *domain.Entity, name string) string {
	for _, c := range e.Columns {
		if len(c.Enum) > 0 && !c.Hidden && c.Kind != domain.KindArray {
			return c.Name
		}
	}

	return name
}

// childExample is one child row of new content, where the type has children: without one a model leaves them out.
func childExample(e *domain.Entity) string {
	if len(e.Children) == 0 || len(e.Children[0].Entity.Label.Columns()) == 0 {
		return "[]"
	}
	child := e.Children[0].Entity

	return fmt.Sprintf(`[{"table": "%s", "position": 0, "set": %s}]`, child.Table, setExample(child))
}

// labelColumn is the first column of a label: for the label of another row, the column that points at it.
func labelColumn(e *domain.Entity) *domain.Column {
	return e.Column(domain.Labelled(e.Label.Columns()[0]))
}

// setExample sets the column by which rows are called, or where that is computed, one that may be written.
func setExample(e *domain.Entity) string {
	column, value := e.Label.Columns()[0], "..."
	c := labelColumn(e)
	if i := slices.IndexFunc(e.Columns, func(c *domain.Column) bool { return c.Writable }); i >= 0 && c != nil && !c.Writable {
		c = e.Columns[i]
	}
	if c != nil {
		column = c.Name
		if target := c.Target(); target != nil {
			value = target.Type + "_1"
		}
	}

	return fmt.Sprintf(`[{"column": "%s", "value": "%s"}]`, column, value)
}

// writesOf lists the write calls that the declaration allows.
func writesOf(e *domain.Entity, byRef, set, children, done string) []string {
	var lines []string
	if e.May(domain.Create) {
		lines = append(lines, fmt.Sprintf(`A draft, exactly as it is: db_create {"table": "%s", "from_ref": "gen_%s_1"}%s`, e.Table, e.Type, done),
			fmt.Sprintf(`A new row: db_create {"table": "%s", "rows": [{"set": %s, "children": %s}]}`, e.Table, set, children))
	}
	if e.May(domain.Update) {
		lines = append(lines, fmt.Sprintf(`A change: db_update {"table": "%s", "filters": %s, "set": %s, "clear": []}`, e.Table, byRef, set))
	}
	if e.May(domain.Delete) {
		lines = append(lines, fmt.Sprintf(`A deletion: db_delete {"table": "%s", "filters": %s}`, e.Table, byRef))
	}

	return lines
}

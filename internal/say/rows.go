package say

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"alfred/db"
	"alfred/internal/clean"
	"alfred/internal/domain"
	"alfred/internal/view"
	"alfred/internal/vocab"
)

// DisplayLine is a row's line with every column that was read, its ref last: "Butter Chicken total_time:45min
// cuisine:indian id:recipe_1".
func (t *Teller) DisplayLine(r *view.Row, without ...string) string {
	return t.lineOf(r.Kind, r.Columns, forModel, without...) + " id:" + r.Ref
}

// FactsLine is a row's line without its label, which appears beside it, and whether it contains all of the row's short
// values: a template may omit some.
func (t *Teller) FactsLine(r *view.Row) (line string, whole bool) {
	short := shortValues(r)
	label := t.ByRef[r.Ref].Label
	line = t.lineOf(r.Kind, short, forModel)
	for name, value := range short {
		_, flag := value.(bool)
		if name == r.Kind.Key.Name || isCanonical(r.Kind, name) || clean.IsEmpty(value) || flag {
			continue
		}
		if said := clean.Inline(clean.Value(value), 0); !strings.Contains(line, said) && !strings.Contains(label, said) {
			return "", false
		}
	}

	return strings.TrimSpace(strings.TrimPrefix(line, label)), true
}

// hearer is the reader a row is worded for.
type hearer int

const (
	forModel  hearer = iota // with refs
	forReply                // for a model that writes to people: without refs
	forPerson               // in everyday words
)

func (h hearer) template(def *domain.Entity) domain.Template {
	if h == forPerson {
		return def.Spoken
	}

	return def.Display
}

// named formats a column with its value.
func (h hearer) named(column, value string) string {
	if h == forPerson {
		column, value = measured(column, value)

		return "; " + domain.Spoken(column) + ": " + value
	}

	return " " + column + ":" + value
}

// hears reports whether a value is told: what was before a change is for those who word a reply to it, and written as data.
func (h hearer) hears(name string) bool {
	return h != forPerson || !strings.HasPrefix(name, "_") || strings.HasSuffix(name, "_label")
}

// units end the names of columns that measure in them.
var units = []string{"seconds", "minutes", "hours", "days", "weeks", "months", "years"}

// measured moves a unit from the column's name to the number: people say a prep time of 10 minutes, not prep time
// minutes.
func measured(column, value string) (string, string) {
	at := strings.LastIndexByte(column, '_')
	if _, err := strconv.ParseFloat(value, 64); err != nil || at < 1 || !slices.Contains(units, column[at+1:]) {
		return column, value
	}
	unit := column[at+1:]
	if value == "1" {
		unit = strings.TrimSuffix(unit, "s")
	}

	return column[:at], value + " " + unit
}

func (t *Teller) lineOf(def *domain.Entity, columns map[string]any, to hearer, without ...string) string {
	shown := map[string]any{}
	for name, value := range columns {
		if to.hears(name) && !slices.Contains(without, name) {
			shown[name] = safe(value)
		}
	}
	hidden := func(name string) bool { return to != forModel && isReference(def, name) }
	template := to.template(def)
	line := template.RenderWithout(shown, hidden)
	if line == "" {
		line = clean.Inline(def.Label.RenderWithout(shown, hidden), view.MaxLabel)
	}
	maps.DeleteFunc(shown, func(name string, value any) bool { return value != nil && hidden(name) })
	used := append(template.Columns(), def.Label.Columns()...)
	for _, name := range ColumnOrder(def, shown) {
		if slices.Contains(used, name) && (to == forPerson || !cutShort(def, name, shown[name], line)) {
			continue
		}
		if slices.Contains(used, domain.Labelled(name)) && strings.Contains(line, clean.Value(shown[name])) { // a template says whom it is about
			continue
		}
		line += t.fact(def, name, shown, to)
	}

	return clean.Inline(line, 0)
}

// cutShort reports whether a template's layout leaves out something of a time: whoever words a reply has to know the
// hour of what the line calls Nov 26.
func cutShort(def *domain.Entity, name string, value any, line string) bool {
	column := def.Column(name)

	return column != nil && column.Kind == domain.KindTimestamp && !clean.IsEmpty(value) && !strings.Contains(line, clean.Value(value))
}

// keySuffix says that a column holds a key, which its label takes the place of.
var keySuffix = regexp.MustCompile(`(_(id|key|uuid|guid)|Id|Key|Uuid|Guid)$`)

// fact is one further column of a display line, or "".
func (t *Teller) fact(def *domain.Entity, name string, columns map[string]any, to hearer) string {
	value := columns[name]
	if name == def.Key.Name || def.Child(name) != nil || isCanonical(def, name) || clean.IsEmpty(value) || value == false {
		return ""
	}
	if inner, labels := strings.CutPrefix(name, "_"); labels {
		column, isLabel := strings.CutSuffix(inner, "_label")
		if to == forModel && isLabel {
			return ""
		}

		return to.named(keySuffix.ReplaceAllString(column, ""), clean.Value(value))
	}

	return to.named(name, to.worded(def.Column(name), clean.Value(value)))
}

// worded writes a time, or a range, as people do, for people.
func (h hearer) worded(c *domain.Column, value string) string {
	if h != forPerson || c == nil || c.Kind != domain.KindTimestamp && c.Holds == "" {
		return value
	}

	return domain.Moment(value)
}

// isCanonical reports whether a column references the canonical row of the row's own name, which implies it.
func isCanonical(def *domain.Entity, name string) bool {
	return def.Match != nil && def.Match.Link.Name == domain.Labelled(name)
}

func isReference(def *domain.Entity, name string) bool {
	column := def.Column(name)

	return name == def.Key.Name || (column != nil && column.FK != nil)
}

// safe neutralizes texts before a template inserts them into a line.
func safe(value any) any {
	switch v := value.(type) {
	case string:
		return clean.Inline(v, 0)
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = safe(item)
		}

		return list
	default:
		return value
	}
}

// longText is the number of characters above which a value goes below the table.
const longText = 160

// ColumnOrder is the table's order, followed by whatever else the row has.
func ColumnOrder(def *domain.Entity, columns map[string]any) []string {
	var names []string
	for _, column := range def.Columns {
		if _, ok := columns[column.Name]; !ok {
			continue
		}
		names = append(names, column.Name)
		if label := "_" + column.Name + "_label"; columns[label] != nil {
			names = append(names, label)
		}
	}
	var others []string
	for name := range columns {
		if !slices.Contains(names, name) {
			others = append(others, name)
		}
	}
	slices.Sort(others)

	return append(names, others...)
}

// IsLong reports whether a value is too long for the line of its row. A list of sentences always is.
func IsLong(value any) bool {
	switch v := value.(type) {
	case string:
		return utf8.RuneCountInString(v) > longText
	case []any:
		sentences := func(one any) bool { text, _ := one.(string); return strings.HasSuffix(text, ".") }

		return utf8.RuneCountInString(clean.JSON(v)) > longText || slices.ContainsFunc(v, sentences)
	case map[string]any:
		return utf8.RuneCountInString(clean.JSON(v)) > longText
	default:
		return false
	}
}

// LongValue keeps a text on one line: a separate line could pose as a row.
func LongValue(value any) string {
	list, ok := value.([]any)
	if !ok {
		return clean.JSON(value)
	}
	lines := make([]string, len(list))
	for i, item := range list {
		if s, isText := item.(string); isText {
			lines[i] = strconv.Itoa(i+1) + ". " + clean.Inline(s, 0)
		} else {
			lines[i] = strconv.Itoa(i+1) + ". " + clean.JSON(item)
		}
	}

	return strings.Join(lines, "\n")
}

// Outcome is the turn's outcome in a few words; the reply may claim no more.
func (t *Teller) Outcome() string {
	done, short := 0, 0
	for _, step := range t.Steps {
		switch {
		case step.Outcome == nil:
		case *step.Outcome == db.StepOutcomeOk, *step.Outcome == db.StepOutcomeEmpty:
			done++
		case !t.IsMadeUpFor(step):
			short++
		}
	}
	switch {
	case t.OwnQuestion() != nil && done+short == 0:
		return "a question to the user"
	case done+short == 0 && !slices.ContainsFunc(t.OwnResults(), func(r *view.Result) bool { return !r.IsNotice() }):
		return "nothing was read or changed in this turn"
	case short == 0:
		return "done"
	case done == 0 && !slices.ContainsFunc(t.OwnResults(), func(r *view.Result) bool { return vocab.Writes(r.Tool) && !r.Failed() && len(r.Refs) > 0 }):
		return "not done"
	default:
		return "done in part"
	}
}

// The verbs of tools that write.
const (
	Saved   = "Saved"
	Changed = "Changed"
	Deleted = "Deleted"
)

// Verb is the past tense of what a tool does.
func Verb(tool string) string {
	switch tool {
	case vocab.ToolCreate:
		return Saved
	case vocab.ToolDelete:
		return Deleted
	case vocab.ToolUndo:
		return "Taken back"
	case vocab.ToolRead, vocab.ToolMention, vocab.ToolUIChange:
		return "Found"
	default: // one of the domain's operations changes what it returns
		return Changed
	}
}

// PlainRow is a row for a model that words it for people: its line, with its long texts and children below.
func (t *Teller) PlainRow(ref string) string { return t.wholeRow(ref, forReply) }

func shortValues(r *view.Row) map[string]any {
	short := map[string]any{}
	for name, value := range r.Columns {
		if !IsLong(value) {
			short[name] = value
		}
	}

	return short
}

func (t *Teller) wholeRow(ref string, to hearer) string {
	r := t.Rows.ByRef[ref]
	if r == nil {
		return "- " + t.ByRef[ref].Label
	}
	row := *r
	row.Columns = t.withoutPartNames(r)
	lines := []string{"- " + t.lineOf(r.Kind, shortValues(&row), to)}
	for _, name := range ColumnOrder(r.Kind, row.Columns) {
		value := row.Columns[name]
		if prose, ok := value.(string); ok && IsLong(value) {
			lines = append(lines, "  "+name+":", indent(clean.Block(prose)))
		} else if IsLong(value) && to.hears(name) {
			lines = append(lines, "  "+strings.TrimPrefix(name, "_")+":", indent(LongValue(value)))
		}
	}
	t.eachPart(r, func(part *view.Row, column string) {
		lines = append(lines, "  - "+t.lineOf(part.Kind, part.Columns, to, column, "_"+column+"_label"))
		lines = append(lines, t.innerParts(part, "    - ", to)...)
	})

	return strings.Join(lines, "\n")
}

// InnerParts are the lines of a part's own parts, at any depth.
func (t *Teller) InnerParts(part *view.Row) []string { return t.innerParts(part, "  - ", forModel) }

// innerParts name what each part is: unlike those of the row itself, they stand under no heading.
func (t *Teller) innerParts(r *view.Row, mark string, to hearer) (lines []string) {
	t.eachPart(r, func(part *view.Row, column string) {
		line := mark + part.Kind.Name + ": " + t.lineOf(part.Kind, part.Columns, to, column, "_"+column+"_label")
		if to == forModel {
			line += " id:" + part.Ref
		}
		lines = append(append(lines, line), t.innerParts(part, "  "+mark, to)...)
	})

	return lines
}

// eachPart calls f for each child of a row, with the column that points to the row.
func (t *Teller) eachPart(r *view.Row, f func(part *view.Row, column string)) {
	for _, child := range r.Kind.Children {
		for _, ref := range r.Children[child.Entity.Table] {
			f(t.Rows.ByRef[ref], child.FK.Name)
		}
	}
}

func indent(text string) string { return "  " + strings.ReplaceAll(text, "\n", "\n  ") }

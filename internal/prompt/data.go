package prompt

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"alfred/db"
	"alfred/internal/clean"
	"alfred/internal/say"
	"alfred/internal/view"
)

// shortRow is the largest short row, in tokens.
const shortRow = 80

const (
	rowMark    = "| "   // begins a row of the table
	detailMark = "### " // begins what stands below the table of a row
)

// fullData prints every row in view once: a table of short values, with long texts and child rows below it.
func (t *page) fullData(s *section) {
	chosen := t.chooseRows()
	if len(chosen) == 0 {
		return
	}
	lines, details := t.fitRows(chosen)
	s.head("| ref | label | type | data |")
	s.head("|---|---|---|---|")
	for _, r := range chosen {
		line, ok := lines[r]
		if !ok && t.ofStep(r.Ref) {
			t.leftOut++
		}
		if ok {
			detail, whole := details[r]
			s.unit(unit{text: line, ref: r.Ref, key: rowMark + r.Ref + " | "})
			t.show(r, whole)
			reason := "recent"
			if r.Turn == t.Number {
				reason = "current"
			}
			s.addItem(reason, r.Ref, r.Turn, line+detail)
		}
	}
	hint := "; read the others with filters"
	if only(t.steps, db.StepTypeAnalyze) { // which may not read
		hint = "; only db_analyze covers the others"
	}
	s.shown(len(lines), len(chosen), hint)
	for _, r := range chosen {
		if details[r] != "" {
			s.line()
			key := detailMark + r.Ref + "\n"
			s.unit(unit{text: key + details[r], ref: r.Ref, key: key})
		}
	}
	if cut := len(lines) - len(details); cut > 0 {
		s.line()
		s.line("(long texts of ", strconv.Itoa(cut), " rows left out; read one by id for them)")
	}
}

// chooseRows picks the rows to show, in first-seen order: all rows of this turn, and those of the window that are still
// in view. Children appear below their parent, drafts under Generated.
func (t *page) chooseRows() []*view.Row {
	inView := func(r *view.Row) bool {
		e := t.ByRef[r.Ref]
		near := e.Tier == "recent" || e.Tier == "retained" || r.Turn == t.Number || t.ofStep(r.Ref)

		return near && !e.Pending() && !t.Gone(r.Ref)
	}
	nested := t.ChildRows(inView)
	var chosen []*view.Row
	for _, ref := range t.Rows.Order {
		if r := t.Rows.ByRef[ref]; inView(r) && !nested[ref] {
			chosen = append(chosen, r)
		}
	}

	return chosen
}

// fitRows returns the lines that fit, and the details of those rows that fit below them: first the details of the oldest
// rows are left out, then the oldest rows themselves. The step's own rows get their details first, and their line
// regardless of the budget, unless the model cannot take that, because a decision may not overwrite what it was not shown.
func (t *page) fitRows(chosen []*view.Row) (lines, details map[*view.Row]string) {
	left := t.config.Budget.Rows
	own := func(r *view.Row) bool { return t.ofStep(r.Ref) }
	lines, details = map[*view.Row]string{}, map[*view.Row]string{}
	lineOf := func(r *view.Row) (string, bool) {
		line := t.tableRow(r)

		return line, own(r) && !t.config.Shortened || len(lines) < t.config.ShortRows && clean.Tokens(line) <= shortRow
	}
	detailOf := func(r *view.Row) (string, bool) { return t.detail(r), false }
	byAge := slices.SortedStableFunc(slices.Values(chosen), func(a, b *view.Row) int { return cmp.Or(b.Turn-a.Turn, b.Step-a.Step) })
	for _, rows := range [][]*view.Row{view.Filter(byAge, own), slices.DeleteFunc(byAge, own)} {
		fit(lines, &left, rows, lineOf)
		fit(details, &left, view.Filter(rows, func(r *view.Row) bool { return lines[r] != "" }), detailOf)
	}

	return lines, details
}

// show records which columns of a row appear in the prompt; long texts and children appear only with its details.
func (t *page) show(r *view.Row, detailed bool) {
	for name, value := range r.Columns {
		if detailed || !say.IsLong(value) {
			t.shown[r.Ref] = append(t.shown[r.Ref], name)
		}
	}
	if !detailed {
		return
	}
	for _, refs := range r.Children {
		for _, ref := range refs {
			t.show(t.Rows.ByRef[ref], true)
		}
	}
}

func (t *page) tableRow(r *view.Row) string {
	e := t.ByRef[r.Ref]
	kind := e.EntityType
	if e.Stale != "" {
		kind += " [" + e.Stale + "]"
	}
	if e.Tier == "excluded" {
		kind += " [excluded]"
	}
	data := t.cells(r)
	if line, whole := t.FactsLine(r); whole && clean.Tokens(line) < clean.Tokens(data) {
		data = clean.Cell(line)
	}

	return rowMark + r.Ref + " | " + clean.Cell(e.Label) + " | " + kind + " | " + data + " |"
}

// cells prints a row's short values by column.
func (t *page) cells(r *view.Row) string {
	var b strings.Builder
	for _, name := range say.ColumnOrder(r.Kind, r.Columns) {
		value := r.Columns[name]
		if name == r.Kind.Key.Name || clean.IsEmpty(value) || say.IsLong(value) {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(",")
		}
		b.WriteString(clean.JSON(name) + ":" + clean.JSON(value))
	}

	return "{" + b.String() + "}"
}

// detail prints what goes below the table: long texts and child rows.
func (t *page) detail(r *view.Row) string {
	var b strings.Builder
	for _, name := range say.ColumnOrder(r.Kind, r.Columns) {
		if value := r.Columns[name]; say.IsLong(value) {
			b.WriteString(strings.TrimPrefix(name, "_") + ":\n" + say.LongValue(value) + "\n")
		}
	}
	for _, child := range r.Kind.Children {
		table := child.Entity.Table
		if len(r.Children[table])+len(r.Loose[table]) > 0 {
			b.WriteString(table + ":\n")
		}
		for _, ref := range r.Children[table] {
			below := t.Rows.ByRef[ref]
			lines := append([]string{"- " + t.DisplayLine(below, child.FK.Name)}, t.InnerParts(below)...)
			b.WriteString(strings.Join(lines, "\n") + "\n")
		}
		for _, item := range r.Loose[table] {
			b.WriteString("- " + clean.JSON(item) + "\n")
		}
	}

	return strings.TrimRight(b.String(), "\n")
}

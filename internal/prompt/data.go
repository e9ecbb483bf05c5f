package prompt

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"alfred/internal/clean"
	"alfred/internal/say"
	"alfred/internal/view"
)

// minShortRows is how many short rows are shown whatever the budget: an analysis
// over a part of a list is worse than a long prompt.
const minShortRows = 200

// shortRow bounds a short row, in tokens.
const shortRow = 80

// fullData is every row of the window that is in view, once: a table of short
// values, long texts and child rows below it.
func (t *page) fullData(s *section) {
	chosen := t.chooseRows(t.step.Refs)
	if len(chosen) == 0 {
		return
	}
	budget := t.config.Budget.Rows
	kept, details := t.fitRows(chosen, budget)
	s.line("| ref | label | type | data |")
	s.line("|---|---|---|---|")
	for _, r := range chosen {
		if line, ok := kept[r]; ok {
			s.line(line)
			s.because(rowReason(t, r), r.Ref, r.Turn, line+details[r])
		}
	}
	s.shown(len(kept), len(chosen), "; read the others with filters")
	cut := 0
	for _, r := range chosen {
		if _, shown := kept[r]; !shown || !hasDetail(r) {
			continue
		}
		if details[r] == "" {
			cut++

			continue
		}
		s.line()
		s.line("### ", r.Ref)
		s.line(details[r])
	}
	if cut > 0 {
		s.line()
		s.line("(long texts of ", strconv.Itoa(cut), " rows left out; read one by id for them)")
	}
}

func rowReason(t *page, r *view.Row) string {
	if r.Turn == t.Number {
		return "current"
	}

	return "recent"
}

// chooseRows picks the rows to show, in the order first seen: all of this turn,
// and of the window before it those in view. Children stand below their parent,
// drafts under Generated.
func (t *page) chooseRows(step []string) []*view.Row {
	inView := func(r *view.Row) bool {
		e := t.ByRef[r.Ref]
		near := e.Tier == "recent" || e.Tier == "retained" || r.Turn == t.Number || slices.Contains(step, r.Ref)

		return near && !e.Pending() && !t.Gone(r.Ref)
	}
	nested := map[string]bool{}
	for _, r := range t.Rows.ByRef {
		for _, refs := range r.Children {
			for _, ref := range refs {
				nested[ref] = nested[ref] || inView(r)
			}
		}
	}
	var chosen []*view.Row
	for _, ref := range t.Rows.Order {
		if r := t.Rows.ByRef[ref]; inView(r) && !nested[ref] {
			chosen = append(chosen, r)
		}
	}

	return chosen
}

// fitRows decides what gives way: details of the oldest rows first, then the
// oldest rows. What the step is about comes before all, what this turn read before what the
// window kept.
func (t *page) fitRows(chosen []*view.Row, budget int) (lines, details map[*view.Row]string) {
	lines, details = map[*view.Row]string{}, map[*view.Row]string{}
	byAge := slices.Clone(chosen)
	own := func(r *view.Row) int {
		if slices.Contains(t.step.Refs, r.Ref) {
			return 1
		}

		return 0
	}
	slices.SortStableFunc(byAge, func(a, b *view.Row) int { return cmp.Or(own(b)-own(a), b.Turn-a.Turn, b.Step-a.Step) })
	for _, r := range byAge {
		line := t.tableRow(r)
		cost := clean.Tokens(line)
		if cost > budget && (len(lines) >= minShortRows || cost > shortRow) {
			continue
		}
		budget -= cost
		lines[r] = line
	}
	for _, r := range byAge {
		if _, ok := lines[r]; !ok || !hasDetail(r) {
			continue
		}
		text := t.detail(r)
		if cost := clean.Tokens(text); cost <= budget {
			budget -= cost
			details[r] = text
		}
	}

	return lines, details
}

func (t *page) tableRow(r *view.Row) string {
	e := t.ByRef[r.Ref]
	var b strings.Builder
	b.WriteString("| " + r.Ref + " | " + clean.Cell(e.Label) + " | " + e.EntityType)
	if e.Stale != "" {
		b.WriteString(" [" + e.Stale + "]")
	}
	b.WriteString(" | {")
	first := true
	for _, name := range say.ColumnOrder(r.Kind, r.Columns) {
		value := r.Columns[name]
		if name == r.Kind.Key.Name || clean.IsEmpty(value) || say.IsLong(value) {
			continue
		}
		if !first {
			b.WriteString(",")
		}
		first = false
		b.WriteString(clean.JSON(name) + ":" + clean.JSON(value))
	}
	b.WriteString("} |")

	return b.String()
}

func hasDetail(r *view.Row) bool {
	for _, refs := range r.Children {
		if len(refs) > 0 {
			return true
		}
	}
	for _, loose := range r.Loose {
		if len(loose) > 0 {
			return true
		}
	}
	for _, value := range r.Columns {
		if say.IsLong(value) {
			return true
		}
	}

	return false
}

// detail is what stands below the table: long texts and child rows.
func (t *page) detail(r *view.Row) string {
	var b strings.Builder
	for _, name := range say.ColumnOrder(r.Kind, r.Columns) {
		if value := r.Columns[name]; say.IsLong(value) {
			b.WriteString(name + ":\n" + say.LongValue(value) + "\n")
		}
	}
	for _, child := range r.Kind.Children {
		table := child.Entity.Table
		if len(r.Children[table])+len(r.Loose[table]) == 0 {
			continue
		}
		b.WriteString(table + ":\n")
		for _, ref := range r.Children[table] {
			if below := t.Rows.ByRef[ref]; below != nil {
				b.WriteString("- " + t.DisplayLine(below, child.FK.Name) + "\n")
			}
		}
		for _, item := range r.Loose[table] {
			b.WriteString("- " + clean.JSON(item) + "\n")
		}
	}

	return strings.TrimRight(b.String(), "\n")
}

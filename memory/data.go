package memory

import (
	"slices"
	"strings"

	"alfred/domain"
)

// minShortRows is how many short rows are shown whatever the budget: an analysis
// over a part of a list is worse than a long prompt.
const minShortRows = 200

// shortRow bounds a short row, in tokens.
const shortRow = 80

// longText is from how many characters on a value stands below the table.
const longText = 160

// fullData is every row of the window that is in view, once: a table of short
// values, long texts and child rows below it.
func (t *turn) fullData(step []string) *section {
	s := newSection("## Active Entities (Full Data)")
	chosen := t.chooseRows(step)
	if len(chosen) == 0 {
		return s
	}
	budget := t.memory.config.Budget.Rows
	kept, details := t.fitRows(chosen, budget)
	s.line("| ref | label | type | data |")
	s.line("|---|---|---|---|")
	for _, r := range chosen {
		if line, ok := kept[r]; ok {
			s.line(line)
			s.because(rowReason(t, r), r.ref, r.turn, line+details[r])
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
		s.line("### ", r.ref)
		s.line(details[r])
	}
	if cut > 0 {
		s.line()
		s.line("(long texts of ", itoa(cut), " rows left out; read one by id for them)")
	}

	return s
}

func rowReason(t *turn, r *row) string {
	if r.turn == t.number {
		return "current"
	}

	return "recent"
}

// chooseRows picks the rows to show, in the order first seen: all of this turn,
// and of the window before it those in view. Children stand below their parent,
// drafts under Generated.
func (t *turn) chooseRows(step []string) []*row {
	inView := func(r *row) bool {
		e := t.byRef[r.ref]
		near := e.Tier == "recent" || e.Tier == "retained" || r.turn == t.number || slices.Contains(step, r.ref)

		return near && !e.pending() && !t.gone(r.ref)
	}
	nested := map[string]bool{}
	for _, r := range t.rows.byRef {
		for _, refs := range r.children {
			for _, ref := range refs {
				nested[ref] = nested[ref] || inView(r)
			}
		}
	}
	var chosen []*row
	for _, ref := range t.rows.order {
		if r := t.rows.byRef[ref]; inView(r) && !nested[ref] {
			chosen = append(chosen, r)
		}
	}

	return chosen
}

// fitRows decides what gives way: details of the oldest rows first, then the
// oldest rows. What this turn read comes before what the window kept.
func (t *turn) fitRows(chosen []*row, budget int) (lines, details map[*row]string) {
	lines, details = map[*row]string{}, map[*row]string{}
	byAge := slices.Clone(chosen)
	slices.SortStableFunc(byAge, func(a, b *row) int { return cmpOr(b.turn-a.turn, b.step-a.step) })
	for _, r := range byAge {
		line := t.tableRow(r)
		cost := tokens(line)
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
		if cost := tokens(text); cost <= budget {
			budget -= cost
			details[r] = text
		}
	}

	return lines, details
}

func (t *turn) tableRow(r *row) string {
	e := t.byRef[r.ref]
	var b strings.Builder
	b.WriteString("| " + r.ref + " | " + cell(e.label) + " | " + e.EntityType)
	if e.stale != "" {
		b.WriteString(" [" + e.stale + "]")
	}
	b.WriteString(" | {")
	first := true
	for _, name := range columnOrder(r.kind, r.columns) {
		value := r.columns[name]
		if name == r.kind.Key.Name || isEmpty(value) || isLong(value) {
			continue
		}
		if !first {
			b.WriteString(",")
		}
		first = false
		b.WriteString(jsonText(name) + ":" + jsonText(value))
	}
	b.WriteString("} |")

	return b.String()
}

// columnOrder is the table's order, then whatever else the row has.
func columnOrder(def *domain.Entity, columns map[string]any) []string {
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

func isEmpty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	default:
		return false
	}
}

func isLong(value any) bool {
	switch v := value.(type) {
	case string:
		return len(v) > longText
	case []any, map[string]any:
		return len(jsonText(v)) > longText
	default:
		return false
	}
}

func hasDetail(r *row) bool {
	for _, refs := range r.children {
		if len(refs) > 0 {
			return true
		}
	}
	for _, loose := range r.loose {
		if len(loose) > 0 {
			return true
		}
	}
	for _, value := range r.columns {
		if isLong(value) {
			return true
		}
	}

	return false
}

// detail is what stands below the table: long texts and child rows.
func (t *turn) detail(r *row) string {
	var b strings.Builder
	for _, name := range columnOrder(r.kind, r.columns) {
		if value := r.columns[name]; isLong(value) {
			b.WriteString(name + ":\n" + longValue(value) + "\n")
		}
	}
	for _, child := range r.kind.Children {
		table := child.Entity.Table
		if len(r.children[table])+len(r.loose[table]) == 0 {
			continue
		}
		b.WriteString(table + ":\n")
		for _, ref := range r.children[table] {
			if below := t.rows.byRef[ref]; below != nil {
				b.WriteString("- " + t.displayLine(below, child.FK.Name) + "\n")
			}
		}
		for _, item := range r.loose[table] {
			b.WriteString("- " + jsonText(item) + "\n")
		}
	}

	return strings.TrimRight(b.String(), "\n")
}

// longValue keeps a text on one line: a line of its own could pose as a row.
func longValue(value any) string {
	list, ok := value.([]any)
	if !ok {
		return jsonText(value)
	}
	lines := make([]string, len(list))
	for i, item := range list {
		if s, isText := item.(string); isText {
			lines[i] = itoa(i+1) + ". " + inline(s, 0)
		} else {
			lines[i] = itoa(i+1) + ". " + jsonText(item)
		}
	}

	return strings.Join(lines, "\n")
}

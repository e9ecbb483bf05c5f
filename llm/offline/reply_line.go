package offline

import (
	"regexp"
	"slices"
	"strings"

	"alfred/domain"
)

var columnFact = regexp.MustCompile(`(^| )([a-z]+(?:_[a-z]+)*):(\S)`)

// splitFacts parts a display line from the "column:value" facts behind it.
// Without a type every such word counts as a column.
func splitFacts(kind *domain.Entity, line string) (name string, facts []fact) {
	locs := columnFact.FindAllStringSubmatchIndex(line, -1)
	locs = slices.DeleteFunc(locs, func(loc []int) bool { return !isFact(kind, line[loc[4]:loc[5]]) })
	if len(locs) == 0 {
		return line, nil
	}
	for i, loc := range locs {
		end := len(line)
		if i+1 < len(locs) {
			end = locs[i+1][0]
		}
		x := fact{name: line[loc[4]:loc[5]], value: strings.TrimSpace(line[loc[6]:end])}
		if kind != nil {
			x.column = kind.Column(x.name)
		}
		facts = append(facts, x)
	}
	return strings.TrimSpace(line[:locs[0][0]]), facts
}

// isFact reports whether a word before a colon is a column, or of a display
// line's own: a text may well hold "note:this".
func isFact(kind *domain.Entity, word string) bool {
	return kind == nil || kind.Column(word) != nil || kind.Column(word+"_id") != nil || strings.Contains(kind.Display.String(), " "+word+":")
}

var (
	lineGroup = regexp.MustCompile(`\s*(?:\(([^()]*)\)|\[([^\]]*)\]|@(\d{4}-\d{2}-\d{2})\b)`)
	lineDate  = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}\b`)
)

// plainLine writes a display line the way one writes it by hand: what stands in
// brackets of any kind, and notes, together in one pair; days by name.
func plainLine(line string, notes ...string) string {
	line, target, _ := strings.Cut(line, " → ")
	var groups []string
	line = lineGroup.ReplaceAllStringFunc(line, func(group string) string {
		m := lineGroup.FindStringSubmatch(group)
		groups = append(groups, m[1]+m[2])
		if m[3] != "" {
			groups[len(groups)-1] = humanDate(m[3])
		}
		return ""
	})
	line = lineDate.ReplaceAllStringFunc(strings.TrimSpace(line), humanDate)
	groups = slices.DeleteFunc(append(groups, notes...), func(s string) bool { return s == "" })
	if len(groups) > 0 {
		line += " (" + strings.Join(groups, ", ") + ")"
	}
	if target != "" {
		line += ": " + target
	}
	return line
}

// headline is a row of a list: its display line with what that says of it, and
// few further facts.
func (f *facts) headline(kind *domain.Entity, row string) string {
	name, facts := splitFacts(kind, firstLine(row))
	var own, more []string
	for _, x := range facts {
		if x.column == nil {
			own = append(own, x.words())
		} else if w := x.words(); w != "" {
			more = append(more, w)
		}
	}
	if len(own)+len(more) <= maxFacts {
		own = append(own, more...)
	}
	return plainLine(name, own...)
}

// maxFacts is how many facts a line of a list has room for.
const maxFacts = 3

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

var (
	partTick   = regexp.MustCompile(`\s*\[([^\]]+)\]`)
	partNote   = regexp.MustCompile(`\s*\(([^()]*)\)`)
	partAmount = regexp.MustCompile(`^(.*\S)\s+(\d+(?:\.\d+)?)(?:\s+(\S+))?$`)
)

// readPart reads the display line of a part back into its columns: "garlic 3
// clove (chopped) category:produce".
func (f *facts) readPart(kind *domain.Entity, line string) map[string]any {
	name, facts := splitFacts(kind, line)
	row := map[string]any{}
	for _, x := range facts {
		if x.column != nil {
			row[x.name] = x.value
		}
	}
	for _, m := range partTick.FindAllStringSubmatch(name, -1) {
		tick := firstColumn(kind, func(c *domain.Column) bool { return c.Kind == domain.KindBool && strings.Contains(c.Name, m[1]) })
		if tick != nil {
			row[tick.Name] = true
		}
	}
	name = partTick.ReplaceAllString(name, "")
	if m := partNote.FindStringSubmatch(name); m != nil {
		name = partNote.ReplaceAllString(name, "")
		if n, unit, rest, ok := f.amount(m[1]); ok && rest == "" {
			name = strings.TrimSpace(name + " " + asText(n) + " " + unit)
		} else if note := noteColumn(kind); note != nil {
			row[note.Name] = m[1]
		}
	}
	if m := partAmount.FindStringSubmatch(name); m != nil && quantityColumn(kind) != nil {
		name = m[1]
		row[quantityColumn(kind).Name], _ = number(m[2])
		if u := unitColumn(kind); u != nil && m[3] != "" {
			row[u.Name] = m[3]
		}
	}
	if label := labelColumn(kind); label != nil {
		row[label.Name] = strings.TrimSpace(name)
	}
	return row
}

func noteColumn(e *domain.Entity) *domain.Column {
	return namedColumn(e, domain.KindText, "notes", "note", "comment")
}

// partText is a part on one line: amount, unit, name, then its note.
func (f *facts) partText(e *domain.Entity, row map[string]any) string {
	var lead []string
	unit := ""
	if u := unitColumn(e); u != nil {
		unit = asText(row[u.Name])
	}
	if q := quantityColumn(e); q != nil && asText(row[q.Name]) != "" {
		lead = append(lead, amountText(asText(row[q.Name]), unit))
	}
	if l := labelColumn(e); l != nil {
		lead = append(lead, asText(row[l.Name]))
	}
	var rest []string
	if n := noteColumn(e); n != nil && asText(row[n.Name]) != "" {
		rest = append(rest, asText(row[n.Name]))
	}
	for _, c := range e.Columns {
		if c.Kind == domain.KindBool && asText(row[c.Name]) == "true" {
			rest = append(rest, humanName(c.Name))
		}
	}
	text := strings.Join(lead, " ")
	if len(rest) > 0 {
		text += " (" + strings.Join(rest, ", ") + ")"
	}
	return text
}

// amountText is a quantity with its unit; what is counted in pieces has none.
func amountText(quantity, unit string) string {
	switch unit {
	case "", "count", "piece":
		return quantity
	}
	if n, ok := number(quantity); ok && n > 1 {
		unit = pluralUnit(unit)
	}
	return quantity + " " + unit
}

var vowel = regexp.MustCompile(`[aeiou]`)

// pluralUnit is the plural of a unit that is a word, not an abbreviation.
func pluralUnit(unit string) string {
	switch {
	case len(unit) < 3 || !vowel.MatchString(unit) || strings.HasSuffix(unit, "s"):
		return unit
	case strings.HasSuffix(unit, "ch"), strings.HasSuffix(unit, "sh"), strings.HasSuffix(unit, "x"):
		return unit + "es"
	case strings.HasSuffix(unit, "f"):
		return strings.TrimSuffix(unit, "f") + "ves"
	}
	return unit + "s"
}

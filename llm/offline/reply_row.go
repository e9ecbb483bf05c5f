package offline

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"alfred/domain"
)

// card is a row or a draft as a person is told of it.
type card struct {
	kind  *domain.Entity
	line  string // its name, with what its display line says of it
	facts []fact // short values, in the order of the columns
	texts []text // long texts and lists
	parts map[*domain.Entity][]map[string]any
}

// fact is a value of a column; of a display line's own words the column is nil.
type fact struct {
	column *domain.Column
	name   string
	value  string
}

// text is a column's text, one item for prose, several for a list.
type text struct {
	column *domain.Column
	name   string
	items  []string
}

// rowCard reads a row of the execution results: a display line, its long texts
// and its parts below it.
func (f *facts) rowCard(kind *domain.Entity, row string) *card {
	line, below, _ := strings.Cut(row, "\n")
	c := &card{kind: kind, parts: map[*domain.Entity][]map[string]any{}}
	c.line, c.facts = splitFacts(kind, line)
	c.readBelow(f, below)
	return c
}

func (c *card) readBelow(f *facts, below string) {
	part := (*domain.Entity)(nil)
	if len(c.kind.Children) > 0 {
		part = c.kind.Children[0].Entity
	}
	for line := range strings.SplitSeq(below, "\n") {
		line = strings.TrimSpace(line)
		name, isHead := strings.CutSuffix(line, ":")
		switch {
		case line == "":
		case isHead && c.kind.Column(name) != nil:
			c.texts = slices.DeleteFunc(c.texts, func(t text) bool { return t.name == name })
			c.texts = append(c.texts, text{column: c.kind.Column(name), name: name})
		case isHead && f.lex.byTable(name) != nil:
			part = f.lex.byTable(name)
		case strings.HasPrefix(line, "- ") && part != nil:
			c.parts[part] = append(c.parts[part], f.readPart(part, strings.TrimPrefix(line, "- ")))
		case len(c.texts) > 0:
			last := &c.texts[len(c.texts)-1]
			last.items = append(last.items, listNumber.ReplaceAllString(line, ""))
		}
	}
}

var listNumber = regexp.MustCompile(`^\d+\. `)

// contentCard is a draft's content, or the data of a row, as a card.
func (f *facts) contentCard(kind *domain.Entity, label string, content map[string]any) *card {
	c := &card{kind: kind, line: displayOf(kind, label, content), parts: map[*domain.Entity][]map[string]any{}}
	inLine := append(kind.Display.Columns(), kind.Label.Columns()...)
	for _, k := range contentOrder(kind, content) {
		column := kind.Column(k)
		if slices.Contains(inLine, k) && !isList(content[k]) {
			continue
		}
		list, listed := content[k].([]any)
		switch value := asText(content[k]); {
		case listed && f.lex.byTable(k) != nil:
			for _, v := range list {
				if row, ok := v.(map[string]any); ok {
					c.parts[f.lex.byTable(k)] = append(c.parts[f.lex.byTable(k)], row)
				}
			}
		case listed && slices.ContainsFunc(list, func(v any) bool { return isLongText(asText(v)) }):
			c.texts = append(c.texts, text{column: column, name: k, items: textList(list)})
		case listed:
			c.facts = append(c.facts, fact{column: column, name: k, value: strings.Join(textList(list), ", ")})
		case value != "" && value != label && column != nil && !column.Hidden && !anyRef.MatchString(value):
			c.facts = append(c.facts, fact{column: column, name: k, value: value})
		}
	}
	return c
}

// entityCard is what the prompt of a step shows of a row.
func (f *facts) entityCard(e *entity) *card {
	kind := f.lex.byType(e.kind)
	c := f.contentCard(kind, e.label, e.data)
	c.readBelow(f, partLine.ReplaceAllString(e.text, ""))
	for _, x := range e.parts {
		if kind := f.lex.byType(x.kind); kind != nil {
			c.parts[kind] = append(c.parts[kind], f.readPart(kind, firstLine(x.text)))
		}
	}
	return c
}

var partLine = regexp.MustCompile(`(?m)^- .*$`)

func isList(v any) bool { _, ok := v.([]any); return ok }

// displayOf is the display line of content; a reference to another row stands in
// it as that row's name already.
func displayOf(kind *domain.Entity, label string, content map[string]any) string {
	shown := map[string]any{}
	for k, v := range content {
		if c := kind.Column(k); c != nil && c.FK != nil {
			k = "_" + k + "_label"
		}
		shown[k] = v
	}
	if name := strings.TrimSpace(kind.Display.Render(shown)); name != "" {
		line, _ := splitFacts(kind, name)
		return line
	}
	return label
}

// contentOrder are the keys of content in the order of the table's columns.
func contentOrder(kind *domain.Entity, content map[string]any) []string {
	var out []string
	for _, c := range kind.Columns {
		if _, ok := content[c.Name]; ok {
			out = append(out, c.Name)
		}
	}
	for _, k := range sortedKeys(content) {
		if !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

func isLongText(s string) bool { return strings.Contains(s, ". ") || strings.HasSuffix(s, ".") }

// tell words a card. Where the message asks for columns, only these are told;
// else a row with parts is told like a page (title, a line about it, its parts,
// its texts, without its tags), and any other on one line.
func (f *facts) tell(c *card, note string) string {
	if asked := f.askedFacts(c); len(asked) > 0 {
		return plainLine(c.line) + ": " + strings.Join(asked, ", ") + "."
	}
	if len(c.parts) == 0 && len(c.texts) == 0 {
		return plainLine(c.line, append([]string{note}, c.words(func(fact) bool { return true })...)...)
	}
	lines := []string{strings.TrimSpace(plainLine(c.line, note) + "\n" + c.about())}
	for _, child := range c.kind.Children {
		if rows := c.parts[child.Entity]; len(rows) > 0 {
			lines = append(lines, f.partList(c.kind, child.Entity, rows))
		}
	}
	for _, t := range c.texts {
		lines = append(lines, f.lex.heading(c.kind, t)+"\n"+t.body())
	}
	return strings.Join(lines, "\n\n")
}

func (t text) body() string {
	if t.column != nil && t.column.Kind == domain.KindArray {
		return numbered(t.items)
	}
	return strings.Join(t.items, "\n")
}

// heading is what a long text stands under.
func (lex *lexicon) heading(kind *domain.Entity, t text) string {
	if d := lex.vocab.draft; d != nil && d.Type == kind.Type && d.Steps == t.name {
		return "Method"
	}
	return capitalize(humanName(t.name))
}

func (f *facts) partList(parent, child *domain.Entity, rows []map[string]any) string {
	lines := make([]string, 0, len(rows))
	for _, row := range rows {
		lines = append(lines, "- "+f.partText(child, row))
	}
	name := trimName(cutWords(plural(child), stems(parent.Name)))
	return capitalize(orElse(name, plural(child))) + "\n" + strings.Join(lines, "\n")
}

// about is the line below a title: what the row says of itself, then its numbers
// and days. A computed number only repeats what others say.
func (c *card) about() string {
	var prose []string
	for _, x := range c.facts {
		if isLongText(x.value) && x.column != nil && x.column.Kind == domain.KindText {
			prose = append(prose, x.value)
		}
	}
	counts := c.words(func(x fact) bool {
		return x.column != nil && !x.column.Generated && (x.column.Kind == domain.KindNumber || x.column.Kind == domain.KindDate || x.column.Kind == domain.KindBool)
	})
	if len(counts) > 0 {
		prose = append(prose, capitalize(strings.Join(counts, ", "))+".")
	}
	return strings.Join(prose, " ")
}

func (c *card) words(want func(fact) bool) []string {
	var out []string
	for _, x := range c.facts {
		if w := x.words(); w != "" && want(x) {
			out = append(out, w)
		}
	}
	return out
}

// measures are last words of a column's name that are the unit of its value.
var measures = map[string]string{"minutes": "min", "hours": "h", "days": "days", "weeks": "weeks", "grams": "g", "kg": "kg", "cm": "cm", "mm": "mm", "percent": "%"}

// words is a fact as one says it: "prep time 15 min", "2 servings", "state:
// running".
func (x fact) words() string {
	name := humanName(x.name)
	fields := strings.Fields(name)
	if len(fields) == 0 {
		return ""
	}
	last := fields[len(fields)-1]
	switch {
	case x.value == "" || x.value == "false" || x.value == "no":
		return ""
	case x.value == "true" || x.value == "yes":
		return name
	case isoDate.MatchString(x.value):
		return name + " " + humanDate(x.value)
	case x.column == nil:
		return name + " " + spacedUnit(x.value)
	case x.column.Kind != domain.KindNumber:
		return name + ": " + strings.TrimRight(x.value, ".")
	case measures[last] != "" && len(fields) > 1:
		return strings.Join(fields[:len(fields)-1], " ") + " " + x.value + " " + measures[last]
	case singular(last) != last && x.value == "1":
		return "1 " + strings.TrimSuffix(name, last) + singular(last)
	case singular(last) != last:
		return x.value + " " + name
	}
	return name + " " + x.value
}

var unitAttached = regexp.MustCompile(`^(\d+(?:\.\d+)?)([a-z]+)$`)

// spacedUnit parts "45min".
func spacedUnit(value string) string { return unitAttached.ReplaceAllString(value, "$1 $2") }

// humanName is a column's name in words.
func humanName(column string) string {
	column = strings.TrimPrefix(strings.TrimSuffix(strings.TrimSuffix(column, "_id"), "_at"), "is_")
	return strings.TrimSpace(strings.ReplaceAll(column, "_", " "))
}

func humanDate(value string) string {
	at, err := time.Parse(dayFormat, isoDate.FindString(value))
	if err != nil {
		return value
	}
	return at.Format("Monday, Jan 2")
}

var howLong = regexp.MustCompile(`(?i)\bhow (?:long|much time)\b`)

// askedFacts are the facts that the message asks for by a column's name.
func (f *facts) askedFacts(c *card) []string {
	ws := stems(cutWords(f.message, stems(c.line)))
	return c.words(func(x fact) bool {
		if x.column == nil || x.column == labelColumn(c.kind) {
			return false
		}
		fields := stems(humanName(x.name))
		if howLong.MatchString(f.message) {
			last := fields[len(fields)-1]
			return last == "minute" || last == "hour" || last == "day"
		}
		return containsWords(ws, fields) || len(fields) > 1 && containsWords(ws, fields[len(fields)-1:]) && measures[fields[len(fields)-1]] == ""
	})
}

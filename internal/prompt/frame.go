package prompt

import (
	"regexp"
	"strconv"
	"strings"

	"alfred/internal/clean"
	"alfred/nodes"
)

// section is a heading with its text and the reason for each item in it.
type section struct {
	rule

	heading string
	body    strings.Builder
	units   []unit // the same text
	items   []nodes.Item
	text    string // the body as it is shown
}

// unit is a piece of a section that is shown as a whole: a line, or a row's or draft's lines.
type unit struct {
	text string
	ref  string // of the entity that it shows, "" for any other
	key  string // how every text begins that shows this of the entity; "" if only the same text does
	head bool   // stands above other units, and is shown with them
}

// line adds a line.
func (s *section) line(parts ...string) {
	text := strings.Join(parts, "")
	s.body.WriteString(text + "\n")
	for line := range strings.SplitSeq(text, "\n") {
		s.units = append(s.units, unit{text: line})
	}
}

// head adds a line that stands above others.
func (s *section) head(line string) { s.unit(unit{text: line, head: true}) }

// unit adds the lines of a unit.
func (s *section) unit(u unit) {
	s.body.WriteString(u.text + "\n")
	s.units = append(s.units, u)
}

// entity adds what a list shows of an entity, or of several on one line; of a draft, which may change, also its content.
func (s *section) entity(ref, text string) {
	u := unit{text: text, ref: ref}
	if strings.HasPrefix(text, "- gen_") {
		name, _, _ := strings.Cut(text, ": ")
		u.key = name + ": "
	}
	s.unit(u)
}

// item adds a text that is an item, of an entity or of none.
func (s *section) item(reason, ref string, turn int, text string) {
	s.entity(ref, text)
	s.addItem(reason, ref, turn, text)
}

// addItem records why an item is in the prompt; the section name is filled in later.
func (s *section) addItem(reason, ref string, turn int, text string) {
	s.items = append(s.items, nodes.Item{Ref: ref, Turn: turn, Reason: reason, Tokens: clean.Tokens(text)})
}

// name is the section's name in records: its heading without hashes.
func (s *section) name() string {
	if s.heading == "" {
		return s.tag
	}

	return strings.TrimLeft(s.heading, "# ")
}

// blankLines matches two or more blank lines in a row.
var blankLines = regexp.MustCompile(`\n{3,}`)

// frame writes a node's sections in table order and leaves out empty ones. Each section keeps identifiers out; the gate
// checks once more before a model is called.
func (t *page) frame(node, persona string) nodes.Frame {
	f := nodes.Frame{Persona: persona, Prompts: t.config.Prompts}
	for _, rule := range rulesOf(node) {
		s := &section{rule: rule, heading: rule.title(t.config)}
		if t.step != nil {
			t.sections = append(t.sections, s)
		}
		if rule.unless == nil || !rule.unless(t) {
			rule.write(t, s)
		}
		if s.text = s.normalized(s.body.String()); s.text == "" {
			continue
		}
		f.Blocks = withSection(f.Blocks, rule.tag, nodes.Section{Heading: s.heading, Body: s.text, Declared: rule.declared})
		for _, item := range s.items {
			item.Section = s.name()
			f.Items = append(f.Items, item)
		}
	}

	return f
}

// normalized is a text of the section as it is shown.
func (s *section) normalized(text string) string {
	text = blankLines.ReplaceAllString(strings.TrimRight(text, "\n "), "\n\n")
	if s.rule.heading == "Schema" { // its dates are examples
		return text
	}

	return clean.Weekdays(text)
}

// withSection appends a section, to the last block if that has its tag.
func withSection(blocks []nodes.Block, tag string, s nodes.Section) []nodes.Block {
	if n := len(blocks); n == 0 || blocks[n-1].Tag != tag {
		blocks = append(blocks, nodes.Block{Tag: tag})
	}
	last := &blocks[len(blocks)-1]
	last.Sections = append(last.Sections, s)

	return blocks
}

// shown reports how much of a list the prompt contains when it is not all of it.
func (s *section) shown(part, of int, hint string) {
	if part < of {
		s.line("(", strconv.Itoa(part), " of ", strconv.Itoa(of), " shown", hint, ")")
	}
}

// withoutRefs replaces refs by labels, for nodes that write to the user.
func (t *page) withoutRefs(f nodes.Frame) nodes.Frame {
	names := t.RefNames()
	for i := range f.Blocks {
		for j := range f.Blocks[i].Sections {
			f.Blocks[i].Sections[j].Body = names.Unref(f.Blocks[i].Sections[j].Body)
		}
	}

	return f
}

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
	heading string
	body    strings.Builder
	items   []nodes.Item
}

// line adds a line.
func (s *section) line(parts ...string) {
	for _, part := range parts {
		s.body.WriteString(part)
	}
	s.body.WriteByte('\n')
}

// item adds a line that is an item.
func (s *section) item(reason, ref string, turn int, line string) {
	s.line(line)
	s.addItem(reason, ref, turn, line)
}

// addItem records why an item is in the prompt; the section name is filled in later.
func (s *section) addItem(reason, ref string, turn int, text string) {
	s.items = append(s.items, nodes.Item{Ref: ref, Turn: turn, Reason: reason, Tokens: clean.Tokens(text)})
}

// name is the section's name in records: its heading without hashes.
func (s *section) name(tag string) string {
	if s.heading == "" {
		return tag
	}

	return strings.TrimLeft(s.heading, "# ")
}

// blankLines matches two or more blank lines in a row.
var blankLines = regexp.MustCompile(`\n{3,}`)

// frame writes a node's sections in table order and leaves out empty ones. Each section keeps identifiers out; the gate
// checks once more before a model is called.
func (t *page) frame(node, persona string, at nodes.At) nodes.Frame {
	f := nodes.Frame{At: at, Persona: persona, Prompts: t.config.Prompts}
	for _, rule := range rulesOf(node) {
		if rule.unless != nil && rule.unless(t) {
			continue
		}
		s := &section{heading: rule.title(t.config)}
		rule.write(t, s)
		if strings.TrimSpace(s.body.String()) == "" {
			continue
		}
		body := blankLines.ReplaceAllString(strings.TrimRight(s.body.String(), "\n "), "\n\n")
		if rule.heading != "Schema" { // its dates are examples
			body = clean.Weekdays(body)
		}
		f.Blocks = withSection(f.Blocks, rule.tag, nodes.Section{Heading: s.heading, Body: body, Declared: rule.declared})
		for _, item := range s.items {
			item.Section = s.name(rule.tag)
			f.Items = append(f.Items, item)
		}
	}

	return f
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

// maxNamed is how many labels a line names.
const maxNamed = 40

// enumerate names labels, newest last, and counts those that do not fit.
func enumerate(labels []string) string {
	if more := len(labels) - maxNamed; more > 0 {
		return strconv.Itoa(more) + " more, " + strings.Join(labels[more:], ", ")
	}

	return strings.Join(labels, ", ")
}

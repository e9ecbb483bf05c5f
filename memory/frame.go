package memory

import (
	"regexp"
	"strings"

	"alfred/nodes"
)

// section is a heading with its text and why each thing stands in it.
type section struct {
	heading string
	body    strings.Builder
	items   []nodes.Item
}

func newSection(heading string) *section { return &section{heading: heading} }

// line adds a line.
func (s *section) line(parts ...string) {
	for _, part := range parts {
		s.body.WriteString(part)
	}
	s.body.WriteByte('\n')
}

// because records why something stands here; the section is filled in later.
func (s *section) because(reason, ref string, turn int, text string) {
	s.items = append(s.items, nodes.Item{Ref: ref, Turn: turn, Reason: reason, Tokens: tokens(text)})
}

// name is what the section is called in records: its heading without hashes.
func (s *section) name(tag string) string {
	if s.heading == "" {
		return tag
	}

	return strings.TrimLeft(s.heading, "# ")
}

// part is a tagged block that is being put together.
type part struct {
	tag      string
	sections []*section
}

// blankLines are more of them than one.
var blankLines = regexp.MustCompile(`\n{3,}`)

// frame joins the parts. Sections without a text vanish. Identifiers are kept out
// by each section, and looked for once more by the Gate before a model is asked.
func frame(persona string, at nodes.At, parts ...part) nodes.Frame {
	f := nodes.Frame{At: at, Persona: persona}

	for _, p := range parts {
		b := nodes.Block{Tag: p.tag}

		for _, s := range p.sections {
			if s == nil || strings.TrimSpace(s.body.String()) == "" {
				continue
			}

			body := blankLines.ReplaceAllString(strings.TrimRight(s.body.String(), "\n "), "\n\n")
			b.Sections = append(b.Sections, nodes.Section{Heading: s.heading, Body: body})

			for _, item := range s.items {
				item.Section = s.name(p.tag)
				f.Items = append(f.Items, item)
			}
		}

		f.Blocks = append(f.Blocks, b)
	}

	return f
}

// shown says how much of a list is in a prompt when not all of it is.
func (s *section) shown(part, of int, hint string) {
	if part < of {
		s.line("(", itoa(part), " of ", itoa(of), " shown", hint, ")")
	}
}

package domain

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Template renders a row as text. Its parts:
//
//	{column}             the value; nothing when it is null or absent
//	{column:Jan 2}       a date or time in a layout of package time, also {column:15:04} of a time of day
//	{column:0.00}        a number with at least so many decimals
//	{?column: text}      the text, itself a template, if the value is present
//	{!column: text}      the text if the row has the column and it is empty
//	{{ and }}            braces
//
// A column whose name is not a plain word is quoted as in SQL: {"full name"}.
//
// A separator beside a value that is not there (a blank, comma, dash) is left out.
//
// Present means not null, not "", not an empty list and not false. A column that
// the row lacks is neither present nor empty: a line says nothing about what was
// not read. _recipe_id_label is the label beside the reference recipe_id. The zero
// Template renders nothing.
type Template struct {
	source string
	parts  []part
	named  []part // those that name a column, also inside others
	units  *Units // in a text for people; nil for none
}

const (
	partText    = 0
	partValue   = '{'
	partPresent = '?'
	partEmpty   = '!'
)

type part struct {
	kind   byte
	text   string // literal text, or a value's layout
	column string
	inner  []part
}

// ParseTemplate compiles a template. The error names the position.
func ParseTemplate(source string) (Template, error) {
	p := &templateParser{source: source}
	parts, err := p.parse(0)
	if err != nil {
		return Template{}, fmt.Errorf("template %q: %w", source, err)
	}

	return Template{source: source, parts: parts, named: namedIn(parts)}, nil
}

// IsZero reports whether there is no template.
func (t Template) IsZero() bool { return len(t.parts) == 0 }

// String returns the source.
func (t Template) String() string { return t.source }

// Columns lists the table's columns that the template reads, each once, in
// order of appearance; for _recipe_id_label that is recipe_id.
func (t Template) Columns() (columns []string) {
	for _, p := range t.named {
		columns = appendNew(columns, Labelled(p.column))
	}

	return columns
}

// Links lists the columns of which the template writes the label of the row that they point to: recipe_id for
// _recipe_id_label.
func (t Template) Links() (columns []string) {
	for _, p := range t.named {
		if name := Labelled(p.column); name != p.column {
			columns = appendNew(columns, name)
		}
	}

	return columns
}

// Render renders a row. It never fails: missing values are left out.
func (t Template) Render(row map[string]any) string {
	return renderParts(t.parts, t.units.inWords(row))
}

// RenderWithout renders a row for somebody who is not shown the values of hidden columns. A part that prints one of them is
// left out. One that only asks whether there is one stays, as long as the row has the label that it prints instead:
// "{?lent_to: lent to {_lent_to_label}}" tells people to whom.
func (t Template) RenderWithout(row map[string]any, hidden func(column string) bool) string {
	return renderParts(withoutHidden(t.parts, row, hidden), t.units.inWords(row))
}

func withoutHidden(parts []part, row map[string]any, hidden func(column string) bool) (kept []part) {
	unsaid := func(p part) bool {
		return p.kind == partValue && (hidden(p.column) || hidden(Labelled(p.column)) && !present(row[p.column]))
	}
	for _, p := range parts {
		if unsaid(p) || slices.ContainsFunc(namedIn(p.inner), unsaid) {
			p = part{kind: partValue} // of no column
		}
		p.inner = withoutHidden(p.inner, row, hidden)
		kept = append(kept, p)
	}

	return kept
}

// RenderComplete renders a row that has every value outside optional parts, so that its label may replace an older one;
// any other is "", and so is a row without columns: fixed words alone name nothing.
func (t Template) RenderComplete(row map[string]any) string {
	if len(row) == 0 {
		return ""
	}
	for _, p := range t.parts {
		if p.kind == partValue && !present(row[p.column]) {
			return ""
		}
	}

	return t.Render(row)
}

// rendering is a row's text while it is put together. Of what separates two values, only one part stays where there is none
// between them.
type rendering struct {
	text    string
	literal int  // where the template's own words at the end of the text begin
	lacks   bool // a value that would stand here
}

func renderParts(parts []part, row map[string]any) string {
	r := &rendering{}
	r.render(parts, row)
	if r.lacks {
		r.text = r.text[:r.separated()]
	}

	return strings.TrimSpace(r.text)
}

func (r *rendering) render(parts []part, row map[string]any) {
	for _, p := range parts {
		value, has := row[p.column]
		said := ""
		if p.kind == partValue {
			said = formatValue(value, p.text)
		}
		switch {
		case p.kind == partText:
			r.write(p.text)
		case said != "":
			r.text += said
			r.literal, r.lacks = len(r.text), false
		case p.kind == partPresent && present(value), p.kind == partEmpty && has && !present(value):
			r.render(p.inner, row)
		default:
			r.lacks = true
		}
	}
}

func (r *rendering) write(words string) {
	rest := strings.TrimLeft(words, separators)
	before, after := r.separated(), words[:len(words)-len(rest)]
	switch {
	case !r.lacks || !strings.Contains(after, " "):
	case r.text == "" || strings.TrimSpace(r.text[before:]) != "":
		words = rest
	default:
		r.text = r.text[:before]
	}
	r.text += words
	r.lacks = false
}

// separators stand between values, with a blank: in 20-30 the hyphen is none.
const separators = " ,;:·|–—-"

// separated is where the text ends without a separator of the template.
func (r *rendering) separated() int {
	words := strings.TrimRight(r.text[r.literal:], separators)
	if !strings.Contains(r.text[r.literal+len(words):], " ") {
		return len(r.text)
	}

	return r.literal + len(words)
}

// Labelled turns _recipe_id_label into recipe_id and returns other names unchanged.
func Labelled(column string) string {
	inner, ok := strings.CutPrefix(column, "_")
	if !ok {
		return column
	}
	if name, ok := strings.CutSuffix(inner, "_label"); ok {
		return name
	}

	return column
}

func namedIn(parts []part) (found []part) {
	for _, p := range parts {
		if p.kind != partText {
			found = append(append(found, p), namedIn(p.inner)...)
		}
	}

	return found
}

func appendNew(list []string, values ...string) []string {
	for _, value := range values {
		if !slices.Contains(list, value) {
			list = append(list, value)
		}
	}

	return list
}

var errMissingBrace = errors.New("missing }")

type templateParser struct {
	source string
	pos    int
}

// parse reads parts up to the enclosing part's closing brace, or the end.
func (p *templateParser) parse(depth int) ([]part, error) {
	var parts []part
	for p.pos < len(p.source) {
		rest := p.source[p.pos:]
		switch doubled := strings.HasPrefix(rest, "{{") || strings.HasPrefix(rest, "}}"); {
		case doubled && depth == 0:
			parts = append(parts, part{text: rest[:1]})
			p.pos += 2
		case rest[0] == '}' && depth == 0:
			return nil, fmt.Errorf("unexpected } at %d", p.pos)
		case rest[0] == '}':
			p.pos++

			return parts, nil
		case rest[0] == '{':
			next, err := p.part(depth)
			if err != nil {
				return nil, err
			}
			parts = append(parts, next)
		default:
			text := rest[:strings.IndexAny(rest+"}", "{}")]
			parts = append(parts, part{text: text})
			p.pos += len(text)
		}
	}
	if depth > 0 {
		return nil, errMissingBrace
	}

	return parts, nil
}

// part reads one {...}, with p.pos at its opening brace.
func (p *templateParser) part(depth int) (part, error) {
	kind := p.source[p.pos]
	if p.pos++; strings.HasPrefix(p.source[p.pos:], "?") || strings.HasPrefix(p.source[p.pos:], "!") {
		kind = p.source[p.pos]
		p.pos++
	}
	column, err := p.column()
	if err != nil {
		return part{}, err
	}
	result := part{kind: kind, column: column}
	if kind == partValue {
		return result, p.layout(&result)
	}
	if p.source[p.pos] != ':' {
		return part{}, fmt.Errorf("missing : after %s", result.column)
	}
	p.pos++
	result.inner, err = p.parse(depth + 1)

	return result, err
}

// column reads a column's name up to the : or } after it.
func (p *templateParser) column() (string, error) {
	name, rest := cutQuoted(p.source[p.pos:])
	if name == "" {
		end := strings.IndexAny(rest, ":{}")
		if end < 0 {
			return "", errMissingBrace
		}
		if name, rest = rest[:end], rest[end:]; name == "" || strings.ContainsAny(name, notPlain) {
			return "", fmt.Errorf("%q is not a column name", name)
		}
	}
	if rest == "" {
		return "", errMissingBrace
	}
	p.pos = len(p.source) - len(rest)

	return name, nil
}

// notPlain are characters that a name has only in quotes.
const notPlain = " \t\n?!\""

// cutQuoted cuts a quoted name, with quotes doubled inside it, from the beginning of a text. The name is "" if there is
// none.
func cutQuoted(text string) (name, rest string) {
	for i := 1; strings.HasPrefix(text, `"`) && i < len(text); i++ {
		switch {
		case text[i] != '"':
		case strings.HasPrefix(text[i+1:], `"`):
			i++
		default:
			return strings.ReplaceAll(text[1:i], `""`, `"`), text[i+1:]
		}
	}

	return "", text
}

// quotedName is a column's name as templates and orders write it.
func quotedName(name string) string {
	if name != "" && !strings.ContainsAny(name, notPlain+":{}") {
		return name
	}

	return quote(name)
}

func (p *templateParser) layout(result *part) error {
	end := strings.IndexByte(p.source[p.pos:], '}')
	if end < 0 || strings.ContainsRune(p.source[p.pos:p.pos+end], '{') || end > 0 && p.source[p.pos] != ':' {
		return fmt.Errorf("missing } after %s", result.column)
	}
	result.text = strings.TrimPrefix(p.source[p.pos:p.pos+end], ":")
	p.pos += end + 1

	return nil
}

// isName reports whether a text is a lower-case identifier.
var isName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`).MatchString

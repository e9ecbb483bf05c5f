package offline

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// op is one step of a plan, exact enough to be carried out by Act. Its text form
// is the step's description: a sentence a person can read, and the only thing
// that passes from Think to Act.
type op struct {
	act     opAct
	table   string
	refs    []string
	name    string           // named "milk"
	filters []filter         // where [...]
	rows    []map[string]any // with [...]
	text    string           // about "thai basil chicken"
	full    bool             // in full
	by      string           // by column
	order   string           // ordered by column
}

type opAct string

const (
	opCompare opAct = "Compare" // a thing with what there is
	opCount   opAct = "Count"
	opCreate  opAct = "Create"
	opDelete  opAct = "Delete"
	opDraft   opAct = "Draft"
	opNote    opAct = "Note"
	opPlan    opAct = "Plan"
	opRead    opAct = "Read"
	opRecall  opAct = "Recall"
	opReview  opAct = "Review" // answer from rows that are loaded
	opRevise  opAct = "Revise"
	opSave    opAct = "Save"
	opUpdate  opAct = "Update"
	opVary    opAct = "Vary" // draft from a saved thing
)

// filter is one condition of a data tool.
type filter struct {
	Field string `json:"field"`
	Op    string `json:"op"`
	Value any    `json:"value,omitempty"`
}

func (o *op) String() string {
	var b strings.Builder
	b.WriteString(string(o.act))
	if o.table != "" {
		b.WriteString(" " + o.table)
	}
	if len(o.refs) > 0 {
		b.WriteString(" " + strings.Join(o.refs, ", "))
	}
	if o.name != "" {
		fmt.Fprintf(&b, " named %q", o.name)
	}
	if o.text != "" {
		fmt.Fprintf(&b, " about %q", o.text)
	}
	if o.by != "" {
		b.WriteString(" by " + o.by)
	}
	if o.order != "" {
		b.WriteString(" ordered by " + o.order)
	}
	if o.full {
		b.WriteString(" in full")
	}
	if len(o.filters) > 0 {
		b.WriteString(" where " + compact(o.filters))
	}
	if len(o.rows) > 0 {
		b.WriteString(" with " + compact(o.rows))
	}
	return b.String()
}

// compact is v as JSON; v is made of strings, numbers, lists and maps.
func compact(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // a description is read by people too
	if err := enc.Encode(v); err != nil {
		return "null"
	}
	return strings.TrimSpace(b.String())
}

var (
	opHead   = regexp.MustCompile(`^(Compare|Count|Create|Delete|Draft|Note|Plan|Read|Recall|Review|Revise|Save|Update|Vary)\b(?: ([a-z][a-z0-9_]*)\b)?`)
	opRefs   = regexp.MustCompile(`^\s*,?\s*((?:gen_)?[a-z][a-z0-9_]*_\d+)\b`)
	opQuoted = regexp.MustCompile(`^\s*(named|about) ("(?:[^"\\]|\\.)*")`)
	opWord   = regexp.MustCompile(`^\s*(by|ordered by) ([a-z_]+)`)
	opJSON   = regexp.MustCompile(`^\s*(where|with) (\[.*)$`)
)

// isOp reports whether a line is the text of an op.
func isOp(line string) bool {
	_, ok := parseOp(line)
	return ok
}

// parseOp reads an op's text; ok is false for any other sentence.
func parseOp(line string) (*op, bool) {
	m := opHead.FindStringSubmatch(line)
	if m == nil {
		return nil, false
	}
	o := &op{act: opAct(m[1])}
	rest := line[len(m[0]):]
	switch m[2] {
	case "", "about", "named", "where", "with", "by", "in", "ordered":
		rest = line[len(m[1]):]
	default:
		o.table = m[2]
	}
	if anyRef.MatchString(o.table) && anyRef.FindString(o.table) == o.table {
		rest, o.table = line[len(m[1]):], ""
	}
	rest = o.parseRefs(rest)
	rest, ok := o.parseParts(rest)
	return o, ok && strings.TrimSpace(rest) == ""
}

func (o *op) parseRefs(rest string) string {
	for {
		m := opRefs.FindStringSubmatch(rest)
		if m == nil {
			return rest
		}
		o.refs = append(o.refs, m[1])
		rest = rest[len(m[0]):]
	}
}

func (o *op) parseParts(rest string) (string, bool) {
	for strings.TrimSpace(rest) != "" {
		if m := opQuoted.FindStringSubmatch(rest); m != nil {
			o.setQuoted(m[1], m[2])
			rest = rest[len(m[0]):]
			continue
		}
		if m := opWord.FindStringSubmatch(rest); m != nil {
			if m[1] == "by" {
				o.by = m[2]
			} else {
				o.order = m[2]
			}
			rest = rest[len(m[0]):]
			continue
		}
		if after, ok := strings.CutPrefix(strings.TrimLeft(rest, " "), "in full"); ok {
			o.full, rest = true, after
			continue
		}
		next, ok := o.parseJSON(rest)
		if !ok {
			return rest, false
		}
		rest = next
	}
	return "", true
}

func (o *op) setQuoted(key, quoted string) {
	text, err := strconv.Unquote(quoted)
	if err != nil {
		text = strings.Trim(quoted, `"`)
	}
	if key == "named" {
		o.name = text
	} else {
		o.text = text
	}
}

func (o *op) parseJSON(rest string) (string, bool) {
	m := opJSON.FindStringSubmatch(rest)
	if m == nil {
		return rest, false
	}
	dec := json.NewDecoder(strings.NewReader(m[2]))
	var err error
	if m[1] == "where" {
		err = dec.Decode(&o.filters)
	} else {
		err = dec.Decode(&o.rows)
	}
	if err != nil {
		return rest, false
	}
	return m[2][dec.InputOffset():], true
}

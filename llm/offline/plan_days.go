package offline

import (
	"regexp"
	"strconv"
	"time"

	"alfred/domain"
)

const defaultDays = 3

var countLead = regexp.MustCompile(`(?i)\b(\d+|two|three|four|five|six|seven|eight|nine|ten)\b`)

// plan drafts rows of the schedule: the days and slots are fixed here, what goes
// into them is chosen when the draft is made.
func (p *planned) plan(c *command) {
	e, _, link := p.f.lex.schedule()
	if e == nil {
		return
	}
	target := link.FK.Entity
	if !p.f.hasChoices(target) {
		p.step("read", target, &op{act: opRead, table: target.Table})
	}
	if fromStock.MatchString(c.text) {
		p.readStock()
		p.step("analyze", target, &op{act: opReview, table: target.Table, text: c.text})
	}
	p.step("generate", e, &op{act: opPlan, table: e.Table, text: c.text, rows: p.f.planRows(c, e)})
}

// hasChoices reports whether something that can be planned is in view.
func (f *facts) hasChoices(target *domain.Entity) bool { return len(f.choices(target)) > 0 }

// choices are what a plan may use: what is not excluded, deleted or ruled out,
// drafts last.
func (f *facts) choices(target *domain.Entity) []*entity {
	var stored, drafts []*entity
	for _, e := range f.entities {
		if e.kind != target.Type || e.tier == "excluded" || e.has("deleted") || f.forbidden(e) {
			continue
		}
		if e.pending() {
			drafts = append(drafts, e)
		} else {
			stored = append(stored, e)
		}
	}
	return append(stored, drafts...)
}

// forbidden reports whether a constraint on what to avoid names what is known of
// an entity.
func (f *facts) forbidden(e *entity) bool {
	for _, term := range f.avoided() {
		needle := stems(term)
		if e.holds(needle) {
			return true
		}
	}
	return false
}

// avoided are the words that the constraints in force rule out.
func (f *facts) avoided() []string {
	var out []string
	for _, m := range optionLines(f.body("Constraints")) {
		if terms := termsIn(m); len(terms) > 0 {
			for _, term := range terms {
				out = append(out, f.lex.vocab.covers(term)...)
			}
			continue
		}
		c := f.command(constraintText(m))
		if c.verb != verbReject {
			continue
		}
		for _, term := range c.rejected() {
			out = append(out, f.lex.vocab.covers(term)...)
		}
	}
	return out
}

var termList = regexp.MustCompile(`\[exclude: (\{.*?\})\]`)

// termsIn are the terms of a constraint's value, as Understand stored them.
func termsIn(line string) []string {
	m := termList.FindStringSubmatch(line)
	if m == nil {
		return nil
	}
	return textList(decodeObject(m[1])["terms"])
}

var constraintNote = regexp.MustCompile(`\s*[(\[—].*$`)

// constraintText is a constraint as the user said it, without the prompt's notes
// on kind and end.
func constraintText(line string) string {
	return trimQuotes(constraintNote.ReplaceAllString(line, ""))
}

// planRows are the days and slots that a message asks for.
func (f *facts) planRows(c *command, e *domain.Entity) []map[string]any {
	_, day, _ := f.lex.schedule()
	var rows []map[string]any
	for _, at := range f.planDays(c) {
		if len(c.values) == 0 {
			rows = append(rows, f.dayRow(at, e, day))
		}
		for _, v := range c.values {
			row := f.dayRow(at, e, day)
			row[v.column.Name] = typed(v.column, v.value, f.today)
			rows = append(rows, row)
		}
	}
	return rows
}

// maxDays keeps a plan within what one answer can hold.
const maxDays = 14

func (f *facts) planDays(c *command) []time.Time {
	if days := dates(c.text, f.today); len(days) > 0 {
		return days
	}
	n := defaultDays
	if pl := f.lex.vocab.plan; pl != nil && pl.DefaultCount > 0 {
		n = pl.DefaultCount
	}
	start := f.today.AddDate(0, 0, 1)
	if from, to, ok := period(c.text, f.today); ok {
		start = from
		n = int(to.Sub(from).Hours()/24) + 1
	}
	if k, err := strconv.Atoi(c.value); err == nil {
		n = k
	} else if m := countLead.FindStringSubmatch(c.text); m != nil {
		if k, ok := number(m[1]); ok {
			n = int(k)
		}
	}
	var out []time.Time
	for i := range min(n, maxDays) {
		out = append(out, start.AddDate(0, 0, i))
	}
	return out
}

func asText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	}
	return compact(v)
}

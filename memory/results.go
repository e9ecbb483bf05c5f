package memory

import (
	"encoding/json"
	"slices"
	"strings"

	"alfred/db"
	"alfred/domain"
)

// executionResults are the facts of the turn that a reply may state: what was
// asked, how each step ended, the rows, what is saved and what is not.
func (t *turn) executionResults() *section {
	s := newSection("## Execution Results")
	request := inline(t.withLabels(t.row.Message), 4*maxFact)
	s.line(`Request: "`, request, `"`)
	s.because("current", "", t.number, request)
	if goal := inline(text(t.row.Goal), maxFact); goal != "" {
		s.line("Goal: ", goal)
	}
	s.line("Outcome: ", t.outcome())
	for _, step := range t.steps {
		s.line("- ", inline(step.Description, maxFact), " (", string(step.StepType), "): ", outcomeWords(step))
		if conclusions := block(text(step.Conclusions)); conclusions != "" {
			s.line("  Conclusions: ", conclusions)
		}
		s.because("current", "", t.number, text(step.Summary))
	}
	if details := t.blockedBy(); details != "" {
		s.line("Blocked: ", details)
	}
	t.notices(s)
	t.resultRows(s)
	t.saveStatus(s)
	t.draftsSpokenOf(s)

	return s
}

// notices say what of the user's changes and mentions could not be found.
func (t *turn) notices(s *section) {
	for _, notice := range t.noticeTexts() {
		s.line("Note: ", notice)
	}
}

func (t *turn) noticeTexts() []string {
	var texts []string
	for _, r := range t.ownResults() {
		if r.isNotice() {
			texts = append(texts, inline(text(r.ErrorMessage), maxFact))
		}
	}

	return texts
}

func (r *result) isNotice() bool { return r.Step == 0 && r.failed() }

// outcome is the turn's in a few words; the reply may claim no more.
func (t *turn) outcome() string {
	done, short := 0, 0
	for _, step := range t.steps {
		switch {
		case step.Outcome == nil:
		case *step.Outcome == db.StepOutcomeOk, *step.Outcome == db.StepOutcomeEmpty:
			done++
		default:
			short++
		}
	}
	switch {
	case t.asked() != nil && done+short == 0:
		return "a question to the user"
	case done+short == 0 && !slices.ContainsFunc(t.ownResults(), func(r *result) bool { return !r.isNotice() }):
		return "nothing was read or changed in this turn"
	case short == 0:
		return "done"
	case done == 0:
		return "not done"
	default:
		return "done in part"
	}
}

// asked is the question that this turn ends with, or nil.
func (t *turn) asked() *questionPayload {
	if t.question == nil || t.question.TurnID != t.row.ID {
		return nil
	}
	var payload questionPayload
	if err := json.Unmarshal(t.question.Payload, &payload); err != nil {
		return nil
	}

	return &payload
}

// questionToAsk is what the reply has to ask.
func (t *turn) questionToAsk() *section {
	s := newSection("## Open Question")
	payload := t.asked()
	if payload == nil {
		return s
	}
	s.line("Kind: ", t.question.Kind, ". Ask exactly this:")
	s.line(block(t.withLabels(payload.Text)))
	for _, option := range payload.Options {
		s.line("- ", t.optionWords(option))
	}
	s.because("question", "", t.number, payload.Text)

	return s
}

// ownResults are this turn's own, in order.
func (t *turn) ownResults() []*result {
	var own []*result
	for _, r := range t.results {
		if r.TurnID == t.row.ID {
			own = append(own, r)
		}
	}

	return own
}

// deed is what was done to rows of one type by one call.
type deed struct {
	result *result
	kind   *domain.Entity
	refs   []string
}

// deeds gives each row to the call that last had to do with it, so that it is
// told once.
func (t *turn) deeds() []*deed {
	told := map[string]bool{}
	var deeds []*deed
	for _, r := range slices.Backward(t.ownResults()) {
		if r.failed() || !carriesRows(r.Tool) || r.EntityType == nil || r.Step == 0 {
			continue
		}
		def := t.memory.domain.ByType(*r.EntityType)
		if def == nil {
			continue
		}
		d := &deed{result: r, kind: def}
		for _, columns := range r.rows {
			ref, _ := columns[def.Key.Name].(string)
			if t.byRef[ref] != nil && !told[ref] {
				told[ref] = true
				d.refs = append(d.refs, ref)
			}
		}
		deeds = append(deeds, d)
	}
	slices.Reverse(deeds)

	return deeds
}

// verbs say in the past what a tool did.
func verb(tool string) string {
	switch tool {
	case "db_create":
		return "Saved"
	case "db_update":
		return "Changed"
	case "db_delete":
		return "Deleted"
	default:
		return "Found"
	}
}

func (t *turn) resultRows(s *section) {
	budget := t.memory.config.Budget.Results
	nested := t.nestedRefs()
	for _, d := range t.deeds() {
		if len(d.result.rows) == 0 {
			s.line(verb(d.result.Tool), ": ", t.nothing(d))

			continue
		}
		if len(d.refs) == 0 {
			continue
		}
		s.line(verb(d.result.Tool), " ", t.howMany(d), ":")
		shown := 0
		for _, ref := range d.refs {
			lines := t.plainRow(ref)
			if nested[ref] {
				shown++

				continue
			}
			if tokens(lines) > budget {
				break
			}
			budget -= tokens(lines)
			s.line(lines)
			s.because("current", ref, t.number, lines)
			shown++
		}
		s.shown(shown, len(d.refs), "")
	}
	t.otherResults(s, &budget)
}

// nothing is what to say of zero rows.
func (t *turn) nothing(d *deed) string {
	filters := struct {
		Filters   []any `json:"filters"`
		OrFilters []any `json:"or_filters"`
	}{}
	filtered := json.Unmarshal(d.result.Params, &filters) == nil && len(filters.Filters)+len(filters.OrFilters) > 0
	if d.result.Tool == "db_read" && !filtered && d.kind.Empty != "" {
		return d.kind.Empty
	}

	return "no " + d.kind.Plural + " that fit"
}

func (t *turn) howMany(d *deed) string {
	if n := int(d.result.RowCount); n > len(d.result.rows) {
		return itoa(len(d.refs)) + " of " + itoa(n) + " " + d.kind.Plural
	}
	if len(d.refs) == 1 {
		return "1 " + d.kind.Name
	}

	return itoa(len(d.refs)) + " " + d.kind.Plural
}

// nestedRefs are the child rows that stand below their parent.
func (t *turn) nestedRefs() map[string]bool {
	nested := map[string]bool{}
	for _, r := range t.rows.byRef {
		for _, refs := range r.children {
			for _, ref := range refs {
				nested[ref] = nested[ref] || r.turn == t.number
			}
		}
	}

	return nested
}

// plainRow is a row for people, its long texts and children below it.
func (t *turn) plainRow(ref string) string {
	r := t.rows.byRef[ref]
	if r == nil {
		return "- " + t.byRef[ref].label
	}
	short := map[string]any{}
	for name, value := range r.columns {
		if !isLong(value) {
			short[name] = value
		}
	}
	lines := []string{"- " + t.plainLine(r.kind, short)}
	for _, name := range columnOrder(r.kind, r.columns) {
		value := r.columns[name]
		if prose, ok := value.(string); ok && isLong(value) {
			lines = append(lines, "  "+name+":", indent(block(prose)))
		} else if isLong(value) {
			lines = append(lines, "  "+name+":", indent(longValue(value)))
		}
	}
	for _, child := range r.kind.Children {
		for _, below := range r.children[child.Entity.Table] {
			if row := t.rows.byRef[below]; row != nil {
				lines = append(lines, "  - "+t.plainLine(row.kind, without(row.columns, child.FK.Name)))
			}
		}
	}

	return strings.Join(lines, "\n")
}

func without(columns map[string]any, name string) map[string]any {
	rest := make(map[string]any, len(columns))
	for key, value := range columns {
		if key != name && key != "_"+name+"_label" {
			rest[key] = value
		}
	}

	return rest
}

func indent(text string) string { return "  " + strings.ReplaceAll(text, "\n", "\n  ") }

// otherResults are totals and formulas, which are no rows of the domain, and
// how many calls failed.
func (t *turn) otherResults(s *section, budget *int) {
	failed := 0
	told := map[string]bool{}
	for _, r := range t.ownResults() {
		switch {
		case r.isNotice():
		case r.failed():
			failed++
		case carriesRows(r.Tool) || r.Tool == "generate" || len(r.rows) == 0:
		default:
			line := "Computed: " + clip(jsonText(t.guarded(r)), *budget*runesPerToken)
			if told[line] {
				continue
			}
			told[line] = true
			*budget -= tokens(line)
			s.line(line)
			s.because("current", "", t.number, line)
		}
	}
	if failed > 0 {
		s.line("(", count(failed, "attempt"), " failed on the way)")
	}
}

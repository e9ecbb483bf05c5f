package prompt

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"alfred/db"
	"alfred/internal/clean"
	"alfred/internal/exact"
	"alfred/internal/say"
	"alfred/internal/view"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// currentStep tells Act what to do now.
func (t *page) currentStep(s *section) {
	step := t.step
	position, total := t.StepPosition(step.Step)
	s.line("Step ", strconv.Itoa(position), " of ", strconv.Itoa(total))
	s.line("Type: ", string(step.StepType))
	s.line("Subdomain: ", clean.Inline(step.Subdomain, say.ShortLine))
	t.toolsOf(s, step)
	s.line("Description: ", clean.Inline(step.Description, 2*say.MaxFact))
	if refs := t.RefWords(step.Refs); refs != "" {
		s.line("Refs: ", refs)
	}
	t.goal(s)
	s.line(`Request: "`, t.message(), `"`)
	s.line(t.today())
	if note := t.noteFor(step); note != "" {
		s.line("Note from the step before: ", note)
	}
	if t.introduces(step) {
		s.line("Your reply begins here: before the call of ", vocab.ToolGenerate, ", in the same answer, write one or two sentences to the user, in their language: ",
			"say what you have drafted, answer what else was asked, and offer to save it. The drafts are shown below these words; do not repeat them.")
		if heard := t.noted(); heard != "" {
			s.line("Acknowledge briefly: ", heard)
		}
	}
	t.beside(s)
	s.line("Decisions left: ", strconv.Itoa(max(0, vocab.MaxStepCalls-t.Calls(step.Step))), " of ", strconv.Itoa(vocab.MaxStepCalls))
	s.addItem("current", "", t.Number, s.body.String())
}

// toolsOf says which of the turn's tools this step may use, and on what.
func (t *page) toolsOf(s *section, step *db.TurnSteps) {
	in := t.bounds(step)
	s.line("Tools of this step: ", strings.Join(in.Allowed(), ", "), ", and in every step ", strings.Join(vocab.EveryStep, ", "), "; others are refused")
	s.line("Tables: ", strings.Join(in.Tables, ", "))
	for _, tool := range vocab.WriteTools() {
		if step.StepType == db.StepTypeWrite && len(in.Writable[tool]) > 0 && !slices.Equal(in.Writable[tool], in.Tables) {
			s.line("Tables of ", tool, ": ", strings.Join(in.Writable[tool], ", "))
		}
	}
	if step.StepType == db.StepTypeGenerate {
		s.line("Types to draft: ", strings.Join(in.EntityTypes, ", "))
	}
}

// introduces reports whether the words that come with a step's drafts can be the reply: the other steps only prepared
// the drafts, and there is nothing else that a reply has to take up.
func (t *page) introduces(step *db.TurnSteps) bool {
	return t.OnlyDrafts(step) && len(t.noticeTexts())+len(t.ExcludedNow())+len(t.ForgottenNow()) == 0
}

// noteFor returns the note that the last finished step left for this one.
func (t *page) noteFor(step *db.TurnSteps) string {
	for _, before := range slices.Backward(t.Steps) {
		if before.Step < step.Step && before.Outcome != nil && *before.Outcome != db.StepOutcomeSkipped {
			return clean.Inline(clean.Text(before.Note), say.MaxFact)
		}
	}

	return ""
}

// stepInFull is how many finished steps show every call.
const stepInFull = 3

// stepResults prints what this turn's tools returned. Rows appear in the entity table; this section says what was
// called and which refs resulted.
func (t *page) stepResults(s *section) {
	byStep := map[int32][]*view.Result{}
	for _, r := range t.Results {
		if r.TurnID == t.Turn.ID && !r.IsRecalled(t.Turn.ID) {
			byStep[r.Step] = append(byStep[r.Step], r)
		}
	}
	left := t.config.Budget.Results
	if inputs := byStep[0]; len(inputs) > 0 {
		s.line("Step 0 (before the plan, by the user)")
		t.calledTools(s, inputs, &left)
	}
	var ran []*db.TurnSteps
	for _, step := range t.Steps {
		if len(byStep[step.Step]) > 0 || step.Outcome != nil && *step.Outcome != db.StepOutcomeSkipped {
			ran = append(ran, step)
		}
	}
	for i, step := range ran {
		full := i >= len(ran)-stepInFull || step.StepType == db.StepTypeAnalyze
		t.stepResult(s, step, byStep[step.Step], full, &left)
	}
}

func (t *page) stepResult(s *section, step *db.TurnSteps, calls []*view.Result, full bool, left *Tokens) {
	s.line("Step ", strconv.Itoa(int(step.Step)), " (", string(step.StepType), ", ", clean.Inline(step.Subdomain, say.ShortLine), "): ", say.OutcomeWords(step))
	if conclusions := clean.Block(clean.Text(step.Conclusions)); conclusions != "" {
		s.line("Conclusions: ", conclusions)
	}
	if succeeded(step) {
		calls = slices.DeleteFunc(slices.Clone(calls), (*view.Result).Failed)
	}
	if full {
		t.calledTools(s, calls, left)
	} else if len(calls) > 0 {
		s.line("(", strings.TrimSuffix(count(len(calls), "call")+", "+t.RefWords(view.RefsOf(calls)), ", "), ")")
	}
	s.addItem("current", "", t.Number, clean.Text(step.Summary))
}

// succeeded reports whether what failed on the way to a step's end no longer matters.
func succeeded(step *db.TurnSteps) bool {
	return view.Is(step.Outcome, db.StepOutcomeOk) || view.Is(step.Outcome, db.StepOutcomeEmpty)
}

// calledTools prints one line per call, and the rows that have no refs.
func (t *page) calledTools(s *section, calls []*view.Result, left *Tokens) {
	undone := 0
	for _, r := range calls {
		if clean.Text(r.ErrorCode) == notExecuted {
			undone++

			continue
		}
		s.line(left.takeCut(t.calledTool(r)))
	}
	if undone > 0 {
		s.line("(", count(undone, "other call"), " of the same decision not carried out)")
	}
}

// notExecuted is the code of calls that were rolled back because another call of their decision failed. It is reported
// once.
const notExecuted = "not_executed"

// maxRefsNamed is how many refs a result names individually.
const maxRefsNamed = 100

func (t *page) calledTool(r *view.Result) string {
	line := r.Tool
	if r.EntityType != nil {
		line += " " + *r.EntityType
	}
	if params := paramsLine(r.Params); params != "{}" && r.Tool != vocab.ToolGenerate {
		line += " " + clean.Clip(params, 2*say.ShortLine)
	}

	return line + " → " + t.resultWords(r)
}

// paramsLine is a call's arguments without those that strict schemas ask for although they say nothing.
func paramsLine(params json.RawMessage) string {
	said := map[string]any{}
	if err := exact.Decode(params, &said); err != nil {
		return "{}"
	}
	maps.DeleteFunc(said, func(_ string, value any) bool { return clean.IsEmpty(value) || clean.Value(value) == "0" })

	return clean.JSON(said)
}

// resultWords words the result of a call.
func (t *page) resultWords(r *view.Result) string {
	if r.Failed() {
		return "error " + clean.Text(r.ErrorCode) + ": " + clean.Inline(clean.Text(r.ErrorMessage), 2*say.MaxFact)
	}
	line := count(int(r.RowCount), "row")
	if notice := notice(r); notice != "" {
		line += " (" + notice + ")"
	}
	if int(r.RowCount) > len(r.Rows) && vocab.CarriesRows(r.Tool) {
		line += " (" + strconv.Itoa(len(r.Rows)) + " of " + strconv.Itoa(int(r.RowCount)) + " shown)"
	}
	switch {
	case !vocab.CarriesRows(r.Tool) && r.Tool != vocab.ToolGenerate && len(r.Rows) > 0:
		line += ": " + clean.JSON(t.WithoutKeys(r))
	case len(r.Refs) > maxRefsNamed, len(r.Refs) > collapseOver && areConsecutive(r.Refs):
		line += ": " + t.RefWords(r.Refs)
	case len(r.Refs) > 0:
		line += ": " + strings.Join(r.Refs, ", ")
	case len(r.Rows) > 0:
		line += ": " + clean.JSON(t.WithoutKeys(r))
	}

	return line
}

// areConsecutive reports whether refs are numbered consecutively, so that a range can stand for them.
func areConsecutive(refs []string) bool {
	for i, ref := range refs {
		at := strings.LastIndexByte(ref, '_')
		n, err := strconv.Atoi(ref[at+1:])
		if err != nil || i > 0 && refs[i-1] != ref[:at+1]+strconv.Itoa(n-1) {
			return false
		}
	}

	return true
}

// notice is the tool's remark on its result as a whole.
func notice(r *view.Result) string {
	if len(r.Rows) == 0 && !r.Failed() {
		return clean.Inline(clean.Text(r.ErrorMessage), say.MaxFact) // there is no row for it to go with
	}
	if len(r.Rows) == 0 || clean.IsEmpty(r.Rows[0]["_notice"]) {
		return ""
	}

	return clean.Inline(clean.Value(r.Rows[0]["_notice"]), say.MaxFact)
}

func count(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}

	return strconv.Itoa(n) + " " + word + "s"
}

// justSaved lists the drafts that became rows in this turn.
func (t *page) justSaved(s *section) {
	for _, e := range t.EntitiesWhere(t.IsJustSaved) {
		s.item("current", e.Ref, t.Number, t.line(e, "", ""))
	}
}

// firstSeenNow lists the refs that first appeared in this turn.
func (t *page) firstSeenNow(s *section) {
	fresh := t.EntitiesWhere(func(e *view.Entity) bool { return e.Tier == "recent" && t.IsNew(e) })
	left := t.config.Budget.Entities
	t.list(s, fresh, "current", &left)
}

// workBeside adds later steps to those that are worked on, if no other of these has the same tables, so that calls show
// which step they are for.
func (t *page) workBeside() {
	taken := t.ownTables(t.Domain.Subdomain(t.step.Subdomain))
	for _, step := range t.StepsBeside(t.step) {
		tables := t.ownTables(t.Domain.Subdomain(step.Subdomain))
		if slices.ContainsFunc(tables, func(table string) bool { return slices.Contains(taken, table) }) {
			continue
		}
		taken, t.steps = append(taken, tables...), append(t.steps, step)
		t.others = append(t.others, nodes.BesideStep{Number: int(step.Step), Type: string(step.StepType), Tables: tables, EntityTypes: t.draftsBeside(step, tables)})
	}
}

// draftsBeside are the types that a step may draft on its own tables.
func (t *page) draftsBeside(step *db.TurnSteps, tables []string) []string {
	if step.StepType != db.StepTypeGenerate {
		return nil
	}

	return slices.DeleteFunc(t.draftable(step), func(kind string) bool {
		def := t.Domain.ByType(kind)

		return def == nil || !slices.Contains(tables, def.Table)
	})
}

// beside lists the steps whose calls the same answer may hold.
func (t *page) beside(s *section) {
	if len(t.others) == 0 {
		return
	}
	s.line("Steps beside this one need nothing of it. Write their calls in the same answer too: behind the `", vocab.ToolStepComplete, "` of this step, in this order, each ended by its own `",
		vocab.ToolStepComplete, "`. A step that has to look at something first, changes a draft, or waits for what your calls return, is left out; it is asked for later.")
	for i, step := range t.steps[1:] {
		position, _ := t.StepPosition(step.Step)
		line := "- Step " + strconv.Itoa(position) + " (" + string(step.StepType) + ", " + clean.Inline(step.Subdomain, say.ShortLine) + "): " + clean.Inline(step.Description, 2*say.MaxFact)
		if refs := t.RefWords(step.Refs); refs != "" {
			line += " | Refs: " + refs
		}
		if types := t.others[i].EntityTypes; len(types) > 0 {
			s.line(line, " | Types to draft: ", strings.Join(types, ", "))
		} else {
			s.line(line, " | Tables: ", strings.Join(t.others[i].Tables, ", "))
		}
	}
}

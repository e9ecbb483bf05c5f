package view

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/google/uuid"

	"alfred/db"
	"alfred/internal/domain"
	"alfred/internal/vocab"
)

// SubdomainName resolves a word or alias to its subdomain's name, or returns the word.
func (t *Scene) SubdomainName(word string) string {
	if sub := t.Domain.Subdomain(word); sub != nil {
		return sub.Name
	}

	return word
}

// Replanned reports whether a step of this turn has failed or was skipped, so that a new plan replaces an abandoned
// one.
func (t *Scene) Replanned() bool {
	return slices.ContainsFunc(t.Steps, func(step *db.TurnSteps) bool {
		return Is(step.Outcome, db.StepOutcomeSkipped) || Is(step.Outcome, db.StepOutcomeFailed)
	})
}

// MadeUp reports whether a step that did not succeed is made up for: the plan that took its plan's place did such a step, and as many
// if they were to write. One thing written says nothing of another.
func (t *Scene) MadeUp(step *db.TurnSteps) bool {
	var since []*Run // the newest plan
	for i, run := range t.Runs {
		if run.Node == vocab.NodeThink {
			since = t.Runs[i+1:]
		}
	}
	first := slices.IndexFunc(since, func(run *Run) bool { return run.Step != nil })
	if first < 0 || step.Step >= *since[first].Step {
		return false
	}

	missed, done := 0, 0
	for _, one := range t.Steps {
		switch {
		case one.StepType != step.StepType || one.Outcome == nil:
		case one.Step < *since[first].Step && *one.Outcome != db.StepOutcomeOk && *one.Outcome != db.StepOutcomeEmpty:
			missed++
		case one.Step >= *since[first].Step && *one.Outcome == db.StepOutcomeOk:
			done++
		}
	}

	return done > 0 && (step.StepType != db.StepTypeWrite || done >= missed)
}

// QuestionPayload is the common payload of all questions.
type QuestionPayload struct {
	Text    string           `json:"text"`
	Options []QuestionOption `json:"options"`
	// Told is the same with refs, nil if it names none.
	Told *QuestionPayload `json:"told,omitempty"`
}

// ForModels is the question as models read it.
func (p *QuestionPayload) ForModels() *QuestionPayload { return cmp.Or(p.Told, p) }

// QuestionOption is one answer that a question offers. A click sends its id.
type QuestionOption struct {
	ID    string `json:"id"`
	Label string `json:"label"`
	Ref   string `json:"ref,omitempty"`
}

// LastReplied returns the newest past turn with a reply, or nil.
func (t *Scene) LastReplied() *db.TurnListPastRow {
	for _, p := range slices.Backward(t.Past) {
		if p.Status == db.TurnStatusSucceeded {
			return p
		}
	}

	return nil
}

// ExcludedNow returns the labels of what this turn excluded.
func (t *Scene) ExcludedNow() []string {
	out := map[string]bool{}
	for _, d := range t.Decided() {
		for _, ref := range d.Refs {
			out[ref] = out[ref] || d.ThisTurn && d.Action == "exclude"
		}
	}

	return Labels(Those(t.ByNumber(), func(e *Entity) bool { return out[e.Ref] }))
}

// Decision is one decision about some refs, with its reason.
type Decision struct {
	Turn          int32
	ThisTurn      bool
	Action, Actor string
	Reason        string
	Refs          []string
}

// Decided groups the decision log, oldest first.
func (t *Scene) Decided() []*Decision {
	var groups []*Decision
	for _, d := range slices.Backward(t.Decisions) {
		next := &Decision{Turn: d.TurnNumber, ThisTurn: Is(d.TurnID, t.Turn.ID), Action: d.Action, Actor: d.Actor, Reason: d.Reason}
		if n := len(groups); n > 0 && groups[n-1].same(next) {
			next = groups[n-1]
		} else {
			groups = append(groups, next)
		}
		if d.Ref != nil {
			next.Refs = append(next.Refs, *d.Ref)
		}
	}

	return groups
}

func (d *Decision) same(other *Decision) bool {
	return d.Turn == other.Turn && d.ThisTurn == other.ThisTurn && d.Action == other.Action && d.Actor == other.Actor && d.Reason == other.Reason
}

// WroteNothing returns the write steps of a turn that wrote nothing.
func (t *Scene) WroteNothing() []*db.TurnSteps {
	for _, d := range t.Effects() {
		if d.Result.Tool != vocab.ToolRead && (len(d.Refs) > 0 || t.Domain.Operation(d.Result.Tool) != nil) { // an operation may write what no type shows
			return nil
		}
	}

	return Those(t.Steps, func(step *db.TurnSteps) bool { return step.StepType == db.StepTypeWrite })
}

// DroppedNow returns the labels of the drafts that this turn has forgotten.
func (t *Scene) DroppedNow() []string { return t.forgotten(true) }

// ForgottenNow returns the labels of the stored rows that this turn took out of the conversation.
func (t *Scene) ForgottenNow() []string { return t.forgotten(false) }

func (t *Scene) forgotten(drafts bool) []string {
	var labels []string
	for _, d := range t.Decided() {
		if !d.ThisTurn || d.Action != "forget" {
			continue
		}
		labels = append(labels, Labels(Those(t.Dropped, func(e *Entity) bool {
			return slices.Contains(d.Refs, e.Ref) && strings.HasPrefix(e.Ref, "gen_") == drafts
		}))...)
	}

	return labels
}

// Place returns a step's position in the current plan and the plan's length. Steps dropped by a replan do not count.
func (t *Scene) Place(step int32) (position, total int) {
	for _, s := range t.Steps {
		if Is(s.Outcome, db.StepOutcomeSkipped) {
			continue
		}
		total++
		if s.Step <= step {
			position++
		}
	}

	return position, total
}

// RefsOf returns the refs of calls, in order, including repetitions.
func RefsOf(calls []*Result) []string {
	var refs []string
	for _, r := range calls {
		refs = append(refs, r.Refs...)
	}

	return refs
}

// Guarded returns rows without refs of their own (totals by recipe, formulas), with keys removed from every column
// known to hold them.
func (t *Scene) Guarded(r *Result) []map[string]any {
	def := t.typeOf(r)
	if def == nil {
		return r.Rows
	}
	rows := make([]map[string]any, len(r.Rows))
	for i, columns := range r.Rows {
		rows[i] = t.guardRow(def, columns)
	}

	return rows
}

// IsJustSaved reports whether e is a draft that this turn saved.
func (t *Scene) IsJustSaved(e *Entity) bool {
	return Is(e.TurnPromoted, t.Turn.Number) && e.State != db.RefStateDeleted
}

// IsDraftOfNow reports whether e is a draft that this turn touched. The user may have changed it since, for the coming turn;
// a turn that interrupted has a higher number too, and its drafts are not this one's.
func (t *Scene) IsDraftOfNow(e *Entity) bool {
	return e.Pending() && e.Tier == "generated" && (e.TurnLastRef == t.Turn.Number || e.TurnLastRef > t.latest())
}

// IsNew reports whether e was first seen in this turn.
func (t *Scene) IsNew(e *Entity) bool { return e.TurnCreated == t.Turn.Number && !t.IsJustSaved(e) }

// IsNotice reports whether r says that something the user changed or pointed at could not be applied.
func (r *Result) IsNotice() bool { return r.Step == 0 && r.Failed() }

// Asked returns the question that this turn ends with, or nil.
func (t *Scene) Asked() *QuestionPayload {
	if t.Question == nil || t.Question.TurnID != t.Turn.ID {
		return nil
	}

	return t.Payload()
}

// ToAsk returns the question that the turn's reply has to ask, or nil: what it offers may be gone by now.
func (t *Scene) ToAsk() *QuestionPayload {
	if t.Question == nil || t.Question.Status != "open" {
		return nil
	}

	return t.Asked()
}

// Payload is what the turn's question asks, nil without one.
func (t *Scene) Payload() *QuestionPayload {
	var payload QuestionPayload
	if t.Question == nil || json.Unmarshal(t.Question.Payload, &payload) != nil {
		return nil
	}

	return &payload
}

// OwnResults returns this turn's own results, in order.
func (t *Scene) OwnResults() []*Result {
	return Those(t.Results, func(r *Result) bool { return r.TurnID == t.Turn.ID })
}

// Effect is what one call did to rows of one type.
type Effect struct {
	Result *Result
	Kind   *domain.Entity
	Refs   []string
	Again  bool // a read that also found rows which this turn wrote
}

// Effects assigns each row to the call that last touched it, so that it is reported once. A row that was written stays with
// its write: whoever is told that it was found would have to say that nothing was changed. What an undo did, its step says, so
// that its rows are reported beside it if they are read.
func (t *Scene) Effects() []*Effect {
	told, wrote := map[string]bool{}, t.wrote()
	var effects []*Effect
	for _, r := range slices.Backward(t.OwnResults()) {
		def := t.typeOf(r)
		if def == nil || !r.tellsOfRows() {
			continue
		}
		var of []*Effect
		for _, columns := range r.Rows {
			d := effectOf(&of, r, cmp.Or(t.kindOf(r, columns), def))
			ref, _ := columns[d.Kind.Key.Name].(string)
			if r.Tool == vocab.ToolRead && wrote[ref] {
				d.Again = true

				continue
			}
			if t.ByRef[ref] != nil && (!told[ref] || r.Tool == vocab.ToolUndo) {
				told[ref] = true
				d.Refs = append(d.Refs, ref)
			}
		}
		if len(of) == 0 {
			of = append(of, &Effect{Result: r, Kind: def})
		}
		slices.Reverse(of)
		effects = append(effects, of...)
	}
	slices.Reverse(effects)

	return effects
}

// effectOf is the one of a call's effects that is on rows of a type.
func effectOf(of *[]*Effect, r *Result, kind *domain.Entity) *Effect {
	for _, d := range *of {
		if d.Kind == kind {
			return d
		}
	}
	d := &Effect{Result: r, Kind: kind}
	*of = append(*of, d)

	return d
}

// tellsOfRows reports whether a call of the plan found or wrote rows.
func (r *Result) tellsOfRows() bool {
	return !r.Failed() && r.Step > 0 && vocab.CarriesRows(r.Tool)
}

// wrote are the rows that this turn's calls wrote: that it looked at them again afterwards is no news.
func (t *Scene) wrote() map[string]bool {
	refs := map[string]bool{}
	for _, r := range t.OwnResults() {
		if r.Tool == vocab.ToolRead || r.Tool == vocab.ToolUndo || !r.tellsOfRows() {
			continue
		}
		for _, ref := range r.Refs {
			refs[ref] = true
		}
	}

	return refs
}

// NestedRefs returns the child rows that appear below their parent; true means that the parent's newest value is this
// turn's.
func (t *Scene) NestedRefs() map[string]bool {
	return t.Below(func(parent *Row) bool { return parent.Turn == t.Number })
}

// Below returns the child rows of all rows; true means that one of their parents is so.
func (t *Scene) Below(is func(parent *Row) bool) map[string]bool {
	below := map[string]bool{}
	for _, r := range t.Rows.ByRef {
		for _, refs := range r.Children {
			for _, ref := range refs {
				below[ref] = below[ref] || is(r)
			}
		}
	}

	return below
}

// IsRecalled reports whether r is what Understand looked up for the turn.
func (r *Result) IsRecalled(turn uuid.UUID) bool {
	return r.TurnID == turn && r.Step == 0 && r.Tool == vocab.ToolRecall && !r.Failed()
}

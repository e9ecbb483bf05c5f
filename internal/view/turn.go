package view

import (
	"slices"
	"strings"

	"github.com/google/uuid"

	"alfred/db"
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

// IsMadeUpFor reports whether a step that did not succeed is made up for: since Think planned anew, such a step succeeded, and as
// many as had failed if they were to write. One thing written says nothing of another.
func (t *Scene) IsMadeUpFor(step *db.TurnSteps) bool {
	from := t.newestPlan()
	if step.Step >= from || Is(step.Outcome, db.StepOutcomeOk) {
		return false
	}
	missed, done := 0, 0
	for _, one := range t.Steps {
		switch ok := Is(one.Outcome, db.StepOutcomeOk); {
		case one.StepType != step.StepType || one.Outcome == nil:
		case one.Step >= from && ok:
			done++
		case one.Step < from && !ok && !Is(one.Outcome, db.StepOutcomeEmpty):
			missed++
		}
	}

	return done > 0 && (step.StepType != db.StepTypeWrite || done >= missed)
}

// newestPlan is the number of the first step that was worked on after Think's last plan, 0 if none was.
func (t *Scene) newestPlan() (from int32) {
	for _, run := range t.Runs {
		switch {
		case run.Node == vocab.NodeThink:
			from = 0
		case from == 0 && run.Step != nil:
			from = *run.Step
		}
	}

	return from
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
func (t *Scene) ExcludedNow() []string { return Labels(t.decidedNow("exclude", t.ByNumber())) }

// DroppedNow returns the labels of the drafts that this turn has forgotten.
func (t *Scene) DroppedNow() []string { return t.forgotten(true) }

// ForgottenNow returns the labels of the stored rows that this turn took out of the conversation.
func (t *Scene) ForgottenNow() []string { return t.forgotten(false) }

func (t *Scene) forgotten(drafts bool) []string {
	return Labels(Filter(t.decidedNow("forget", t.Dropped), func(e *Entity) bool { return strings.HasPrefix(e.Ref, "gen_") == drafts }))
}

// decidedNow returns those of some entities about which this turn decided so.
func (t *Scene) decidedNow(action string, of []*Entity) []*Entity {
	return Filter(of, func(e *Entity) bool {
		return slices.ContainsFunc(t.Decisions, func(d *db.DecisionListRecentRow) bool {
			return d.Action == action && Is(d.Ref, e.Ref) && Is(d.TurnID, t.Turn.ID)
		})
	})
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

// StepPosition returns a step's position in the current plan and the plan's length. Steps dropped by a replan do not count.
func (t *Scene) StepPosition(step int32) (position, total int) {
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

// WithoutKeys returns rows without refs of their own (totals by recipe, formulas), with keys removed from every column
// known to hold them.
func (t *Scene) WithoutKeys(r *Result) []map[string]any {
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

// DraftedNow returns the drafts that this turn made or changed and that are not saved, in display order.
func (t *Scene) DraftedNow() []*Entity {
	drafted := map[string]bool{}
	for _, r := range t.OwnResults() {
		for _, ref := range r.Refs {
			drafted[ref] = drafted[ref] || r.Tool == vocab.ToolGenerate && !r.Failed()
		}
	}

	return t.EntitiesWhere(func(e *Entity) bool { return drafted[e.Ref] && e.Pending() })
}

// IsNew reports whether e was first seen in this turn.
func (t *Scene) IsNew(e *Entity) bool { return e.TurnCreated == t.Turn.Number && !t.IsJustSaved(e) }

// IsNotice reports whether r says that something the user changed or pointed at could not be applied.
func (r *Result) IsNotice() bool { return r.Step == 0 && r.Failed() }

// OwnResults returns this turn's own results, in order.
func (t *Scene) OwnResults() []*Result {
	return Filter(t.Results, func(r *Result) bool { return r.TurnID == t.Turn.ID })
}

// IsRecalled reports whether r is what Understand looked up for the turn.
func (r *Result) IsRecalled(turn uuid.UUID) bool {
	return r.TurnID == turn && r.Step == 0 && r.Tool == vocab.ToolRecall && !r.Failed()
}

package say

import (
	"slices"

	"alfred/db"
	"alfred/internal/clean"
	"alfred/internal/view"
	"alfred/internal/vocab"
)

// Teller words a scene.
type Teller struct{ *view.Scene }

// MaxReason bounds a decision's reason, in characters.
const MaxReason = 200

// LabelsOf returns the labels of the top-level rows last touched by a tool with this verb.
func (t *Teller) LabelsOf(verb string) []string {
	nested := t.NestedRefs()
	var labels []string
	for _, d := range t.Effects() {
		if Verb(d.Tool) != verb {
			continue
		}
		for _, ref := range d.Refs {
			if !nested[ref] && !d.Kind.Part {
				labels = append(labels, t.ByRef[ref].Label)
			}
		}
	}

	return labels
}

// DeletedNow returns the labels of the top-level rows that this turn deleted, by an undo too.
func (t *Teller) DeletedNow() (labels []string) {
	nested := t.NestedRefs()
	for _, d := range t.Effects() {
		for _, ref := range d.Refs {
			if changes := vocab.Writes(d.Tool) || d.Tool == vocab.ToolUndo; changes && t.ByRef[ref].State == db.RefStateDeleted && !nested[ref] && !d.Kind.Part {
				labels = append(labels, t.ByRef[ref].Label)
			}
		}
	}

	return labels
}

// OutcomeWords are a step's outcome and its summary.
func OutcomeWords(step *db.TurnSteps) string {
	outcome := "open"
	if step.Outcome != nil {
		outcome = string(*step.Outcome)
	}
	if summary := clean.Inline(clean.Text(step.Summary), MaxFact); summary != "" {
		outcome += ". " + summary
	}

	return outcome
}

// BlockReason is why the newest step that gave up did so, "" if a later plan has made up for it.
func (t *Teller) BlockReason() string {
	details := ""
	for _, run := range t.Runs {
		if run.Acted != nil && run.Acted.Blocked != nil {
			details = clean.Inline(run.Acted.Blocked.Code+": "+run.Acted.Blocked.Details, MaxFact)
			if slices.ContainsFunc(t.Steps, func(step *db.TurnSteps) bool { return step.Step == *run.Step && t.IsMadeUpFor(step) }) {
				details = ""
			}
		}
	}

	return details
}

// OptionWords word a question's option, with what it stands for.
func (t *Teller) OptionWords(option view.QuestionOption) string {
	label := clean.Inline(option.Label, view.MaxLabel)
	e := t.ByRef[option.Ref]
	switch {
	case e == nil:
		return label
	case label == "" || label == e.Ref:
		return e.Label + " (" + e.Ref + ")"
	default:
		return label + " (" + e.Ref + ")"
	}
}

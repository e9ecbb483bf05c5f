package say

import (
	"slices"

	"alfred/db"
	"alfred/internal/clean"
	"alfred/internal/view"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// Teller words a scene.
type Teller struct{ *view.Scene }

// MaxReason bounds a decision's reason, in characters.
const MaxReason = 200

// Written returns the rows that this turn wrote, by what became of them, but for parts of others that it wrote too; and the labels of
// what else the conversation knows of their types: a reply may mistake one for the other. What an undo brought back or changed, its
// step says.
func (t *Teller) Written() (written []nodes.Written, others []string) {
	types, wrote := map[string]bool{}, map[string]bool{}
	labels := map[string][]string{}
	effects := t.Effects()
	for _, d := range effects {
		for _, ref := range d.Refs {
			e, verb := t.ByRef[ref], Verb(d.Tool)
			if d.Tool == vocab.ToolUndo && e.State == db.RefStateDeleted {
				verb = Deleted
			}
			if slices.Contains(verbs, verb) && !withWhole(d, effects) {
				types[e.EntityType], wrote[ref] = true, true
				labels[verb] = append(labels[verb], e.Label)
			}
		}
	}
	for _, verb := range verbs {
		if len(labels[verb]) > 0 {
			written = append(written, nodes.Written{Verb: verb, Names: Enumerate(labels[verb]), Rows: len(labels[verb]), Gone: verb == Deleted})
		}
	}
	for _, e := range t.Entities {
		if types[e.EntityType] && !wrote[e.Ref] {
			others = append(others, e.Label)
		}
	}

	return written, others
}

// verbs say what becomes of rows that are written.
var verbs = []string{Saved, Changed, Deleted}

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

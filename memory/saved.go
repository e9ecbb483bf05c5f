package memory

import (
	"slices"
	"strings"

	"alfred/db"
)

// saveStatus keeps saved and not saved apart.
func (t *turn) saveStatus(s *section) {
	for _, tool := range []string{"db_create", "db_update", "db_delete"} {
		if labels := t.labelsOf(tool); len(labels) > 0 {
			s.line(verb(tool), " in this turn: ", enumerate(labels))
		}
	}
	if len(t.wroteNothing()) > 0 {
		s.line("Nothing was saved, changed or deleted in this turn.")
	}
	var drafts []string
	for _, e := range t.entities {
		if e.pending() && e.Tier == "generated" {
			drafts = append(drafts, e.label+" ("+t.singular(e.EntityType)+")")
		}
	}
	if len(drafts) > 0 {
		s.line("Not saved (drafts): ", enumerate(drafts))
	}
	if labels := t.droppedNow(); len(labels) > 0 {
		s.line("Discarded drafts: ", enumerate(labels))
	}
}

// maxNamed is how many labels a line names.
const maxNamed = 40

// enumerate names labels, the newest last, and counts what is too much.
func enumerate(labels []string) string {
	if more := len(labels) - maxNamed; more > 0 {
		return itoa(more) + " more, " + strings.Join(labels[more:], ", ")
	}

	return strings.Join(labels, ", ")
}

// wroteNothing are the write steps of a turn that wrote nothing.
func (t *turn) wroteNothing() []*db.TurnSteps {
	for _, d := range t.deeds() {
		if d.result.Tool != "db_read" && len(d.refs) > 0 {
			return nil
		}
	}
	var steps []*db.TurnSteps
	for _, step := range t.steps {
		if step.StepType == db.StepTypeWrite {
			steps = append(steps, step)
		}
	}

	return steps
}

// labelsOf are the labels of the top-level rows that a tool was the last to touch.
func (t *turn) labelsOf(tool string) []string {
	nested := t.nestedRefs()
	var labels []string
	for _, d := range t.deeds() {
		if d.result.Tool != tool {
			continue
		}
		for _, ref := range d.refs {
			if !nested[ref] && !t.isChild(d.kind) {
				labels = append(labels, t.byRef[ref].label)
			}
		}
	}

	return labels
}

func (t *turn) droppedNow() []string {
	var labels []string
	for _, d := range t.decided() {
		if !d.thisTurn || d.action != "drop" {
			continue
		}
		for _, e := range t.dropped {
			if slices.Contains(d.refs, e.Ref) && strings.HasPrefix(e.Ref, "gen_") {
				labels = append(labels, e.label)
			}
		}
	}

	return labels
}

// draftsSpokenOf are the drafts that this turn touched, in full.
func (t *turn) draftsSpokenOf(s *section) {
	budget := t.memory.config.Budget.Drafts
	for _, e := range t.entities {
		content, ok := t.drafts[e.Ref]
		if !ok || !e.pending() || e.Tier != "generated" || e.TurnLastRef != t.row.Number {
			continue
		}
		shown := draftText(content)
		if tokens(shown) > budget {
			s.line("Draft of ", e.label, ", not saved (too long to show here)")

			continue
		}
		budget -= tokens(shown)
		s.line("Draft of ", e.label, ", not saved:")
		s.line(shown)
		s.because("generated", e.Ref, int(e.TurnCreated), shown)
	}
}

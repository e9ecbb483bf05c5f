package prompt

import (
	"strconv"
	"strings"

	"alfred/internal/clean"
	"alfred/internal/say"
)

// saveStatus keeps saved and unsaved apart.
func (t *page) saveStatus(s *section) {
	t.written(s, " in this turn")
	if len(t.WroteNothing()) > 0 {
		s.line("Nothing was saved, changed or deleted in this turn.")
	}
	var drafts []string
	for _, e := range t.Entities {
		if e.Pending() && e.Tier == "generated" {
			drafts = append(drafts, e.Label+" ("+t.Singular(e.EntityType)+")")
		}
	}
	if len(drafts) > 0 {
		s.line("Not saved (drafts): ", enumerate(drafts))
	}
	if labels := t.DroppedNow(); len(labels) > 0 {
		s.line("Discarded drafts: ", enumerate(labels))
	}
}

// written names what this turn saved, changed and deleted.
func (t *page) written(s *section, when string) {
	for _, verb := range []string{say.Saved, say.Changed, say.Deleted} {
		if labels := t.LabelsOf(verb); len(labels) > 0 {
			s.line(verb, when, ": ", enumerate(labels))
		}
	}
}

// maxNamed is how many labels a line names.
const maxNamed = 40

// enumerate names labels, newest last, and counts those that do not fit.
func enumerate(labels []string) string {
	if more := len(labels) - maxNamed; more > 0 {
		return strconv.Itoa(more) + " more, " + strings.Join(labels[more:], ", ")
	}

	return strings.Join(labels, ", ")
}

// draftsMentioned prints the drafts that this turn touched, in full.
func (t *page) draftsMentioned(s *section) {
	budget := t.config.Budget.Drafts
	for _, e := range t.Entities {
		content, ok := t.Drafts[e.Ref]
		if !ok || !e.Pending() || e.Tier != "generated" || e.TurnLastRef != t.Turn.Number {
			continue
		}
		shown := clean.Content(content)
		if clean.Tokens(shown) > budget {
			s.line("Draft of ", e.Label, ", not saved (too long to show here)")

			continue
		}
		budget -= clean.Tokens(shown)
		s.line("Draft of ", e.Label, ", not saved:")
		s.line(shown)
		s.addItem("generated", e.Ref, int(e.TurnCreated), shown)
	}
}

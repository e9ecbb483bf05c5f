package prompt

import (
	"cmp"
	"slices"
	"strings"

	"alfred/db"
	"alfred/internal/clean"
	"alfred/internal/view"
)

// generated lists unsaved drafts.
func (t *page) generated(s *section) {
	left := t.config.Budget.Entities
	t.list(s, t.Tier("generated"), "generated", &left)
}

func (t *page) generatedInFull(s *section) {
	t.draftsInFull(s, func(e *view.Entity) string { return t.line(e, "", clean.Text(e.ActiveReason)) })
}

// draftsInFull prints drafts with their content. Over budget the oldest content gives way, then the oldest drafts; those
// that the step is about never do.
func (t *page) draftsInFull(s *section, lineOf func(*view.Entity) string) {
	drafts := t.Tier("generated")
	newest := slices.SortedStableFunc(slices.Values(drafts), func(a, b *view.Entity) int {
		return cmp.Or(int(b.TurnLastRef-a.TurnLastRef), int(b.TurnCreated-a.TurnCreated))
	})
	own := func(e *view.Entity) bool { return t.ofStep(e.Ref) }
	newest = append(view.Filter(newest, own), slices.DeleteFunc(newest, own)...)
	budget, lines, contents := t.config.Budget, map[*view.Entity]string{}, map[*view.Entity]string{}
	fit(lines, &budget.Entities, newest, func(e *view.Entity) (string, bool) { return lineOf(e), own(e) })
	full := view.Filter(newest, func(e *view.Entity) bool { return lines[e] != "" && t.Drafts[e.Ref] != nil })
	fit(contents, &budget.Drafts, full, func(e *view.Entity) (string, bool) { return clean.Content(t.Drafts[e.Ref]), own(e) })
	for _, e := range drafts {
		if line := lines[e]; line != "" {
			s.item("generated", e.Ref, int(e.TurnCreated), strings.TrimSuffix(line+"\n"+contents[e], "\n"))
		}
	}
	s.shown(len(lines), len(drafts), "")
	if hidden := len(full) - len(contents); hidden > 0 {
		s.shown(len(lines)-hidden, len(lines), " in full; db_read by id shows the others")
	}
}

// draftsMentioned prints the drafts that this turn touched, in full.
func (t *page) draftsMentioned(s *section) {
	left := t.config.Budget.Drafts
	for _, e := range t.Entities {
		content, ok := t.Drafts[e.Ref]
		if !ok || !t.IsDraftOfNow(e) {
			continue
		}
		shown := clean.Content(content)
		if !left.take(shown) {
			s.line("Draft of ", e.Label, ", not saved (too long to show here)")

			continue
		}
		s.line("Draft of ", e.Label, ", not saved:")
		s.item("generated", e.Ref, int(e.TurnCreated), shown)
	}
}

// ofStep reports whether one of the steps being worked on names a ref.
func (t *page) ofStep(ref string) bool {
	return slices.ContainsFunc(t.steps, func(step *db.TurnSteps) bool { return slices.Contains(step.Refs, ref) })
}

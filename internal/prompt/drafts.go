package prompt

import (
	"cmp"
	"slices"

	"alfred/db"
	"alfred/internal/clean"
	"alfred/internal/view"
)

// generated lists unsaved drafts.
func (t *page) generated(s *section) {
	budget := t.config.Budget.Entities
	t.list(s, t.Tier("generated"), "generated", &budget)
}

func (t *page) generatedInFull(s *section) {
	t.draftsInFull(s, func(e *view.Entity) string { return t.line(e, "", clean.Text(e.ActiveReason)) })
}

// draftsInFull prints drafts with their content. Over budget the oldest content
// gives way, then the oldest drafts; those that the step is about never do.
func (t *page) draftsInFull(s *section, lineOf func(*view.Entity) string) {
	drafts := t.Tier("generated")
	newest := slices.Clone(drafts)
	slices.SortStableFunc(newest, func(a, b *view.Entity) int {
		return cmp.Or(t.ofStep(b.Ref)-t.ofStep(a.Ref), int(b.TurnLastRef-a.TurnLastRef), int(b.TurnCreated-a.TurnCreated))
	})
	lines, contents := t.config.Budget.Entities, t.config.Budget.Drafts
	shown := map[*view.Entity]string{}
	hidden := 0
	for _, e := range newest {
		line := lineOf(e)
		if clean.Tokens(line) > lines && t.ofStep(e.Ref) == 0 {
			break
		}
		lines -= clean.Tokens(line)
		shown[e], hidden = t.withContent(e, line, &contents, hidden)
	}
	for _, e := range drafts {
		if line, ok := shown[e]; ok {
			s.item("generated", e.Ref, int(e.TurnCreated), line)
		}
	}
	s.shown(len(shown), len(drafts), "")
	if hidden > 0 {
		s.shown(len(shown)-hidden, len(shown), " in full; db_read by id shows the others")
	}
}

// withContent adds a draft's JSON below its line while the budget lasts.
func (t *page) withContent(e *view.Entity, line string, budget *int, hidden int) (string, int) {
	content, ok := t.Drafts[e.Ref]
	if !ok {
		return line, hidden
	}
	shown := clean.Content(content)
	if clean.Tokens(shown) > *budget && t.ofStep(e.Ref) == 0 {
		return line, hidden + 1
	}
	*budget -= clean.Tokens(shown)

	return line + "\n" + shown, hidden
}

// draftsMentioned prints the drafts that this turn touched, in full.
func (t *page) draftsMentioned(s *section) {
	budget := t.config.Budget.Drafts
	for _, e := range t.Entities {
		content, ok := t.Drafts[e.Ref]
		if !ok || !t.IsDraftOfNow(e) {
			continue
		}
		shown := clean.Content(content)
		if clean.Tokens(shown) > budget {
			s.line("Draft of ", e.Label, ", not saved (too long to show here)")

			continue
		}
		budget -= clean.Tokens(shown)
		s.line("Draft of ", e.Label, ", not saved:")
		s.item("generated", e.Ref, int(e.TurnCreated), shown)
	}
}

// ofStep is 1 for a ref that one of the steps being worked on names, else 0.
func (t *page) ofStep(ref string) int {
	if slices.ContainsFunc(t.steps, func(step *db.TurnSteps) bool { return slices.Contains(step.Refs, ref) }) {
		return 1
	}

	return 0
}

package prompt

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"alfred/internal/say"
	"alfred/internal/view"
	"alfred/internal/vocab"
)

// knownFacts lists what a reply may state beyond what the turn did: the current rows that the message or the plan
// names, what the user did in the page, what others changed or deleted meanwhile, and of a turn without steps what was done before.
func (t *page) knownFacts(s *section) {
	t.byUser(s)
	t.changedElsewhere(s)
	if done := t.DoneBefore(t.config.RetentionWindow); done != "" {
		s.line("Before this turn, ", done)
	}
	left := t.config.Budget.Results / 2
	told := t.refsInResults()
	for _, ref := range t.mentionedRefs(len(told) == 0) {
		if told[ref] {
			continue
		}
		told[ref] = true
		line := t.knownRow(t.ByRef[ref])
		if line == "" || !left.take(line) {
			continue
		}
		s.item("recent", ref, t.Rows.ByRef[ref].Turn, line)
	}
	t.measures(s)
}

// knownRow prints a row that is loaded and current; "" for any other.
func (t *page) knownRow(e *view.Entity) string {
	if r := t.Rows.ByRef[e.Ref]; r == nil || r.Deleted || e.Pending() || e.Stale != "" || t.Gone(e.Ref) {
		return ""
	}

	return t.PlainRow(e.Ref)
}

// refsInResults are the refs that the execution results show.
func (t *page) refsInResults() map[string]bool {
	told := t.NestedRefs()
	for _, d := range t.Effects() {
		for _, ref := range d.Refs {
			told[ref] = true
		}
	}

	return told
}

// mentionedRefs are the refs that the message means and the plan names. When the turn has shown nothing, it adds the
// window's refs, newest first: the message may mean one of them without naming it.
func (t *page) mentionedRefs(window bool) []string {
	var refs []string
	for _, m := range t.Understood().Mentions {
		refs = append(refs, m.Ref)
	}
	for _, step := range t.Steps {
		refs = append(refs, step.Refs...)
	}
	if window {
		recent := t.Tier("recent")
		slices.SortStableFunc(recent, func(a, b *view.Entity) int { return cmp.Compare(b.TurnLastRef, a.TurnLastRef) })
		nested := t.NestedRefs()
		for _, e := range recent {
			if def := t.Domain.ByType(e.EntityType); !nested[e.Ref] && def != nil && !def.Part {
				refs = append(refs, e.Ref)
			}
		}
	}

	return slices.DeleteFunc(refs, func(ref string) bool { return t.ByRef[ref] == nil })
}

// byUser says what the user did in the page since the last message, as was noted before this turn's plan. A ref keeps its last
// action, so that one of an earlier turn, or what an undo did, looks the same.
func (t *page) byUser(s *section) {
	verbs := map[string]string{"created:user": "created", "updated:user": "changed", "deleted:user": "deleted"}
	done := map[string]string{}
	for _, r := range t.OwnResults() {
		for _, ref := range r.Refs {
			if r.Tool == vocab.ToolUIChange {
				done[ref] = gjson.GetBytes(r.Params, "action").Str
			}
		}
	}
	for _, e := range t.Entities {
		if verb := verbs[done[e.Ref]]; verb != "" && e.Action == done[e.Ref] {
			line := "The user has " + verb + " it in the page: " + e.Label + " (" + t.Singular(e.EntityType) + ")"
			s.item("mentioned", e.Ref, t.Number, line)
		}
	}
}

// changedElsewhere names the rows that have changed since they were read.
func (t *page) changedElsewhere(s *section) {
	words := map[string]string{
		view.StaleChanged: "Changed since it was read, so its values are not known: ",
		view.StaleGone:    "Deleted since it was read: ",
	}
	for _, stale := range []string{view.StaleChanged, view.StaleGone} {
		if changed := t.EntitiesWhere(func(e *view.Entity) bool { return e.Stale == stale }); len(changed) > 0 {
			s.line(words[stale], say.Enumerate(view.Labels(changed)))
		}
	}
}

// viableEntities are the remaining entities of each type that has exclusions.
func (t *page) viableEntities() []*view.Entity {
	types := map[string]bool{}
	for _, e := range t.Tier("excluded") {
		types[e.EntityType] = true
	}

	return t.EntitiesWhere(func(e *view.Entity) bool {
		return types[e.EntityType] && e.Stale != view.StaleGone && slices.Contains([]string{"generated", "recent", "retained"}, e.Tier)
	})
}

// viable lists the viable entities by ref.
func (t *page) viable(s *section) {
	left := t.viableEntities()
	if len(left) == 0 {
		return
	}
	refs := make([]string, 0, maxRefsNamed)
	for _, e := range left[:min(len(left), maxRefsNamed)] {
		refs = append(refs, e.Ref)
	}
	s.line(strings.Join(refs, ", "))
	s.shown(len(refs), len(left), "")
}

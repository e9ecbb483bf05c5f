package offline

import (
	"encoding/json"
	"slices"
	"strings"

	"alfred/domain"
	"alfred/nodes"
)

// curate turns forgetting, rejecting and keeping into decisions.
func (f *facts) curate(c *command, out *nodes.UnderstandOutput) {
	cur := &out.Curation
	switch c.verb {
	case verbClear:
		cur.ClearAll = true
		out.CurationSummary = "The user starts fresh; everything leaves the view."
	case verbForget:
		f.forget(c, out)
	case verbReject:
		for _, e := range f.ruledOut(c) {
			cur.Exclude = append(cur.Exclude, nodes.Exclude{Ref: e.ref, Reason: "not wanted: " + c.object})
		}
		out.CurationSummary = "The user does not want " + joinList(c.rejected()) + "."
	case verbRetain:
		for _, e := range f.targets(c).entities {
			cur.Retain = append(cur.Retain, nodes.Retain{Ref: e.ref, Reason: "the user asked to keep it in mind"})
		}
	default:
	}
	if c.verb != verbClear && c.verb != verbForget {
		f.keepChoices(cur)
	}
}

// keepChoices retains what a plan under way may still be made of.
func (f *facts) keepChoices(cur *nodes.Curation) {
	if len(f.ofTier("excluded")) == 0 && len(f.pending()) == 0 {
		return
	}
	excluded := map[string]bool{}
	for _, x := range cur.Exclude {
		excluded[x.Ref] = true
	}
	for _, e := range f.entities {
		if e.atRisk && f.choice(e) && !e.pending() && !excluded[e.ref] && e.tier != "excluded" {
			cur.Retain = append(cur.Retain, nodes.Retain{Ref: e.ref, Reason: "may still be chosen for what the user is planning"})
		}
	}
}

func (f *facts) ofTier(tier string) []*entity {
	var out []*entity
	for _, e := range f.entities {
		if e.tier == tier {
			out = append(out, e)
		}
	}
	return out
}

// forget drops drafts and takes rows out of view; rows stay stored.
func (f *facts) forget(c *command, out *nodes.UnderstandOutput) {
	list := f.resolve(c.object).entities
	if e := c.entity; e != nil && f.searchTerm(c.object, c) == "" {
		list = nil
		for _, x := range f.entities {
			if x.kind == e.Type {
				list = append(list, x)
			}
		}
	}
	var labels []string
	for _, e := range list {
		if e.pending() {
			out.Curation.Drop = append(out.Curation.Drop, e.ref)
			labels = append(labels, e.label)
		} else {
			out.Curation.Demote = append(out.Curation.Demote, e.ref)
		}
	}
	switch {
	case len(labels) > 0:
		out.CurationSummary = "Dropped the draft " + joinList(labels) + "."
	case len(list) > 0 && c.entity != nil:
		out.CurationSummary = "The " + plural(c.entity) + " left the view; nothing was deleted."
	}
}

// ruledOut are the known things that a rejection excludes: by name, or because
// what is known of them holds a word it covers. Amounts of things are facts, not
// choices, so only what can be drafted, planned or is named counts.
func (f *facts) ruledOut(c *command) []*entity {
	var out []*entity
	for _, term := range c.rejected() {
		for _, word := range f.lex.vocab.covers(term) {
			needle := stems(word)
			for _, e := range f.entities {
				if f.choice(e) && !containsEntity(out, e) && e.tier != "excluded" && e.holds(needle) {
					out = append(out, e)
				}
			}
		}
	}
	return out
}

func (f *facts) choice(e *entity) bool {
	t := f.lex.byType(e.kind)
	return t != nil && (f.lex.draftable(t) || quantityColumn(t) == nil) && doneColumn(t) == nil && !t.Reference && !e.has("deleted") && f.planned(e) == nil
}

// planned is the schedule type of an entity that is a row of the schedule.
func (f *facts) planned(e *entity) *domain.Entity {
	if s, _, _ := f.lex.schedule(); s != nil && s.Type == e.kind && !e.pending() {
		return s
	}
	return nil
}

func containsEntity(list []*entity, e *entity) bool {
	return slices.Contains(list, e)
}

// constrain records what is to hold from now on.
func (f *facts) constrain(c *command, out *nodes.UnderstandOutput) {
	if c.verb != verbReject && c.verb != verbPlan {
		return
	}
	if c.verb == verbPlan {
		f.constrainCount(c, out)
		return
	}
	value := map[string]any{"terms": c.rejected()}
	if _, to, ok := period(f.message, f.today); ok && !f.today.IsZero() {
		value["until"] = to.Format(dayFormat)
	}
	out.Constraints = append(out.Constraints, nodes.Constraint{
		Text: strings.TrimSpace(f.message), Kind: "exclude", Value: json.RawMessage(compact(value)), Scope: "session",
	})
}

// constrainCount keeps "8 meals" while a plan is made.
func (f *facts) constrainCount(c *command, out *nodes.UnderstandOutput) {
	n, _, _, ok := f.amount(trimNumbered(c.object))
	if !ok || n < 2 {
		return
	}
	out.Constraints = append(out.Constraints, nodes.Constraint{
		Text: strings.TrimSpace(f.message), Kind: "count", Value: json.RawMessage(compact(n)), Scope: "session",
	})
}

func trimNumbered(text string) string {
	return strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(text, "the "), "my "))
}

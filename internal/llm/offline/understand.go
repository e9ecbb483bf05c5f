package offline

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"alfred/internal/domain"
	"alfred/nodes"
)

// intents maps verbs to the turn's intent; all others are chat.
var intents = map[verb]string{
	verbAdd: "write", verbChange: "write", verbRemove: "write", verbNote: "write", verbSave: "write", verbSchedule: "write",
	verbDraft: "explore", verbRevise: "explore", verbPlan: "explore", verbReject: "explore", verbRetain: "explore",
	verbList: "read", verbShow: "read", verbUses: "read", verbCount: "read", verbPending: "read",
	verbConfirm: "confirm", verbDeny: "answer",
}

func (s *scene) understand() *nodes.UnderstandOutput {
	c := s.read()
	out := &nodes.UnderstandOutput{
		Mentions: []nodes.Mention{}, Constraints: []nodes.Constraint{}, Intent: cmp.Or(intents[c.verb], "chat"), AnswersQuestion: c.answers,
		Curation: nodes.Curation{Retain: []nodes.Retain{}, Demote: []string{}, Forget: []string{}, Exclude: []nodes.Exclude{}},
	}
	switch {
	case s.undo() != nil:
		out.Intent, out.AnswersQuestion = "write", false
		return out
	case c.answers && c.agreed:
		out.Intent = "confirm"
	case c.answers && out.Intent != "write":
		out.Intent = "answer"
	}
	s.mention(c, out)
	if question := s.questionFor(c); question != "" {
		out.Clarification = &nodes.Clarification{Questions: []string{question}}
	}
	s.curate(c, out)
	if k := c.kind; c.verb == verbList && c.rows.name == "" && c.rest == "" && !soon.MatchString(c.object) && len(c.also) == 0 && !k.Reference && !k.Part {
		out.Quick = &nodes.Quick{EntityType: k.Type, Why: "a plain look-up"}
	}

	return out
}

// mention resolves the phrases; if a request for one thing matches several, it asks which.
func (s *scene) mention(c *command, out *nodes.UnderstandOutput) {
	r := c.about
	m := nodes.Mention{Text: r.text, Candidates: []string{}, Resolution: "inferred", Reason: "from the conversation"}
	switch {
	case r.text == "" || len(r.entities) == 0 && r.name == "":
		return
	case len(r.entities) == 0:
		m.Resolution, m.Reason = "unknown", "no known entity has this name"
		r.entities = []*nodes.Entity{{}}
	case r.several && !c.is(verbForget, verbRetain):
		m.Resolution, m.Candidates, m.Reason = "ambiguous", refsOf(r.entities), "several fit"
		out.Disambiguation = &nodes.Disambiguation{Question: "Which one do you mean?", Options: m.Candidates}
		r.entities = []*nodes.Entity{{}}
	case r.exact:
		m.Resolution, m.Reason = "exact", "named"
	}
	for _, e := range r.entities {
		m.Ref = e.Ref
		out.Mentions = append(out.Mentions, m)
	}
}

func whichOne(things []*nodes.Entity) string {
	return "Which one do you mean: " + list(labelsOf(things), "or") + "?"
}

// questionFor asks for what is missing, and is "" if nothing is.
func (s *scene) questionFor(c *command) string {
	switch {
	case c.verb == verbAdd && c.kind == nil:
		lists := filtered(s.lex.domain.Entities, func(e *domain.Entity) bool {
			return labelColumn(e) != nil && !e.Reference && !e.Part && e != s.lex.draftable
		})
		names := mapped(lists, func(e *domain.Entity) string { return "the " + e.Plural })

		return "Where shall I add " + trimName(c.object) + ": " + list(names, "or") + "?"
	case c.verb == verbAdd && c.object == "" && labelColumn(c.kind) != nil:
		return "What shall I add to the " + c.kind.Plural + "?"
	case c.verb == verbSchedule && len(dates(c.text, s.Today)) == 0:
		return "For which day shall I plan " + cmp.Or(list(labelsOf(c.about.entities), "and"), "it") + "?"
	default:
		return ""
	}
}

// curate turns forgetting, rejecting and keeping into decisions. Drafts are dropped, rows only leave the view.
func (s *scene) curate(c *command, out *nodes.UnderstandOutput) {
	cur, about := &out.Curation, c.about.entities
	switch c.verb {
	case verbClear:
		cur.ClearAll, out.CurationSummary = true, "The user starts fresh; everything leaves the view."
	case verbForget:
		if c.kind != nil && len(about) == 0 {
			about = filtered(s.all, func(e *nodes.Entity) bool { return e.Type == c.kind.Type && !e.Deleted })
		}
		cur.Forget, cur.Demote = refsOf(filtered(about, isPending)), refsOf(filtered(about, isStored))
		out.CurationSummary = "The user wants " + cmp.Or(trimName(c.object), "it") + " out of mind; no row was deleted."
	case verbReject:
		unwanted := list(c.rejected(), "and")
		for _, e := range filtered(s.all, func(e *nodes.Entity) bool { return s.isChoice(e) && s.holdsAny(e, c.rejected()) }) {
			cur.Exclude = append(cur.Exclude, nodes.Exclude{Ref: e.Ref, Reason: "not wanted: " + unwanted})
		}
		out.CurationSummary = "The user does not want " + unwanted + "."
		out.Constraints = append(out.Constraints, s.ruledOut(c))
	case verbRetain:
		cur.Retain = append(cur.Retain, mapped(about, func(e *nodes.Entity) nodes.Retain {
			return nodes.Retain{Ref: e.Ref, Reason: "the user asked to keep it in mind"}
		})...)
	default:
	}
}

// isChoice reports whether e is something to choose, rather than an amount, a task or a day.
func (s *scene) isChoice(e *nodes.Entity) bool {
	t := s.lex.domain.ByType(e.Type)

	return s.isThing(e, nil) && e.Tier != "excluded" && quantityColumn(t) == nil && doneColumn(t) == nil && (t != s.lex.schedule || e.Pending)
}

// terms are what a constraint of this model rules out, perhaps until a day.
type terms struct {
	Terms []string `json:"terms"`
	Until string   `json:"until,omitempty"`
}

func (s *scene) ruledOut(c *command) nodes.Constraint {
	value := terms{Terms: c.rejected()}
	if _, to, ok := period(s.Message, s.Today); ok {
		value.Until = to.Format(time.DateOnly)
	}

	return nodes.Constraint{Text: strings.TrimSpace(s.Message), Scope: "session", Kind: "exclude", Value: json.RawMessage(flat(value))}
}

// avoided are the words that current constraints rule out.
func (s *scene) avoided() []string {
	var out []string
	for _, h := range s.Constraints {
		var value terms
		if h.Kind == "exclude" && json.Unmarshal(h.Value, &value) == nil {
			out = slices.Concat(out, value.Terms)
		}
	}

	return out
}

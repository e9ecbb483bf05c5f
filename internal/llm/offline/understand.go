package offline

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

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
	if c.answers && c.agreed {
		out.Intent = "confirm"
	} else if c.answers && intents[c.verb] != "write" {
		out.Intent = "answer"
	}
	if s.undo(c.text) != nil {
		out.Intent, out.AnswersQuestion = "write", false

		return out
	}
	s.mention(c, out)
	s.ask(c, out)
	s.curate(c, out)
	s.constrain(c, out)
	if k := c.kind; c.verb == verbList && c.rows.name == "" && len(c.also) == 0 && !k.Reference && !k.Part {
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
		out.Disambiguation = &nodes.Disambiguation{Question: whichOne(r.entities), Options: m.Candidates}
		r.entities = []*nodes.Entity{{}}
	case r.exact:
		m.Resolution, m.Reason = "exact", "named"
	}
	for _, e := range r.entities {
		m.Ref = e.Ref
		out.Mentions = append(out.Mentions, m)
	}
}

func whichOne(list []*nodes.Entity) string {
	return "Which one do you mean: " + orList(labelsOf(list)) + "?"
}

func orList(items []string) string { return list(items, "or") }

// ask asks for missing information.
func (s *scene) ask(c *command, out *nodes.UnderstandOutput) {
	var question string

	switch {
	case c.verb == verbAdd && c.kind == nil:
		question = "Where shall I add " + trimName(c.object) + ": " + orList(s.addable()) + "?"
	case c.verb == verbAdd && c.object == "" && labelColumn(c.kind) != nil:
		question = "What shall I add to the " + c.kind.Plural + "?"
	case c.verb == verbSchedule && len(dates(c.text, s.Today)) == 0:
		question = "For which day shall I plan " + cmp.Or(list(labelsOf(c.about.entities), "and"), "it") + "?"
	default:
		return
	}
	out.Clarification = &nodes.Clarification{Questions: []string{question}}
}

// addable are the lists that an item could be added to.
func (s *scene) addable() []string {
	lists := filtered(s.lex.domain.Entities, func(e *domain.Entity) bool {
		return labelColumn(e) != nil && !e.Reference && !e.Part && e != s.lex.draftable
	})

	return mapped(lists, func(e *domain.Entity) string { return "the " + e.Plural })
}

// curate turns forgetting, rejecting and keeping into decisions. Drafts are dropped, rows only leave the view.
func (s *scene) curate(c *command, out *nodes.UnderstandOutput) {
	cur, about := &out.Curation, c.about.entities
	switch c.verb {
	case verbClear:
		cur.ClearAll, out.CurationSummary = true, "The user starts fresh; everything leaves the view."
	case verbForget:
		if c.kind != nil && len(about) == 0 {
			about = s.which(func(e *nodes.Entity) bool { return e.Type == c.kind.Type && !e.Deleted })
		}
		cur.Forget = refsOf(filtered(about, isPending))
		cur.Demote = refsOf(filtered(about, isStored))
		out.CurationSummary = "The user wants " + cmp.Or(trimName(c.object), "it") + " out of mind; no row was deleted."
	case verbReject:
		for _, e := range s.which(func(e *nodes.Entity) bool { return s.choice(e) && s.holdsAny(e, c.rejected()) }) {
			cur.Exclude = append(cur.Exclude, nodes.Exclude{Ref: e.Ref, Reason: "not wanted: " + list(c.rejected(), "and")})
		}
		out.CurationSummary = "The user does not want " + list(c.rejected(), "and") + "."
	case verbRetain:
		for _, e := range about {
			cur.Retain = append(cur.Retain, nodes.Retain{Ref: e.Ref, Reason: "the user asked to keep it in mind"})
		}
	default:
	}
}

// choice reports whether e is something to choose, rather than an amount, a task or a day.
func (s *scene) choice(e *nodes.Entity) bool {
	t := s.lex.domain.ByType(e.Type)

	return s.thing(e, nil) && e.Tier != "excluded" && quantityColumn(t) == nil && doneColumn(t) == nil && (t != s.lex.schedule || e.Pending)
}

// constrain records what is to hold from now on.
func (s *scene) constrain(c *command, out *nodes.UnderstandOutput) {
	if c.verb != verbReject {
		return
	}
	value := map[string]any{"terms": c.rejected()}
	if _, to, ok := period(s.Message, s.Today); ok {
		value["until"] = to.Format(dayFormat)
	}
	out.Constraints = append(out.Constraints, nodes.Constraint{Text: strings.TrimSpace(s.Message), Scope: "session", Kind: "exclude", Value: json.RawMessage(flat(value))})
}

// avoided are the words that current constraints rule out.
func (s *scene) avoided() []string {
	var out []string
	for _, h := range s.Constraints {
		var value struct {
			Terms []string `json:"terms"`
		}
		if h.Kind == "exclude" && json.Unmarshal(h.Value, &value) == nil {
			out = append(out, value.Terms...)
		}
	}

	return out
}

// planCount is the number of days or meals that a text asks for, 0 for none.
func planCount(text string) int {
	ws := words(text)
	i := slices.IndexFunc(ws, func(w string) bool { n, ok := number(w); return ok && n > 1 })
	if i < 0 {
		return 0
	}
	n, _ := number(ws[i])

	return int(n)
}

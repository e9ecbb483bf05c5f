package offline

import (
	"encoding/json"
	"slices"
	"strings"

	"alfred/domain"
	"alfred/nodes"
)

// intents is what a verb means for the turn; the others are talk.
var intents = map[verb]string{
	verbAdd: "write", verbChange: "write", verbRemove: "write", verbNote: "write", verbSave: "write", verbSchedule: "write", verbMove: "write",
	verbDraft: "explore", verbRevise: "explore", verbPlan: "explore", verbReject: "explore", verbRetain: "explore",
	verbList: "read", verbShow: "read", verbSearch: "read", verbUses: "read", verbMissing: "read", verbCount: "read",
	verbRecall: "read", verbPending: "read", verbLast: "read", verbConfirm: "confirm", verbDeny: "answer",
}

func (s *scene) understand() *nodes.UnderstandOutput {
	c := s.read()
	out := &nodes.UnderstandOutput{
		Mentions: []nodes.Mention{}, Constraints: []nodes.Constraint{}, Intent: orElse(intents[c.verb], "chat"), AnswersQuestion: c.answers,
		Curation: nodes.Curation{Retain: []nodes.Retain{}, Demote: []string{}, Drop: []string{}, Exclude: []nodes.Exclude{}},
	}
	switch {
	case c.answers && c.agreed:
		out.Intent = "confirm"
	case c.answers && c.verb != verbDeny && intents[c.verb] != "write":
		out.Intent = "answer"
	}
	s.mention(c, out)
	s.curate(c, out)
	s.constrain(c, out)
	s.ask(c, out)
	if c.verb == verbRecall {
		out.Recall = &nodes.RecallQuery{Query: c.value}
	}
	if k := c.kind; c.verb == verbList && k != nil && c.column == nil && len(c.also) == 0 && !k.Reference && !s.lex.isChild(k) {
		out.Quick = &nodes.Quick{EntityType: k.Type, Why: "a plain look-up"}
	}

	return out
}

func (s *scene) mention(c *command, out *nodes.UnderstandOutput) {
	r := s.targets(c)
	m := nodes.Mention{Text: r.text, Candidates: []string{}, Resolution: "unknown"}
	switch {
	case r.text == "" || len(r.entities) == 0 && r.name == "":
	case len(r.entities) == 0:
		m.Reason = "no known entity has this name"
		out.Mentions = append(out.Mentions, m)
	case r.several && needsOne(c):
		m.Resolution, m.Candidates, m.Reason = "ambiguous", refsOf(r.entities), "several fit"
		out.Mentions = append(out.Mentions, m)
	default:
		for _, e := range r.entities {
			m.Ref, m.Resolution, m.Reason = e.Ref, "inferred", "from the conversation"
			if r.exact {
				m.Resolution, m.Reason = "exact", "named"
			}
			out.Mentions = append(out.Mentions, m)
		}
	}
}

func needsOne(c *command) bool {
	switch c.verb {
	case verbChange, verbMissing, verbMove, verbRemove, verbSave, verbSchedule, verbShow, verbRevise:
		return true
	default:
		return false
	}
}

// ask fills a disambiguation or clarification where the command cannot go on.
func (s *scene) ask(c *command, out *nodes.UnderstandOutput) {
	r := s.targets(c)
	question := ""
	switch {
	case r.several && needsOne(c):
		out.Disambiguation = &nodes.Disambiguation{Question: "Which one do you mean: " + orList(labelsOf(r.entities)) + "?", Options: refsOf(r.entities)}
	case c.verb == verbAdd && c.kind == nil:
		question = "Where shall I add " + trimName(c.object) + ": " + orList(s.addable()) + "?"
	case c.verb == verbAdd && c.object == "" && labelColumn(c.kind) != nil:
		question = "What shall I add to the " + plural(c.kind) + "?"
	case c.verb == verbSchedule && len(dates(c.text, s.Today)) == 0:
		question = "For which day shall I plan " + orElse(joinList(labelsOf(r.entities)), "it") + "?"
	}
	if question != "" {
		out.Clarification = &nodes.Clarification{Questions: []string{question}}
	}
}

func orList(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}

	return strings.Join(items[:len(items)-1], ", ") + " or " + items[len(items)-1]
}

// addable are the lists that a bare thing could go to.
func (s *scene) addable() []string {
	var out []string
	for _, e := range s.lex.domain.Entities {
		if labelColumn(e) != nil && !e.Reference && !s.lex.isChild(e) && !s.lex.isDraftable(e) {
			out = append(out, "the "+plural(e))
		}
	}

	return out
}

// curate turns forgetting, rejecting and keeping into decisions.
func (s *scene) curate(c *command, out *nodes.UnderstandOutput) {
	cur := &out.Curation
	switch c.verb {
	case verbClear:
		cur.ClearAll = true
		out.CurationSummary = "The user starts fresh; everything leaves the view."

		return
	case verbForget:
		s.forgetThings(c, out)

		return
	case verbReject:
		for _, e := range s.ruledOut(c) {
			cur.Exclude = append(cur.Exclude, nodes.Exclude{Ref: e.Ref, Reason: "not wanted: " + joinList(c.rejected())})
		}
		out.CurationSummary = "The user does not want " + joinList(c.rejected()) + "."
	case verbRetain:
		for _, e := range s.targets(c).entities {
			cur.Retain = append(cur.Retain, nodes.Retain{Ref: e.Ref, Reason: "the user asked to keep it in mind"})
		}
	default:
	}
	s.keepChoices(cur)
}

// keepChoices retains what a plan under way may still be made of, before it leaves
// the view.
func (s *scene) keepChoices(cur *nodes.Curation) {
	underWay := len(s.drafts()) > 0 || slices.ContainsFunc(s.Entities, func(e nodes.Entity) bool { return e.Tier == "excluded" })
	for i := range s.Entities {
		e := &s.Entities[i]
		leaves := e.Tier == "recent" && s.turn-e.Touched == keptTurns
		gone := slices.ContainsFunc(cur.Exclude, func(x nodes.Exclude) bool { return x.Ref == e.Ref })
		if underWay && leaves && !gone && s.choice(e) {
			cur.Retain = append(cur.Retain, nodes.Retain{Ref: e.Ref, Reason: "may still be chosen for what the user is planning"})
		}
	}
}

// keptTurns is after how many turns without a touch a ref leaves the view.
const keptTurns = 2

// forgetThings drops drafts and takes rows out of view; rows stay stored.
func (s *scene) forgetThings(c *command, out *nodes.UnderstandOutput) {
	list := s.targets(c).entities
	if c.kind != nil && len(list) == 0 {
		for i := range s.Entities {
			if e := &s.Entities[i]; e.Type == c.kind.Type && !e.Deleted {
				list = append(list, e)
			}
		}
	}
	var labels []string
	for _, e := range list {
		if e.Pending {
			out.Curation.Drop = append(out.Curation.Drop, e.Ref)
			labels = append(labels, e.Label)
		} else {
			out.Curation.Demote = append(out.Curation.Demote, e.Ref)
		}
	}
	switch {
	case len(labels) > 0:
		out.CurationSummary = "Dropped the draft " + joinList(labels) + "."
	case len(list) > 0 && c.kind != nil:
		out.CurationSummary = "The " + plural(c.kind) + " left the view; nothing was deleted."
	}
}

// ruledOut are the known things that a rejection excludes: by name, or because
// what is known of them holds a word that it covers.
func (s *scene) ruledOut(c *command) []*nodes.Entity {
	var out []*nodes.Entity
	for _, term := range c.rejected() {
		for i := range s.Entities {
			e := &s.Entities[i]
			if s.choice(e) && e.Tier != "excluded" && !slices.Contains(out, e) && s.holds(e, term) {
				out = append(out, e)
			}
		}
	}

	return out
}

// choice: something to pick from, not an amount, a thing to do or a day.
func (s *scene) choice(e *nodes.Entity) bool {
	t := s.lex.byType(e.Type)
	schedule, _, _ := s.lex.schedule()

	return t != nil && s.thing(e, nil) && quantityColumn(t) == nil && doneColumn(t) == nil && (t != schedule || e.Pending)
}

// holds reports whether the label of an entity, or what is known of it, has a word
// of what a term covers.
func (s *scene) holds(e *nodes.Entity, term string) bool {
	text := e.Label + " " + flat(content(e)) + " " + flat(e.Children)
	known := stems(text)

	return slices.ContainsFunc(s.lex.covers(term), func(w string) bool { return containsWords(known, stems(w)) })
}

// constrain records what is to hold from now on.
func (s *scene) constrain(c *command, out *nodes.UnderstandOutput) {
	kind, value := "", any(nil)
	switch c.verb {
	case verbReject:
		terms := map[string]any{"terms": c.rejected()}
		if _, to, ok := period(s.Message, s.Today); ok {
			terms["until"] = to.Format(dayFormat)
		}
		kind, value = "exclude", terms
	case verbPlan:
		n, ok := planCount(c.object)
		if !ok {
			return
		}
		kind, value = "count", n
	default:
		return
	}
	data, err := json.Marshal(value)
	if err == nil {
		out.Constraints = append(out.Constraints, nodes.Constraint{Text: strings.TrimSpace(s.Message), Kind: kind, Value: data, Scope: "session"})
	}
}

// avoided are the words that the constraints in force rule out.
func (s *scene) avoided() []string {
	var out []string
	for _, h := range s.Constraints {
		var value struct {
			Terms []string `json:"terms"`
		}
		if h.Kind != "exclude" || json.Unmarshal(h.Value, &value) != nil {
			continue
		}
		for _, term := range value.Terms {
			out = append(out, s.lex.covers(term)...)
		}
	}

	return out
}

// choices are what a plan may use: what is not excluded, deleted or ruled out,
// drafts last.
func (s *scene) choices(target *domain.Entity) []*nodes.Entity {
	var stored, drafts []*nodes.Entity
	for i := range s.Entities {
		e := &s.Entities[i]
		if !s.thing(e, []*domain.Entity{target}) || e.Tier == "excluded" || slices.ContainsFunc(s.avoided(), func(w string) bool { return s.holds(e, w) }) {
			continue
		}
		if e.Pending {
			drafts = append(drafts, e)
		} else {
			stored = append(stored, e)
		}
	}

	return append(stored, drafts...)
}

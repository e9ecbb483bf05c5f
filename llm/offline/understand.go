package offline

import (
	"regexp"
	"slices"
	"strings"

	"alfred/nodes"
)

// intents is what a verb means for the turn.
var intents = map[verb]string{
	verbAdd: "write", verbChange: "write", verbChat: "chat", verbClear: "chat", verbConfirm: "confirm", verbCount: "read", verbDeny: "answer",
	verbDraft: "explore", verbEdit: "write", verbForget: "chat", verbGreet: "chat", verbIdentity: "chat", verbLast: "read", verbList: "read", verbMissing: "read", verbMove: "write", verbNote: "write",
	verbPending: "read", verbPlan: "explore", verbRecall: "read", verbReject: "explore", verbRemove: "write", verbRetain: "explore",
	verbRevise: "explore", verbSave: "write", verbSchedule: "write", verbSearch: "read", verbShow: "read", verbVary: "explore",
}

func (m *model) understand(f *facts) *nodes.UnderstandOutput {
	c, answers := f.interpret()
	out := &nodes.UnderstandOutput{
		Mentions: []nodes.Mention{}, Constraints: []nodes.Constraint{}, Intent: intents[c.verb], AnswersQuestion: answers,
		Curation: nodes.Curation{Retain: []nodes.Retain{}, Demote: []string{}, Drop: []string{}, Exclude: []nodes.Exclude{}},
	}
	if answers && c.writes() {
		out.Intent = "write"
		if f.confirmed() {
			out.Intent = "confirm"
		}
	}
	f.mention(c, out)
	f.curate(c, out)
	f.constrain(c, out)
	f.ask(c, out)
	out.Quick = f.quick(c)
	if c.verb == verbRecall {
		out.Recall = &nodes.RecallQuery{Query: c.value}
	}
	return out
}

// interpret reads the message; when it answers the open question, it is the
// command of the message before, completed.
func (f *facts) interpret() (c *command, answers bool) {
	c = f.command(f.message)
	if f.question == nil {
		return c, false
	}
	switch {
	case c.verb == verbDeny:
		return c, true
	case c.verb == verbConfirm:
		return f.resume("", c), true
	case f.chooses(c):
		return f.resume(f.message, c), true
	}
	return c, false
}

func (f *facts) confirmed() bool { return f.command(f.message).verb == verbConfirm }

// chooses reports whether the message picks an option or fills in what a
// question asked for, rather than asking for something else.
func (f *facts) chooses(c *command) bool {
	if len(f.question.options) > 0 {
		r := f.resolve(f.message)
		return len(r.entities) > 0 && (c.verb == verbShow || c.verb == verbChat) && f.isOption(r.entities[0])
	}
	if len(ordinals(f.message)) > 0 && c.verb == verbShow {
		return true
	}
	return c.verb == verbChat && len(words(f.message)) <= maxAnswer || f.namesOnlyTable(c)
}

const maxAnswer = 8

var intoWhat = regexp.MustCompile(`(?i)^(?:to|on|in|into|onto)\s+`)

// namesOnlyTable: "the shopping list", as the answer to "where to?".
func (f *facts) namesOnlyTable(c *command) bool {
	return c.verb == verbList && c.entity != nil && trimName(f.lex.cutTypes(trimName(intoWhat.ReplaceAllString(f.message, "")), c.entity)) == ""
}

func (f *facts) isOption(e *entity) bool {
	return slices.Contains(f.optionEntities(), e)
}

// resume rebuilds the command that the open question belongs to: the newest
// message of the user that asked for something.
func (f *facts) resume(answer string, reply *command) *command {
	for _, v := range slices.Backward(f.talk) {
		c := f.command(v.user)
		if c.verb == verbConfirm || c.verb == verbDeny || c.verb == verbChat {
			continue
		}
		c.confirm = answer == ""
		if answer != "" {
			f.complete(c, answer, reply)
		}
		return c
	}
	return reply
}

func (f *facts) complete(c *command, answer string, reply *command) {
	if r := f.resolve(answer); len(r.entities) > 0 {
		c.object = strings.Join(r.refs(), " ")
		return
	}
	if c.entity == nil {
		c.entity, c.values = reply.entity, reply.values
		return
	}
	c.object = trimName(answer)
}

// targets are the entities a command is about.
func (f *facts) targets(c *command) *found {
	switch c.verb {
	case verbShow:
		return f.resolve(c.object, c.entity)
	case verbEdit, verbMissing, verbVary:
		if r, ok := f.stored(c.object); ok {
			return r
		}
		return &found{text: c.object}
	case verbMove:
		if list := f.scheduled(c.object, c.entity); len(list) > 0 {
			return &found{text: c.object, entities: list, several: len(list) > 1}
		}
		return &found{}
	case verbRevise:
		return f.reviseTarget(c)
	case verbSave:
		return f.saveTarget(c)
	case verbSchedule:
		_, _, link := f.lex.schedule()
		return f.resolve(c.object, link.FK.Entity)
	case verbRemove, verbChange:
		if f.isSet(c) {
			return &found{text: c.object}
		}
		return f.resolve(c.object, c.entity)
	case verbPlan:
		if c.value == "" {
			return &found{}
		}
		return f.resolve(c.object, f.lex.draftables()...)
	case verbForget, verbRetain:
		if c.entity != nil && f.searchTerm(c.object, c) == "" {
			return &found{} // every row of the type, no single one
		}
		return f.resolve(c.object)
	default:
		return &found{}
	}
}

func (f *facts) reviseTarget(c *command) *found {
	r := f.resolve(c.object)
	if e := f.draftOf(r); e != nil {
		return &found{text: c.object, entities: []*entity{e}}
	}
	if spoken := f.spokenOf(f.lex.draftables()); len(spoken) > 0 && spoken[0].pending() {
		return &found{text: c.object, entities: spoken[:1]}
	}
	if all := f.pending(); len(all) > 0 {
		return &found{text: c.object, entities: all[len(all)-1:]}
	}
	return r
}

// saveTarget are the drafts to save: those named, or all when none is.
func (f *facts) saveTarget(c *command) *found {
	all := f.pending()
	if manyWords.MatchString(c.object) {
		return &found{text: c.object, entities: all}
	}
	if places := ordinals(c.object); len(places) > 0 && len(all) > 1 {
		return f.draftPlaces(c.object, places, all)
	}
	r := f.resolve(c.object)
	var drafts []*entity
	for _, e := range r.entities {
		if e.pending() {
			drafts = append(drafts, e)
		}
	}
	if len(drafts) > 0 {
		return &found{text: c.object, entities: f.together(c, drafts), exact: r.exact}
	}
	if pronouns.MatchString(strings.ToLower(c.object)) || fromDraft.MatchString(c.object) || f.lex.typeIn(c.object) != nil {
		return &found{text: c.object, entities: f.ofWanted(all, c.object)}
	}
	return &found{text: c.object, name: f.nameIn(c.object, nil)}
}

// together adds the drafts of a plan to one of them: "save it" after planning
// saves every row of the plan.
func (f *facts) together(c *command, drafts []*entity) []*entity {
	e, _, _ := f.lex.schedule()
	if e == nil || drafts[0].kind != e.Type || len(ordinals(c.object)) > 0 {
		return drafts
	}
	var out []*entity
	for _, d := range f.pending() {
		if d.kind == e.Type {
			out = append(out, d)
		}
	}
	return out
}

func (f *facts) ofWanted(list []*entity, phrase string) []*entity {
	types := f.lex.typesIn(phrase)
	var out []*entity
	for _, e := range list {
		if isOf(e, types) {
			out = append(out, e)
		}
	}
	if len(out) == 0 {
		return list
	}
	return out
}

func (f *facts) draftPlaces(phrase string, places []int, all []*entity) *found {
	r := &found{text: phrase}
	for _, n := range places {
		if n == -1 {
			n = len(all)
		}
		if n <= len(all) && n > 0 {
			r.entities = append(r.entities, all[n-1])
		}
	}
	return r
}

var emptyVerb = regexp.MustCompile(`(?i)^(?:clear(?: out)?|empty) `)

// isSet reports whether an object means every row of a kind ("everything in the
// freezer", "all done tasks") rather than a thing by name.
func (f *facts) isSet(c *command) bool {
	o := strings.ToLower(c.object)
	if c.entity != nil && labelColumn(c.entity) == nil && len(ordinals(o)) == 0 && (len(c.values) > 0 || len(dates(o, f.today)) > 0) {
		return true // rows without a name are told by day and kind
	}
	if c.entity != nil && emptyVerb.MatchString(c.text) && f.searchTerm(c.object, c) == "" {
		return true
	}
	return c.entity != nil && (strings.HasPrefix(o, "everything") || strings.HasPrefix(o, "all ") || strings.HasPrefix(o, "every ") || strings.HasPrefix(o, "the whole")) &&
		len(ordinals(o)) == 0
}

func (f *facts) mention(c *command, out *nodes.UnderstandOutput) {
	r := f.targets(c)
	if r.text == "" {
		return
	}
	m := nodes.Mention{Text: r.text, Candidates: []string{}, Resolution: "unknown"}
	switch {
	case len(r.entities) == 0:
		if r.name == "" {
			return
		}
		m.Reason = "no known entity has this name"
		out.Mentions = append(out.Mentions, m)
	case r.several && f.needsOne(c):
		m.Resolution, m.Candidates, m.Reason = "ambiguous", r.refs(), "several names fit"
		out.Mentions = append(out.Mentions, m)
	default:
		for _, e := range r.entities {
			m.Ref, m.Resolution, m.Reason = e.ref, "inferred", "from the conversation"
			if r.exact {
				m.Resolution, m.Reason = "exact", "named"
			}
			out.Mentions = append(out.Mentions, m)
		}
	}
}

func (f *facts) needsOne(c *command) bool {
	switch c.verb {
	case verbChange, verbEdit, verbMissing, verbMove, verbRemove, verbSave, verbSchedule, verbShow, verbVary:
		return true
	default:
		return false
	}
}

// ask fills a disambiguation or clarification where the command cannot go on.
func (f *facts) ask(c *command, out *nodes.UnderstandOutput) {
	r := f.targets(c)
	switch {
	case r.several && f.needsOne(c):
		labels := make([]string, 0, len(r.entities))
		for _, e := range r.entities {
			labels = append(labels, e.label)
		}
		out.Disambiguation = &nodes.Disambiguation{Question: "Which one do you mean: " + orList(labels) + "?", Options: r.refs()}
	case c.verb == verbAdd && c.entity == nil:
		out.Clarification = &nodes.Clarification{Questions: []string{"Where shall I add " + trimName(c.object) + ": " + orList(f.addable()) + "?"}}
	case c.verb == verbAdd && c.object == "" && labelColumn(c.entity) != nil:
		out.Clarification = &nodes.Clarification{Questions: []string{"What shall I add to the " + plural(c.entity) + "?"}}
	}
}

func orList(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	return strings.Join(items[:len(items)-1], ", ") + " or " + items[len(items)-1]
}

// addable are the lists that a bare thing could go to.
func (f *facts) addable() []string {
	var out []string
	for _, e := range f.lex.domain.Entities {
		if labelColumn(e) != nil && !e.Reference && !f.lex.isChild(e) && !f.lex.draftable(e) {
			out = append(out, "the "+plural(e))
		}
	}
	return out
}

// quick marks look-ups of one table that need no plan. Its reason is the op, so
// that Act reads exactly what the message asks for.
func (f *facts) quick(c *command) *nodes.Quick {
	if c.verb != verbList || c.entity == nil || c.column != nil || len(c.also) > 0 || c.entity.Reference || f.lex.isChild(c.entity) {
		return nil
	}
	return &nodes.Quick{EntityType: c.entity.Type, Why: f.listOp(c).String()}
}

package offline

import (
	"regexp"
	"strings"

	"alfred/domain"
)

// verb is what a message asks for.
type verb string

const (
	verbAdd      verb = "add"
	verbChange   verb = "change"
	verbChat     verb = "chat" // nothing this model can do
	verbClear    verb = "clear"
	verbConfirm  verb = "confirm"
	verbCount    verb = "count"
	verbDeny     verb = "deny"
	verbDraft    verb = "draft"
	verbEdit     verb = "edit" // change a saved thing with parts
	verbForget   verb = "forget"
	verbGreet    verb = "greet"
	verbIdentity verb = "identity"
	verbLast     verb = "last" // what was just done
	verbList     verb = "list"
	verbMissing  verb = "missing" // what there is not for a thing
	verbMove     verb = "move"    // give a row of the schedule another day
	verbNote     verb = "note"    // a fact about the user, kept in a single row
	verbPending  verb = "pending"
	verbPlan     verb = "plan" // draft rows of the schedule
	verbRecall   verb = "recall"
	verbReject   verb = "reject"
	verbRemove   verb = "remove"
	verbRetain   verb = "retain"
	verbRevise   verb = "revise" // change a draft
	verbSave     verb = "save"
	verbSchedule verb = "schedule" // put one thing on a day
	verbSearch   verb = "search"
	verbShow     verb = "show"
	verbVary     verb = "vary" // draft from a saved thing
)

// command is a message, understood.
type command struct {
	verb   verb
	text   string           // the message without courtesies
	object string           // the words that name things, or what to look for
	entity *domain.Entity   // the type it is about; nil when not said
	also   []*domain.Entity // further types it names
	values []value          // column values it names
	// more holds what a verb needs beyond that, one of:
	column  *domain.Column // change, note: the column
	value   string         // change: the new value as said; recall: the topic
	confirm bool           // the user has agreed to what it implies
}

// writes reports whether the command asks for a change of stored rows.
func (c *command) writes() bool {
	switch c.verb {
	case verbAdd, verbChange, verbEdit, verbMove, verbNote, verbRemove, verbSave, verbSchedule:
		return true
	default:
		return false
	}
}

// rule recognizes one way to ask. rest is the first group of its pattern, in
// the message's own letters; build may refuse by returning false.
type rule struct {
	pattern *regexp.Regexp
	build   func(f *facts, c *command, rest string) bool
}

// rules are tried in order: talk about the talk first, then drafts, then rows.
var rules = buildRules()

func buildRules() []rule {
	var out []rule
	for _, group := range [][]rule{talkRules(), curateRules(), storedRules(), draftRules(), writeRules(), readRules()} {
		out = append(out, group...)
	}
	return out
}

// say compiles a rule's pattern: whole message, any case.
func say(pattern string) *regexp.Regexp { return regexp.MustCompile(`(?is)^` + pattern + `$`) }

// command turns a message into a command. It never fails: what no rule knows is
// chat.
func (f *facts) command(message string) *command {
	text := bare(message)
	for _, r := range rules {
		m := r.pattern.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		rest := ""
		if len(m) > 1 {
			rest = strings.TrimSpace(m[1])
		}
		c := &command{text: text}
		if r.build(f, c, rest) {
			return c
		}
	}
	return &command{verb: verbChat, text: text}
}

// verbOnly is the build of rules that need nothing but their verb.
func verbOnly(v verb) func(*facts, *command, string) bool {
	return func(_ *facts, c *command, rest string) bool {
		c.verb, c.object = v, rest
		return true
	}
}

// about fills the types and values that text names.
func (f *facts) about(c *command, text string) {
	types := f.lex.typesIn(text)
	if len(types) > 0 {
		c.entity, c.also = types[0], types[1:]
	}
	if c.entity == nil {
		c.entity, c.values = f.lex.holderOf(text)
		return
	}
	c.values = f.lex.valuesIn(text, c.entity)
}

package offline

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"alfred/internal/domain"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// verb is what the user wants.
type verb string

const (
	verbAdd, verbChange, verbRemove, verbNote, verbSave, verbSchedule verb = "add", "change", "remove", "note", "save", "schedule"
	verbDraft, verbRevise, verbPlan                                   verb = "draft", "revise", "plan"
	verbList, verbShow, verbUses, verbCount                           verb = "list", "show", "uses", "count"
	verbPending, verbCancel                                           verb = "pending", "cancel"
	verbClear, verbForget, verbReject, verbRetain                     verb = "clear", "forget", "reject", "retain"
	verbGreet, verbThanks, verbIdentity, verbConfirm, verbDeny        verb = "greet", "thanks", "identity", "confirm", "deny"
	verbCompare                                                       verb = "compare" // by something that no column says
	verbChat                                                          verb = "chat"    // nothing the rules recognize
)

// command is a message as the rules read it.
type command struct {
	verb   verb
	text   string // without courtesies
	object string // the words for its object
	value  string // the words for the new value
	kind   *domain.Entity
	also   []*domain.Entity
	values []value // to write
	column *domain.Column
	about  found           // the known things that are meant
	among  []*nodes.Entity // the rows shown last, of which those are counted that fit
	rows   selection       // or the rows, known or not

	rest string // another wish of the message, which is left undone

	answers bool // it answers the open question
	agreed  bool // with a yes
}

// pointed matches a row that the user pointed at and a sentence about it; its name may hold anything.
var (
	pointed = regexp.MustCompile(`^.* \((` + vocab.Ref + `)\)[,:]? (.+)$`)
	itWord  = regexp.MustCompile(`(?i)\bit\b`)
)

var sentenceEnd = regexp.MustCompile(`[.!?;]\s+`)

// parse applies the first rule that matches the message, or its greeting, or one of its first sentences. A long message
// matches no rule.
func (s *scene) parse(message string) *command {
	const most, greeting = 1000, 1 // bytes; which of the texts
	if len(message) > most {
		return &command{verb: verbChat, text: "(a long message)"}
	}
	text := bare(message)
	if m := pointed.FindStringSubmatch(text); m != nil && itWord.MatchString(m[2]) {
		text = itWord.ReplaceAllString(m[2], m[1])
	}
	for i, said := range append([]string{text, strings.TrimSpace(message)}, mapped(sentenceEnd.Split(text, 8), bare)...) {
		c := s.parseOne(said)
		greets, answers := c.is(verbGreet, verbThanks), c.is(verbConfirm, verbDeny)
		if !c.is(verbChat) && (i != greeting || greets) && (i <= greeting || !answers) {
			return s.firstOf(said, c)
		}
	}

	return &command{verb: verbChat, text: text}
}

// andThen parts a message with two wishes.
var andThen = regexp.MustCompile(`(?i)^(.+?)(?:[.!?;,]+(?:\s+(?:and|then|also))*|(?:\s+(?:and|then|also))+)\s+` +
	`((?:add|put|create|delete|remove|throw|show|list|find|draft|plan|save|change|set|move|rename|mark|what|how many|undo)\b.+)$`)

// reminding begins what is to be remembered as it is said.
var reminding = regexp.MustCompile(`(?i)^(?:remind|remember|don't|i have|i must)\b`)

// firstOf is the first of two wishes, each of which says by itself what it is about, else the command.
func (s *scene) firstOf(text string, c *command) *command {
	m := andThen.FindStringSubmatch(text)
	if m == nil || c.agreed || reminding.MatchString(text) || !c.is(verbRevise, verbAdd, verbChange, verbRemove, verbNote, verbSave, verbSchedule, verbList, verbShow) {
		return c
	}
	one, other := s.parseOne(bare(m[1])), s.parseOne(bare(m[2]))
	for _, half := range []*command{one, other} {
		named := len(half.about.entities) > 0 || half.is(verbSave) || half.is(verbChange, verbRemove) && half.about.name != ""
		homeless := c.is(verbAdd) && c.kind == nil && half.is(verbAdd) // the user is asked where it goes
		if half.is(verbChat) || half.kind == nil && !named && !homeless {
			return c
		}
	}
	if c.is(verbRevise) && !other.is(verbSave) { // a draft is changed in several ways at once
		return c
	}
	one.rest = m[2]

	return one
}

// excepting matches what takes something out of what is meant, which no rule understands.
var excepting = regexp.MustCompile(`(?i)\b(?:except|but|apart from|other than|excluding)\b`)

func (s *scene) parseOne(text string) *command {
	for _, r := range s.lex.rules {
		m := r.pattern.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		c := &command{verb: r.verb, text: text}
		for i, group := range r.pattern.SubexpNames() {
			switch group {
			case "object":
				c.object = strings.TrimSpace(m[i])
			case "value":
				c.value = m[i]
			}
		}
		if r.fits != nil && !r.fits(s, c) {
			continue
		}
		if c.is(verbChange, verbRemove, verbSave, verbForget) && excepting.MatchString(c.object) {
			break
		}
		s.resolve(c)

		return c
	}

	return &command{verb: verbChat, text: text}
}

// lead is the word that a command begins with, in lower case.
func (c *command) lead() string { return strings.ToLower(strings.Fields(c.text)[0]) }

func (c *command) is(verbs ...verb) bool { return slices.Contains(verbs, c.verb) }

// resolve finds the rows that a command describes, or the things that it names, unless its rule has. What no column can
// tell apart is said to be so: a condition is never left out.
func (s *scene) resolve(c *command) {
	set := c.is(verbChange, verbRemove) && s.isSet(c)
	switch {
	case set || c.is(verbList, verbCount):
		c.rows = s.selection(c)
		if c.is(verbList) && plannedWord.MatchString(c.text) { // what is planned is called what it is planned with
			c.rows.name = ""
		}
		if isPronoun(c.rows.name) { // no row is called "it"
			c.verb = verbChat
		}
		if c.rows.unfit || c.rows.order != nil && c.verb != verbList {
			c.verb = verbCompare
		}
	case c.is(verbChange, verbRemove):
		c.about = s.find(c.object, c.kind)
		if len(c.about.entities) == 0 && c.verb == verbChange {
			c.about = s.find(c.object)
		}
	case c.verb == verbAdd:
		c.about = s.addedThings(c)
	case c.verb == verbRetain:
		c.about = s.find(c.object)
	}
}

// offerWords begin every offer of this model.
const offerWords = "Shall I save "

// read is what the user wants: the message or, if it answers the open question, the earlier message that the question
// was about. An offer leaves a question open as long as what it offers is there.
func (s *scene) read() *command {
	c := s.parse(s.Message)
	if s.Question == nil {
		return c
	}
	asked := s.asked()
	switch {
	case c.verb == verbDeny:
		asked = c
	case c.verb == verbConfirm:
		s.agree(asked, c)
	case !s.completes(asked, c):
		return c
	}
	asked.answers = true

	return asked
}

// asked is the request behind the open question: the message of the turn that asked, or of the newest turn before it
// that requested something.
func (s *scene) asked() *command {
	for _, x := range slices.Backward(s.Said) {
		if c := s.parse(x.Message); x.Turn <= s.Question.Turn && !c.is(verbConfirm, verbDeny, verbChat) {
			return c
		}
	}

	return &command{verb: verbChat}
}

// means sets what an answer names.
func (s *scene) means(asked *command, things []*nodes.Entity) {
	asked.about = found{text: trimName(s.Message), entities: things, exact: true}
}

// agree handles a yes: to an offer of drafts it saves them, those of the last turn or else all; otherwise it is the earlier
// request with the user's consent.
func (s *scene) agree(asked, c *command) {
	asked.agreed, asked.text = true, cmp.Or(asked.text, c.text)
	chosen := filtered(s.options(), isPending)
	if asked.is(verbDraft, verbRevise, verbPlan, verbPending, verbShow, verbChat, verbSave) {
		asked.verb, asked.value = verbSave, map[bool]string{true: asked.value}[asked.is(verbSave)]
		if len(chosen) == 0 {
			chosen = filtered(s.focus(nil), isPending)
		}
		if len(chosen) == 0 {
			chosen = s.drafts()
		}
	}
	if len(chosen) > 0 {
		s.means(asked, chosen)
	}
}

// chosen are the options that an answer selects by ref, by position or by words.
func (s *scene) chosen() []*nodes.Entity {
	options, r := s.options(), found{text: s.Message}
	r.entities = filtered(options, func(e *nodes.Entity) bool { return strings.Contains(s.Message, e.Ref) })
	if len(r.entities) == 0 && len(options) > 0 && !s.byPlace(&r, nil) {
		s.byName(&r, nil, options)
	}

	return r.entities
}

var (
	intoWhat = regexp.MustCompile(`(?i)^(?:to|on|in|into|onto|for|at)\s+`)
	// ownQuestion matches a message that asks instead of answering; a list alone is a place.
	ownQuestion = regexp.MustCompile(`(?i)^\s*(?:what|which|how|where|when|who|why|show|list|do|does|is|are)\b.*\s\S`)
)

// completes adds what a request lacked if the message supplies exactly that. A long message is another request.
func (s *scene) completes(asked, c *command) bool {
	const most = 8 // words
	answer := trimName(intoWhat.ReplaceAllString(bare(s.Message), ""))
	if len(words(s.Message)) > most {
		return false
	}
	if chosen := s.chosen(); len(chosen) == 1 && !c.is(verbAdd, verbDraft) {
		s.means(asked, chosen)
		return true
	}
	if ownQuestion.MatchString(s.Message) || !c.is(verbChat, verbList, verbShow) {
		return false
	}
	kind, values := s.lex.place(answer)
	switch {
	case asked.verb == verbAdd && asked.kind == nil && kind != nil && (len(values) > 0 || trimName(s.lex.cutTypes(answer, kind)) == ""):
		asked.kind, asked.values = kind, values
	case asked.verb == verbAdd && asked.kind != nil && asked.object == "" && c.verb == verbChat:
		asked.object = answer
	case asked.verb == verbSchedule && len(dates(s.Message, s.Today)) > 0:
		asked.text += " on " + answer
		if values := s.lex.valuesIn(answer, s.lex.schedule); len(values) > 0 {
			asked.values = values
		}
	case asked.is(verbChange, verbRemove, verbShow):
		s.means(asked, s.find(answer, asked.kind).entities)
		return len(asked.about.entities) == 1
	default:
		return false
	}
	if asked.verb == verbAdd {
		asked.about = s.addedThings(asked)
	}

	return true
}

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
	part   string // what of the object is to be changed
	value  string // the words for the new value
	kind   *domain.Entity
	also   []*domain.Entity
	values []value // to write
	column *domain.Column
	about  found           // the known things that are meant
	among  []*nodes.Entity // the rows shown last, if the command is about these
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
	const longest = 1000 // bytes
	if len(message) > longest {
		return &command{verb: verbChat, text: "(a long message)"}
	}
	text := bare(message)
	if m := pointed.FindStringSubmatch(text); m != nil && itWord.MatchString(m[2]) {
		text = itWord.ReplaceAllString(m[2], m[1])
	}
	if c := s.parseOne(text); !c.is(verbChat) {
		return s.firstWish(text, c)
	}
	if c := s.parseOne(strings.TrimSpace(message)); c.is(verbGreet, verbThanks) { // which are courtesies elsewhere
		return c
	}
	for _, sentence := range sentenceEnd.Split(text, 8) {
		sentence = bare(sentence)
		if c := s.parseOne(sentence); !c.is(verbChat, verbConfirm, verbDeny) {
			return s.firstWish(sentence, c)
		}
	}

	return &command{verb: verbChat, text: text}
}

// andThen splits a message with two wishes.
var andThen = regexp.MustCompile(`(?i)^(.+?)(?:[.!?;,]+(?:\s+(?:and|then|also))*|(?:\s+(?:and|then|also))+)\s+` +
	`((?:add|put|create|delete|remove|throw|show|list|find|draft|plan|save|change|set|move|rename|mark|what|how many|undo)\b.+)$`)

// reminding begins what is to be remembered as it is said.
var reminding = regexp.MustCompile(`(?i)^(?:remind|remember|don't|i have|i must)\b`)

// firstWish is the first of two wishes, if each says by itself what it is about; else the command of the whole text.
func (s *scene) firstWish(text string, whole *command) *command {
	if first, other, two := strings.Cut(text, " and "); two && whole.is(verbSchedule) && s.isPlanned(first) && s.isPlanned(other) {
		whole = s.parseOne(first)
		whole.rest = whole.lead() + " " + other

		return whole
	}
	m := andThen.FindStringSubmatch(text)
	if m == nil || whole.agreed || reminding.MatchString(text) || !whole.is(verbRevise, verbAdd, verbChange, verbRemove, verbNote, verbSave, verbSchedule, verbList, verbShow) {
		return whole
	}
	wish, other := s.parseOne(bare(m[1])), s.parseOne(bare(m[2]))
	atOnce := whole.is(verbRevise) && !other.is(verbSave) // a draft is changed in several ways at once
	if atOnce || !wish.standsAlone(whole) || !other.standsAlone(whole) {
		return whole
	}
	again := wish.is(verbAdd) && other.is(verbAdd) && other.kind == wish.kind && isPronoun(trimName(other.object))
	if !again { // "we are out of milk, add it to the list" is one wish
		wish.rest = m[2]
	}

	return wish
}

// isPlanned reports whether a text says both what is planned and when.
func (s *scene) isPlanned(text string) bool {
	return len(dates(text, s.Today)) > 0 && s.restOf(text, s.lex.schedule) != ""
}

// standsAlone reports whether one of two wishes says what it is about. Where to add something may be left open, as the user is asked.
func (c *command) standsAlone(whole *command) bool {
	named := len(c.about.entities) > 0 || c.is(verbSave) || c.is(verbChange, verbRemove) && c.about.name != ""
	placeLeftOpen := c.is(verbAdd) && whole.is(verbAdd) && whole.kind == nil

	return !c.is(verbChat) && (c.kind != nil || named || placeLeftOpen)
}

// excepting matches what takes something out of what is meant, which no rule understands.
var excepting = regexp.MustCompile(`(?i)\b(?:except|but|apart from|other than|excluding)\b`)

// parseOne applies the first rule that matches and accepts a text.
func (s *scene) parseOne(text string) *command {
	for _, r := range s.lex.rules {
		c := r.match(text)
		if c == nil || r.accept != nil && !r.accept(s, c) {
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

// title is what a step or a conversation is called.
func (c *command) title() string { return capitalize(cmp.Or(c.text, string(c.verb))) }

func (c *command) is(verbs ...verb) bool { return slices.Contains(verbs, c.verb) }

// resolve finds the rows that a command describes, or the things that it names, unless its rule has.
func (s *scene) resolve(c *command) {
	switch {
	case c.is(verbList, verbCount), c.is(verbChange, verbRemove) && s.isSet(c):
		s.resolveRows(c)
	case c.is(verbChange, verbRemove):
		c.about = s.find(c.object, c.kind)
		if c.is(verbRemove) {
			s.findEach(&c.about, c.kind)
		}
		if len(c.about.entities) == 0 && c.is(verbChange) {
			c.about = s.find(c.object)
		}
	case c.is(verbAdd):
		c.about = s.addedThings(c)
	case c.is(verbRetain):
		c.about = s.find(c.object)
	}
}

// resolveRows says so if no column can tell the rows apart: a condition is never left out.
func (s *scene) resolveRows(c *command) {
	c.rows = s.selection(c)
	if c.is(verbList) && plannedWord.MatchString(c.text) { // a planned row has no name but that of what is planned
		c.rows.name = ""
	}
	if isPronoun(c.rows.name) { // no row is called "it"
		c.verb = verbChat
	}
	if c.rows.unfit || c.rows.order != nil && !c.is(verbList) {
		c.verb = verbCompare
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
	asked := s.requestAsked()
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

// requestAsked is the request behind the open question: the message of the turn that asked, or of the newest turn before it
// that requested something.
func (s *scene) requestAsked() *command {
	for _, x := range slices.Backward(s.Said) {
		if c := s.parse(x.Message); x.Turn <= s.Question.Turn && !c.is(verbConfirm, verbDeny, verbChat) {
			return c
		}
	}

	return &command{verb: verbChat}
}

// answerWith makes a request be about the things that the answer names.
func (s *scene) answerWith(asked *command, things []*nodes.Entity) {
	asked.about = found{text: trimName(s.Message), entities: things, exact: true}
}

// agree handles a yes: to an offer of drafts it saves them, those of the last turn or else all; otherwise it is the earlier
// request with the user's consent.
func (s *scene) agree(asked, c *command) {
	asked.agreed, asked.text = true, cmp.Or(asked.text, c.text)
	chosen := filtered(s.options(), isPending)
	if asked.is(verbDraft, verbRevise, verbPlan, verbPending, verbShow, verbChat, verbSave) {
		if !asked.is(verbSave) {
			asked.verb, asked.value = verbSave, "" // a new name comes with "save" alone
		}
		chosen = firstFilled(chosen, filtered(s.focus(nil), isPending), s.drafts())
	}
	if len(chosen) > 0 {
		s.answerWith(asked, chosen)
	}
}

// chosen are the options that an answer selects by ref, by position or by words.
func (s *scene) chosen() []*nodes.Entity {
	options, r := s.options(), found{text: s.Message}
	r.entities = filtered(options, func(e *nodes.Entity) bool { return strings.Contains(s.Message, e.Ref) })
	if len(r.entities) == 0 && len(options) > 0 && !s.byPosition(&r, nil) {
		s.byName(&r, nil, options)
	}

	return s.offered(r.entities)
}

// offered are those of some things that the open question lets choose; all, if it leaves that open.
func (s *scene) offered(things []*nodes.Entity) []*nodes.Entity {
	options := s.options()

	return filtered(things, func(e *nodes.Entity) bool { return len(options) == 0 || slices.Contains(options, e) })
}

var (
	intoWhat = regexp.MustCompile(`(?i)^(?:to|on|in|into|onto|for|at)\s+`)
	// ownQuestion matches a message that asks instead of answering; a list alone is a place.
	ownQuestion = regexp.MustCompile(`(?i)^\s*(?:what|which|how|where|when|who|why|show|list|do|does|is|are)\b.*\s\S`)
)

// completes adds what a request lacked if the message supplies exactly that. A long message is another request.
func (s *scene) completes(asked, c *command) bool {
	const longest = 8 // words
	if len(words(s.Message)) > longest {
		return false
	}
	if chosen := s.chosen(); len(chosen) == 1 && !c.is(verbAdd, verbDraft) {
		s.answerWith(asked, chosen)
		return true
	}
	if ownQuestion.MatchString(s.Message) || !c.is(verbChat, verbList, verbShow) {
		return false
	}
	answer := trimName(intoWhat.ReplaceAllString(bare(s.Message), ""))
	switch {
	case asked.is(verbAdd):
		return s.completesAdd(asked, c, answer)
	case asked.is(verbSchedule) && len(dates(s.Message, s.Today)) > 0:
		asked.text += " on " + answer
		if values := s.lex.valuesIn(answer, s.lex.schedule); len(values) > 0 {
			asked.values = values
		}

		return true
	case asked.is(verbChange, verbRemove, verbShow):
		s.answerWith(asked, s.offered(s.find(answer, asked.kind).entities))
		return len(asked.about.entities) == 1
	default:
		return false
	}
}

// completesAdd takes an answer for the place of what is added, or for what is added to a known place.
func (s *scene) completesAdd(asked, c *command, answer string) bool {
	kind, values := s.lex.typeAndValues(answer)
	switch {
	case asked.kind == nil && kind != nil && (len(values) > 0 || trimName(s.lex.cutTypes(answer, kind)) == ""):
		asked.kind, asked.values = kind, values
	case asked.kind != nil && asked.object == "" && c.is(verbChat):
		asked.object = answer
	default:
		return false
	}
	asked.about = s.addedThings(asked)

	return true
}

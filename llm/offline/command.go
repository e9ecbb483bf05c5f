package offline

import (
	"regexp"
	"slices"
	"strings"

	"alfred/domain"
	"alfred/nodes"
)

// verb is what the user wants done.
type verb string

const (
	verbAdd, verbChange, verbRemove, verbNote, verbSave, verbSchedule, verbMove verb = "add", "change", "remove", "note", "save", "schedule", "move"

	verbDraft, verbRevise, verbPlan                                        verb = "draft", "revise", "plan"
	verbList, verbShow, verbSearch, verbUses, verbMissing, verbCount       verb = "list", "show", "search", "uses", "missing", "count"
	verbRecall, verbPending, verbLast                                      verb = "recall", "pending", "last"
	verbClear, verbForget, verbReject, verbRetain                          verb = "clear", "forget", "reject", "retain"
	verbGreet, verbThanks, verbIdentity, verbConfirm, verbDeny, verbCancel verb = "greet", "thanks", "identity", "confirm", "deny", "cancel"
	verbChat                                                               verb = "chat" // nothing that the rules know
)

// command is a message as the rules read it.
type command struct {
	verb   verb
	text   string // without courtesies
	object string // the words for what it is about
	value  string // the words for what it shall become, or the name of a term
	kind   *domain.Entity
	also   []*domain.Entity
	values []value
	column *domain.Column

	answers bool            // it answers the open question
	agreed  bool            // with a yes
	chosen  []*nodes.Entity // what the answer, or the offer that it accepts, names
}

// rule recognizes a command by the form of its sentence. build may refuse, then
// the next rule is tried.
type rule struct {
	pattern *regexp.Regexp
	build   func(s *scene, c *command, m []string) bool
}

// say compiles a pattern that a whole message must fit.
func say(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:` + pattern + `)[\s.!?]*$`)
}

// read is what the user wants: the message, or with an answer to the open question
// the earlier message that the question was about.
func (s *scene) read() *command {
	c := s.parse(s.Message)
	if s.Question == nil {
		if c.verb == verbConfirm && s.offered() {
			return &command{verb: verbSave, text: c.text, agreed: true, chosen: s.offeredDrafts()}
		}

		return c
	}

	return s.answer(c)
}

// parse reads a message by the first rule that fits it, or that fits one of its
// sentences.
func (s *scene) parse(message string) *command {
	text := bare(message)
	c := s.parseOne(text)
	if c.verb != verbChat {
		return c
	}
	for _, sentence := range sentenceEnd.Split(text, maxSentences) {
		if d := s.parseOne(bare(sentence)); d.verb != verbChat && d.verb != verbConfirm && d.verb != verbDeny {
			return d
		}
	}

	return c
}

var sentenceEnd = regexp.MustCompile(`[.!?;]\s+`)

const maxSentences = 8

func (s *scene) parseOne(text string) *command {
	for _, r := range s.lex.rules {
		if m := r.pattern.FindStringSubmatch(text); m != nil {
			c := &command{text: text}
			if r.build(s, c, m) {
				return c
			}
		}
	}

	return &command{verb: verbChat, text: text}
}

// offered reports whether the last reply ended with an offer to save drafts.
func (s *scene) offered() bool {
	n := len(s.Said)

	return n > 0 && strings.Contains(s.Said[n-1].Reply, offerWords) && len(s.drafts()) > 0
}

// offerWords begin every offer that reply.go makes.
const offerWords = "Shall I save "

// offeredDrafts are the drafts that the last turn was about, else all.
func (s *scene) offeredDrafts() []*nodes.Entity {
	if list := s.focus(nil); len(list) > 0 && list[0].Pending {
		return list
	}

	return s.drafts()
}

// answer takes the message for an answer to the open question where it is one.
func (s *scene) answer(c *command) *command {
	switch {
	case c.verb == verbDeny:
		c.answers = true

		return c
	case c.verb == verbConfirm:
		return s.agree(c)
	}
	if chosen := s.choose(c); len(chosen) == 1 {
		asked := s.asked()
		asked.answers, asked.chosen = true, chosen

		return asked
	}
	asked := s.asked()
	if s.completes(asked, c) {
		asked.answers = true

		return asked
	}

	return c
}

// agree is the yes to a question: to the offer of drafts it saves them, else it is
// the earlier request with the user's consent.
func (s *scene) agree(c *command) *command {
	asked := s.asked()
	asked.answers, asked.agreed = true, true
	if len(s.options()) > 0 && s.options()[0].Pending {
		asked.chosen = s.ofPending(s.options())
	}
	switch asked.verb {
	case verbDraft, verbRevise, verbPlan, verbPending, verbShow, verbChat, verbSave:
		asked.verb = verbSave
		if len(asked.chosen) == 0 {
			asked.chosen = s.offeredDrafts()
		}
	default:
	}
	if asked.text == "" {
		asked.text = c.text
	}

	return asked
}

func (s *scene) ofPending(list []*nodes.Entity) []*nodes.Entity {
	return slices.DeleteFunc(slices.Clone(list), func(e *nodes.Entity) bool { return !e.Pending })
}

// asked is the request that the open question belongs to: the message of the turn
// that asked, or of the newest turn before it that asked for something.
func (s *scene) asked() *command {
	for _, x := range slices.Backward(s.Said) {
		if x.Turn > s.Question.Turn {
			continue
		}
		if c := s.parse(x.Message); c.verb != verbConfirm && c.verb != verbDeny && c.verb != verbChat {
			return c
		}
	}

	return &command{verb: verbChat}
}

// choose finds the one option that a message names by place or by words.
func (s *scene) choose(c *command) []*nodes.Entity {
	options := s.options()
	if len(options) == 0 || len(words(s.Message)) > maxAnswer || c.verb == verbAdd || c.verb == verbDraft {
		return nil
	}
	if places := ordinals(s.Message); len(places) == 1 {
		if n := places[0]; n == -1 {
			return options[len(options)-1:]
		} else if n >= 1 && n <= len(options) {
			return options[n-1 : n]
		}
	}
	said := stems(trimName(oneOf.ReplaceAllString(s.Message, " ")))
	same := slices.DeleteFunc(slices.Clone(options), func(e *nodes.Entity) bool { return !slices.Equal(stems(e.Label), said) })
	if len(same) == 1 {
		return same
	}

	return slices.DeleteFunc(slices.Clone(options), func(e *nodes.Entity) bool {
		return len(said) == 0 || !containsWords(stems(e.Label), said) && !strings.Contains(s.Message, e.Ref) && !containsWords(said, stems(e.Label))
	})
}

// maxAnswer words are an answer, more are a request.
const maxAnswer = 8

var intoWhat = regexp.MustCompile(`(?i)^(?:to|on|in|into|onto|for|at)\s+`)

// completes fills in what a request lacked when the message gives just that.
func (s *scene) completes(asked, c *command) bool {
	answer := trimName(intoWhat.ReplaceAllString(bare(s.Message), ""))
	if len(words(answer)) > maxAnswer {
		return false
	}
	switch asked.verb {
	case verbAdd:
		kind := s.lex.typeIn(answer)
		where, vs := s.lex.holderOf(answer)
		switch {
		case asked.kind == nil && kind != nil && trimName(s.lex.cutTypes(answer, kind)) == "":
			asked.kind, asked.values = kind, s.filterValues(answer, kind)
		case asked.kind == nil && where != nil && c.verb != verbAdd:
			asked.kind, asked.values = where, vs
		case asked.kind != nil && asked.object == "" && c.verb == verbChat:
			asked.object = answer
		default:
			return false
		}

		return true
	case verbSchedule, verbMove:
		if e, _, _ := s.lex.schedule(); e == nil || len(dates(s.Message, s.Today)) == 0 || c.verb != verbChat && c.verb != verbList {
			return false
		} else if vs := s.lex.valuesIn(s.Message, e); len(vs) > 0 {
			asked.values = vs
		}
		asked.text += " on " + answer

		return true
	case verbChange, verbRemove, verbShow:
		if r := s.find(answer, asked.kind); len(r.entities) == 1 && (c.verb == verbChat || c.verb == verbShow) {
			asked.chosen = r.entities

			return true
		}
	default:
	}

	return false
}

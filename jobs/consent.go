package jobs

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"alfred/internal/crud"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// Consent works the same whoever asks: a question names what would be written, and saying yes permits a turn to do
// exactly that. Only this file interprets what a model makes of the message.

// applyTo sets what a click means in Understand's output, whatever its model made of the label.
func (q *question) applyTo(out *nodes.UnderstandOutput) {
	if q == nil {
		return
	}
	out.AnswersQuestion, out.Disambiguation, out.Clarification, out.Quick = true, nil, nil, nil
	out.Curation = nodes.Curation{Retain: out.Curation.Retain}
	out.Intent = "answer"
	if q.chosen == optionYes {
		out.Intent = "confirm"
	}
	if chosen := q.clickedOption(); chosen.Ref != "" {
		out.Mentions = []nodes.Mention{{Text: chosen.Label, Ref: chosen.Ref, Resolution: "exact", Candidates: []string{}, Reason: "the user chose it"}}
	}
}

// isYesToApproval reports whether a click lets code carry out what was asked about, so that nothing is left to understand or plan.
func (q *question) isYesToApproval() bool {
	return q != nil && q.kind == vocab.AskApprove && q.chosen == optionYes
}

// permit decides whether a turn may write, given the message's intent and the
// question it answers (nil for none).
//
//   - Asking for a write is permission.
//   - Yes to any question permits what the question proposes.
//   - An answer in other words ("yes, but call it X") to a question that proposes a
//     write, or that was blocking one, is permission too.
//   - A click on No is never permission, whatever a model makes of it.
func permit(intent string, q *question) nodes.Permission {
	switch {
	case q != nil && q.chosen == optionNo:
		return nodes.Permission{Why: "the user said no to: " + q.textForModels()}
	case intent == "write":
		return nodes.Permission{Allowed: true, Why: "the user asked for it"}
	case q == nil:
		return nodes.Permission{Why: "the user has not asked to save, change or delete anything"}
	case intent == "confirm" || q.chosen == optionYes:
		return q.permission("the user said yes to: ")
	case intent == "answer" && q.isAboutWrite():
		return q.permission("the user answered, and the answer may change what is written: ")
	default:
		return nodes.Permission{Why: "the user has not said yes to: " + q.textForModels()}
	}
}

// isAboutWrite reports whether the question is about a write.
func (q *question) isAboutWrite() bool {
	return q.Permitted || len(q.Writes) > 0 || q.kind == vocab.AskPropose || q.kind == vocab.AskApprove
}

func (q *question) permission(why string) nodes.Permission {
	p := nodes.Permission{Allowed: true, Why: why + q.textForModels(), Writes: q.Writes}
	if chosen := q.clickedOption(); chosen.Ref != "" {
		p.Why += " (chosen: " + chosen.Label + ", " + chosen.Ref + ")"
	}

	return p
}

// agreedCalls are the calls to fewer rows of which the message is consent: "yes, but leave Lars out". Who begins with a no is
// asked again.
func (q *question) agreedCalls(p nodes.Permission, message string) []crud.ApprovedCall {
	if q == nil || !p.Allowed || q.kind != vocab.AskApprove || refuses(message) {
		return nil
	}

	return q.Calls
}

// heedNo makes a message that says no an answer and no plain yes, whatever a model makes of it. A click says itself what it is.
func (u *understand) heedNo() {
	if u.clicked == nil && u.out.Intent == "confirm" && refuses(u.s.Turn.Message) {
		u.out.Intent = "answer"
	}
}

// refuses reports whether a sentence of a message says no. Who is in a hurry sets no comma: "no the other one".
func refuses(message string) bool {
	sentences := strings.FieldsFunc(message, func(r rune) bool { return strings.ContainsRune(".!?\n…。！？", r) })

	return slices.ContainsFunc(sentences, func(sentence string) bool {
		return beginsWithNo.MatchString(sentence) && !hasNothingAgainst.MatchString(sentence)
	})
}

var (
	beginsWithNo      = regexp.MustCompile(`(?i)^\s*(?:` + noWords + `|not|wait|warte|espera|bekle)(?:[^\p{L}\p{N}]|$)`)
	hasNothingAgainst = regexp.MustCompile(`(?i)^\s*(?:no|not an?) (?:problem|worries|need|doubt|objections?|issue)\b`)
)

// longestYes is how many letters and digits a message has at most that says yes and nothing more, whatever its language.
const longestYes = 24

// isMentioned reports whether a short message that says yes says anything of a call that the user was not asked about: a word of its values
// or of the names of its rows, though with another ending, or a phrase that means one of these rows. Longer ones say more than yes.
func (y *yes) isMentioned(call vocab.Call) bool {
	message, known := strings.ToLower(y.s.Turn.Message), strings.ToLower(y.asked.Text)
	refs := slices.Collect(vocab.Refs(string(call.Args)))
	named := func(m nodes.Mention) bool {
		return m.Text != "" && strings.Contains(message, strings.ToLower(m.Text)) && slices.Contains(refs, m.Ref)
	}
	if len([]rune(strings.Join(wordsIn(message), ""))) > longestYes || slices.ContainsFunc(y.mentions, named) {
		return true
	}
	values := y.s.runner.pluralOf(call) + " " + strings.Join(valuesIn(gjson.ParseBytes(call.Args)), " ")
	for _, word := range wordsIn(strings.ToLower(y.s.Scene(true).RefNames().Unref(values))) {
		stem := []rune(word)
		text := string(stem[:min(len(stem), max(3, 2*len(stem)/3))])
		if (len(text) > 2 || unicode.IsDigit(stem[0])) && strings.Contains(message, text) && !strings.Contains(known, text) {
			return true
		}
	}

	return false
}

func wordsIn(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
}

// permission reports whether this turn may write, and which of the calls that the user was asked about on fewer rows.
func (s *state) permission() (nodes.Permission, []crud.ApprovedCall) {
	p := permit(s.Understood().Intent, s.answered)

	return p, s.answered.agreedCalls(p, s.Turn.Message)
}

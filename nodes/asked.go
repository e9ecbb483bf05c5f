package nodes

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"alfred/internal/vocab"
)

// A reply must ask what code wants asked, once. Code words offers in English; a model that answers in another language
// asks in its own words, and an English sentence below them would ask twice.

// QuestionIn returns the sentence of a reply that asks Ask, "" if none does, and whether its words show what a yes does. If not,
// whoever shows the question must say so.
func (in *ReplyInput) QuestionIn(text string) (sentence string, shown bool) {
	whole := text
	if !isEnglish(text) {
		whole = day.ReplaceAllString(text, "${1}"+dayMark+"${2}")
	}
	asked := questions.FindAllString(whole, -1)
	switch {
	case in.Offer:
		return in.offered(whole, asked)
	case len(asked) == 0, !asks(text, in.Ask) && !in.translates(text):
		return "", false
	default:
		return bare(asked[len(asked)-1]), true
	}
}

// offered is QuestionIn for an offer to save drafts. "Shall I save the plan?" does not show what a yes does. Nor does a sentence in
// a language that code does not know: there, a final question that names none of the drafts is taken for the offer.
func (in *ReplyInput) offered(text string, asked []string) (sentence string, shown bool) {
	drafts := namesIn(in.Ask)
	namesNone := func(one string) bool { return among(drafts, wordsOf(one)) == 0 }
	for _, one := range slices.Backward(asked) {
		if in.showsOffer(one, drafts) {
			return bare(one), true
		}
	}
	if at := slices.IndexFunc(asked, func(one string) bool { return saves.MatchString(one) && namesNone(one) }); at >= 0 {
		return bare(asked[at]), false
	}
	if last := lastQuestion.FindString(text); last != "" && !isEnglish(text) && namesNone(last) {
		return bare(last), false
	}

	return "", false
}

// showsOffer reports whether a question shows that a yes saves the drafts.
func (in *ReplyInput) showsOffer(question string, drafts []string) bool {
	if len(drafts) > 0 && among(drafts, wordsOf(question)) == len(drafts) {
		return true
	}

	return asks(question, in.Ask) || savesIt.MatchString(question) || saves.MatchString(question) && namesEach(question, in.Ask)
}

// translates reports whether a text in another language ends with the question that it has to ask, and warns of what it warns of.
func (in *ReplyInput) translates(text string) bool {
	return holdsSameNames(text, in.Ask) && lastQuestion.MatchString(text) && (!strings.Contains(in.Ask, vocab.NoWayBack) || deniesUndo.MatchString(text))
}

// withQuestion appends the question that must be asked, unless the text already asks it.
func (in *ReplyInput) withQuestion(text string) string {
	if in.Ask == "" {
		return text
	}
	if asked, _ := in.QuestionIn(text); asked != "" {
		return text
	}

	return strings.TrimSpace(text + "\n\n" + in.Ask)
}

var (
	// questions matches the sentences of a text that end with a question mark, in any script; lastQuestion matches one
	// at the end of the text. A semicolon is the Greek question mark; a Japanese か needs none.
	questions    = regexp.MustCompile(`[^.!?。！？؟;፧\n]+(?:[?？؟;፧]|か。)`)
	lastQuestion = regexp.MustCompile(`[^.!?。！？؟;፧\n]+(?:[?？؟;፧;]|か。)[^\pL\pN]*$`)
	saves        = regexp.MustCompile(`(?i)\bsave\b`)
	// day matches a day of a month as many languages write it: "am 2. Dezember". Its period ends no sentence, so dayMark stands
	// for it while sentences are told apart.
	day     = regexp.MustCompile(`([\pL,(] \d{1,2})\.( \pL)`)
	savesIt = regexp.MustCompile(`(?i)\bsave (?:it|this|them|these|both|all|the (?:draft|recipe)s?)\b|\bsave\s*\?`)
)

const dayMark = "\u2024"

// bare is a sentence without the marks of lists and emphasis around it.
func bare(sentence string) string {
	return strings.TrimFunc(strings.ReplaceAll(sentence, dayMark, "."), func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("*_>-#\"'”“»«`()", r) || unicode.Is(unicode.So, r) || unicode.Is(unicode.Mn, r)
	})
}

// asks reports whether a text asks this question, verbatim or nearly: it has two thirds of the question's words.
func asks(text, question string) bool {
	words := wordsOf(question)
	return among(words, wordsOf(text))*3 >= len(words)*2
}

// among counts the words that are among others.
func among(words, others []string) int {
	found := 0
	for _, word := range words {
		if slices.Contains(others, word) {
			found++
		}
	}

	return found
}

// offerWords are the words of an offer by code that do not name a draft.
var offerWords = []string{"shall", "save", "and", "the", "draft", "drafts", "more"}

// namesIn are the words of an offer that name its drafts.
func namesIn(offer string) []string {
	return slices.DeleteFunc(wordsOf(offer), func(word string) bool { return slices.Contains(offerWords, word) })
}

// namesEach reports whether a sentence has most words of each draft that an offer names; "Monday" has "Mon".
func namesEach(sentence, offer string) bool {
	said := wordsOf(sentence)
	for _, one := range eachDraft.Split(offer, -1) {
		words, found := namesIn(one), 0
		for _, word := range words {
			if slices.ContainsFunc(said, func(full string) bool { return strings.HasPrefix(full, word) }) || !isEnglish(sentence) && has(sentence, word) {
				found++
			}
		}
		if 2*found <= len(words) && len(words) > 0 {
			return false
		}
	}

	return true
}

var eachDraft = regexp.MustCompile(`,| and `)

// english are words that are frequent in English and rare elsewhere.
var english = []string{"the", "and", "you", "your", "with", "this", "that", "would", "like", "should", "what", "here", "want", "are", "it", "of", "to", "for", "how"}

// isEnglish reports whether a text is in the language of code's own sentences: one word in ten is such a word.
func isEnglish(text string) bool {
	words := strings.FieldsFunc(strings.ToLower(text), notInWord)
	return among(words, english)*10 >= len(words)
}

// undoWords are how people ask for an undo in English, where they use few other words.
var undoWords = regexp.MustCompile(`(?i)\b(?:undo|undone|redo|revert|restore|back|again)\b`)

// AsksForUndoInEnglish reports whether a message that asks for an undo is in the language in which code words its reply.
func AsksForUndoInEnglish(message string) bool {
	return undoWords.MatchString(message) || isEnglish(message)
}

var redoWords = regexp.MustCompile(`(?i)\bredo\b|\bundo (?:the|that|your|my) undo\b`)

// AsksForRedoInEnglish reports whether a message that asks for an undo means one of an undo.
func AsksForRedoInEnglish(message string) bool { return redoWords.MatchString(message) }

// wordsOf returns the significant words of a text, in lower case.
func wordsOf(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text), notInWord)
	return slices.DeleteFunc(words, func(word string) bool { return len(word) < 3 })
}

func notInWord(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r)
}

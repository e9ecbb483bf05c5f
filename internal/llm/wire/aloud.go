package wire

import (
	"regexp"
	"strings"
)

// Servers without a parser for a model's reasoning leave it in the text, in front of the answer. Whatever is considered
// there is not the answer: neither the user nor a decoder must see it.

var (
	thinking = regexp.MustCompile(`(?i)^\s*(?:<(?:think|thinking|thought|reasoning)>|\[think\])`)
	thought  = regexp.MustCompile(`(?i)(?:</(?:think|thinking|thought|reasoning)>|\[/think\])\s*`)
	// mayThink matches the beginning of an answer that may become the beginning of reasoning.
	mayThink = regexp.MustCompile(`(?i)^\s*(?:[<\[][a-z]{0,9})?$`)
)

// spoken is an answer without the reasoning in front of it. Some chat templates open it themselves, so that the text has
// only its end.
func spoken(text string) string {
	end := thought.FindStringIndex(text)
	switch {
	case end != nil && !strings.HasPrefix(strings.TrimSpace(text), "{"):
		return text[end[1]:]
	case thinking.MatchString(text):
		return "" // it was not finished
	default:
		return text
	}
}

// aloud passes on the pieces of an answer without the reasoning in front of it.
func aloud(onDelta func(string)) func(string) {
	if onDelta == nil {
		return nil
	}
	held, speaks := "", false

	return func(piece string) {
		if speaks {
			onDelta(piece)
			return
		}
		held += piece
		text := spoken(held)
		if text == "" || mayThink.MatchString(held) {
			return
		}
		held, speaks = "", true
		onDelta(text)
	}
}

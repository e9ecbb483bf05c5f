package wire

import (
	"regexp"
	"strings"
	"unicode"
)

// Servers without a parser for a model's reasoning leave it in the text, in front of the answer. Whatever is considered
// there is not the answer: neither the user nor a decoder must see it.

var (
	thinking = regexp.MustCompile(`(?i)^\s*(?:<(?:think|thinking|thought|reasoning)>|\[think\])`)
	thought  = regexp.MustCompile(`(?i)(?:</(?:think|thinking|thought|reasoning)>|\[/think\])\s*`)
	// mayThink matches the beginning of an answer that may become the beginning of reasoning.
	mayThink = regexp.MustCompile(`(?i)^\s*(?:[<\[][a-z]{0,9})?$`)
	// quotes matches an answer up to such an end that is no end: it stands in data, in quotes, or behind a beginning that
	// does not come first.
	quotes = regexp.MustCompile("(?i)^\\s*(?:[{\\[]|```|<tool_call>)|[`\"']$|<(?:think|thinking|thought|reasoning)>|\\[think\\]")
)

// spoken is an answer without the reasoning in front of it. Some chat templates open it themselves, so that the text has
// only its end.
func spoken(text string) string {
	end := thought.FindStringIndex(text)
	switch thinks := thinking.MatchString(text); {
	case thinks && end == nil:
		return "" // it was not finished
	case end != nil && (thinks || !quotes.MatchString(text[:end[0]])):
		return text[end[1]:]
	default:
		return text
	}
}

// withoutReasoning passes on the pieces of an answer without the reasoning in front of it.
func withoutReasoning(onDelta func(string)) func(string) {
	if onDelta == nil {
		return nil
	}
	held, thinks, speaks := "", false, false

	return func(piece string) {
		if speaks {
			onDelta(piece)
			return
		}
		held = strings.TrimLeftFunc(held+piece, unicode.IsSpace)
		thinks = thinks || thinking.MatchString(held)
		if end := thought.FindStringIndex(held); thinks && end == nil {
			// Reasoning is long, and searched at each piece: only what may be the beginning of its end is kept of it.
			held = held[max(0, len(held)-len("</reasoning>")):]
			return
		} else if thinks {
			held = held[end[0]:]
		}
		text := spoken(held)
		if text == "" || mayThink.MatchString(held) {
			return
		}
		held, speaks = "", true
		onDelta(text)
	}
}

package prompt

import (
	"alfred/internal/clean"
	"alfred/internal/say"
)

// Tokens is a budget, or what is left of one, in estimated tokens.
type Tokens int

// take takes what a text costs, if that is left.
func (left *Tokens) take(text string) bool {
	cost := Tokens(clean.Tokens(text))
	if cost > *left {
		return false
	}
	*left -= cost

	return true
}

// takeCut takes what is left of a text after it is cut to the budget, though not below a short line.
func (left *Tokens) takeCut(text string) string {
	text = clean.Clip(text, max(say.ShortLine, left.runes()))
	*left -= Tokens(clean.Tokens(text))

	return text
}

// clip cuts a text to a budget, and says so.
func (left Tokens) clip(text string) string { return clean.Clip(text, left.runes()) }

// runes is how many characters a budget allows.
func (left Tokens) runes() int { return int(left) * clean.RunesPerToken }

// fit keeps the texts that a budget allows, asking for them in the order of their rank. A text that must be shown is
// kept whatever it costs.
func fit[T comparable](kept map[T]string, left *Tokens, ranked []T, textOf func(T) (text string, must bool)) {
	for _, one := range ranked {
		text, must := textOf(one)
		if cost := Tokens(clean.Tokens(text)); must || cost <= *left {
			*left -= cost
			kept[one] = text
		}
	}
}

// lastThatFit is the index of the first of the last texts that a budget allows together.
func lastThatFit(texts []string, left Tokens) int {
	from := len(texts)
	for from > 0 && left.take(texts[from-1]) {
		from--
	}

	return from
}

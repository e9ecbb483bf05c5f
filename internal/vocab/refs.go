package vocab

import (
	"iter"
	"strings"
)

// A ref as a regular expression: a type's name and a number. The gen_ in front of a draft's counts as part of the name.
const (
	RefStem = `[a-z][a-z0-9_]*`
	Ref     = RefStem + `_\d+`
)

// Mention matches a mention in a message, as the page writes it: its label, type and key. A key that is text may have any
// character in it.
const Mention = `@\[([^\]\n]*)\]\(([A-Za-z][A-Za-z0-9_]*):([^)\s]+)\)`

// Refs yields the parts of a text that are shaped like a ref, as Ref matches them. It looks at digits that follow a _
// alone, so that most texts cost nothing.
func Refs(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for at := 0; ; {
			next := strings.IndexByte(text[at:], '_')
			if next < 0 {
				return
			}
			start := at + next
			at = start + 1
			for at < len(text) && isDigit(text[at]) {
				at++
			}
			if at == start+1 || at < len(text) && inName(text[at]) {
				continue
			}
			for start > 0 && inName(text[start-1]) {
				start--
			}
			if word := text[start:at]; isLower(word[0]) && word == strings.ToLower(word) && !yield(word) {
				return
			}
		}
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }

func inName(c byte) bool { return isDigit(c) || isLower(c) || c == '_' || c >= 'A' && c <= 'Z' }

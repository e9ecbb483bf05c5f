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

// Refs yields the words of a text that are shaped like a ref, as Ref matches them. It looks only at words with a _, so
// that most texts cost nothing.
func Refs(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		rest := text
		for at := strings.IndexByte(rest, '_'); at >= 0; at = strings.IndexByte(rest, '_') {
			start, end := at, at+1
			for start > 0 && inName(rest[start-1]) {
				start--
			}
			for end < len(rest) && inName(rest[end]) {
				end++
			}
			if word := rest[start:end]; isRef(word) && !yield(word) {
				return
			}
			rest = rest[end:]
		}
	}
}

func isRef(word string) bool {
	number := strings.LastIndexByte(word, '_') + 1
	numbered := number < len(word) && strings.Trim(word[number:], "0123456789") == ""

	return numbered && word[0] >= 'a' && word[0] <= 'z' && word == strings.ToLower(word)
}

func inName(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

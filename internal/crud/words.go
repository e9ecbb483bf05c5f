package crud

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// wordPattern is a regular expression that finds a name as whole words, singular and plural, so that "egg" finds eggs
// but not eggplant. Between word boundaries, it means the same to Postgres as a case-insensitive ARE.
func wordPattern(name string) string {
	name = strings.Join(strings.Fields(name), " ")
	forms := regexp.QuoteMeta(name)
	if single := singularName(strings.ToLower(name)); single != strings.ToLower(name) {
		forms += "|" + regexp.QuoteMeta(single)
	}
	if stem, ok := strings.CutSuffix(strings.ToLower(name), "y"); ok {
		forms += "|" + regexp.QuoteMeta(stem) + "ies"
	}

	return "(?:" + forms + ")(?:e?s)?"
}

// sqlWords is wordPattern for the operator ~*. There is no boundary before or after a character that is neither letter
// nor digit.
func sqlWords(name string) string {
	name = strings.TrimSpace(name)
	first, _ := utf8.DecodeRuneInString(name)
	last, _ := utf8.DecodeLastRuneInString(name)
	pattern := wordPattern(name)
	if isWordRune(first) {
		pattern = `\m` + pattern
	}
	if isWordRune(last) {
		pattern += `\M`
	}

	return pattern
}

// holdsWords reports whether a text contains a name as whole words.
func holdsWords(text, name string) bool {
	const edge = `[^\pL\pN_]`
	compiled, err := regexp.Compile(`(?i)(?:^|` + edge + `)` + wordPattern(name) + `(?:$|` + edge + `)`)

	return err == nil && compiled.MatchString(text)
}

func isWordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

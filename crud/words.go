package crud

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// wordPattern is the regular expression that finds a name as whole words, in the
// singular and the plural, so that "egg" finds eggs and no eggplant. It means the
// same to Postgres, as an ARE without case, between edges.
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

// sqlWords is wordPattern for the operator ~*. What does not begin or end with a
// letter or digit has no edge there.
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

// holdsWords says that a text holds a name as whole words.
func holdsWords(text, name string) bool {
	const edge = `[^\pL\pN_]`
	compiled, err := regexp.Compile(`(?i)(?:^|` + edge + `)` + wordPattern(name) + `(?:$|` + edge + `)`)

	return err == nil && compiled.MatchString(text)
}

func isWordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

package crud

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"alfred/internal/domain"
)

// How people write names of things, and of each other.

// nameParts are the words of a name that may stand in another order elsewhere: "Smith, Anna" is Anna Smith.
func nameParts(name string) []string {
	parts := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	slices.Sort(parts)

	return slices.Compact(parts)
}

// mostParts bounds the words that are looked for one by one: more are no name.
const mostParts = 8

// holds is the condition that a text in plain letters holds a name as it is written.
func holds(s *statement, sql, name string) string {
	return like(s, sql, literal(strings.TrimSpace(domain.Unmarked(name))))
}

// like is the condition that a text in plain letters is like an unmarked pattern. The database makes both small.
func like(s *statement, sql, pattern string) string {
	return sql + " LIKE lower(" + s.value(pattern) + ")"
}

// inAnyOrder are the ways in which a text in plain letters may hold a name: as it is written, or with its words in another order.
func inAnyOrder(s *statement, sql, name string) []string {
	name = domain.Unmarked(name)
	ways := []string{holds(s, sql, name)}
	if parts := nameParts(name); len(parts) > 1 && len(parts) <= mostParts {
		hold := func(part string) string { return sql + " ~* " + s.value(wholeWords(part, regexp.QuoteMeta(part))) }
		ways = append(ways, joinEach(parts, " AND ", hold))
	}

	return ways
}

// wordForms are the ways a name may be written in the canonical table: unchanged, without anything after a comma or in
// brackets, with its last word in the singular.
func wordForms(text string) []string {
	whole := strings.Join(strings.Fields(strings.ToLower(text)), " ")
	forms := []string{whole}
	if core := coreName(whole); core != "" {
		forms = append(forms, core, singularName(core))
	}
	slices.Sort(forms)

	return slices.Compact(forms)
}

// nameEnds are the ends of the forms, from the start of a word: what a thing is comes last, so that "frozen broccoli"
// may name broccoli.
func nameEnds(forms []string) []string {
	var ends []string
	for _, form := range forms {
		form, inside := strings.TrimRightFunc(form, func(r rune) bool { return !isWordRune(r) }), true
		for at, r := range form {
			if isWordRune(r) && !inside {
				ends = append(ends, form[at:])
			}
			inside = isWordRune(r)
		}
	}
	slices.Sort(ends)

	return slices.DeleteFunc(slices.Compact(ends), func(end string) bool { return slices.Contains(forms, end) })
}

func coreName(name string) string {
	if at := strings.IndexAny(name, ",("); at > 0 {
		name = name[:at]
	}

	return strings.TrimSpace(name)
}

func singularName(name string) string {
	fields := strings.Fields(name)
	if len(fields) == 0 {
		return name
	}
	fields[len(fields)-1] = domain.Singular(fields[len(fields)-1])

	return strings.Join(fields, " ")
}

// isKindOf reports whether the written name contains all words of a canonical name, and its last word, which says what
// the thing is, is among them: "frozen broccoli" is broccoli, "lime leaves" is not lime.
func isKindOf(words, canonical []string) bool {
	if len(words) == 0 || len(canonical) == 0 || !slices.Contains(canonical, words[len(words)-1]) {
		return false
	}

	return !slices.ContainsFunc(canonical, func(word string) bool { return !slices.Contains(words, word) })
}

func nameWords(name string) []string {
	words := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, word := range words {
		words[i] = domain.Singular(word)
	}

	return words
}

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

// sqlWords is wordPattern for the operator ~* and a text in plain letters.
func sqlWords(name string) string {
	name = strings.TrimSpace(domain.Unmarked(name))

	return wholeWords(name, wordPattern(name))
}

// wholeWords is a pattern for a name, for the operator ~*.
func wholeWords(name, pattern string) string { return bounded(name, pattern, `\m`, `\M`) }

// holdsWords reports whether a text contains a name as whole words, in whatever letters.
func holdsWords(text, name string) bool {
	const edge = `[^\pL\pN_]`
	name = domain.Plain(name)
	compiled, err := regexp.Compile(bounded(name, wordPattern(name), `(?:^|`+edge+`)`, `(?:$|`+edge+`)`))

	return err == nil && compiled.MatchString(domain.Plain(text))
}

// bounded puts what bounds words around a pattern for a name. There is no boundary before or after a character that is neither letter
// nor digit, nor where words are written without spaces.
func bounded(name, pattern, before, after string) string {
	first, _ := utf8.DecodeRuneInString(name)
	last, _ := utf8.DecodeLastRuneInString(name)
	if isWordRune(first) && !domain.IsUnspaced(first) {
		pattern = before + pattern
	}
	if isWordRune(last) && !domain.IsUnspaced(last) {
		pattern += after
	}

	return pattern
}

func isWordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

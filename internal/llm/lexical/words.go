package lexical

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// common are words that say little about a text's subject: Postgres's English stop words.
var common = set(`
	a about above after again against all am an and any are as at be because been before being below between both but by can
	did do does doing don down during each few for from further had has have having he her here hers herself him himself his
	how i if in into is it its itself just me more most my myself no nor not now of off on once only or other our ours
	ourselves out over own s same she should so some such t than that the their theirs them themselves then there these they
	this those through to too under until up very was we were what when where which while who whom why will with you your
	yours yourself yourselves`)

func set(list string) map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		words[word] = true
	}

	return words
}

// words splits text into lower-case words without accents, stemmed except for common ones.
func words(text string) []string {
	fields := strings.FieldsFunc(fold(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\''
	})
	stems := fields[:0]
	for _, field := range fields {
		if word := strings.Trim(strings.TrimSuffix(field, "'s"), "'"); word != "" {
			stems = append(stems, stem(word))
		}
	}

	return stems
}

// fold makes "Crème" and "creme" the same.
func fold(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}

		return unicode.ToLower(r)
	}, norm.NFD.String(text))
}

// stem removes plural, -ing and -ed. It is deliberately light: two words conflated by mistake can no longer be told
// apart, while two left apart still share n-grams.
func stem(word string) string {
	if common[word] {
		return word
	}
	singular := singular(word)
	for _, ending := range []string{"ing", "ed"} {
		if base, ok := strings.CutSuffix(singular, ending); ok && len(base) >= 3 && strings.ContainsAny(base, "aeiouy") {
			return undouble(base)
		}
	}

	return strings.TrimSuffix(singular, "e")
}

func singular(word string) string {
	switch {
	case len(word) < 4, strings.HasSuffix(word, "ss"), strings.HasSuffix(word, "us"), strings.HasSuffix(word, "is"):
		return word
	case strings.HasSuffix(word, "ies"):
		return strings.TrimSuffix(word, "ies") + "y"
	}
	for _, ending := range []string{"ches", "shes", "sses", "xes", "zes", "oes"} {
		if strings.HasSuffix(word, ending) {
			return strings.TrimSuffix(word, "es")
		}
	}

	return strings.TrimSuffix(word, "s")
}

// undouble turns "chopp" into "chop", but keeps "grill", whose double l belongs to the word.
func undouble(base string) string {
	n := len(base)
	if n > 2 && base[n-1] == base[n-2] && !strings.ContainsRune("lsz", rune(base[n-1])) {
		return base[:n-1]
	}

	return strings.TrimSuffix(base, "e")
}

// grams are a word's character n-grams, including its boundaries.
func grams(word string) []string {
	runes := []rune("^" + word + "$")
	if len(runes) <= gramLength {
		return []string{string(runes)}
	}
	list := make([]string, 0, len(runes)-gramLength+1)
	for i := range len(runes) - gramLength + 1 {
		list = append(list, string(runes[i:i+gramLength]))
	}

	return list
}

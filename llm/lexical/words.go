package lexical

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// common are words that say little about what a text is about.
var common = map[string]bool{
	"a": true, "an": true, "and": true, "are": true, "as": true, "at": true, "be": true, "by": true, "for": true, "from": true,
	"have": true, "i": true, "in": true, "is": true, "it": true, "me": true, "my": true, "of": true, "on": true, "or": true,
	"some": true, "that": true, "the": true, "this": true, "to": true, "we": true, "what": true, "with": true, "you": true,
}

// words splits text into lower-case words without accents, stemmed but for common
// ones.
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

// stem takes off plural, -ing and -ed. It is light on purpose: two words joined by
// mistake cannot be told apart any more, two left apart still share n-grams.
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

// undouble turns "chopp" into "chop", but leaves "grill" alone, whose l is its own.
func undouble(base string) string {
	n := len(base)
	if n > 2 && base[n-1] == base[n-2] && !strings.ContainsRune("lsz", rune(base[n-1])) {
		return base[:n-1]
	}
	return strings.TrimSuffix(base, "e")
}

// grams are the character n-grams of a word, its borders included.
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

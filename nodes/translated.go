package nodes

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Code words its questions and warnings in English. Whether a reply in another language says the same is told by what
// translation leaves as it is: the names of rows, and numbers.

// holdsSameNames reports whether a text in another language has all that is the same there in a text by code.
func holdsSameNames(text, english string) bool {
	same := untranslated(english)
	return len(same) > 0 && !isEnglish(text) && !slices.ContainsFunc(same, func(one string) bool { return !has(text, one) })
}

// untranslated are the names and numbers of a text. The number of the rows that it names need not be repeated.
func untranslated(english string) []string {
	var same []string
	for _, sentence := range sentences.FindAllString(english, -1) {
		intro, list, _ := strings.Cut(sentence, ": ")
		words, names := enumerated(list)
		for i, word := range strings.FieldsFunc(intro, notInWord) {
			if len(marked(word)) > 0 && word != strconv.Itoa(names) && (i > 0 || number.MatchString(word)) {
				same = append(same, word)
			}
		}
		same = append(same, words...)
	}

	return same
}

// enumerated are the names and numbers of a list, and how many of its items are names.
func enumerated(list string) (same []string, names int) {
	for _, item := range eachListed.Split(list, -1) {
		words := marked(item)
		if len(words) == 0 && !strings.Contains(item, ":") { // a value may be translated, a name is not
			words = wordsOf(item)
		}
		if slices.ContainsFunc(words, func(word string) bool { return !number.MatchString(word) }) {
			names++
		}
		same = append(same, words...)
	}

	return same, names
}

var (
	eachListed = regexp.MustCompile(`[,;] | and `)
	number     = regexp.MustCompile(`^\p{N}+$`)
	// ofCode are the words with a capital letter that code writes into its sentences.
	ofCode = regexp.MustCompile(`^(?:I|It|Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)$`)
)

// marked are the words of a text that are numbers or begin with a capital letter or a digit.
func marked(text string) []string {
	return slices.DeleteFunc(strings.FieldsFunc(text, notInWord), func(word string) bool {
		return ofCode.MatchString(word) || !strings.ContainsFunc(word, func(r rune) bool { return unicode.IsUpper(r) || unicode.IsDigit(r) })
	})
}

// has reports whether a text in another language has a word, which other letters may surround without a space, and which may end in
// other letters: the Ekmek is "ekmeği". Digits are all there, and no others beside them.
func has(text, word string) bool {
	if strings.ContainsFunc(word, unicode.IsNumber) {
		return regexp.MustCompile(`(?i)(?:^|\P{N})` + regexp.QuoteMeta(word) + `(?:\P{N}|$)`).MatchString(text)
	}
	stem := []rune(strings.ToLower(word))

	return strings.Contains(strings.ToLower(text), string(stem[:min(len(stem), max(3, 2*len(stem)/3))]))
}

// deniesUndo matches what says in some of the languages that users speak that something cannot be taken back.
var deniesUndo = regexp.MustCompile(`(?i)nicht (?:mehr )?(?:rückgängig|zurück|widerruf)|unwiderruflich|unumkehrbar|irr?[eé]vers|\b(?:pas|plus|non|no|não)\b[^.!?\n]*(?:annul|deshac|desfa|desfe|revert)|` +
	`niet (?:meer )?ongedaan|onherroepelijk|onomkeerbaar|nie można (?:tego )?cofnąć|nieodwracaln|нельзя отменить|необратим|geri alınamaz|(?:元に戻せ|取り消せ)(?:ません|ない)|(?:无法|不能|無法)撤[销銷]|되돌릴 수 없`)

package domain

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Fold normalizes a word for comparing names: lower case, words joined by _, each in the singular. "Meal Plans",
// "meal-plan" and "meal_plans" are the same.
func Fold(word string) string {
	fields := strings.FieldsFunc(strings.ToLower(word), func(r rune) bool {
		return r == ' ' || r == '-' || r == '_' || r == '\t' || r == '\n'
	})
	for i, field := range fields {
		fields[i] = Singular(field)
	}

	return strings.Join(fields, "_")
}

// Singular returns the singular of a lower-case English word, accurately enough to compare words: berries, dishes,
// shelves, tomatoes, eggs; glass, couscous, series and news stay.
func Singular(word string) string {
	switch {
	case len(word) < 4:
		return word
	case isBoth(word):
		return word
	case strings.HasSuffix(word, "people"):
		return strings.TrimSuffix(word, "people") + "person"
	case strings.HasSuffix(word, "children"):
		return strings.TrimSuffix(word, "ren")
	case strings.HasSuffix(word, "ies") && len(word) > 4:
		return word[:len(word)-3] + "y"
	case hasSuffix(word, "elves", "oaves", "eaves"):
		return word[:len(word)-3] + "f"
	case hasSuffix(word, "ches", "shes", "xes", "sses", "toes", "buses", "nuses", "puses", "ruses", "tuses"):
		return word[:len(word)-2]
	case hasSuffix(word, "ss", "us", "is"):
		return word
	default:
		return strings.TrimSuffix(word, "s")
	}
}

// Plural returns the plural of lower-case English words, of which the last may be in the plural already.
func Plural(words string) string {
	switch {
	case Singular(words) != words || words == "" || isBoth(words):
		return words
	case strings.HasSuffix(words, "y") && !hasSuffix(words, "ay", "ey", "oy", "uy"):
		return words[:len(words)-1] + "ies"
	case hasSuffix(words, "s", "x", "ch", "sh"):
		return words + "es"
	default:
		return words + "s"
	}
}

// isBoth reports whether a word is the same in the singular and the plural.
func isBoth(word string) bool { return hasSuffix(word, "series", "species", "news") }

func hasSuffix(word string, suffixes ...string) bool {
	return slices.ContainsFunc(suffixes, func(suffix string) bool { return strings.HasSuffix(word, suffix) })
}

// Entity finds an entity by type, table, name or alias, in any case, singular or plural; nil if there is none. Every
// place that takes such a word from a model or a person uses it.
func (d *Domain) Entity(word string) *Entity { return d.entityWords[Fold(word)] }

// States are the words that columns choose from, in lower case. They are not to be changed.
func (d *Domain) States() map[string]bool { return d.states }

// Subdomain finds a subdomain by name or alias, in any case, singular or plural; nil if there is none.
func (d *Domain) Subdomain(word string) *Subdomain { return d.subdomainWords[Fold(word)] }

// SubdomainOf is the first subdomain with the entity's table among its primary tables, or nil.
func (d *Domain) SubdomainOf(e *Entity) *Subdomain {
	return find(d.Subdomains, func(s *Subdomain) bool { return slices.Contains(s.Tables, e.Table) })
}

// New returns the domain with its indexes built. Bind calls it; tests that build a Domain by hand call it too. If two
// entities share a word, the first wins.
func New(d Domain) *Domain {
	d.byType = map[string]*Entity{}
	d.byTable = map[string]*Entity{}
	d.entityWords = map[string]*Entity{}
	d.subdomainWords = map[string]*Subdomain{}
	d.states = map[string]bool{}
	for _, e := range d.Entities {
		d.byType[e.Type] = e
		d.byTable[e.Table] = e
		claim(d.entityWords, e.Type, e)
		claim(d.entityWords, e.Table, e)
		for _, c := range e.Columns {
			for _, word := range c.Enum {
				d.states[strings.ToLower(word)] = true
			}
		}
	}
	for _, e := range d.Entities { // after all types and tables: an alias never hides another entity's own name
		for _, word := range append([]string{e.Name, e.Plural}, e.Aliases...) {
			claim(d.entityWords, word, e)
		}
	}
	for _, s := range d.Subdomains {
		claim(d.subdomainWords, s.Name, s)
	}
	for _, s := range d.Subdomains {
		for _, word := range slices.Concat(s.Aliases, s.Tables) {
			claim(d.subdomainWords, word, s)
		}
	}

	return &d
}

// claim gives the word to owner unless it is taken, and returns its holder.
func claim[T comparable](words map[string]T, word string, owner T) T {
	key := Fold(word)
	if holder, taken := words[key]; taken {
		return holder
	}
	if key != "" {
		words[key] = owner
	}

	return owner
}

// Spellings are letters that consist of no other letter and a mark, each before what people write who lack it. Capitals are among them where
// locales disagree: some know only those of ASCII, in one the small I is ı.
var Spellings = []string{
	"I", "i", "ı", "i", "ø", "o", "Ø", "o", "ł", "l", "Ł", "l", "đ", "d", "Đ", "d", "ς", "σ", "Σ", "σ",
	"ß", "ss", "ẞ", "ss", "æ", "ae", "Æ", "ae", "œ", "oe", "Œ", "oe",
}

var spelled = strings.NewReplacer(Spellings...)

// Plain is a text in small letters without accents and of one width, as it is typed on any keyboard. Marks that tell letters of other
// alphabets apart, as in ガ and か, stay.
func Plain(text string) string { return strings.ToLower(Unmarked(text)) }

// Unmarked is such a text before its capitals are made small, which is for the database to do where that does it with its own.
func Unmarked(text string) string {
	return norm.NFC.String(strings.Map(func(r rune) rune {
		if r >= 0x300 && r <= 0x36f {
			return -1
		}

		return r
	}, spelled.Replace(norm.NFKD.String(text))))
}

// IsUnspaced reports whether a letter belongs to a script that sets no spaces between words.
func IsUnspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

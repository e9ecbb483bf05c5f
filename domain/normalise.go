package domain

import (
	"slices"
	"strings"
)

// Fold brings a word to the form in which names are compared: lower case, words
// joined by _, each in the singular. "Meal Plans", "meal-plan" and "meal_plans"
// are the same.
func Fold(word string) string {
	fields := strings.FieldsFunc(strings.ToLower(word), func(r rune) bool {
		return r == ' ' || r == '-' || r == '_' || r == '\t' || r == '\n'
	})
	for i, field := range fields {
		fields[i] = Singular(field)
	}

	return strings.Join(fields, "_")
}

// Singular is the singular of an English word in lower case, good enough to
// compare words with: berries, dishes, shelves, tomatoes, eggs; glass and couscous stay.
func Singular(word string) string {
	switch {
	case len(word) < 4:
		return word
	case strings.HasSuffix(word, "ies") && len(word) > 4:
		return word[:len(word)-3] + "y"
	case hasSuffix(word, "elves", "oaves", "eaves"):
		return word[:len(word)-3] + "f"
	case hasSuffix(word, "ches", "shes", "xes", "sses", "toes"):
		return word[:len(word)-2]
	case hasSuffix(word, "ss", "us", "is"):
		return word
	default:
		return strings.TrimSuffix(word, "s")
	}
}

func hasSuffix(word string, suffixes ...string) bool {
	for _, suffix := range suffixes {
		if strings.HasSuffix(word, suffix) {
			return true
		}
	}

	return false
}

// Entity finds an entity by type, table, name or alias, in any case, singular
// or plural; nil when the word is none of them. It is the one normaliser: every
// place that takes such a word from a model or a person uses it.
func (d *Domain) Entity(word string) *Entity { return d.entityWords[Fold(word)] }

// Subdomain finds a subdomain by name or alias, in any case, singular or
// plural; nil when the word is none of them.
func (d *Domain) Subdomain(word string) *Subdomain { return d.subdomainWords[Fold(word)] }

// SubdomainOf is the first subdomain whose primary tables hold the entity's
// table, or nil.
func (d *Domain) SubdomainOf(e *Entity) *Subdomain {
	for _, s := range d.Subdomains {
		if slices.Contains(s.Tables, e.Table) {
			return s
		}
	}

	return nil
}

// New returns the domain with its indexes built. Bind calls it; tests may build
// a Domain by hand and call it too. The first of two entities with one word wins.
func New(d Domain) *Domain {
	d.byType = map[string]*Entity{}
	d.byTable = map[string]*Entity{}
	d.entityWords = map[string]*Entity{}
	d.subdomainWords = map[string]*Subdomain{}

	for _, e := range d.Entities {
		d.byType[e.Type] = e
		d.byTable[e.Table] = e
	}

	// Types and tables first: an alias never hides another entity's own name.
	for _, words := range []func(*Entity) []string{
		func(e *Entity) []string { return []string{e.Type, e.Table} },
		func(e *Entity) []string { return append([]string{e.Name, e.Plural}, e.Aliases...) },
	} {
		for _, e := range d.Entities {
			for _, word := range words(e) {
				claim(d.entityWords, word, e)
			}
		}
	}

	for _, s := range d.Subdomains {
		claim(d.subdomainWords, s.Name, s)
	}

	for _, s := range d.Subdomains {
		for _, word := range append(append([]string(nil), s.Aliases...), s.Tables...) {
			claim(d.subdomainWords, word, s)
		}
	}

	return &d
}

// claim gives the word to owner unless another had it first, and returns the holder.
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

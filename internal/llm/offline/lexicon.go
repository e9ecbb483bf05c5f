package offline

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"alfred/internal/clean"
	"alfred/internal/domain"
)

// lexicon is every word that the catalog and the declaration provide for things and values.
type lexicon struct {
	*domain.Offline
	domain *domain.Domain
	ranked []*domain.Entity // what the user owns first, then children, then shared reference rows
	names  []value          // of types, longest first
	values []value
	rules  []rule

	schedule  *domain.Entity   // the declared type whose rows assign things to days; nil for none
	day, link *domain.Column   // of the schedule: its day, and what is planned for it
	planned   *domain.Entity   // the type that link leads to
	draftable *domain.Entity   // the type with declared templates; nil for none
	stock     *domain.Entity   // the first type with quantities that is not a checklist: what is on hand; nil for none
	wholes    []*domain.Entity // the types whose rows have parts
	partsOf   *regexp.Regexp   // matches what names parts: its, their, whose, and of what
}

// value is words for a column's value or, without a column, for an entity type.
type value struct {
	words  []string // in the singular
	entity *domain.Entity
	column *domain.Column
	value  string
}

func newLexicon(d *domain.Domain) *lexicon {
	lex := &lexicon{domain: d, Offline: cmp.Or(d.Offline, &domain.Offline{})}
	rank := func(e *domain.Entity) int { return btoi(e.Part) + 2*btoi(e.Reference) }
	lex.ranked = slices.SortedStableFunc(slices.Values(d.Entities), func(a, b *domain.Entity) int { return rank(a) - rank(b) })
	for _, e := range lex.ranked {
		lex.addNames(e, append([]string{e.Name, e.Plural, e.Type, human(e.Table)}, e.Aliases...)...)
		for _, c := range e.Columns {
			for _, v := range c.Enum {
				lex.addValue(e, c, human(v), v)
			}
		}
	}
	for _, s := range d.Subdomains {
		if len(s.Tables) > 0 {
			lex.addNames(d.ByTable(s.Tables[0]), append([]string{human(s.Name)}, s.Aliases...)...)
		}
	}
	for _, v := range lex.Values {
		e := d.ByType(v.Type)
		for _, w := range v.Words {
			lex.addValue(e, e.Column(v.Column), w, cmp.Or(clean.Value(v.Value), w))
		}
	}
	longest := func(a, b value) int { return len(b.words) - len(a.words) }
	slices.SortStableFunc(lex.values, longest)
	slices.SortStableFunc(lex.names, longest)
	lex.assignRoles()
	lex.rules = slices.Concat(aboutTalk(), lex.declared(), aboutRows())

	return lex
}

func btoi(b bool) int {
	if b {
		return 1
	}

	return 0
}

// addNames adds words for a type, which a subdomain's table may not have.
func (lex *lexicon) addNames(e *domain.Entity, names ...string) {
	for _, said := range names {
		if w := stems(said); e != nil && len(w) > 0 {
			lex.names = append(lex.names, value{words: w, entity: e})
		}
	}
}

// addValue adds words for a column's value. Nobody says "other" to mean the value, and "the pantry" is every row if it is a
// word for the whole table, rather than one location.
func (lex *lexicon) addValue(e *domain.Entity, c *domain.Column, said, v string) {
	w := stems(said)
	if len(w) > 0 && !c.Hidden && v != "other" && v != "none" && indexWords(stems(e.Name+" "+e.Plural), w) < 0 {
		lex.values = append(lex.values, value{w, e, c, v})
	}
}

// buying matches what marks a list of purchases.
var buying = regexp.MustCompile(`(?i)bought|purchased`)

// declared are the rules for statements about oneself ("I'm allergic to ..."), and for lists that any domain may keep:
// purchases are bought or not; reminders have a day and are done or not.
func (lex *lexicon) declared() []rule {
	var facts, purchases, reminders []rule
	for _, f := range lex.Facts {
		kind, pattern := lex.domain.ByType(f.Type), regexp.MustCompile(`(?i)\b(?:`+alternatives(f.Words)+`)\b\s*(?:to |that )?(?P<object>.*)$`)
		facts = append(facts, rule{verbNote, pattern, func(_ *scene, c *command) bool {
			c.kind, c.column, c.value = kind, kind.Column(f.Column), cmp.Or(f.Value, c.object)
			return c.value != "" && !timed.MatchString(c.text)
		}}, listing(kind, `what do you know about (?:me|us)`))
	}
	for _, e := range lex.domain.Entities {
		done := doneColumn(e)
		if e.Reference || done == nil || labelColumn(e) == nil {
			continue
		}
		switch into := func(_ *scene, c *command) bool { c.kind = e; return true }; {
		case dayColumn(e) != nil:
			reminders = append(reminders, rule{verbAdd, say(reminds + ` {object}`), into}, listing(e, toDo+`do`))
		case buying.MatchString(done.Name):
			purchases = append(purchases, rule{verbAdd, say(needs + ` {object}`), into}, listing(e, toDo+`(?:buy|get)`))
		}
	}

	return slices.Concat(facts, purchases, reminders) // "I have to buy milk" is a purchase
}

const (
	reminds = `(?:remind me(?: to| that i (?:have|need) to| about)?|i (?:have|must remember) to(?: remember to)?|don't let me forget(?: to)?|remember to)`
	needs   = `(?:(?:i|we) (?:need|should|have|want) to (?:buy|get|pick up)|(?:i|we) need|(?:buy|pick up|get)|(?:i'm|we're|i am|we are) out of|we ran out of)`
	toDo    = `what (?:do|should|must) (?:i|we) (?:(?:have|need) to )?`
)

// listing is the rule for a question about a whole list: one about some of its rows is another question.
func listing(e *domain.Entity, pattern string) rule {
	return rule{verbList, say(pattern + `\b(?P<object>.*)`), func(s *scene, c *command) bool { c.kind = e; return s.restOf(c.object, e) == "" }}
}

func alternatives(list []string) string {
	quoted := mapped(list, regexp.QuoteMeta)
	slices.SortStableFunc(quoted, func(a, b string) int { return len(b) - len(a) })

	return strings.Join(quoted, "|")
}

// typesIn returns the entity types that a text names, in text order; of two that share a word, the longer name wins.
func (lex *lexicon) typesIn(text string) []*domain.Entity {
	ws := stems(text)
	found := make([]*domain.Entity, len(ws))
	for _, n := range lex.names {
		for i := indexWords(ws, n.words); i >= 0; i = indexWords(ws, n.words) {
			found[i] = n.entity
			clear(ws[i : i+len(n.words)])
		}
	}
	var out []*domain.Entity
	for _, e := range found {
		if e != nil && !slices.Contains(out, e) {
			out = append(out, e)
		}
	}

	return out
}

// typeIn is the first type a text names, or nil; leadingType the one it begins with.
func (lex *lexicon) typeIn(text string) *domain.Entity {
	return first(lex.typesIn(text))
}

func (lex *lexicon) leadingType(text string) *domain.Entity {
	ws := stems(trimName(text))
	for _, n := range lex.names {
		if !n.entity.Reference && indexWords(ws[:min(len(ws), len(n.words))], n.words) == 0 {
			return n.entity
		}
	}

	return nil
}

// cutTypes removes the words for e from a text.
func (lex *lexicon) cutTypes(text string, e *domain.Entity) string {
	for _, n := range lex.names {
		if n.entity == e {
			text = cutWords(text, n.words)
		}
	}

	return text
}

// valuesIn returns the values of e that a text names.
func (lex *lexicon) valuesIn(text string, e *domain.Entity) []value {
	var out []value
	for _, v := range lex.values {
		known := slices.ContainsFunc(out, func(o value) bool { return o.column == v.column && o.value == v.value })
		if v.entity == e && !known && indexWords(stems(text), v.words) >= 0 {
			out = append(out, v)
		}
	}

	return out
}

// holderOf is the only entity with a word of the text as a value.
func (lex *lexicon) holderOf(text string) (*domain.Entity, []value) {
	for _, e := range lex.ranked {
		if vs := lex.valuesIn(text, e); len(vs) > 0 && !e.Reference {
			return e, vs
		}
	}

	return nil, nil
}

// typeAndValues are the type that a destination names, directly or by one of its values.
func (lex *lexicon) typeAndValues(text string) (*domain.Entity, []value) {
	if e := lex.typeIn(text); e != nil {
		return e, lex.valuesIn(text, e)
	}

	return lex.holderOf(text)
}

// assignRoles finds the types that the model treats in ways of their own.
func (lex *lexicon) assignRoles() {
	var parts []string
	for _, n := range filtered(lex.names, func(n value) bool { return n.entity.Part || n.entity.Reference }) {
		parts = append(parts, strings.Join(n.words, " "))
	}
	lex.partsOf = regexp.MustCompile(`(?i)^(?:all )?(?:(?:the|my) )?(?:(its)|(their)|(.+?)(?:'s|s')?)?\s*\b(?:` + alternatives(parts) + `)s?(?: (?:of|for|from|in) (.+))?$`)
	lex.wholes = filtered(lex.ranked, func(e *domain.Entity) bool { return len(e.Children) > 0 })
	lex.stock = first(filtered(lex.ranked, func(e *domain.Entity) bool {
		return quantityColumn(e) != nil && doneColumn(e) == nil && !e.Reference && !e.Part
	}))
	if lex.Plan != nil {
		lex.schedule = lex.domain.ByType(lex.Plan.Type)
		lex.day, lex.link = lex.schedule.Column(lex.Plan.Date), lex.schedule.Column(lex.Plan.Link)
		lex.planned = lex.link.FK.Entity
	}
	if lex.Draft != nil && len(lex.Draft.Templates) > 0 {
		lex.draftable = lex.domain.ByType(lex.Draft.Type)
	}
}

// template is the one with the longest phrase in a text, which calls for it; else the first without any, if the text names
// what fills it; else the last one, which is for anything.
func (lex *lexicon) template(text string) (t domain.OfflineTemplate, called bool) {
	all, longest := lex.Draft.Templates, ""
	for _, one := range all {
		if w := longestWord(one.Words, text); len(w) > len(longest) {
			t, longest = one, w
		}
	}
	if longest != "" {
		return t, true
	}
	plain := slices.IndexFunc(all, func(t domain.OfflineTemplate) bool { return len(t.Words) == 0 })
	for _, slot := range lex.Draft.Slots {
		if plain >= 0 && longestWord(slot.Words, text) != "" {
			return all[plain], false
		}
	}

	return all[len(all)-1], false
}

// family returns the words an exclusion rules out: the word itself and its family.
func (lex *lexicon) family(word string) []string {
	out := []string{word}
	for family, members := range lex.Families {
		if slices.Equal(stems(family), stems(word)) {
			out = append(out, members...)
		}
	}

	return out
}

// metric units are known without a declaration.
var metric = map[string]string{"g": "g", "gram": "g", "kg": "kg", "kilo": "kg", "kilogram": "kg", "ml": "ml", "l": "l", "litre": "l", "liter": "l", "m": "m", "cm": "cm"}

// unit is the unit as rows store it.
func (lex *lexicon) unit(w string) (string, bool) {
	w = strings.ToLower(w)
	for _, form := range []string{w, domain.Singular(w)} {
		if u := cmp.Or(lex.Units[form], metric[form]); u != "" {
			return u, true
		}
	}

	return "", false
}

// subdomainOf is the subdomain in which a table is written, else one in which it is read.
func (lex *lexicon) subdomainOf(e *domain.Entity) string {
	readable := filtered(lex.domain.Subdomains, func(s *domain.Subdomain) bool { return slices.Contains(s.Readable, e.Table) })
	if home := cmp.Or(lex.domain.SubdomainOf(e), first(readable)); home != nil {
		return home.Name
	}

	return e.Table
}

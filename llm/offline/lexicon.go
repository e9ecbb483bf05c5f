package offline

import (
	"slices"
	"sort"
	"strings"

	"alfred/domain"
)

// lexicon is every word the declaration gives for things and values.
type lexicon struct {
	domain *domain.Domain
	*domain.Offline
	phrases []phrase
	names   []name // longest first
	values  []value
	rules   []rule
}

// name is one way to say an entity type.
type name struct {
	words  []string // in the singular
	entity *domain.Entity
}

// value is one way to say a column's value.
type value struct {
	words  []string
	entity *domain.Entity
	column *domain.Column
	value  string
}

func newLexicon(d *domain.Domain) *lexicon {
	lex := &lexicon{domain: d, Offline: d.Offline, rules: rules()}
	if lex.Offline == nil {
		lex.Offline = &domain.Offline{}
	}
	lex.phrases = lex.readPhrases()
	for _, e := range lex.ranked() {
		lex.addNames(e)
		lex.addValues(e)
	}
	for _, s := range d.Subdomains {
		lex.addSubdomain(s)
	}
	lex.addDeclared()
	sort.SliceStable(lex.values, func(i, j int) bool { return len(lex.values[i].words) > len(lex.values[j].words) })
	sort.SliceStable(lex.names, func(i, j int) bool { return len(lex.names[i].words) > len(lex.names[j].words) })
	return lex
}

// ranked are the entities a user owns first, then children, then shared
// reference rows: a word that means several means the first.
func (lex *lexicon) ranked() []*domain.Entity {
	out := slices.Clone(lex.domain.Entities)
	rank := func(e *domain.Entity) int {
		switch {
		case e.Reference:
			return 2
		case lex.isChild(e):
			return 1
		}
		return 0
	}
	sort.SliceStable(out, func(i, j int) bool { return rank(out[i]) < rank(out[j]) })
	return out
}

func (lex *lexicon) isChild(e *domain.Entity) bool {
	for _, p := range lex.domain.Entities {
		if hasChild(p, e) {
			return true
		}
	}
	return false
}

func (lex *lexicon) addNames(e *domain.Entity) {
	said := append([]string{e.Name, e.Plural, e.Type, strings.ReplaceAll(e.Table, "_", " ")}, e.Aliases...)
	for _, s := range said {
		if w := stems(s); len(w) > 0 {
			lex.names = append(lex.names, name{words: w, entity: e})
		}
	}
}

func (lex *lexicon) addSubdomain(s *domain.Subdomain) {
	if len(s.Tables) == 0 {
		return
	}
	e := lex.byTable(s.Tables[0])
	if e == nil {
		return
	}
	for _, said := range append([]string{strings.ReplaceAll(s.Name, "_", " ")}, s.Aliases...) {
		if w := stems(said); len(w) > 0 {
			lex.names = append(lex.names, name{words: w, entity: e})
		}
	}
}

func (lex *lexicon) addValues(e *domain.Entity) {
	for _, c := range e.Columns {
		if c.Hidden {
			continue
		}
		for _, v := range c.Enum {
			if w := stems(strings.ReplaceAll(v, "_", " ")); len(w) > 0 {
				lex.values = append(lex.values, value{words: w, entity: e, column: c, value: v})
			}
		}
	}
}

func (lex *lexicon) byType(kind string) *domain.Entity {
	for _, e := range lex.domain.Entities {
		if e.Type == kind {
			return e
		}
	}
	return nil
}

func (lex *lexicon) byTable(table string) *domain.Entity {
	for _, e := range lex.domain.Entities {
		if e.Table == table {
			return e
		}
	}
	return nil
}

// typesIn are the entity types a text names, in the order of the text.
func (lex *lexicon) typesIn(text string) []*domain.Entity {
	ws := stems(text)
	used := make([]bool, len(ws))
	found := map[int]*domain.Entity{}
	for _, n := range lex.names {
		lex.mark(n, ws, used, found)
	}
	var out []*domain.Entity
	for i := range ws {
		if e := found[i]; e != nil && !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	return out
}

func (lex *lexicon) mark(n name, ws []string, used []bool, found map[int]*domain.Entity) {
	for i := 0; i+len(n.words) <= len(ws); i++ {
		if !slices.Equal(ws[i:i+len(n.words)], n.words) || slices.Contains(used[i:i+len(n.words)], true) {
			continue
		}
		found[i] = n.entity
		for j := range n.words {
			used[i+j] = true
		}
	}
}

// typeIn is the first type a text names, or nil.
func (lex *lexicon) typeIn(text string) *domain.Entity {
	if types := lex.typesIn(text); len(types) > 0 {
		return types[0]
	}
	return nil
}

// cutTypes removes the words that name e from a text.
func (lex *lexicon) cutTypes(text string, e *domain.Entity) string {
	for _, n := range lex.names {
		if n.entity == e {
			text = cutWords(text, n.words)
		}
	}
	return text
}

// valuesIn are the enum values of e that a text names.
func (lex *lexicon) valuesIn(text string, e *domain.Entity) []value {
	ws := stems(text)
	var out []value
	seen := map[string]bool{}
	for _, v := range lex.values {
		key := v.column.Name + "=" + v.value
		if v.entity == e && !seen[key] && containsWords(ws, v.words) && !isCatchAll(v.value) {
			seen[key] = true
			out = append(out, v)
		}
	}
	return out
}

// isCatchAll: nobody says "other" to mean the value.
func isCatchAll(v string) bool { return v == "other" || v == "none" }

// wholeValue reports whether a value's word is at once the word for the whole
// table ("the pantry" is every row, not one location).
func (lex *lexicon) wholeValue(v value) bool {
	return containsWords(stems(v.entity.Name), v.words) || containsWords(stems(v.entity.Plural), v.words)
}

// holderOf is the one entity with that word as an enum value.
func (lex *lexicon) holderOf(text string) (*domain.Entity, []value) {
	for _, e := range lex.ranked() {
		if e.Reference {
			continue
		}
		if vs := lex.valuesIn(text, e); len(vs) > 0 {
			return e, vs
		}
	}
	return nil, nil
}

// schedule is the type whose rows put something on a day: a date that must be
// set and a link to another of the user's things.
func (lex *lexicon) schedule() (*domain.Entity, *domain.Column, *domain.Column) {
	if p := lex.Plan; p != nil {
		if e := lex.byType(p.Type); e != nil && e.Column(p.Date) != nil && e.Column(p.Link) != nil && e.Column(p.Link).FK != nil {
			return e, e.Column(p.Date), e.Column(p.Link)
		}
	}
	for _, e := range lex.domain.Entities {
		day := firstColumn(e, func(c *domain.Column) bool { return c.Kind == domain.KindDate && !c.Nullable })
		link := firstColumn(e, func(c *domain.Column) bool {
			return c.FK != nil && c.FK.Entity != nil && !c.FK.Entity.Reference && c != e.Owner
		})
		if day != nil && link != nil {
			return e, day, link
		}
	}
	return nil, nil, nil
}

// single reports whether a user has one row of e at most (a profile): it has
// lists but no name and no day.
func single(e *domain.Entity) bool {
	if labelColumn(e) != nil || e.Reference {
		return false
	}
	list := firstColumn(e, func(c *domain.Column) bool { return c.Kind == domain.KindArray })
	link := firstColumn(e, func(c *domain.Column) bool { return c.FK != nil && c.FK.Entity != nil && c != e.Owner })
	return e.Singleton || list != nil && link == nil
}

func firstColumn(e *domain.Entity, ok func(*domain.Column) bool) *domain.Column {
	for _, c := range e.Columns {
		if !c.Hidden && ok(c) {
			return c
		}
	}
	return nil
}

// labelColumn is the text column that names a row; nil where rows have no name.
func labelColumn(e *domain.Entity) *domain.Column {
	if e.Match != nil {
		if c := e.Column(e.Match.Column); c != nil {
			return c
		}
	}
	for _, n := range []string{"name", "title", "label", "subject"} {
		if c := e.Column(n); c != nil && c.Kind == domain.KindText {
			return c
		}
	}
	return firstColumn(e, func(c *domain.Column) bool {
		return c.Kind == domain.KindText && !c.Nullable && !c.HasDefault && len(c.Enum) == 0
	})
}

func doneColumn(e *domain.Entity) *domain.Column {
	return firstColumn(e, func(c *domain.Column) bool { return c.Kind == domain.KindBool })
}

func namedColumn(e *domain.Entity, kind domain.Kind, names ...string) *domain.Column {
	for _, n := range names {
		if c := e.Column(n); c != nil && !c.Hidden && c.Kind == kind {
			return c
		}
	}
	return nil
}

func quantityColumn(e *domain.Entity) *domain.Column {
	return namedColumn(e, domain.KindNumber, "quantity", "amount", "qty", "count")
}

func unitColumn(e *domain.Entity) *domain.Column {
	return namedColumn(e, domain.KindText, "unit", "units")
}

// columnIn is the column of e that a text names: its name, or a distinctive word
// of it ("expires" for expiry_date).
func columnIn(text string, e *domain.Entity) *domain.Column {
	ws := stems(text)
	for _, c := range e.Columns {
		if !c.Hidden && containsWords(ws, stems(strings.ReplaceAll(c.Name, "_", " "))) {
			return c
		}
	}
	for _, c := range e.Columns {
		if !c.Hidden && sharesRoot(ws, c) {
			return c
		}
	}
	return nil
}

// rootLength letters in common make two words the same word.
const rootLength = 5

func sharesRoot(ws []string, c *domain.Column) bool {
	for part := range strings.SplitSeq(c.Name, "_") {
		for _, w := range ws {
			if len(part) >= rootLength && len(w) >= rootLength && part[:rootLength] == w[:rootLength] {
				return true
			}
		}
	}
	return false
}

// cutWords removes the first run of words from a text, whatever their number.
func cutWords(text string, needle []string) string {
	spans := wordPattern.FindAllStringIndex(strings.ToLower(text), -1)
	ws := stems(text)
	i := indexWords(ws, needle)
	if i < 0 || len(spans) != len(ws) {
		return text
	}
	return strings.TrimSpace(text[:spans[i][0]] + text[spans[i+len(needle)-1][1]:])
}

// subdomainOf is the subdomain in which a table is written.
func (lex *lexicon) subdomainOf(e *domain.Entity) string {
	for _, s := range lex.domain.Subdomains {
		if slices.Contains(s.Tables, e.Table) {
			return s.Name
		}
	}
	for _, s := range lex.domain.Subdomains {
		if slices.Contains(s.Readable, e.Table) {
			return s.Name
		}
	}
	return e.Table
}

func plural(e *domain.Entity) string {
	if e.Plural != "" {
		return e.Plural
	}
	return strings.ReplaceAll(e.Table, "_", " ")
}

func hasChild(parent, e *domain.Entity) bool {
	return slices.ContainsFunc(parent.Children, func(c *domain.Child) bool { return c.Entity == e })
}

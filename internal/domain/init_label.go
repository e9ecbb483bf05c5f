package domain

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// guessLabel picks a name, else any text, else a date and what the row references; never a key. A text beside a date
// and references is no name.
func (e *initEntity) guessLabel() {
	name, first, last := e.namesOfPeople()
	day := find(e.plain, func(c *Column) bool {
		return (isDay(c) || isMoment(c)) && !keptNames.MatchString(snake(c.Name))
	})
	title, code, words := e.title(), e.called(codeNames...), e.prose()
	if e.isLink() {
		day = nil
	}
	dated := day != nil && len(e.refs) > 0 && (words == nil || !strings.HasPrefix(snake(day.Name), "created_"))
	part := find(e.plain, func(c *Column) bool { return c.Kind == KindText && len(e.scopeOf(c.Name)) > 0 })
	translated := e.translated()
	switch {
	case name != nil:
		e.labelBy(name.Name)
	case translated != nil:
		e.labelBy(wordedName(translated))
	case first != nil && last != nil && (code == nil || !e.isBlank(first) && !e.isBlank(last)): // of those who gave no name, the code says more
		e.names, e.Label = []string{last.Name, first.Name}, "{"+quotedName(first.Name)+"} {"+quotedName(last.Name)+"}"
	case title != nil:
		e.labelBy(title.Name)
	case e.whole() != "":
		e.addPart(e.whole(), quotedName("_"+e.whole()+"_label"), "")
	case code != nil:
		e.labelBy(code.Name)
	case e.number() != nil:
		e.labelBy(e.number().Name)
	case words != nil && !dated && strings.HasSuffix(snake(words.Name), "_name"):
		e.labelBy(words.Name)
	case e.Speakable() && e.Reference && words != nil: // what a code stands for
		e.labelBy(words.Name)
	case e.Speakable():
		e.labelBy(e.spokenKey())
	case words != nil && !dated && !e.isLink():
		e.labelBy(words.Name)
	case day == nil && e.partNumber() != "":
		e.labelBy(e.partNumber())
	case dated && part != nil:
		e.labelBy(part.Name)
	default:
		e.labelByOthers(day)
	}
	if day != nil && (day.Required() || e.number() != nil || whenNames.MatchString(snake(day.Name))) {
		e.moment = day
	}
}

// namesOfPeople are the columns of a name, and of its parts: beside only one part, what is called a name is the other, as nombre beside
// apellidos and nom beside prénom.
func (e *initEntity) namesOfPeople() (name, first, last *Column) {
	name, first, last = e.called(wholeNames...), firstNamed(e.plain, firstNames...), firstNamed(e.plain, lastNames...)
	if name == nil || !slices.Contains(bareNames, snake(name.Name)) {
		return name, first, last
	}
	switch {
	case first == nil && last != nil:
		return nil, name, last
	case first != nil && last == nil:
		return nil, first, name
	}

	return name, first, last
}

// isDay and isMoment report whether a column says on which day something is, or at what time, also from when to when.
func isDay(c *Column) bool { return c.Kind == KindDate || c.Holds == "date" && c.Form == dates }

func isMoment(c *Column) bool {
	return c.Kind == KindTimestamp || strings.HasPrefix(c.Holds, "timestamp") && c.Form == times
}

// whenNames are of times that say when something takes place.
var whenNames = regexp.MustCompile(`(^|_)(date|due|deadline|starts?|begins?|scheduled|planned)(_|$)`)

// labelBy labels a row by a column, after the rows within which alone it is unique: each of twenty houses has a flat 1A.
func (e *initEntity) labelBy(column string) {
	for _, name := range e.scopeOf(column) {
		e.Label += "{" + quotedName("_"+name+"_label") + "} · "
	}
	e.names = []string{column}
	e.Label += "{" + quotedName(column) + "}"
}

// scopeOf are the references within which a column is unique; none if it is so by itself, or if some may be missing.
// The reference of a part to its whole does not count: they stand together.
func (e *initEntity) scopeOf(column string) (names []string) {
	for _, set := range e.personalKeys() {
		rest := slices.DeleteFunc(slices.Clone(set), func(name string) bool { return name == column || e.within(name) })
		switch {
		case !slices.Contains(set, column):
		case len(rest) == 0:
			return nil
		case !slices.ContainsFunc(rest, func(name string) bool { return e.refs[name] == nil || e.mayLack(name) }):
			names = rest
		}
	}

	return names
}

// personalKeys are the sets of columns that are unique among the rows of one person.
func (e *initEntity) personalKeys() (sets [][]string) {
	for _, set := range e.Table.keys() {
		sets = append(sets, slices.DeleteFunc(slices.Clone(set), func(name string) bool {
			return name == e.ownerColumn() && !e.Everybody || e.refs[name] != nil && e.refs[name].isCompany()
		}))
	}

	return sets
}

// within reports whether a reference leads to the row of which these are parts, or to whom they belong.
func (e *initEntity) within(name string) bool {
	to := e.refs[name]

	return to != nil && (to == e.Parent || to.isCompany())
}

// whole is the column of the row that a row extends, as a person's who is a student, "" for none: it is called like that.
func (e *initEntity) whole() string {
	for _, fk := range e.Table.foreignKeys {
		if e.source != nil && e.source.isWhole(e.Table, fk) {
			return e.source.foldedName(e.Table, fk)
		}
	}

	return ""
}

// isLink reports whether a row is told apart by the rows that it references, as a member by the group and the person.
func (e *initEntity) isLink() bool {
	return slices.ContainsFunc(e.personalKeys(), func(set []string) bool {
		return len(set) > 1 && !slices.ContainsFunc(set, func(name string) bool { return e.refs[name] == nil })
	})
}

// labelByOthers labels a row by its day, if it has one, and by rows that it references.
func (e *initEntity) labelByOthers(day *Column) {
	if day != nil {
		layout := "Jan 2, 2006"
		if isMoment(day) && !strings.HasSuffix(snake(day.Name), "date") {
			layout += " 15:04"
		}
		e.addPart(day.Name, quotedName(day.Name), ":"+layout)
	}
	for _, name := range e.namingReferences(day != nil) {
		e.addPart(name, quotedName("_"+name+"_label"), "")
	}
	e.Label = cmp.Or(e.Label, e.Spoken())
}

// addPart adds a column's value to the label, as an optional part if it may be missing: without one of the others, a row
// has no name at all. Parts are set apart: each may be several words itself.
func (e *initEntity) addPart(column, shown, layout string) {
	part, before := "{"+shown+layout+"}", " "
	if e.Label != "" {
		before = " · "
	}
	switch {
	case e.mayLack(column):
		part = "{?" + shown + ":" + before + part + "}"
	case e.Label != "":
		part = before + part
	}
	e.Label += part
	e.names = append(e.names, column)
}

// MayLack reports whether rows may reference none by a foreign key.
func (e *initEntity) MayLack(fk *catalogFK) bool { return e.Table.mayBeNull(fk.Columns) }

// mayLack reports whether a column, or the key of several columns that it stands for, may be null.
func (e *initEntity) mayLack(name string) bool {
	if c := e.Table.column(name); c != nil || e.source == nil {
		return c != nil && c.Nullable
	}

	return slices.ContainsFunc(e.source.foldedKeys(e.Table), func(fk foldedFK) bool {
		return fk.Name == name && (fk.By != "" || e.Table.mayBeNull(fk.Columns))
	})
}

// namingReferences are the references that name a row. A link between two rows is called by both: each tag of a lamp would be
// called lamp. A part, which stands beside its whole, is called by another row where it has one.
func (e *initEntity) namingReferences(dated bool) []string {
	names, most := slices.DeleteFunc(sortedKeys(e.refs), func(name string) bool { return namesWriter(name) || e.refs[name].isCompany() }), 1
	if !dated && e.Parent == nil {
		most = 2
	}
	last := func(name string) int {
		switch {
		case name == e.ownerColumn() || namesWorker(name):
			return 3
		case e.mayLack(name):
			return 2
		case !dated && e.refs[name] == e.Parent:
			return 1
		default:
			return 0
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return last(a) - last(b) })

	chosen, pair := slices.Clone(names[:min(most, len(names))]), e.polymorphic()
	if slices.ContainsFunc(chosen, func(name string) bool { return pair[name] != nil }) { // a row has one of them
		chosen = appendNew(chosen, sortedKeys(pair)...)
	}

	return chosen
}

// namesWriter reports whether a column only says who wrote a row, or wrote it last.
func namesWriter(column string) bool {
	return isBookkeeping(column) || keptNames.MatchString(snake(column))
}

// whose says, for people, to which row a row belongs that is not called by another: a ticket's buyer rather than its agent, who may be
// missing.
func (e *initEntity) whose() string {
	names := slices.DeleteFunc(sortedKeys(e.refs), func(name string) bool { return namesWriter(name) || e.within(name) || e.refs[name] == e })
	if len(names) == 0 || strings.Contains(e.Label, "_label") {
		return ""
	}
	if said := e.about(); said != "" {
		return said
	}
	sure := func(name string) bool { return !e.mayLack(name) && !namesWorker(name) } // who wrote it says least
	name := names[max(0, slices.IndexFunc(names, sure))]
	said, isKey := keyOf(name)
	if !isKey {
		said = strings.TrimSuffix(snake(name), "_key")
	}

	return fmt.Sprintf("{?%s:, %s: {%s}}", quotedName(name), braced(strings.ReplaceAll(said, "_", " ")), quotedName("_"+name+"_label"))
}

// descriptive are the columns of short values that say most of a row, in their order.
func (e *initEntity) descriptive(most int) []*Column {
	short := slices.DeleteFunc(slices.Clone(e.plain), func(c *Column) bool {
		placed := strings.Contains(e.Label, "_label") && placeNames.MatchString(snake(c.Name)) // beside the rows that it stands with, not in their order

		return !isShort(c) && c != e.moment || placed || e.tallies(c) || wordlessNames.MatchString(snake(c.Name)) || fileNames.MatchString(snake(c.Name)) || slices.Contains(e.names, c.Name)
	})
	first := slices.SortedStableFunc(slices.Values(short), func(a, b *Column) int { return rank(a) - rank(b) })
	first = first[:min(most, len(first))]

	return slices.DeleteFunc(short, func(c *Column) bool { return !slices.Contains(first, c) })
}

func isShort(c *Column) bool {
	switch c.Kind {
	case KindBool, KindNumber, KindDate, KindTime:
		return true
	default:
		return oneOfFew(c) || c.Kind == KindText && c.Form != ""
	}
}

// rank puts a state, a day or time and what there is to pay before other money, and that before other numbers.
func rank(c *Column) int {
	switch {
	case oneOfFew(c), c.Kind == KindDate, c.Kind == KindTimestamp, c.Kind == KindNumber && totalNames.MatchString(snake(c.Name)):
		return 0
	case hundredths.MatchString(c.FullType):
		return 1
	default:
		return 2
	}
}

// title is what a row is called that is no person: its title, or the column that is named like the table.
func (e *initEntity) title() *Column {
	if c := e.called(titleNames...); c != nil {
		return c
	}
	own := e.called(e.Kind, e.Kind+"_name")
	if own == nil {
		return nil
	}
	if own.Nullable && e.samples[own].rows == 0 {
		return nil
	}

	return own
}

// called is the text column with the first of these names that most rows have.
func (e *initEntity) called(names ...string) *Column {
	return firstNamed(slices.DeleteFunc(slices.Clone(e.plain), func(c *Column) bool { return e.lacks(c) > 0.5 }), names...)
}

// numberNames are of texts and whole numbers by which people call a row that is known by its number, as an invoice.
var numberNames = regexp.MustCompile(`(^|_)(number|no|nr|code|reference|nummer|num[eé]ro)$`)

// yearNames are of numbers by which people tell apart what there is once a year, as fees.
var yearNames = regexp.MustCompile(`(^|_)(year|jahr|ann[eé]e|año|ano|anno|jaar|rok)$`)

// number is such a column of which no two rows of somebody's have the same, nil for none.
func (e *initEntity) number() *Column {
	return find(e.plain, func(c *Column) bool {
		alone := slices.ContainsFunc(e.personalKeys(), func(set []string) bool { return slices.Equal(set, []string{c.Name}) })

		return alone && (isProse(c) || c.Kind == KindNumber && !c.Nullable) && numberNames.MatchString(snake(c.Name))
	})
}

// partNumber is the number by which a row's key tells it from others within the rows that it references, as a flat of a house and the
// year of a fee; "" for none.
func (e *initEntity) partNumber() string {
	numbered := namesOf(e.Table.columns, func(c *Column) bool {
		called := numberNames.MatchString(snake(c.Name)) || yearNames.MatchString(snake(c.Name))

		return c.Kind == KindNumber && !e.Table.references(c) && slices.Contains(e.Table.primary, c.Name) && called && len(e.scopeOf(c.Name)) > 0
	})

	return strings.Join(numbered[:min(1, len(numbered))], "")
}

// prose is the first text in people's words that most rows have, besides those of the label, nil for none.
func (e *initEntity) prose() *Column {
	return find(e.plain, func(c *Column) bool { return isProse(c) && e.lacks(c) <= 0.5 && !slices.Contains(e.names, c.Name) })
}

// firstNamed is the text column with the first of these names that there is.
func firstNamed(columns []*Column, names ...string) *Column {
	for _, name := range names {
		if c := find(columns, func(c *Column) bool { return snake(c.Name) == name && c.Kind == KindText }); c != nil {
			return c
		}
	}

	return nil
}

var (
	// idNames are of keys that programs make up and nobody says: those of Prisma and of uuids in a text.
	idNames = regexp.MustCompile(`^(id|(.*_)?(uuid|guid|uid))$`)
	// oddNames are of keys that are seldom said, though people may have chosen them.
	oddNames = regexp.MustCompile(`^(key|hash)$`)
)

// mostSaid is how long a key at most is that a trigger makes and people say, as the number of a lease: what programs make up is longer.
const mostSaid = 12

// Speakable guesses that people call rows by their key: a text that the table does not generate, or a short one that it numbers.
func (e *initEntity) Speakable() bool {
	if e.source == nil || e.Folded() || e.Table.column(e.spokenKey()) != nil {
		return false
	}
	key, samples := e.Table.column(e.Key()[0]), e.samples[e.Table.column(e.Key()[0])].values
	long := len(samples) == 0 || slices.ContainsFunc(samples, func(said string) bool { return len(said) > mostSaid })
	made := key.HasDefault && (long || strings.Contains(key.Default, "("))

	return key.Kind == KindText && !made && !idNames.MatchString(snake(key.Name)) && !oddNames.MatchString(snake(key.Name))
}

// spokenKey is the column that would show it.
func (e *initEntity) spokenKey() string {
	if e.Key()[0] == SpokenKey {
		return spokenCode(e.Kind)
	}

	return SpokenKey
}

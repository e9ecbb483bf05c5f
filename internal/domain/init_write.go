package domain

import (
	"cmp"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template"
)

// displayFacts is how many facts follow the label in a guessed display line.
const displayFacts = 4

var (
	// hundredths are the types of most amounts of money: Access and SQL Server keep four decimals.
	hundredths = regexp.MustCompile(`^(numeric\(\d+,[24]\)|money)$`)
	// totalNames are of the amount that counts: what there is to pay, not what it is made of.
	totalNames = regexp.MustCompile(`^(grand_?)?total(_amount|_price)?$`)
)

var placeNames = regexp.MustCompile(`(^|_)(ord|order|position|ordinal|seq|sequence)$|^line(_?(no|number))?$`)

//go:embed init.yaml.tmpl
var initYAML string

// write fills in the template.
func (w *initWriter) write() (string, error) {
	var text strings.Builder
	page, err := template.New("init").Funcs(template.FuncMap{"quoted": yamlText, "names": yamlNames, "schemas": yamlSchemas, "line": oneLine, "join": strings.Join, "snake": snake, "sql": sqlName}).Parse(initYAML)
	if err == nil {
		err = page.Execute(&text, w)
	}

	return text.String(), err
}

func yamlText(s string) string { return fmt.Sprintf("%q", s) }

// yamlName quotes a name only if it could be read as something else.
func yamlName(s string) string {
	if isName(s) {
		return s
	}

	return yamlText(s)
}

func yamlNames(list []string) string { return strings.Join(each(list, yamlName), ", ") }

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// braced is a text inside an optional part of a template, where braces cannot be escaped.
func braced(s string) string { return strings.NewReplacer("{", "(", "}", ")").Replace(s) }

// Leads reports whether the rows are worked with for themselves.
func (e *initEntity) Leads() bool { return e.Parent == nil && !e.Reference }

// Spoken is what people call a row: a type has letters of ASCII, a name any.
func (e *initEntity) Spoken() string {
	name := e.single
	if base, taken := strings.CutSuffix(e.Kind, otherType); taken && base == Plain(name) {
		name = e.Kind
	}

	return strings.ReplaceAll(name, "_", " ")
}

// Plural is what people call several rows.
func (e *initEntity) Plural() string { return Plural(e.words()) }

// words are the table's name without what tables of its program share.
func (e *initEntity) words() string {
	return strings.TrimSpace(strings.ReplaceAll(snake(e.shorts[e.Table]), "_", " "))
}

// Relation is the table with its schema, as SQL.
func (e *initEntity) Relation() string { return quote(e.Into(), e.Table.Name) }

// Order is the column that rows are listed by: parts of a row by their number among them, others by what names them.
func (e *initEntity) Order() string {
	numbered := func(c *Column) bool {
		return c.Kind == KindNumber && !c.Generated && placeNames.MatchString(snake(c.Name))
	}
	if c := find(e.Table.columns, numbered); c != nil && e.Parent != nil {
		return quotedName(c.Name)
	}
	if len(e.names) > 0 {
		return quotedName(e.names[0])
	}

	return ""
}

// Granted is what alfred_tenant may do to the rows already.
func (e *initEntity) Granted() []string {
	granted := map[Verb]bool{Create: len(e.Table.insertable) > 0, Update: len(e.Table.updatable) > 0, Delete: e.Table.TenantDelete}
	verbs := slices.DeleteFunc(Verbs(), func(verb Verb) bool { return e.Reference || !granted[verb] })

	return verbNames(verbs)
}

// Writable are the columns that it may write, NeverShown those of them that models never see.
func (e *initEntity) Writable() []string { return each(e.grantedColumns(false), yamlText) }

// NeverShown are columns that are granted in vain.
func (e *initEntity) NeverShown() []string { return e.grantedColumns(true) }

func (e *initEntity) grantedColumns(hidden bool) []string {
	return slices.DeleteFunc(appendNew(slices.Clone(e.Table.insertable), e.Table.updatable...), func(name string) bool {
		c := e.Table.column(name)

		return c.Generated || name == e.Owner || slices.Contains(e.Table.primary, name) || e.willBeHidden(c) != hidden
	})
}

// Settable are the columns that people might set: neither keys nor what programs keep. None are proposed for people's own rows, where
// some say what they may do.
func (e *initEntity) Settable() (names []string) {
	if e.source == nil || e.Table == e.source.accounts || e.Table.View {
		return nil
	}
	kind, _ := e.Table.loosePair()
	key := e.Key()
	for _, c := range e.Table.columns {
		kept := c.Generated || c == kind || c.Name == e.ownerColumn() || slices.Equal(key, []string{c.Name}) || isMark(c) || e.countsChanges(c) || e.isStamp(c) || e.tallies(c) || goneNames.MatchString(snake(c.Name))
		if !kept && !e.willBeHidden(c) {
			names = append(names, c.Name)
		}
	}
	for _, fk := range e.source.foldedKeys(e.Table) {
		names = append(names, fk.Name)
	}

	return names
}

// Possible are the writes that a declaration may allow: no row is created where nobody says what a column becomes, or whose it
// would be. None are proposed for memberships, by which people would let themselves in.
func (e *initEntity) Possible() []string {
	switch {
	case e.source == nil:
		return verbNames(Verbs())
	case e.source.shares(e.Table):
		return nil
	}
	set := e.Settable()
	lacks := func(c *Column) bool {
		create, update := e.filledSQL(c)
		folded := slices.ContainsFunc(e.source.foldedKeys(e.Table), func(fk foldedFK) bool { return slices.Contains(fk.Columns, c.Name) || fk.By == c.Name })

		given := create+update != "" || folded || c.Name == e.ownerColumn() || slices.Contains(set, c.Name)

		return c.Required() && !given
	}
	verbs := Verbs()
	if e.source.createsNobodys(e.Table) || len(set) > 0 && slices.ContainsFunc(e.Table.columns, lacks) {
		verbs = slices.DeleteFunc(verbs, func(verb Verb) bool { return verb == Create })
	}

	return verbNames(verbs)
}

// willBeHidden reports whether a column will be hidden from models.
func (e *initEntity) willBeHidden(c *Column) bool {
	return e.isConcealed(c) || c.Kind == KindVector || e.Table.holdsIdentifiers(c) && e.refs[c.Name] == nil || c.Name == "id" || isBookkeeping(c.Name)
}

// Opaque are the columns of types of one's own, composite ones and ranges, which a computed column could show.
func (e *initEntity) Opaque() []*Column {
	return slices.DeleteFunc(slices.Clone(e.Table.columns), func(c *Column) bool { return c.Kind != KindVector || c.Plain || e.isConcealed(c) })
}

// Folded reports whether the view combines the key, Key, into one column, KeyColumn.
func (e *initEntity) Folded() bool { return e.source != nil && e.source.foldsKey(e.Table) }

// Key are the columns of the view's key.
func (e *initEntity) Key() []string { return e.source.viewKey(e.Table) }

// KeyColumn is the name of the view's key.
func (e *initEntity) KeyColumn() string { return e.source.keyColumn(e.Table) }

// References are the columns that a view combines from foreign keys, and those that point by name alone, with their types.
func (e *initEntity) References() []string {
	if e.source == nil {
		return nil
	}
	var combined []string
	for _, fk := range e.source.foldedKeys(e.Table) {
		if e.source.foldsKey(e.source.cat.table(fk.Table)) {
			combined = append(combined, yamlName(fk.Name)+": "+e.source.entities[fk.Table].Type)
		}
	}

	return append(combined, e.ByName()...)
}

// AsChild names the type as a child of its parent, with its column if several reference the parent.
func (e *initEntity) AsChild() string {
	var columns []string
	for _, fk := range e.Table.foreignKeys {
		if !fk.leadsTo(e.Parent.Table) {
			continue
		}
		name := fk.Columns[len(fk.Columns)-1]
		if e.source != nil {
			name = cmp.Or(e.source.refColumn(e.Table, fk), name)
		}
		if fk.OnDelete == "cascade" {
			columns = slices.Insert(columns, 0, name)
		} else {
			columns = append(columns, name)
		}
	}
	if len(columns) < 2 {
		return "type: " + e.Kind
	}

	return fmt.Sprintf("{type: %s, column: %s}", e.Kind, yamlName(columns[0]))
}

// Named reports whether rows surely have a name.
func (e *initEntity) Named() bool { return len(e.names) == 1 && namesRows(e.names[0]) }

// Facts are the columns, each with what the catalog says about it.
func (e *initEntity) Facts() []string {
	owner := e.ownerColumn()

	return each(e.Table.columns, func(c *Column) string {
		fact := c.Name + " " + c.FullType
		switch {
		case c.Name == owner:
			fact += ", the owner"
		case e.refs[c.Name] != nil:
			fact += ", refers to " + e.refs[c.Name].Kind
		}
		if len(c.Enum) > 0 {
			fact += ", one of " + strings.Join(c.Enum, " | ")
		}
		if c.Check != "" {
			fact += ", " + c.Check
		}
		if c.Comment != "" {
			fact += ": " + c.Comment
		}

		return fact
	})
}

// Gone is the column that marks rows as gone, nil if there is none.
func (e *initEntity) Gone() *Column {
	return find(e.Table.columns, func(c *Column) bool { return goneNames.MatchString(snake(c.Name)) && marksGone(c) })
}

// codedNames are of what has one of a few states, in words or in numbers for them.
var codedNames = regexp.MustCompile(`(^|_)(d?type|discriminator|kind|status|state|role|priority|severity|visibility|stage|mode)$`)

// Local lists the columns whose times mean another moment to a program that takes them for UTC.
func (e *initEntity) Local() []string {
	names := namesOf(e.Table.columns, func(c *Column) bool {
		return c.lacksZone() && !e.willBeHidden(c) && !goneNames.MatchString(snake(c.Name))
	})

	return each(names, oneLine)
}

// Display is the label and a few short facts. A row whose label names only others has its own words beside it.
func (e *initEntity) Display() string { return e.line(false) }

// DisplayForPeople is the same for people, "" if there is nothing in it that they would say otherwise.
func (e *initEntity) DisplayForPeople() string {
	if aloud := e.line(true) + e.whose(); aloud != e.Display() {
		return aloud
	}

	return ""
}

func (e *initEntity) line(spoken bool) string {
	parts := []string{e.Label}
	if c := e.prose(); c != nil && !slices.ContainsFunc(e.names, e.describesRow) {
		parts = append(parts, " {"+quotedName(c.Name)+"}")
	}
	for _, c := range e.descriptive(displayFacts + 1 - len(parts)) {
		parts = append(parts, fact(c, spoken))
	}

	return strings.Join(parts, "")
}

// fact is a column's value, with its name where the value does not say what it is; spoken as people say it: without the column's
// spelling, with dates and times as they are written.
func fact(c *Column, spoken bool) string {
	name, layout := quotedName(c.Name), ""
	switch {
	case hundredths.MatchString(c.FullType):
		layout = ":0.00"
	case spoken && (c.Kind == KindDate || c.Holds == "date"):
		layout = ":Jan 2, 2006"
	case spoken && (c.Kind == KindTimestamp || strings.HasPrefix(c.Holds, "timestamp")):
		layout = ":" + momentLayout
	case spoken && c.Type == "interval":
		layout = ":" + lengthLayout
	case spoken && c.Kind == KindTime:
		layout = ":15:04"
	}
	said, value := strings.ToLower(Spoken(braced(c.Name))), "{"+name+layout+"}"
	switch {
	case oneOfFew(c) && spoken:
		said = ", " + value
	case oneOfFew(c):
		said = " [" + value + "]"
	case spoken && c.Kind == KindBool:
		said = ", " + said
	case spoken:
		said = ", " + said + ": " + value
	default:
		said = " " + braced(c.Name) + ":" + value
	}

	return "{?" + name + ":" + said + "}"
}

// Description says what the type's subdomain is.
func (e *initEntity) Description() string {
	return cmp.Or(oneLine(e.Table.Comment), "The "+e.Plural()+".")
}

// Tables are those of the type's subdomain.
func (e *initEntity) Tables() []string { return tableNames(e.family()) }

func (e *initEntity) family() []*initEntity { return append([]*initEntity{e}, e.Children...) }

func tableNames(list []*initEntity) []string {
	return each(list, func(e *initEntity) string { return yamlText(e.Table.Name) })
}

// Readable are the tables that these reference. What everybody shares leads further: an item to its product.
func (e *initEntity) Readable() []string {
	seen := e.family()
	own := len(seen)
	for i := 0; i < len(seen); i++ {
		if i >= own && !seen[i].Reference {
			continue
		}
		for _, name := range sortedKeys(seen[i].refs) {
			if ref := seen[i].refs[name]; !slices.Contains(seen, ref) {
				seen = append(seen, ref)
			}
		}
	}

	return tableNames(seen[own:])
}

package domain

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// displayFacts is how many facts follow the label in a guessed display line.
const displayFacts = 4

// hundredths is the type of most amounts of money.
var hundredths = regexp.MustCompile(`^numeric\(\d+,2\)$`)

var placeNames = regexp.MustCompile(`^(position|ordinal|seq|sequence|sort_order|line(_?(no|number))?)$`)

func (w *initWriter) linef(format string, args ...any) {
	fmt.Fprintf(&w.text, format+"\n", args...)
}

func (w *initWriter) write() {
	w.linef("# A first declaration, guessed from the catalog. Read every line marked \"unsure\",")
	w.linef("# then run: worker domain check")
	w.linef("name: %s", yamlText(w.schema))
	w.linef("schema: %s", yamlText(w.into()))
	if w.source != nil {
		from := fmt.Sprintf("schema: %s, accounts: %s", yamlText(w.schema), yamlText(w.source.decl.Source.Accounts))
		if w.source.decl.Source.UTC {
			from += ", utc: true"
		}
		w.linef("source: {%s} # the tables, of which nothing is altered", from)
	}
	if w.owner == "" {
		w.linef("# unsure: no column that tells tenants apart was found, so every table counts as shared.")
	} else {
		w.linef("owner: %s # unsure", yamlText(w.owner))
	}
	w.linef("persona: %s", yamlText("You are an assistant for "+w.schema+". You are brief and precise, and you save nothing that you were not asked to save."))
	for _, reason := range w.left {
		w.linef("# left out, %s", reason)
	}
	w.linef("\nentities:")
	for _, e := range w.entities {
		w.writeEntity(e)
	}
	w.linef("\nsubdomains:")
	for _, e := range w.entities {
		if e.parent == nil && !e.reference || w.owner == "" {
			w.writeSubdomain(e)
		}
	}
	w.writeSnapshot()
}

func yamlText(s string) string { return fmt.Sprintf("%q", s) }

// yamlName quotes a name only if it could be read as something else.
func yamlName(s string) string {
	if isName(s) {
		return s
	}

	return yamlText(s)
}

func yamlNames(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = yamlName(s)
	}

	return strings.Join(quoted, ", ")
}

// braced is a text inside an optional part of a template, where braces cannot be escaped.
func braced(s string) string { return strings.NewReplacer("{", "(", "}", ")").Replace(s) }

func (w *initWriter) writeEntity(e *initEntity) {
	spoken := strings.ReplaceAll(e.kind, "_", " ")
	w.linef("  - type: %s", e.kind)
	w.linef("    table: %s", yamlText(e.table.Name))
	if e.table.Comment != "" {
		w.linef("    # %s", oneLine(e.table.Comment))
	}
	w.writeColumns(e)
	w.writeSource(e)
	w.linef("    name: %s", yamlText(spoken))
	w.linef("    plural: %s", yamlText(e.plural()))
	if e.reference {
		w.linef("    reference: true # unsure: it has no owner column, so all users share it, read only")
	}
	w.linef("    label: %s%s", yamlText(e.label), unsureLabel(e))
	w.linef("    display: %s", yamlText(w.display(e)))
	if semantic := w.semantic(e); semantic != "" {
		w.linef("    semantic: %s", yamlText(semantic))
	}
	if secret := w.secrets(e); len(secret) > 0 {
		w.linef("    hidden: [%s] # from models and people; views show it to alfred_tenant", yamlNames(secret))
	}
	if by := e.order(); by != "" {
		w.linef("    order: [%s]", yamlText(quotedName(by)))
	}
	if long := w.longTexts(e); len(long) > 0 {
		w.linef("    sets: {text: [%s]} # unsure", strings.Join(long, ", "))
	}
	w.writeWrites(e)
	if len(e.children) > 0 {
		w.linef("    children: # unsure: rows that are deleted with theirs")
		for _, child := range e.children {
			w.linef("      - %s", w.childOf(e, child))
		}
	}
}

// plural is what people call the rows.
func (e *initEntity) plural() string {
	return Plural(strings.TrimSpace(strings.ReplaceAll(snake(e.table.Name), "_", " ")))
}

// order is the column that rows are listed by: parts of a row by their number among them, others by what names them.
func (e *initEntity) order() string {
	numbered := func(c *Column) bool {
		return c.Kind == KindNumber && !c.Generated && placeNames.MatchString(snake(c.Name))
	}
	if c := find(e.table.columns, numbered); c != nil && e.parent != nil {
		return c.Name
	}
	if len(e.names) > 0 {
		return e.names[0]
	}

	return ""
}

// writeWrites allows what alfred_tenant may already do, and says where to allow more.
func (w *initWriter) writeWrites(e *initEntity) {
	var verbs []string
	for _, right := range []struct {
		verb    Verb
		granted bool
	}{{Create, len(e.table.insertable) > 0}, {Update, len(e.table.updatable) > 0}, {Delete, e.table.TenantDelete}} {
		if right.granted {
			verbs = append(verbs, string(right.verb))
		}
	}
	if e.reference {
		return
	}
	if len(verbs) == 0 {
		w.linef("    # read only; to allow more: writes: [create, update, delete] and columns: [those that may be set]")

		return
	}
	w.linef("    writes: [%s] # as granted to alfred_tenant", strings.Join(verbs, ", "))
	columns := make([]string, 0, len(e.table.columns))
	var never []string
	for _, name := range appendNew(slices.Clone(e.table.insertable), e.table.updatable...) {
		switch c := e.table.column(name); {
		case c.Generated || name == w.owner || slices.Contains(e.table.primary, name):
		case w.hidden(e, c):
			never = append(never, name)
		default:
			columns = append(columns, yamlText(name))
		}
	}
	if len(columns) > 0 {
		w.linef("    columns: [%s]", strings.Join(columns, ", "))
	}
	if len(never) > 0 {
		w.linef("    # unsure: granted, but models see none of %s: REVOKE them", strings.Join(never, ", "))
	}
}

// hidden reports whether a column will be hidden from models.
func (w *initWriter) hidden(e *initEntity, c *Column) bool {
	return isSecret(c) || c.Kind == KindVector || e.table.identifies(c) && w.refColumns(e)[c.Name] == nil || c.Name == "id" || isBookkeeping(c.Name)
}

// writeSource says how a view finds and identifies the rows of a table.
func (w *initWriter) writeSource(e *initEntity) {
	if w.source == nil {
		return
	}
	if w.source.folded(e.table) {
		w.linef("    key: %s # made of %s", yamlText(w.source.keyColumn(e.table)), strings.Join(w.source.key(e.table), ", "))
	}
	if w.speakable(e) {
		w.linef("    speakable: true # unsure: people call it by its key")
	}
	if fk, ok := w.source.ownedBy(e.table); ok && !e.reference {
		w.linef("    owned_by: [%s] # unsure: its rows are those of whom the %s are", yamlNames(fk.Columns), fk.Table)
	}
	w.writeOwner(e)
	if folded := w.source.foldedKeys(e.table); len(folded) > 0 {
		references := make([]string, len(folded))
		for i, fk := range folded {
			references[i] = fmt.Sprintf("%s: %s", yamlName(w.source.foldedName(e.table, fk)), w.source.entities[fk.Table].Type)
		}
		w.linef("    references: {%s}", strings.Join(references, ", "))
	}
}

// childOf names a child, and its column if several reference the parent.
func (w *initWriter) childOf(e, child *initEntity) string {
	var columns []string
	for _, fk := range child.table.foreignKeys {
		if fk.Table != e.table.Name || fk.Schema != w.schema {
			continue
		}
		name := fk.Columns[len(fk.Columns)-1]
		if w.source != nil && w.source.folded(e.table) {
			name = w.source.foldedName(child.table, fk)
		}
		if fk.OnDelete == "cascade" {
			columns = append([]string{name}, columns...)
		} else {
			columns = append(columns, name)
		}
	}
	if len(columns) < 2 {
		return "type: " + child.kind
	}

	return fmt.Sprintf("{type: %s, column: %s}", child.kind, yamlName(columns[0]))
}

func unsureLabel(e *initEntity) string {
	if len(e.names) == 1 && namesRows(e.names[0]) {
		return ""
	}

	return " # unsure"
}

// writeColumns says in a comment what is read from the catalog automatically.
func (w *initWriter) writeColumns(e *initEntity) {
	refs := w.refColumns(e)
	for _, c := range e.table.columns {
		fact := c.FullType
		switch {
		case c.Name == w.ownerOf(e):
			fact += ", the owner"
		case refs[c.Name] != nil:
			fact += ", refers to " + refs[c.Name].kind
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
		w.linef("    #   %s %s", oneLine(c.Name), oneLine(fact))
	}
	if c := find(e.table.columns, func(c *Column) bool { return goneNames.MatchString(snake(c.Name)) }); c != nil {
		w.linef("    # unsure: rows with %s are shown like all others; to leave them out, declare a view of yours instead, which is read only", oneLine(c.Name))
	}
	if local := w.local(e); len(local) > 0 {
		w.linef("    # unsure: %s without a time zone: %s", strings.Join(local, ", "), w.meaning())
	}
}

// meaning is what such a time is taken for.
func (w *initWriter) meaning() string {
	switch {
	case w.source == nil:
		return "taken for the user's own time; where programs store UTC, declare a view of yours instead"
	case w.source.decl.Source.UTC:
		return "taken for UTC, as the source says"
	default:
		return "taken for the user's own time; where programs store UTC, add utc: true to the source"
	}
}

// local lists the columns whose times mean another moment to a program that takes them for UTC.
func (w *initWriter) local(e *initEntity) []string {
	var names []string
	for _, c := range e.table.columns {
		if c.local() && !w.hidden(e, c) && !goneNames.MatchString(snake(c.Name)) {
			names = append(names, oneLine(c.Name))
		}
	}

	return names
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// display is the label and a few short facts. A row whose label names only others has its own words beside it.
func (w *initWriter) display(e *initEntity) string {
	parts := []string{e.label}
	if c := find(w.plain(e), isProse); c != nil && !slices.ContainsFunc(e.names, func(name string) bool { n := e.table.column(name); return n == nil || isProse(n) }) {
		parts = append(parts, " {"+quotedName(c.Name)+"}")
	}
	for _, c := range w.plain(e) {
		short := c.Kind == KindBool || c.Kind == KindNumber || c.Kind == KindDate || c.Kind == KindTime || len(c.Enum) > 0
		if !short || slices.Contains(e.names, c.Name) || len(parts) > displayFacts {
			continue
		}
		parts = append(parts, fact(c))
	}

	return strings.Join(parts, "")
}

// fact is a column's value, with its name where the value does not say what it is.
func fact(c *Column) string {
	layout := ""
	if hundredths.MatchString(c.FullType) {
		layout = ":0.00"
	}
	if len(c.Enum) > 0 {
		return fmt.Sprintf("{?%s: [{%[1]s}]}", quotedName(c.Name))
	}

	return fmt.Sprintf("{?%[1]s: %[2]s:{%[1]s%[3]s}}", quotedName(c.Name), braced(c.Name), layout)
}

// isProse reports whether every row has words of its own in the column.
func isProse(c *Column) bool { return c.Kind == KindText && len(c.Enum) == 0 && !c.Nullable }

// semantic is the label and the free-text columns, for types that have both.
func (w *initWriter) semantic(e *initEntity) string {
	if len(e.names) != 1 || e.table.column(e.names[0]) == nil || e.table.column(e.names[0]).Kind != KindText || w.refColumns(e)[e.names[0]] != nil {
		return ""
	}
	var texts []string
	for _, c := range w.plain(e) {
		if c.Kind == KindText && c.Type == "text" && len(c.Enum) == 0 && c.Name != e.names[0] {
			texts = append(texts, fmt.Sprintf("{?%s: {%[1]s}.}", quotedName(c.Name)))
		}
	}
	if len(texts) == 0 {
		return ""
	}

	return "{" + quotedName(e.names[0]) + "}." + strings.Join(texts, "")
}

func (w *initWriter) longTexts(e *initEntity) []string {
	var names []string
	for _, c := range w.plain(e) {
		if slices.Contains(longTextNames, c.Name) && !slices.Contains(e.names, c.Name) {
			names = append(names, yamlText(c.Name))
		}
	}

	return names
}

func (w *initWriter) writeSubdomain(e *initEntity) {
	seen := append([]*initEntity{e}, e.children...)
	tables := make([]string, len(seen))
	for i, member := range seen {
		tables[i] = yamlText(member.table.Name)
	}
	var readable []string
	for i := 0; i < len(seen); i++ { // what everybody shares leads further: an item to its product
		if i >= len(tables) && !seen[i].reference {
			continue
		}
		refs := w.refColumns(seen[i])
		for _, name := range sortedKeys(refs) {
			if !slices.Contains(seen, refs[name]) {
				seen = append(seen, refs[name])
				readable = append(readable, yamlText(refs[name].table.Name))
			}
		}
	}
	description := cmp.Or(oneLine(e.table.Comment), "The "+e.plural()+".")
	w.linef("  - name: %s", yamlText(e.table.Name))
	w.linef("    description: %s", yamlText(description))
	w.linef("    tables: [%s]", strings.Join(tables, ", "))
	if len(readable) > 0 {
		w.linef("    readable: [%s]", strings.Join(readable, ", "))
	}
}

func (w *initWriter) writeSnapshot() {
	w.linef("\nsnapshot:")
	for _, e := range w.entities {
		if e.parent == nil && (!e.reference || w.owner == "") {
			w.linef("  - label: %s", yamlText(e.plural()))
			w.linef("    sql: %s", yamlText("SELECT count(*)::text FROM "+w.quoted(e)))
		}
	}
}

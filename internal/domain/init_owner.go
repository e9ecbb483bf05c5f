package domain

import (
	"slices"
	"strings"
)

// guessOwner is the column by which most tables separate tenants.
func (w *initWriter) guessOwner() string {
	counts := map[string]int{}
	for _, t := range w.cat.tables {
		for _, c := range t.columns {
			if w.owns(t, c) && keyKind(c) && !slices.Equal(t.primary, []string{c.Name}) {
				counts[c.Name] += 2
				if !c.Nullable { // an approved_by that may be null says less than one user_id, however many tables have it
					counts[c.Name] += 2 * len(w.cat.tables)
				}
				if ownerNames.MatchString(snake(c.Name)) {
					counts[c.Name]++
				}
			}
		}
	}
	best := ""
	for _, name := range sortedKeys(counts) {
		if best == "" || counts[name] > counts[best] {
			best = name
		}
	}

	return best
}

// owns reports whether a column seems to say whose its rows are.
func (w *initWriter) owns(t *catalogTable, c *Column) bool {
	if w.accounts == "" {
		return ownerNames.MatchString(snake(c.Name))
	}

	return slices.ContainsFunc(t.foreignKeys, func(fk catalogFK) bool { return fk.Table == w.accounts && slices.Equal(fk.Columns, []string{c.Name}) })
}

// ownerOf is the column that holds to whom the rows belong, "" for none.
func (w *initWriter) ownerOf(e *initEntity) string {
	if w.source == nil || e.reference || e.table == w.source.accounts {
		return w.owner
	}

	return w.source.ownerColumn(e.table)
}

// writeOwner says to whom rows belong where that is guessed, and who else it could be: whoever overlooks it shows people
// the wrong rows.
func (w *initWriter) writeOwner(e *initEntity) {
	owner := w.source.ownerColumn(e.table)
	if e.reference || e.table == w.source.accounts || owner == "" || owner == w.owner {
		return
	}
	if _, ok := w.source.ownedBy(e.table); ok {
		return
	}
	others := slices.DeleteFunc(w.source.accountColumns(e.table), func(name string) bool { return name == owner })
	for i, name := range others {
		others[i] = "owner: " + yamlName(name)
	}
	for _, fk := range e.table.foreignKeys {
		parent := w.source.cat.table(fk.Table)
		if parent != nil && parent != w.source.accounts && parent != e.table && fk.Schema == w.source.decl.Source.Schema && w.source.owned(parent) && !e.table.mayBeNull(fk.Columns) {
			others = append(others, "owned_by: ["+yamlNames(fk.Columns)+"]")
		}
	}
	note := ""
	if len(others) > 0 {
		note = "; if not, " + strings.Join(others, " or ")
	}
	w.linef("    owner: %s # unsure: its rows are those of whom it names%s", yamlText(owner), note)
}

// secrets are the columns that are nobody's business in a conversation.
func (w *initWriter) secrets(e *initEntity) []string {
	var names []string
	for _, c := range e.table.columns {
		if isSecret(c) {
			names = append(names, c.Name)
		}
	}

	return names
}

func isSecret(c *Column) bool { return c.Kind == KindText && secretNames.MatchString(snake(c.Name)) }

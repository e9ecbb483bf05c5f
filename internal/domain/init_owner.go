package domain

import "slices"

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

// ownerColumn is the column that holds to whom the rows belong, "" for none.
func (e *initEntity) ownerColumn() string {
	if e.source == nil || e.Reference || e.Table == e.source.accounts {
		return e.Owner
	}

	return e.source.columns[e.Table]
}

// OwnedBy is the foreign key by which a view finds whose the rows are, nil if none has to be named.
func (e *initEntity) OwnedBy() *catalogFK {
	if e.source == nil || e.Reference {
		return nil
	}

	return e.source.ownedBy(e.Table)
}

// ownerGuess is a column that may say to whom rows belong, and what else may: whoever overlooks a wrong guess shows people
// the wrong rows.
type ownerGuess struct {
	Column string
	Others []string
}

// OwnerGuess is nil where it is no guess to whom rows belong.
func (e *initEntity) OwnerGuess() *ownerGuess {
	column := e.ownerColumn()
	if e.source == nil || e.Reference || e.Table == e.source.accounts || column == "" || column == e.Owner || e.OwnedBy() != nil {
		return nil
	}
	guess := &ownerGuess{Column: column}
	for _, name := range e.source.accountColumns(e.Table) {
		if name != column {
			guess.Others = append(guess.Others, "owner: "+yamlName(name))
		}
	}
	for _, above := range e.source.parents(e.Table) {
		if above.table != e.source.accounts && above.table != e.Table && e.source.owned(above.table) {
			guess.Others = append(guess.Others, "owned_by: ["+yamlNames(above.Columns)+"]")
		}
	}

	return guess
}

// Secrets are the columns that are nobody's business in a conversation.
func (e *initEntity) Secrets() []string { return namesOf(e.Table.columns, isSecret) }

func isSecret(c *Column) bool { return c.Kind == KindText && secretNames.MatchString(snake(c.Name)) }

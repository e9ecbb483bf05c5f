package domain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Many programs keep the keys of other rows without a foreign key. For their tables, a declaration says what a column points at,
// as init guesses from its name; views follow it like a foreign key.

// mayLead reports whether a column of a table may hold keys of another's rows, and no foreign key says whose.
func (t *catalogTable) mayLead(c *Column, to *catalogTable) bool {
	return !t.references(c) && to.plainKey() && to.column(to.primary[0]).Kind == c.Kind
}

// lead has a column point at the rows of a table.
func (c *catalog) lead(t *catalogTable, column *Column, to *catalogTable) {
	t.foreignKeys = append(t.foreignKeys, catalogFK{Columns: []string{column.Name}, Table: to.Name, Targets: to.primary})
}

// leadsLoosely reports whether a column points where no foreign key says so.
func (t *catalogTable) leadsLoosely(c *Column) bool {
	return slices.ContainsFunc(t.foreignKeys, func(fk catalogFK) bool { return fk.OnDelete == "" && slices.Contains(fk.Columns, c.Name) })
}

// leadAsDeclared has columns point where the declaration says, always in one order: views that are written otherwise count as old.
func (s *source) leadAsDeclared() {
	for _, t := range s.cat.tables {
		e := s.entities[t.Name]
		if e == nil {
			continue
		}
		for _, name := range sortedKeys(e.References) {
			c, target := t.column(name), s.tableOf(e.References[name])
			if c != nil && target != nil && t.mayLead(c, target) {
				s.cat.lead(t, c, target)
			}
		}
	}
}

// keyPairs takes both columns for the key of a table without one that does nothing but say which rows go together, as Rails and
// Laravel make them: a pair that stands there twice is the same one.
func (c *catalog) keyPairs() {
	for _, t := range c.tables {
		if len(t.primary) == 0 && len(t.columns) == 2 && !slices.ContainsFunc(t.columns, func(c *Column) bool { return c.Nullable || !t.references(c) }) {
			t.primary = []string{t.columns[0].Name, t.columns[1].Name}
		}
	}
}

// leadByName has columns point at the tables that they are named after: bike_id at bikes unless it holds no keys of them,
// last_bike_id if it holds some, and an old_status_id at the only table of statuses, as issue_statuses, if it holds nothing else. One
// beside the name of a type may point anywhere, one that is named after no table at the only one of which it holds nothing but keys that
// no other has, as uuids. A parent and a root are rows of the same table.
func (w *initWriter) leadByName(ctx context.Context, tx pgx.Tx) error {
	for _, t := range w.cat.tables {
		_, loose := t.loosePair()
		for _, c := range t.columns {
			name, is := keyOf(c.Name)
			if !is || c == loose || slices.Equal(t.primary, []string{c.Name}) {
				continue
			}
			to, by := w.calledLike(t, name)
			if to == nil && (name == "parent" || name == "root") {
				to, by = t, byName
			}
			targets, fits := []*catalogTable{to}, func(holds held) bool {
				return holds.some && (by != byEnding || holds.all) || by == byName && holds.all
			}
			if to == nil && c.Kind != KindNumber {
				targets, fits = w.cat.tables, func(holds held) bool { return holds.some && holds.all && holds.long }
			}
			for _, to := range targets {
				if err := w.leadIf(ctx, tx, t, c, to, fits); err != nil {
					return err
				}
			}
		}
	}

	return nil
}

// leadToPeople has columns point at the accounts that are named like those who had a part in a row, as assigned_to and author_id, and
// hold nothing but keys of accounts.
func (w *initWriter) leadToPeople(ctx context.Context, tx pgx.Tx) error {
	for _, t := range w.cat.tables {
		for _, c := range t.columns {
			if !namesWorker(c.Name) {
				continue
			}
			if err := w.leadIf(ctx, tx, t, c, w.source.accounts, func(holds held) bool { return holds.some && holds.all }); err != nil {
				return err
			}
		}
	}

	return nil
}

// leadIf has a column point at a table if its values fit.
func (w *initWriter) leadIf(ctx context.Context, tx pgx.Tx, t *catalogTable, c *Column, to *catalogTable, fits func(held) bool) error {
	if to == nil || !t.mayLead(c, to) {
		return nil
	}
	holds, err := w.holdsKeys(ctx, tx, t, c, to)
	if err == nil && fits(holds) {
		w.cat.lead(t, c, to)
	}

	return err
}

// naming is how far a column's name is that of a table: wholly, its end, or the end of the table's.
type naming int

const (
	byName naming = iota
	byEnd
	byEnding
)

// calledLike is the table that a name, or the end of it, is a row of: status_id of issues at issue_statuses, and issue_from_id at issues.
func (w *initWriter) calledLike(t *catalogTable, name string) (*catalogTable, naming) {
	by := byName
	name = direction.ReplaceAllString(name, "")
	for end, more := name, true; more; _, end, more = strings.Cut(end, "_") {
		word := Fold(end)
		if to := cmp.Or(w.byWord[word], w.byWord[t.word()+"_"+word]); to != nil {
			return to, by
		}
		by = byEnd
	}
	for end, more := name, true; more; _, end, more = strings.Cut(end, "_") {
		ending := slices.DeleteFunc(slices.Clone(w.cat.tables), func(to *catalogTable) bool { return !strings.HasSuffix(to.word(), "_"+Fold(end)) })
		if len(ending) == 1 {
			return ending[0], byEnding
		}
	}

	return nil, by
}

// held says which of a column's values are keys of a table: some, and all, as also where there is no value. Long ones are those of
// this table alone.
type held struct{ some, all, long bool }

// holdsKeysSQL reads what a column holds.
const holdsKeysSQL = `SELECT coalesce(bool_or(has), false), coalesce(bool_and(has), true), coalesce(bool_and(long), false)
FROM (SELECT EXISTS (SELECT FROM %[3]s AS o WHERE o.%[4]s = t.%[2]s) AS has, length(t.%[2]s::text) >= 16 AS long FROM (SELECT * FROM %[1]s LIMIT 1000) AS t WHERE t.%[2]s IS NOT NULL) AS t`

// holdsKeys knows nothing of tables that may not be read, and of views, which may take long.
func (w *initWriter) holdsKeys(ctx context.Context, tx pgx.Tx, t *catalogTable, c *Column, to *catalogTable) (found held, err error) {
	if t.View {
		return held{all: true}, nil
	}
	err = pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, fmt.Sprintf(holdsKeysSQL, t.sql(), quote(c.Name), to.sql(), quote(to.primary[0]))).Scan(&found.some, &found.all, &found.long)
	})
	if _, refused := errors.AsType[*pgconn.PgError](err); refused {
		return held{all: true}, nil
	}
	if err != nil {
		return held{}, fmt.Errorf("init domain: read keys in %s.%s: %w", t.Name, c.Name, err)
	}

	return found, nil
}

// ByName are the columns whose names alone say where they point, with their types.
func (e *initEntity) ByName() (found []string) {
	for _, c := range e.Table.columns {
		if to := e.refs[c.Name]; to != nil && e.Table.leadsLoosely(c) {
			found = append(found, yamlName(c.Name)+": "+to.Kind)
		}
	}

	return found
}

// loosePair are the columns that name a row of any type by its type and its key, nil if there are none.
func (t *catalogTable) loosePair() (kind, id *Column) {
	for _, c := range t.columns {
		name, is := strings.CutSuffix(snake(c.Name), "_type")
		switch {
		case isModel(c.Name):
			name, is = "res", true
		case snake(c.Name) == "content_type_id":
			name, is = "object", true
		}
		if !is {
			continue
		}
		keys := []string{name + "_id", name + "_pk"}
		if id := find(t.columns, func(other *Column) bool { return slices.Contains(keys, snake(other.Name)) }); id != nil && !t.references(id) {
			return c, id
		}
	}

	return nil, nil
}

package crud

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"alfred/internal/domain"
)

// insert writes rows and returns their keys in order. Rows are written in the order given, because a table may number
// them: one statement per run of rows with the same columns, so that the other columns get their defaults. The owner
// column is never set: its default knows the user, whatever its type.
func (d *decision) insert(ctx context.Context, tx pgx.Tx, e *domain.Entity, rows []map[string]any) ([]string, error) {
	keys := make([]string, 0, len(rows))
	alike := func(a, b map[string]any) bool { return len(a) > 0 && slices.Equal(columnsOf(a), columnsOf(b)) }
	for _, some := range runs(withNulls(e, rows), alike) {
		found, err := insertGroup(ctx, tx, e, some)
		if err != nil {
			return nil, err
		}
		keys = append(keys, found...)
	}
	d.journal.recordCreated(e, keys)

	return keys, nil
}

// withNulls gives all rows the columns that any of them has, if omitting a column means null: rows that differ only in
// these then share a statement.
func withNulls(e *domain.Entity, rows []map[string]any) []map[string]any {
	named := map[string]any{}
	for _, name := range columnsOf(rows...) {
		if c := e.Column(name); c != nil && c.Nullable && !c.HasDefault {
			named[name] = nil
		}
	}
	wide := make([]map[string]any, len(rows))
	for i, row := range rows {
		wide[i] = maps.Clone(named)
		maps.Copy(wide[i], row)
	}

	return wide
}

// columnsOf lists the columns that any of the rows has.
func columnsOf[R ~map[string]V, V any](rows ...R) []string {
	var names []string
	for _, row := range rows {
		names = slices.AppendSeq(names, maps.Keys(row))
	}
	slices.Sort(names)

	return slices.Compact(names)
}

// insertGroup names the columns: an omitted column gets its default, one given as null does not.
func insertGroup(ctx context.Context, tx pgx.Tx, e *domain.Entity, rows []map[string]any) ([]string, error) {
	s := insertSQL(e, columnsOf(rows[0]), "", rows)
	s.add(" RETURNING coalesce(", e.Qualified(e.Key), "::text, '')")
	keys, err := s.texts(ctx, tx)
	if err != nil {
		return nil, fmt.Errorf("insert into %s: %w", e.Table, namingObstacles(err, e, rows, nil))
	}
	switch {
	case len(keys) != len(rows):
		return nil, fail(CodeViolation, "A rule of %s leaves this row out.", e.Table) // a trigger, without a word
	case slices.Contains(keys, ""): // a view's trigger returned the row without it
		return nil, fail(CodeNotAllowed, "Rows of %s cannot be created: what writes them does not tell their key.", e.Table)
	}

	return keys, nil
}

// insertSQL inserts a list of rows in order, with the columns that are named. override is the clause that allows to set
// numbers which the database otherwise assigns, or "".
func insertSQL(e *domain.Entity, names []string, override string, rows any) *statement {
	s, into := &statement{}, e.SQL()
	if len(names) == 0 { // of one row: no other form of INSERT omits every column
		s.add("INSERT INTO ", into, " DEFAULT VALUES")

		return s
	}
	s.add("INSERT INTO ", into, " (", joinEach(names, ", ", quoted), ") ", override, " SELECT ", joinEach(names, ", ", func(name string) string { return populated(e, name, rows) }),
		" FROM jsonb_array_elements(", s.value(rows), "::jsonb) WITH ORDINALITY AS j (value, n)",
		" CROSS JOIN LATERAL jsonb_populate_record(NULL::", into, ", j.value) AS ", givenRow, " ORDER BY j.n")

	return s
}

// saved are the written rows, with what became of each.
type saved struct {
	keys    []string
	merged  []bool // the row was added to an existing one
	written []map[string]any
}

// save writes rows and their children. The number of statements does not grow with the number of rows that have the
// same columns.
func (d *decision) save(ctx context.Context, tx pgx.Tx, e *domain.Entity, rows []map[string]any) (*saved, error) {
	own := make([]map[string]any, len(rows))
	for i, row := range rows {
		own[i] = maps.Clone(row)
		maps.DeleteFunc(own[i], func(name string, _ any) bool { return e.Child(name) != nil })
	}
	if err := linkRows(ctx, tx, e, own); err != nil {
		return nil, err
	}
	write := d.saveNew
	switch {
	case e.Merge != nil:
		write = d.merge
	case e.Singleton:
		write = d.mergeSingle
	}
	result, err := write(ctx, tx, e, own)
	if err != nil {
		return nil, err
	}
	d.noteWritten(e, result.keys)
	for _, child := range e.Children {
		if err := d.saveChildren(ctx, tx, child, rows, result.keys); err != nil {
			return nil, err
		}
	}

	return result, nil
}

func (d *decision) saveNew(ctx context.Context, tx pgx.Tx, e *domain.Entity, rows []map[string]any) (*saved, error) {
	keys, err := d.insert(ctx, tx, e, rows)

	return &saved{keys: keys, merged: make([]bool, len(keys)), written: rows}, err
}

func (d *decision) saveChildren(ctx context.Context, tx pgx.Tx, child *domain.Child, parents []map[string]any, keys []string) error {
	var rows []map[string]any
	for i, parent := range parents {
		for _, row := range rowsIn(parent[child.Entity.Table]) {
			row[child.FK.Name] = keys[i]
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	result, err := d.save(ctx, tx, child.Entity, rows)
	if err != nil {
		return err
	}
	_, err = readBack(ctx, tx, child.Entity, ownColumns(child.Entity), result)

	return err
}

// readBack reads the rows and compares them with what was written.
func readBack(ctx context.Context, tx pgx.Tx, e *domain.Entity, sel selection, result *saved) (*loaded, error) {
	found, err := byKeys(ctx, tx, e, sel, result.keys)
	if err != nil {
		return nil, err
	}
	byKey := found.byKey()
	for i, key := range result.keys {
		if fault := compareStored(e, result.written[i], byKey[key]); fault != nil {
			return nil, fault
		}
	}

	return found, nil
}

// linkRows links each row to the canonical row of its name, unless it names one itself, and fills in the columns that
// the match rule copies.
func linkRows(ctx context.Context, tx pgx.Tx, e *domain.Entity, rows []map[string]any) error {
	m := e.Match
	if m == nil {
		return nil
	}
	var texts []string
	var at []int
	for i, row := range rows {
		name, ok := row[m.Column].(string)
		if ok && row[m.Link.Name] == nil {
			texts, at = append(texts, name), append(at, i)
		}
	}
	found, err := candidates(ctx, tx, m, texts)
	if err != nil {
		return err
	}
	for n, i := range at {
		linkRow(m, rows[i], canonicalFor(texts[n], found[n]))
	}

	return nil
}

func linkRow(m *domain.Match, row map[string]any, canonical *candidate) {
	if canonical == nil {
		return
	}
	row[m.Link.Name] = canonical.key
	for own, target := range m.Copy {
		if row[own] == nil {
			row[own] = canonical.copied[target]
		}
	}
}

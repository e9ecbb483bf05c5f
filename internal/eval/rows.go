package eval

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/internal/domain"
	"alfred/internal/exact"
	"alfred/internal/pg"
)

// table is the content of one of the domain's tables for a user, or for everybody if its rows are shared.
type table struct {
	entity  *domain.Entity
	viewed  bool     // accessed through a view
	name    string   // as SQL, with the schema
	key     []string // columns that tell its rows apart
	columns []string // that can be inserted
	serial  []string // those of them filled from sequences
	unique  []string // columns that are unique on their own
	rows    []map[string]any
}

// past reads what a user's rows were at a moment, in a single snapshot as the database's owner.
type past struct {
	tx     pgx.Tx
	bound  *domain.Domain
	viewed bool // the tables are accessed through views
	user   uuid.UUID
	whole  bool     // include all shared rows
	notes  []string // what could not be rolled back
}

// tablesAt returns the tables as they were, parents before children: the rows the user sees now, with the changes of the
// user's turns since then rolled back, last first. Changes by other programs are not rolled back.
func (p *past) tablesAt(ctx context.Context, moment time.Time) ([]*table, error) {
	if _, err := p.tx.Exec(ctx, `SELECT set_config('alfred.user_id', $1, true)`, p.user.String()); err != nil {
		return nil, fmt.Errorf("read the user's rows: %w", err)
	}
	tables := []*table{}
	for _, entity := range parentsFirst(p.bound.Entities) {
		t, err := p.read(ctx, entity)
		if err != nil {
			return nil, fmt.Errorf("read the rows of %s: %w", entity.Table, err)
		}
		tables = append(tables, t)
	}

	return tables, p.rollBack(ctx, tables, moment)
}

// parentsFirst orders types so that rows come after those they reference.
func parentsFirst(entities []*domain.Entity) []*domain.Entity {
	var (
		ordered []*domain.Entity
		visit   func(e *domain.Entity)
		seen    = map[*domain.Entity]bool{}
	)
	visit = func(e *domain.Entity) {
		if e == nil || seen[e] {
			return
		}
		seen[e] = true
		for _, c := range e.Columns {
			if c.FK != nil {
				visit(c.FK.Entity)
			}
		}
		ordered = append(ordered, e)
	}
	for _, e := range entities {
		visit(e)
	}

	return ordered
}

const columnsOf = `
SELECT coalesce((SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute AS a
                 WHERE a.attrelid = $1::text::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''), '{}'),
       coalesce((SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute AS a
                 WHERE a.attrelid = $1::text::regclass AND a.attnum > 0 AND NOT a.attisdropped AND pg_get_serial_sequence($1::text, a.attname::text) IS NOT NULL), '{}'),
       coalesce((SELECT array_agg(a.attname::text ORDER BY array_position(i.indkey::int2[], a.attnum)) FROM pg_index AS i JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
                 WHERE i.indrelid = $1::text::regclass AND i.indisprimary), '{}'),
       coalesce((SELECT array_agg(a.attname::text) FROM pg_index AS i JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
                 WHERE i.indrelid = $1::text::regclass AND i.indisunique AND i.indnatts = 1 AND i.indpred IS NULL), '{}')`

func (p *past) read(ctx context.Context, e *domain.Entity) (*table, error) {
	t := &table{entity: e, viewed: p.viewed, name: e.Stored.Sanitize()}
	if err := p.tx.QueryRow(ctx, columnsOf, t.name).Scan(&t.columns, &t.serial, &t.key, &t.unique); err != nil {
		return nil, err
	}
	if len(t.key) == 0 { // it only pairs others, and is known by its pairs
		t.key = t.columns
	}
	sql := "SELECT to_jsonb(x.*)::text FROM " + t.name + " AS x"
	if !e.Reference {
		key := quoted(t.key)
		sql += " WHERE (" + key + ") IN (SELECT " + key + " FROM " + e.SQL() + " WHERE " + e.Owned() + ")"
	}
	rows, _ := p.tx.Query(ctx, sql)
	var text string
	_, err := pgx.ForEachRow(rows, []any{&text}, func() error {
		var row map[string]any
		err := exact.Decode([]byte(text), &row)
		t.rows = append(t.rows, row)

		return err
	})

	return t, err
}

func quoted(names []string) string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = pgx.Identifier{name}.Sanitize()
	}

	return strings.Join(list, ", ")
}

// rollBack rolls changes back in memory.
func (p *past) rollBack(ctx context.Context, tables []*table, moment time.Time) error {
	rows, _ := p.tx.Query(ctx, `SELECT entity_type, entity_id, action,
			coalesce((SELECT jsonb_object_agg(b.name, coalesce(b.value -> '', b.value)) FROM jsonb_each(before) AS b (name, value)), '{}')::text -- JSON's null is wrapped
		FROM alfred.row_changes
		WHERE user_id = $1 AND created_at >= $2 ORDER BY created_at DESC, turn_id DESC, seq DESC`, p.user, moment)
	var kind, id, action, before string
	_, err := pgx.ForEachRow(rows, []any{&kind, &id, &action, &before}, func() error {
		at := slices.IndexFunc(tables, func(t *table) bool { return t.entity.Type == kind })
		if action == "called" || at < 0 {
			if note := fmt.Sprintf("what was %s of %s stays: it cannot be wound back", action, kind); !slices.Contains(p.notes, note) {
				p.notes = append(p.notes, note)
			}

			return nil
		}
		var old map[string]any
		if err := exact.Decode([]byte(before), &old); err != nil {
			return err
		}
		tables[at].unwind(id, action, old)

		return nil
	})
	if err != nil {
		return fmt.Errorf("read what was changed: %w", err)
	}

	return p.unkept(ctx, moment)
}

// unkept notes the turns whose old values are no longer kept: their changes are not rolled back.
func (p *past) unkept(ctx context.Context, moment time.Time) error {
	var count int
	if err := p.tx.QueryRow(ctx, `SELECT count(*) FROM alfred.turns AS t WHERE t.user_id = $1 AND t.created_at >= $2 AND t.undo IS NOT NULL
		AND NOT EXISTS (SELECT FROM alfred.row_changes AS c WHERE c.turn_id = t.id)`, p.user, moment).Scan(&count); err != nil {
		return fmt.Errorf("look for what was changed and is no longer kept: %w", err)
	}
	if count > 0 {
		p.notes = append(p.notes, fmt.Sprintf("what %d of the user's turns wrote stays: their old values are no longer kept", count))
	}

	return nil
}

func (t *table) unwind(id, action string, before map[string]any) {
	is := func(row map[string]any) bool { return t.keyOf(row) == id }
	switch action {
	case "created":
		t.rows = slices.DeleteFunc(t.rows, is)
	case "deleted":
		t.rows = append(t.rows, before)
	default:
		if at := slices.IndexFunc(t.rows, is); at >= 0 {
			maps.Copy(t.rows[at], before)
		}
	}
}

// keyOf is a row's key as the domain sees it: a composite one as its view combines it.
func (t *table) keyOf(row map[string]any) string {
	if key, ok := row[t.entity.Key.Name]; ok {
		return fmt.Sprint(key)
	}
	parts := make([]string, len(t.key))
	for i, name := range t.key {
		parts[i] = fmt.Sprint(row[name])
		if c := t.entity.Column(name); c != nil && c.Kind == domain.KindText {
			parts[i] = strings.NewReplacer(`\`, `\\`, `:`, `\:`).Replace(parts[i])
		}
	}

	return strings.Join(parts, ":")
}

// keepReferenced keeps the shared rows that others reference.
func (t *table) keepReferenced(tables []*table) {
	used := map[string]bool{}
	for _, other := range tables {
		for _, c := range other.entity.Columns {
			if c.FK != nil && c.FK.Entity == t.entity {
				other.collect(c.Name, used)
			}
		}
	}
	t.rows = slices.DeleteFunc(t.rows, func(row map[string]any) bool { return !used[fmt.Sprint(row[t.entity.Key.Name])] })
}

// collect adds a column's values, those of lists one by one.
func (t *table) collect(column string, into map[string]bool) {
	for _, row := range t.rows {
		list, isList := row[column].([]any)
		if !isList {
			list = []any{row[column]}
		}
		for _, value := range list {
			into[fmt.Sprint(value)] = true
		}
	}
}

// insertSQL inserts the rows on behalf of the user in alfred.user_id. Shared rows replace existing ones.
func (t *table) insertSQL() (string, error) {
	if len(t.rows) == 0 {
		return "", nil
	}
	columns := slices.Clone(t.columns)
	if owner := t.entity.Owner; owner != nil && owner.Default != "" && !t.viewed { // its default fills it
		columns = slices.DeleteFunc(columns, func(name string) bool { return name == owner.Name })
	}
	data, err := t.valuesJSON(columns)
	if err != nil {
		return "", fmt.Errorf("write the rows of %s: %w", t.entity.Table, err)
	}
	rows := fmt.Sprintf("jsonb_populate_recordset(NULL::%s, %s)", t.name, pg.Literal(data))
	var b strings.Builder
	if t.entity.Reference {
		for _, column := range t.unique {
			name := pgx.Identifier{column}.Sanitize()
			fmt.Fprintf(&b, "DELETE FROM %s WHERE %s IN (SELECT x.%s FROM %s AS x);\n", t.name, name, name, rows)
		}
	}
	names := quoted(columns)
	fmt.Fprintf(&b, "INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE\nSELECT %s FROM %s;\n", t.name, names, names, rows)
	for _, column := range t.serial {
		fmt.Fprintf(&b, "SELECT setval(pg_get_serial_sequence(%s, '%s'), max(%s)) FROM %s;\n", pg.Literal(t.name), column, pgx.Identifier{column}.Sanitize(), t.name)
	}

	return b.String(), nil
}

// valuesJSON is the rows' values in some columns, without those that are null.
func (t *table) valuesJSON(columns []string) (string, error) {
	kept := make([]map[string]any, len(t.rows))
	for i, row := range t.rows {
		kept[i] = maps.Clone(row)
		maps.DeleteFunc(kept[i], func(column string, value any) bool { return value == nil || !slices.Contains(columns, column) })
	}
	text, err := json.MarshalIndent(kept, "", " ")

	return string(text), err
}

package domain

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// eachComputed adds computed columns; Postgres determines their types.
func (b *binder) eachComputed(ctx context.Context, tx pgx.Tx) error {
	for _, t := range b.types {
		for n, decl := range t.own.Computed {
			if err := t.bindComputed(ctx, tx, fmt.Sprintf("computed[%d]", n), decl); err != nil {
				return err
			}
		}
	}

	return nil
}

func (b *typeBinder) bindComputed(ctx context.Context, tx pgx.Tx, field string, decl ComputedDecl) error {
	if !isName(decl.Name) || b.Column(decl.Name) != nil {
		b.problemf(field, "computed: %q is not a new column name", decl.Name)

		return nil
	}
	types, refused, err := describe(ctx, tx, fmt.Sprintf("SELECT (%s) FROM %s", decl.SQL, quote(b.decl.Schema, b.Table)))
	switch {
	case err != nil:
		return fmt.Errorf("check computed column %s: %w", decl.Name, err)
	case refused != "":
		b.problemf(field, "computed: %s: %s", decl.Name, refused)

		return nil
	case len(types) != 1:
		b.problemf(field, "computed: %s is not one value", decl.Name)

		return nil
	}
	column := &Column{
		Name: decl.Name, Type: types[0].name, FullType: types[0].name, Nullable: true, Generated: true,
		Comment: decl.Comment, Expr: decl.SQL,
	}
	column.Kind, column.Elem = kindOf(types[0].name, types[0].elem, false)
	column.Hidden = column.Kind == KindVector
	b.Columns = append(b.Columns, column)

	return nil
}

// checkLockable finds the views whose rows Postgres does not lock, such as groups of others. Only planning tells.
func (b *binder) checkLockable(ctx context.Context, tx pgx.Tx) error {
	for _, t := range b.types {
		if !t.View || !t.Lockable {
			continue
		}
		inner, err := tx.Begin(ctx)
		if err == nil {
			_, err = inner.Exec(ctx, "EXPLAIN SELECT FROM "+quote(b.decl.Schema, t.Table)+" FOR UPDATE")
			rollback(ctx, inner)
		}
		failed, refused := errors.AsType[*pgconn.PgError](err)
		if err != nil && !refused {
			return fmt.Errorf("check whether rows of %s can be locked: %w", t.Type, err)
		}
		t.Lockable = !refused || failed.Code != pgerrcode.FeatureNotSupported
	}

	return nil
}

func (b *binder) checkQueries(ctx context.Context, tx pgx.Tx) error {
	for _, group := range []struct {
		at      string
		queries []Query
	}{{"snapshot", b.decl.Snapshot}, {"profile", b.decl.Profile}} {
		for n, query := range group.queries {
			if err := b.checkQuery(ctx, tx, fmt.Sprintf("$.%s[%d].sql", group.at, n), query.SQL, 1); err != nil {
				return err
			}
		}
	}
	if b.decl.Guidance == "" {
		return nil
	}

	return b.checkQuery(ctx, tx, "$.guidance", b.decl.Guidance, 2)
}

// checkQuery makes Postgres plan a statement, without running it.
func (b *binder) checkQuery(ctx context.Context, tx pgx.Tx, at, sql string, columns int) error {
	types, refused, err := describe(ctx, tx, sql)
	other := func(t sqlType) bool { return t.name != "text" }
	switch {
	case err != nil:
		return fmt.Errorf("check query: %w", err)
	case refused != "":
		b.problemf(at, "%s", refused)
	case len(types) != columns || slices.ContainsFunc(types, other):
		b.problemf(at, "the query returns %v, not %d of type text", typeNames(types), columns)
	}

	return nil
}

type sqlType struct{ name, elem string }

func typeNames(types []sqlType) []string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = t.name
	}

	return names
}

// describe returns the types of a statement's columns, or why Postgres refuses it, under a savepoint, so that the
// transaction stays usable.
func describe(ctx context.Context, tx pgx.Tx, sql string) (types []sqlType, refused string, err error) {
	inner, err := tx.Begin(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("savepoint: %w", err)
	}
	defer rollback(ctx, inner)
	statement, err := inner.Prepare(ctx, "", sql)
	if failed, ok := errors.AsType[*pgconn.PgError](err); ok {
		return nil, failed.Message, nil
	}
	if err != nil {
		return nil, "", err
	}
	oids := make([]uint32, len(statement.Fields))
	for i, field := range statement.Fields {
		oids[i] = field.DataTypeOID
	}
	rows, _ := inner.Query(ctx, `
SELECT format_type(t.oid, -1), CASE WHEN t.typcategory = 'A' THEN format_type(t.typelem, -1) ELSE '' END
FROM unnest($1::oid[]) WITH ORDINALITY AS u (oid, n) JOIN pg_catalog.pg_type AS t ON t.oid = u.oid ORDER BY u.n`, oids) // a failed query shows when its rows are collected
	types, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (t sqlType, err error) {
		err = row.Scan(&t.name, &t.elem)

		return t, err
	})

	return types, "", err
}

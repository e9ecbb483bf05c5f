package domain

import (
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// bindComputed adds computed columns; Postgres determines their types.
func (b *typeBinder) bindComputed() {
	for n, decl := range b.own.Computed {
		field := fmt.Sprintf("computed[%d]", n)
		if !isName(decl.Name) || b.Column(decl.Name) != nil {
			b.problemf(field, "computed: %q is not a new column name", decl.Name)

			continue
		}
		switch types, refused := b.describe("SELECT (" + decl.SQL + ") FROM " + b.SQL()); {
		case refused != "":
			b.problemf(field, "computed: %s: %s", decl.Name, refused)
		case len(types) != 1:
			b.problemf(field, "computed: %s is not one value", decl.Name)
		default:
			b.addComputed(decl, types[0])
		}
	}
}

func (b *typeBinder) addComputed(decl ComputedDecl, t sqlType) {
	column := &Column{Name: decl.Name, Type: t.Name, FullType: t.Name, Nullable: true, Generated: true, Comment: decl.Comment, Expr: decl.SQL}
	column.Kind, column.Elem = kindOf(t.Name, t.Elem, false)
	column.Hidden = column.Kind == KindVector
	b.Columns = append(b.Columns, column)
}

// checkLockable finds out whether Postgres locks a view's rows, unlike those of groups. Only planning tells.
func (b *typeBinder) checkLockable() {
	if !b.View || !b.Lockable {
		return
	}
	b.ask("check whether rows of "+b.Type+" can be locked", func() error {
		err := pgx.BeginFunc(b.ctx, b.tx, func(inner pgx.Tx) error {
			_, err := inner.Exec(b.ctx, "EXPLAIN SELECT FROM "+b.SQL()+" FOR UPDATE")

			return err
		})
		failed, refused := errors.AsType[*pgconn.PgError](err)
		if b.Lockable = !refused || failed.Code != pgerrcode.FeatureNotSupported; refused {
			return nil
		}

		return err
	})
}

// CheckSQL is a check applied to the rows of a query, which it sees as a relation named rows.
func CheckSQL(source, check string) string {
	return "WITH rows AS (" + source + ") SELECT said FROM (" + check + ") AS found (said) WHERE said IS NOT NULL"
}

// bindChecks makes Postgres plan the checks of rows.
func (b *typeBinder) bindChecks() {
	for n, check := range b.own.Checks {
		field := fmt.Sprintf("checks[%d]", n)
		switch types, refused := b.describe(CheckSQL("SELECT * FROM "+b.SQL(), check)); {
		case refused != "":
			b.problemf(field, "check: %s", refused)
		case !texts(types, 1):
			b.problemf(field, "check: the query returns %v, not one text", types)
		}
	}
}

func (b *binder) checkQueries() {
	for at, queries := range map[string][]Query{"snapshot": b.decl.Snapshot, "profile": b.decl.Profile} {
		for n, query := range queries {
			b.checkQuery(fmt.Sprintf("$.%s[%d].sql", at, n), query.SQL, 1)
		}
	}
	if b.decl.Guidance != "" {
		b.checkQuery("$.guidance", b.decl.Guidance, 2)
	}
}

// checkQuery makes Postgres plan a statement, without running it.
func (b *binder) checkQuery(at, sql string, columns int) {
	switch types, refused := b.describe(sql); {
	case refused != "":
		b.problemf(at, "%s", refused)
	case !texts(types, columns):
		b.problemf(at, "the query returns %v, not %d of type text", types, columns)
	}
}

type sqlType struct{ Name, Elem string }

func (t sqlType) String() string { return t.Name }

// texts reports whether these are so many columns of type text.
func texts(types []sqlType, columns int) bool {
	return len(types) == columns && !slices.ContainsFunc(types, func(t sqlType) bool { return t.Name != "text" })
}

const typesSQL = `
SELECT format_type(t.oid, -1), CASE WHEN t.typcategory = 'A' THEN format_type(t.typelem, -1) ELSE '' END
FROM unnest($1::oid[]) WITH ORDINALITY AS u (oid, n) JOIN pg_catalog.pg_type AS t ON t.oid = u.oid ORDER BY u.n`

// describe returns the types of a statement's columns, or why Postgres refuses it, under a savepoint, so that the
// transaction stays usable.
func (b *binder) describe(sql string) (types []sqlType, refused string) {
	b.ask("check a statement", func() error {
		inner, err := b.tx.Begin(b.ctx)
		if err != nil {
			return err
		}
		defer rollback(b.ctx, inner)
		statement, err := inner.Prepare(b.ctx, "", sql)
		if failed, ok := errors.AsType[*pgconn.PgError](err); ok {
			refused = failed.Message

			return nil
		}
		if err != nil {
			return err
		}
		oids := make([]uint32, len(statement.Fields))
		for i, field := range statement.Fields {
			oids[i] = field.DataTypeOID
		}
		types, err = collect(b.ctx, inner, pgx.RowToStructByPos[sqlType], "look for types", typesSQL, oids)

		return err
	})

	return types, refused
}

package domain

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// CheckSQL is a check applied to the rows of a query, which it sees as a relation named rows.
func CheckSQL(source, check string) string {
	return "WITH rows AS (" + source + ") SELECT said FROM (" + check + ") AS found (said) WHERE said IS NOT NULL"
}

// eachCheck makes Postgres plan the checks of rows.
func (b *binder) eachCheck(ctx context.Context, tx pgx.Tx) error {
	for _, t := range b.types {
		for n, check := range t.own.Checks {
			if err := t.bindCheck(ctx, tx, n, check); err != nil {
				return err
			}
		}
	}

	return nil
}

func (b *typeBinder) bindCheck(ctx context.Context, tx pgx.Tx, n int, check string) error {
	at := fmt.Sprintf("checks[%d]", n)
	types, refused, err := describe(ctx, tx, CheckSQL("SELECT * FROM "+quote(b.decl.Schema, b.Table), check))
	switch {
	case err != nil:
		return fmt.Errorf("check a check of %s: %w", b.Type, err)
	case refused != "":
		b.problemf(at, "check: %s", refused)
	case len(types) != 1 || types[0].name != "text":
		b.problemf(at, "check: the query returns %v, not one text", typeNames(types))
	}

	return nil
}

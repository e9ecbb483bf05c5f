package domain

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// CheckSQL is a check applied to the rows of a query, which it sees as a relation named rows.
func CheckSQL(source, check string) string {
	return "WITH rows AS (" + source + ") SELECT said FROM (" + check + ") AS found (said) WHERE said IS NOT NULL"
}

// eachCheck makes Postgres plan the checks of rows.
func (b *binder) eachCheck(ctx context.Context, tx pgx.Tx) error {
	for i, e := range b.entities() {
		for n, check := range b.decl.Entities[i].Checks {
			if err := b.bindCheck(ctx, tx, i, n, e, check); err != nil {
				return err
			}
		}
	}

	return nil
}

func (b *binder) bindCheck(ctx context.Context, tx pgx.Tx, i, n int, e *Entity, check string) error {
	at := fmt.Sprintf("checks[%d]", n)
	types, err := describe(ctx, tx, CheckSQL("SELECT * FROM "+quote(b.decl.Schema, e.Table), check))
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		b.entityProblemf(i, at, "check: %s", refused.Message)

		return nil
	}
	if err != nil {
		return fmt.Errorf("check a check of %s: %w", e.Type, err)
	}
	if len(types) != 1 || types[0].name != "text" {
		b.entityProblemf(i, at, "check: the query returns %v, not one text", typeNames(types))

		return nil
	}
	e.Checks = append(e.Checks, check)

	return nil
}

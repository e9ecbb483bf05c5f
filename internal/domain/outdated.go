package domain

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

const outdated = "the views were made from another declaration, from other tables or by another version: run worker domain attach"

// Outdated says that a declaration's views are not those that Attach would make; "" if they are, or if it has none.
func Outdated(ctx context.Context, db DB, decl *Declaration) (string, error) {
	if decl.Source.Schema == nil {
		return "", nil
	}
	s, _, err := views(ctx, db, decl)
	if err != nil {
		return outdated + ", which would fail: " + err.Error(), nil
	}
	tx, err := db.Begin(ctx)
	if err != nil {
		return "", fmt.Errorf("compare the views: %w", err)
	}
	defer rollback(ctx, tx)

	return s.outdated(ctx, tx)
}

// outdated compares what the views' schema says of how they were made with how they would be made now.
func (s *source) outdated(ctx context.Context, tx pgx.Tx) (string, error) {
	made, err := collect(ctx, tx, pgx.RowTo[string], "compare the views", "SELECT coalesce(obj_description(to_regnamespace(quote_ident($1)), 'pg_namespace'), '')", s.decl.Schema)
	if err != nil || made[0] == s.made {
		return "", err
	}

	return outdated, nil
}

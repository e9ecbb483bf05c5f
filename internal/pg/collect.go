package pg

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"alfred/db"
)

// Collect returns the rows of a query; what names it in an error.
func Collect[T any](ctx context.Context, conn db.DBTX, row pgx.RowToFunc[T], what, query string, args ...any) ([]T, error) {
	rows, _ := conn.Query(ctx, query, args...) // a failed query shows when its rows are collected
	found, err := pgx.CollectRows(rows, row)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}

	return found, nil
}

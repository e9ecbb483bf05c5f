package domain

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// catalogFunction is a function as the catalog has it.
type catalogFunction struct {
	comment   string
	owner     string
	definer   bool
	callable  bool   // by alfred_tenant
	kind      string // f is a plain function, p a procedure, which has no result
	names     []string
	types     []string
	bases     []string
	elems     []string
	enums     []string // labels of an enumeration, joined by \x01
	defaults  int
	arguments string
	result    string
}

// functions finds the functions of a name: none, one, or several overloads.
func functions(ctx context.Context, tx pgx.Tx, schema, name string) ([]*catalogFunction, error) {
	rows, _ := tx.Query(ctx, functionsSQL, schema, name) // a failed query shows when its rows are collected
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*catalogFunction, error) {
		f := &catalogFunction{}

		return f, row.Scan(&f.comment, &f.owner, &f.definer, &f.callable, &f.kind, &f.names, &f.types, &f.bases, &f.elems, &f.enums,
			&f.defaults, &f.arguments, &f.result)
	})
	if err != nil {
		return nil, fmt.Errorf("read function %s: %w", name, err)
	}

	return found, nil
}

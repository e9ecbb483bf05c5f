package domain

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// catalogFunction is a function as the catalog has it.
type catalogFunction struct {
	Comment   string
	Owner     string
	Definer   bool
	Callable  bool   // by alfred_tenant
	Kind      string // f is a plain function, p a procedure, which has no result
	Names     []string
	Types     []string
	Bases     []string
	Elems     []string
	Enums     []string // labels of an enumeration, joined by \x01
	Defaults  int
	Arguments string
	Result    string
}

// functions finds the functions of a name: none, one, or several overloads.
func functions(ctx context.Context, tx pgx.Tx, schema, name string) ([]*catalogFunction, error) {
	return structs[catalogFunction](ctx, tx, "read function "+name, functionsSQL, schema, name)
}

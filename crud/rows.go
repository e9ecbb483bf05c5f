package crud

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"
)

// Row is one row for a user interface, keys included. Version changes with every
// write and serves as an entity tag.
type Row struct {
	Data    map[string]any
	Version string
}

// ListParams bounds a list. Query, if not "", keeps rows whose name is like it.
type ListParams struct {
	Limit  int
	Offset int
	Query  string
}

// List returns rows of a type in its default order, and how many there are.
func (t *Tools) List(ctx context.Context, tx pgx.Tx, user User, entityType string, params ListParams) ([]Row, int, error) {
	return nil, 0, nil
}

// Get returns one row with its children, or an *Error with CodeNotFound.
func (t *Tools) Get(ctx context.Context, tx pgx.Tx, user User, entityType, id string) (Row, error) {
	return Row{}, nil
}

// Create writes a row, with children under the child table's name.
func (t *Tools) Create(ctx context.Context, tx pgx.Tx, user User, entityType string, data json.RawMessage) (Row, error) {
	return Row{}, nil
}

// Patch changes the columns that data names; null clears one. version, if not "",
// must be the row's, else the error is CodeConflict.
func (t *Tools) Patch(ctx context.Context, tx pgx.Tx, user User, entityType, id, version string, data json.RawMessage) (Row, error) {
	return Row{}, nil
}

// Delete removes a row and its children. version works as in Patch.
func (t *Tools) Delete(ctx context.Context, tx pgx.Tx, user User, entityType, id, version string) error {
	return nil
}

package crud

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"

	"alfred/registry"
)

// Execute runs one decision's calls in the caller's transaction, all or none, and
// writes their results. tables are those the step may name; nil allows all.
//
// What is wrong with a call is in the Outcome; an error means that the database
// failed, and the caller's transaction with it.
func (t *Tools) Execute(ctx context.Context, tx pgx.Tx, scope registry.Scope, stepType string, tables []string, prepared Prepared) (Outcome, error) {
	return Outcome{}, nil
}

// ExecuteApproved runs the calls of an approve question's payload, on exactly the
// rows that the question was about.
func (t *Tools) ExecuteApproved(ctx context.Context, tx pgx.Tx, scope registry.Scope, payload json.RawMessage) (Outcome, error) {
	return Outcome{}, nil
}

package crud

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"

	"alfred/registry"
)

// ApplyInputs registers what the user changed outside the chat and the rows the
// user pointed at, tokens in the message included, and stores the rows as results
// of step 0. Every row is read as the tenant first: for one that is not there, or
// not this user's, nothing is registered and a notice is returned, a sentence for
// the model and the user.
func (t *Tools) ApplyInputs(ctx context.Context, tx pgx.Tx, scope registry.Scope, message string, uiChanges, mentions json.RawMessage) ([]string, error) {
	return nil, nil
}

package crud

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/domain"
	"alfred/registry"
)

// past maps verbs to the actions in row_events.
var past = map[domain.Verb]string{
	domain.Create: registry.ActionCreated, domain.Update: registry.ActionUpdated, domain.Delete: registry.ActionDeleted,
}

// noteDone registers what the user did to rows in the user's session or, without a session, records it in row_events,
// and notifies the user's running turns.
func (d *decision) noteDone(ctx context.Context, tx pgx.Tx, user User, operation *string, done ...registry.Result) error {
	var err error
	if user.Session == nil {
		err = keepEvents(ctx, tx, user, operation, done)
	} else {
		for i := range done {
			done[i].Action = d.attributed(done[i].Action)
		}
		_, err = registry.New(tx, d.tools.domain, d.scope).TranslateRows(ctx, done, labelReader(tx, user.ID))
	}
	if err != nil {
		return err
	}

	return noteChange(ctx, tx, user)
}

// keepEvents records what was done to rows outside all conversations. A label that needs another row's is left out:
// that would have to be read for each row.
func keepEvents(ctx context.Context, tx pgx.Tx, user User, operation *string, done []registry.Result) error {
	var kept []map[string]string
	for _, part := range done {
		for _, row := range part.Rows {
			kept = append(kept, map[string]string{
				"entity_type": part.Entity.Type, "entity_id": keyText(row, part.Entity), "label": part.Entity.Label.RenderComplete(row), "action": part.Action,
			})
		}
	}
	rows, err := json.Marshal(kept)
	if err == nil {
		err = db.New().RowEventAdd(ctx, tx, &db.RowEventAddParams{UserID: user.ID, Operation: operation, Rows: rows})
	}
	if err != nil {
		return fmt.Errorf("keep what was done to rows: %w", err)
	}

	return nil
}

// noteChange tells the user's running turns that rows have changed.
func noteChange(ctx context.Context, tx pgx.Tx, user User) error {
	if _, err := db.New().UserChange(ctx, tx, user.ID); err != nil {
		return fmt.Errorf("note the change: %w", err)
	}

	return nil
}

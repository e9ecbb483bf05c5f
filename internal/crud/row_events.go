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

// past is what row_events says of a verb.
var past = map[domain.Verb]string{
	domain.Create: registry.ActionCreated, domain.Update: registry.ActionUpdated, domain.Delete: registry.ActionDeleted,
}

// rowEvent is what somebody did to a row beside all conversations.
type rowEvent struct {
	entity *domain.Entity
	row    map[string]any
	action string
}

// keepEvents writes down what was done to rows where no conversation's registry does. A label that needs another row's is
// left out: it would have to be read for each.
func keepEvents(ctx context.Context, tx pgx.Tx, user User, operation *string, done ...rowEvent) error {
	if len(done) == 0 {
		return nil
	}
	kept := make([]map[string]string, len(done))
	for i, one := range done {
		kept[i] = map[string]string{
			"entity_type": one.entity.Type, "entity_id": keyText(one.row, one.entity), "label": one.entity.Label.RenderComplete(one.row), "action": one.action,
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

// events are what an operation did to rows, and that it was called on its own.
func (op *operateOp) events(called map[string]any) []rowEvent {
	done := []rowEvent{{op.declared.On, called, actionCalled}}
	for _, one := range op.changed {
		for _, row := range one.Rows {
			done = append(done, rowEvent{one.Entity, row, one.Action})
		}
	}

	return done
}

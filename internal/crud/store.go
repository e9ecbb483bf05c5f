package crud

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/exact"
	"alfred/internal/pg"
)

func (d *decision) number(s *step) int { return d.scope.Results + slices.Index(d.steps, s) + 1 }

// store writes the results' rows and summarizes them.
func (d *decision) store(ctx context.Context, tx pgx.Tx) (Outcome, error) {
	outcome, rows := Outcome{Approval: d.approval}, &pg.Batch{}
	if d.journal.unread() { // nothing has been sent since it was asked for
		if err := rows.Send(ctx, tx); err != nil {
			return Outcome{}, err
		}
	}
	for _, s := range d.steps {
		result := Result{Call: d.number(s), Tool: s.call.Tool, RowCount: s.result.total, Shown: len(s.result.rows), Refs: s.result.refs, Changes: s.result.changes, Notice: s.result.notice}
		if s.entity != nil {
			result.EntityType = s.entity.Type
		}
		if s.fault != nil {
			result.ErrorCode, result.ErrorMessage = s.fault.Code, s.fault.Message
		} else {
			result.Told = s.told(&result)
		}
		if err := storeResult(rows, d.scope.TurnID, d.scope.Step, &result, s.call.Args, s.result.rows); err != nil {
			return Outcome{}, err
		}
		outcome.Results = append(outcome.Results, result)
	}
	d.journal.finish()
	outcome.Undo, outcome.Aftermath = d.journal.prospect(), d.journal.aftermath()
	if err := d.journal.store(rows, d.scope); err != nil {
		return Outcome{}, err
	}

	return outcome, rows.Later(ctx, tx)
}

// storeResult queues a result's row. A notice goes into the first row, where a model will read it, or into an empty
// result as the message.
func storeResult(queue *pg.Batch, turn uuid.UUID, step int, result *Result, args json.RawMessage, rows []map[string]any) error {
	if rows == nil {
		rows = []map[string]any{}
	}
	message := result.ErrorMessage
	if result.Notice != "" && len(rows) > 0 {
		rows[0]["_notice"] = result.Notice
	} else if result.Notice != "" {
		message = result.Notice
	}
	raw, err := jsonRows(rows)
	if err != nil {
		return err
	}
	result.Stored = &db.TurnStepResultInsertParams{
		TurnID: turn, Step: int32(step), Call: int32(result.Call), Tool: result.Tool,
		EntityType: textOrNil(result.EntityType), Params: storedArgs(args), Rows: raw, RowCount: int32(result.RowCount),
		Refs: append([]string{}, result.Refs...), ErrorCode: textOrNil(string(result.ErrorCode)), ErrorMessage: textOrNil(message),
	}
	queue.Exec("store result", db.TurnStepResultInsert, result.Stored)

	return nil
}

// storedArgs keeps the arguments as the model wrote them, as far as jsonb can store them.
func storedArgs(args json.RawMessage) json.RawMessage {
	var tree any
	if err := exact.Decode(args, &tree); err != nil {
		return json.RawMessage("{}")
	}
	clean, err := exact.Storable(tree)
	if err != nil {
		return json.RawMessage("{}")
	}

	return clean
}

func textOrNil(text string) *string {
	if text == "" {
		return nil
	}

	return &text
}

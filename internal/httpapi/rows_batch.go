package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/crud"
	"alfred/internal/httpapi/problem"
	"alfred/internal/pg"
)

// rowChange is one change of a batch.
type rowChange struct {
	Action  string                     `enum:"create,update,delete"                    json:"action"`
	ID      string                     `doc:"Key of the row; not of one to be created." json:"id,omitempty"`
	ETag    string                     `doc:"Of the row as you saw it: a change of a row that changed since is refused as stale; without it the last write stands." json:"etag,omitempty"`
	Confirm string                     `doc:"What the fault confirmation_needed said would be deleted with it." json:"confirm,omitempty"`
	Data    map[string]json.RawMessage `doc:"What create and patch take."              json:"data,omitempty"`
}

type rowBatch struct {
	Changes []rowChange `json:"changes"                                   maxItems:"1000" minItems:"1" nullable:"false"`
	Preview bool        `doc:"Say what would be wrong, and write nothing." json:"preview,omitempty"`
}

type rowBatchIn struct {
	RowsPath
	ToldSession
	IdempotencyHeader

	Body rowBatch
}

// rowFault is what is wrong with one change of a batch.
type rowFault struct {
	Index   int    `doc:"Of the change, from 0." json:"index"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// rowWas is what a change without an ETag overwrote.
type rowWas struct {
	Index int            `doc:"Of the change, from 0."                   json:"index"`
	Was   map[string]any `doc:"What its columns held before, by column; the whole row, if it was deleted." json:"was"`
}

type rowBatchOutBody struct {
	Written     int        `doc:"How many changes were written: all or none." json:"written"`
	Errors      []rowFault `json:"errors"`
	Overwritten []rowWas   `doc:"What changes without an ETag wrote over, or deleted." json:"overwritten"`
}

// errNotWritten rolls back a batch that is a dry run or has a fault.
var errNotWritten = errors.New("nothing is written")

func (a *api) rowBatch(ctx context.Context, in *rowBatchIn) (*rowBatchOutBody, error) {
	user, err := rowUser(ctx, in.Session)
	if err == nil && user.Session != nil { // or each change would have the fault
		_, err = a.door.Session(ctx, *user.Session)
	}
	if err != nil {
		return nil, err
	}
	out := &rowBatchOutBody{Errors: []rowFault{}, Overwritten: []rowWas{}}
	err = a.writeAll(ctx, func(tx pgx.Tx) error {
		_, _, err := a.createOnce(ctx, tx, in.IdempotencyKey, []any{"batch-rows", in.RowsPath, in.ToldSession, in.Body}, func() (string, error) {
			err := a.rowChanges(ctx, tx, user, in, out)
			if err == nil && (in.Body.Preview || len(out.Errors) > 0) {
				err = errNotWritten
			}

			return "", err
		})

		return err
	})
	if errors.Is(err, errNotWritten) {
		return out, nil
	}
	out.Written = len(in.Body.Changes)

	return out, err
}

// rowChanges applies each change under a savepoint, so that all faults are found. What the database checks late is one only if no later
// change mends it.
func (a *api) rowChanges(ctx context.Context, tx pgx.Tx, user crud.User, in *rowBatchIn, out *rowBatchOutBody) error {
	user.Settles = true
	var open *rowFault
	for i, change := range in.Body.Changes {
		var row crud.Row
		err := pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) (err error) {
			row, err = a.rowChange(ctx, tx, user, in.Type, change)

			return err
		})
		fault, err := faultOf(i, err)
		if err != nil {
			return err
		}
		if fault != nil {
			out.Errors = append(out.Errors, *fault)

			continue
		}
		if len(row.Was) > 0 {
			out.Overwritten = append(out.Overwritten, rowWas{Index: i, Was: row.Was})
		}
		late, err := faultOf(i, a.Rows.Settle(ctx, tx, user, in.Type, deletedBy(change)...))
		switch {
		case err != nil:
			return err
		case late == nil || open == nil:
			open = late
		}
	}
	if open != nil {
		out.Errors = append(out.Errors, *open)
	}

	return nil
}

// faultOf is what an error says is wrong with a change, nil for none; another error is returned.
func faultOf(i int, err error) (*rowFault, error) {
	if refused, ok := errors.AsType[*crud.Error](err); ok {
		return &rowFault{Index: i, Code: string(refused.Code), Message: refused.Message}, nil
	}
	if asks, unsure := errors.AsType[*crud.ConfirmError](err); unsure {
		return &rowFault{Index: i, Code: codeConfirm, Message: asks.Text}, nil
	}

	return nil, err
}

// deletedBy is the key of the row that a change deletes.
func deletedBy(change rowChange) []string {
	if change.Action != "delete" {
		return nil
	}

	return []string{change.ID}
}

func (a *api) rowChange(ctx context.Context, tx pgx.Tx, user crud.User, entityType string, change rowChange) (crud.Row, error) {
	switch change.Action {
	case "create":
		return a.Rows.Create(ctx, tx, user, entityType, encoded(change.Data))
	case "update":
		return a.Rows.Patch(ctx, tx, user, entityType, change.ID, versionOf(change.ETag), encoded(change.Data))
	default:
		return a.Rows.Delete(ctx, tx, user, entityType, change.ID, crud.Deletion{Version: versionOf(change.ETag), Told: change.Confirm})
	}
}

// rowEvent is a row change made through Alfred.
type rowEvent struct {
	Action    string     `doc:"called: an operation was done to it." enum:"created,updated,deleted,called" json:"action"`
	Operation *string    `doc:"Which operation did it, where it was called without a session."           json:"operation,omitempty"`
	Actor     string     `enum:"assistant,user,system"               json:"actor"`
	SessionID *uuid.UUID `doc:"Absent where it was done without one." json:"session_id,omitempty"`
	Title     string     `doc:"Of the session."                      json:"title"`
	Number    int32      `doc:"Of the turn in which it was made, or learned of; 0 without a session." json:"number"`
	At        time.Time  `json:"at"`
}

type rowHistoryOutBody struct{ Page[rowEvent] }

const shownEvents = 100

func (a *api) rowHistory(ctx context.Context, in *RowPath) (*rowHistoryOutBody, error) {
	entity := a.Domain.Entity(in.Type)
	if entity == nil {
		return nil, problem.ErrNotFound
	}
	rows, err := pg.Value(ctx, a.door.Read, func(tx pgx.Tx) ([]*db.RowEventListRow, error) {
		return a.q.RowEventList(ctx, tx, &db.RowEventListParams{UserID: userOf(ctx), EntityType: entity.Type, EntityID: in.ID, MostEvents: shownEvents})
	})
	if err != nil {
		return nil, fmt.Errorf("list changes of row: %w", err)
	}

	return &rowHistoryOutBody{Page[rowEvent]{Items: mapped(rows, func(r *db.RowEventListRow) rowEvent { return rowEvent(*r) })}}, nil
}

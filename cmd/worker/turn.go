package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/cmd/internal/program"
	"alfred/internal/pg"
	"alfred/jobs"
)

type turnCommand struct {
	Undo turnUndoCommand `cmd:"" help:"Undo a turn's writes, by a new turn that a running worker executes."`
}

type turnUndoCommand struct {
	ID   uuid.UUID     `arg:"" help:"The turn's id."`
	JSON bool          `help:"Print JSON."`
	Wait time.Duration `default:"30s" min:"0s" help:"How long to wait for the result."`
}

// undoLine is the result of an undo.
type undoLine struct {
	TurnID uuid.UUID `json:"turn_id"`
	Status string    `json:"status"`
	Undone bool      `json:"undone"`
	Reply  string    `json:"reply"`
}

const notUndoneStatus = 2

// Help explains the exit status.
func (c *turnUndoCommand) Help() string {
	return "Exit status: 0 if the writes were undone, 2 if not, because they cannot be or because no worker answered in time, 1 if the command failed."
}

// Run enqueues the turn and waits for its reply.
func (c *turnUndoCommand) Run(ctx context.Context, pool *pgxpool.Pool, console *program.Console) error {
	var made *jobs.Undo
	err := pg.InTx(ctx, pool, func(tx pgx.Tx) (err error) {
		made, err = jobs.UndoTurn(ctx, tx, jobs.UndoParams{TurnID: c.ID})

		return err
	})
	if refused, ok := errors.AsType[*jobs.CannotUndoError](err); ok {
		return &program.StatusError{Status: notUndoneStatus, Err: refused}
	}
	if err != nil {
		return err
	}
	line, err := c.await(ctx, pool, made.TurnID)
	if err != nil {
		return err
	}
	err = console.Answer(c.JSON, line, cmp.Or(line.Reply, fmt.Sprintf("turn %s is %s: is a worker running?", line.TurnID, line.Status))+"\n")
	if err != nil || line.Undone {
		return err
	}

	return &program.StatusError{Status: notUndoneStatus, Err: errNotUndone}
}

// await polls the turn until it has ended or the timeout expires.
func (c *turnUndoCommand) await(ctx context.Context, pool *pgxpool.Pool, id uuid.UUID) (*undoLine, error) {
	deadline := time.Now().Add(c.Wait)
	for {
		line := &undoLine{TurnID: id}
		err := pool.QueryRow(ctx, `SELECT t.status::text, coalesce(t.reply, t.error_message, ''), EXISTS (SELECT FROM turns AS o WHERE o.id = $2 AND o.undone_by = t.id)
			FROM turns AS t WHERE t.id = $1`, id, c.ID).Scan(&line.Status, &line.Reply, &line.Undone)
		if err != nil {
			return nil, fmt.Errorf("look at the turn: %w", err)
		}
		if line.Status != "queued" && line.Status != "running" || time.Now().After(deadline) {
			return line, nil
		}
		if err := pg.Pause(ctx, 100*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

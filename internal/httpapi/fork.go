package httpapi

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/pg"
	"alfred/jobs"
)

type forkIn struct {
	SessionPath
	IdempotencyHeader

	Body struct {
		Turn int `doc:"Number of the turn after which it begins; 0 for the beginning." json:"turn" minimum:"0"`
	}
}

func (a *api) sessionFork(ctx context.Context, in *forkIn) (*jobs.Fork, error) {
	return pg.Value(ctx, a.writeAll, func(tx pgx.Tx) (*jobs.Fork, error) {
		made, _, err := a.once(ctx, tx, in.IdempotencyKey, []any{"fork-session", in.ID, in.Body.Turn}, func() (made string, err error) {
			err = pg.AsTenant(ctx, tx, userOf(ctx), func(tx pgx.Tx) error {
				fork, err := jobs.ForkSession(ctx, tx, in.ID.UUID, in.Body.Turn)
				made = fork.String()

				return err
			})

			return made, err
		})
		if err != nil {
			return nil, err
		}

		return jobs.DescribeFork(ctx, tx, a.Rows, uuid.MustParse(made))
	})
}

// forkGet says of a fork what making it said, as of now.
func (a *api) forkGet(ctx context.Context, in *SessionPath) (*jobs.Fork, error) {
	if _, err := a.door.Session(ctx, in.ID.UUID); err != nil {
		return nil, err
	}

	return pg.Value(ctx, a.readAll, func(tx pgx.Tx) (*jobs.Fork, error) { return jobs.DescribeFork(ctx, tx, a.Rows, in.ID.UUID) })
}

// branch is one conversation in a tree of forks.
type branch struct {
	ID           uuid.UUID  `json:"id"`
	Title        string     `json:"title"`
	ParentID     *uuid.UUID `doc:"What it began as; none for the first, and where that was deleted." json:"parent_id,omitempty"`
	ForkedAtTurn *int32     `doc:"The last turn that it has of what it began as." json:"forked_at_turn,omitempty"`
	LastTurn     int32      `json:"last_turn"`
	CreatedAt    time.Time  `json:"created_at"`
}

type branchesOutBody struct {
	Items []branch `json:"items"`
}

// sessionBranches lists the root of a conversation's forks and everything forked from it, oldest first.
func (a *api) sessionBranches(ctx context.Context, in *SessionPath) (branchesOutBody, error) {
	return inSession(ctx, a, in.ID, func(tx pgx.Tx, row *db.SessionGetRow) (branchesOutBody, error) {
		rows, err := a.q.SessionBranches(ctx, tx, row.ID)
		if err != nil {
			return branchesOutBody{}, fmt.Errorf("list branches: %w", err)
		}

		return branchesOutBody{mapped(rows, func(r *db.SessionBranchesRow) branch { return branch(*r) })}, nil
	})
}

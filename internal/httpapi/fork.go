package httpapi

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/httpapi/door"
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

type forkOut struct{ Body *jobs.Fork }

func (a *api) sessionFork(ctx context.Context, in *forkIn) (*forkOut, error) {
	id, err := door.ParseID(in.ID)
	if err != nil {
		return nil, failed(ctx, err)
	}
	out := &forkOut{}
	err = pg.InTx(ctx, a.Pool, func(tx pgx.Tx) error {
		var fork uuid.UUID
		made, again, err := a.once(ctx, tx, in.IdempotencyKey, []any{"fork-session", id, in.Body.Turn}, func() (string, error) {
			err := pg.AsTenant(ctx, tx, userOf(ctx), func(tx pgx.Tx) (err error) {
				fork, err = jobs.ForkSession(ctx, tx, id, in.Body.Turn)

				return err
			})

			return fork.String(), err
		})
		if again {
			fork = uuid.MustParse(made)
		}
		if err != nil {
			return err
		}
		out.Body, err = jobs.DescribeFork(ctx, tx, a.Rows, fork)

		return err
	})
	if err != nil {
		return nil, failed(ctx, err)
	}

	return out, nil
}

// forkGet says of a fork what making it said, as of now.
func (a *api) forkGet(ctx context.Context, in *SessionPath) (*forkOut, error) {
	row, err := a.door.Session(ctx, in.ID)
	if err != nil {
		return nil, failed(ctx, err)
	}
	out := &forkOut{}
	err = pg.InReadTx(ctx, a.Pool, func(tx pgx.Tx) (err error) {
		out.Body, err = jobs.DescribeFork(ctx, tx, a.Rows, row.ID)

		return err
	})
	if err != nil {
		return nil, failed(ctx, err)
	}

	return out, nil
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

type branchesOut struct {
	Body struct {
		Items []branch `json:"items"`
	}
}

// sessionBranches lists the root of a conversation's forks and everything forked from it, oldest first.
func (a *api) sessionBranches(ctx context.Context, in *SessionPath) (*branchesOut, error) {
	out := &branchesOut{}
	err := a.readSession(ctx, in.ID, func(tx pgx.Tx, row *db.SessionGetRow) error {
		rows, err := a.q.SessionBranches(ctx, tx, row.ID)
		out.Body.Items = make([]branch, 0, len(rows))
		for _, r := range rows {
			out.Body.Items = append(out.Body.Items, branch(*r))
		}

		return err
	})
	if err != nil {
		return nil, failed(ctx, fmt.Errorf("list branches: %w", err))
	}

	return out, nil
}

package httpapi

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/jobs"
	"alfred/pg"
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
	id, err := parseID(in.ID)
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
		out.Body, err = jobs.DescribeFork(ctx, tx, a.Rows, fork, in.Body.Turn)

		return err
	})
	if err != nil {
		return nil, failed(ctx, err)
	}

	return out, nil
}

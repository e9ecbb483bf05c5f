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

// forked is a session that begins as another one stood.
type forked struct {
	ID           uuid.UUID `json:"id"`
	ParentID     uuid.UUID `json:"parent_id"`
	ForkedAtTurn int       `json:"forked_at_turn"`
}

type forkOut struct{ Body forked }

func (a *api) sessionFork(ctx context.Context, in *forkIn) (*forkOut, error) {
	id, err := parseID(in.ID)
	if err != nil {
		return nil, failed(ctx, err)
	}
	out := &forkOut{Body: forked{ParentID: id, ForkedAtTurn: in.Body.Turn}}
	err = pg.InTx(ctx, a.Pool, func(tx pgx.Tx) error {
		made, again, err := a.once(ctx, tx, in.IdempotencyKey, []any{"fork-session", id, in.Body.Turn}, func() (string, error) {
			err := pg.AsTenant(ctx, tx, userOf(ctx), func(tx pgx.Tx) (err error) {
				out.Body.ID, err = jobs.ForkSession(ctx, tx, id, in.Body.Turn)

				return err
			})

			return out.Body.ID.String(), err
		})
		if again {
			out.Body.ID = uuid.MustParse(made)
		}

		return err
	})
	if err != nil {
		return nil, failed(ctx, err)
	}

	return out, nil
}

package httpapi

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/jobs"
)

type forkIn struct {
	SessionPath

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
	err = a.write(ctx, func(tx pgx.Tx) error {
		out.Body.ID, err = jobs.ForkSession(ctx, tx, id, in.Body.Turn)

		return err
	})
	if err != nil {
		return nil, failed(ctx, err)
	}

	return out, nil
}

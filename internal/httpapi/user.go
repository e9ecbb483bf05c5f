package httpapi

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/pg"
	"alfred/jobs"
)

// user is who a request acts for.
type user struct {
	Name     string `json:"name"`
	Timezone string `doc:"IANA time zone: \"today\" is its day, and times without an offset are its times. UTC until it is set." json:"timezone"`
}

type userPatchIn struct {
	Body struct {
		Timezone string `doc:"IANA name, such as Europe/Berlin." json:"timezone" maxLength:"100"`
	}
}

func (a *api) userGet(ctx context.Context, _ *struct{}) (user, error) {
	row, err := pg.Value(ctx, a.door.Read, func(tx pgx.Tx) (*db.UserGetRow, error) { return a.q.UserGet(ctx, tx, userOf(ctx)) })
	if err != nil {
		return user{}, fmt.Errorf("get user: %w", err)
	}

	return user(*row), nil
}

func (a *api) userPatch(ctx context.Context, in *userPatchIn) (user, error) {
	if err := jobs.SetTimezone(ctx, a.Pool, userOf(ctx), in.Body.Timezone); err != nil {
		return user{}, err
	}

	return a.userGet(ctx, nil)
}

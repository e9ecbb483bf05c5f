package httpapi

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/httpapi/problem"
	"alfred/internal/pg"
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
	err := a.q.UserTimezoneSet(ctx, a.Pool, &db.UserTimezoneSetParams{ID: userOf(ctx), Timezone: in.Body.Timezone})
	if pg.IsCheck(err, "users_timezone_known") {
		return user{}, problem.Invalid("This time zone is not known here. It is named as Europe/Berlin is.")
	}
	if err != nil {
		return user{}, fmt.Errorf("set time zone: %w", err)
	}

	return a.userGet(ctx, nil)
}

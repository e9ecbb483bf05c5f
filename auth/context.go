package auth

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"
)

type callerKey struct{}

// With returns a context of requests that act for a caller.
func With(ctx context.Context, who Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, who)
}

// CallerOf is whom a request acts for; the zero Caller, who is nobody, outside of one.
func CallerOf(ctx context.Context) Caller {
	who, _ := ctx.Value(callerKey{}).(Caller)

	return who
}

// Place finds the database that serves a request's user at the moment.
type Place func(ctx context.Context) (*pgxpool.Pool, error)

type placeKey struct{}

// WithPlace returns a context of requests whose user may move to another database meanwhile.
func WithPlace(ctx context.Context, place Place) context.Context {
	return context.WithValue(ctx, placeKey{}, place)
}

// PlaceOf is nil where there is one database.
func PlaceOf(ctx context.Context) Place {
	place, _ := ctx.Value(placeKey{}).(Place)

	return place
}

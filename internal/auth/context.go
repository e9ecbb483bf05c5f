package auth

import (
	"context"
	"time"

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

// placed is what is known of a request whose user may move.
type placed struct {
	place   Place
	arrived time.Time
}

// WithPlace returns the context of a request that has arrived and whose user may move to another database meanwhile.
func WithPlace(ctx context.Context, place Place, arrived time.Time) context.Context {
	return context.WithValue(ctx, placeKey{}, placed{place, arrived})
}

// PlaceOf is nil where there is one database.
func PlaceOf(ctx context.Context) Place {
	known, _ := ctx.Value(placeKey{}).(placed)

	return known.place
}

// WaitedFor is how long ago the request first arrived: it is answered again if its user moves meanwhile. 0 if there is one
// database.
func WaitedFor(ctx context.Context) time.Duration {
	known, ok := ctx.Value(placeKey{}).(placed)
	if !ok {
		return 0
	}

	return time.Since(known.arrived)
}

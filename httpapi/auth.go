package httpapi

import (
	"context"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/google/uuid"

	"alfred/auth"
)

type contextKey int

const (
	callerKey contextKey = iota
	causeKey
)

func callerOf(ctx context.Context) auth.Caller {
	c, _ := ctx.Value(callerKey).(auth.Caller)

	return c
}

// userOf is the user the request acts for.
func userOf(ctx context.Context) uuid.UUID { return callerOf(ctx).User }

// authenticate authenticates requests to routes described by Huma.
func (a *api) authenticate(ctx huma.Context, next func(huma.Context)) {
	who, err := a.gate.Admit(ctx.Context(), ctx.Header("Authorization"), ctx.Method())
	if err != nil {
		a.fail(ctx, err)

		return
	}
	next(huma.WithValue(ctx, callerKey, who))
}

// stillGood checks again that the request's key or token is valid.
func (a *api) stillGood(ctx context.Context) error { return a.gate.StillGood(ctx, callerOf(ctx)) }

func (a *api) fail(ctx huma.Context, err error) {
	noteCause(ctx.Context(), err)
	_, w := humago.Unwrap(ctx)
	writeProblem(w, problemOf(err))
}

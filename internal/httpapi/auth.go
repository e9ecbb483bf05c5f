package httpapi

import (
	"context"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/google/uuid"

	"alfred/internal/auth"
	"alfred/internal/httpapi/problem"
)

// userOf is the user the request acts for.
func userOf(ctx context.Context) uuid.UUID { return auth.CallerOf(ctx).User }

// authenticate authenticates requests to routes described by Huma.
func (a *api) authenticate(ctx huma.Context, next func(huma.Context)) {
	who, err := a.gate.Admit(ctx.Context(), ctx.Header("Authorization"), ctx.Method())
	if err != nil {
		a.fail(ctx, err)

		return
	}
	next(huma.WithContext(ctx, auth.With(ctx.Context(), who)))
}

// stillGood checks again that the request's key or token is valid.
func (a *api) stillGood(ctx context.Context) error { return a.gate.StillGood(ctx, auth.CallerOf(ctx)) }

func (a *api) fail(ctx huma.Context, err error) {
	problem.Note(ctx.Context(), err)
	_, w := humago.Unwrap(ctx)
	problem.Write(w, problem.Of(err))
}

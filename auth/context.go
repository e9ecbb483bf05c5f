package auth

import "context"

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

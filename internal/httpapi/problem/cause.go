package problem

import "context"

type causeKey struct{}

// Cause is why a request failed.
type Cause struct{ Err error }

// Keep returns a context in which [Note] keeps the cause.
func Keep(ctx context.Context) (context.Context, *Cause) {
	c := &Cause{}

	return context.WithValue(ctx, causeKey{}, c), c
}

// Note keeps why a request failed for its log line: the client must not be told.
func Note(ctx context.Context, err error) {
	if c, ok := ctx.Value(causeKey{}).(*Cause); ok && err != nil {
		c.Err = err
	}
}

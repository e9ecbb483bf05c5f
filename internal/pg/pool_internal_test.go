package pg

import (
	"context"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A timeout at the context's deadline is the context's error; that of a server that does not answer in time is not.
func TestNoAnswerIsTheContextsEnd(t *testing.T) {
	t.Parallel()

	dial := &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}
	over, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	err := noAnswer(over, dial)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, err, ErrNoAnswer)

	waiting, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	for _, ctx := range []context.Context{t.Context(), waiting} {
		require.NotErrorIs(t, noAnswer(ctx, dial), context.DeadlineExceeded)
	}
}

package mcpserver

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

// What the caller may know of an outage does not say what it was: the log does.
func TestOutagesAreLogged(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	broken := fmt.Errorf("connection refused: %w", io.ErrUnexpectedEOF)
	s := &Place{Config: Config{Logger: slog.New(slog.NewTextHandler(&log, nil)), Explain: func(error) *Error { return nil }}}
	require.Equal(t, errInternal, s.callerError(t.Context(), "read", broken), "nothing explains it")
	require.Contains(t, log.String(), "connection refused")

	log.Reset()
	unavailable := &Error{"unavailable", "Try again."}
	s.Explain = func(error) *Error { return unavailable }
	require.Equal(t, unavailable, s.callerError(t.Context(), "read", broken))
	require.Contains(t, log.String(), "connection refused")

	log.Reset()
	require.Equal(t, unavailable, s.callerError(t.Context(), "read", &pgconn.PgError{Code: "AL010"}))
	s.Explain = func(error) *Error { return errNotFound }
	require.Equal(t, errNotFound, s.callerError(t.Context(), "read", &pgconn.PgError{Code: pgerrcode.NoData}))
	require.Empty(t, log.String(), "a move is no fault, nor is a question for what is not there")
}

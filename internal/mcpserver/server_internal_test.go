package mcpserver

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

// What the caller may know of an outage does not say what it was: the log does.
func TestOutagesAreLogged(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	s := &Place{Config: Config{Logger: slog.New(slog.NewTextHandler(&log, nil))}}
	for want, err := range map[string]error{
		"internal: ":    errors.New("a secret"),
		"unavailable: ": fmt.Errorf("a secret: %w", io.ErrUnexpectedEOF),
	} {
		log.Reset()
		told := s.callerError(t.Context(), "read", err)
		require.ErrorContains(t, told, want)
		require.NotContains(t, told.Error(), "secret")
		require.Contains(t, log.String(), "a secret")
	}

	log.Reset()
	require.ErrorContains(t, s.callerError(t.Context(), "read", &pgconn.PgError{Code: "AL010"}), "unavailable: ")
	require.ErrorContains(t, s.callerError(t.Context(), "read", pgx.ErrNoRows), "not_found: ")
	require.Empty(t, log.String(), "a move is no fault, nor is a question for what is not there")
}

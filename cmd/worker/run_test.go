package main

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"alfred/cmd/internal/settings"
	"alfred/internal/dbtest"
	"alfred/internal/pg"
)

func TestRunAnswersWhatPsqlEnqueued(t *testing.T) {
	t.Parallel()

	url := dbtest.URL(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"run", "--quiet", "--conns", "3"}, settings.Env{"DATABASE_URL": url}, io.Discard, io.Discard)
	}()

	pool, err := pg.Open(t.Context(), pg.Config{URL: url, MaxConns: 2})
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	turn := query[string](t, pool, `SELECT enqueue_turn(start_session(), 'what recipes do I have?')`)
	var status, code string
	require.Eventually(t, func() bool {
		err := pool.QueryRow(t.Context(), `SELECT status, coalesce(error_code, '') FROM v_turns WHERE turn_id = $1::uuid`, turn).Scan(&status, &code)

		return err == nil && status != "queued" && status != "running"
	}, dbtest.Patience, 10*time.Millisecond)
	require.Equal(t, "succeeded", status, code)

	stop()
	require.NoError(t, <-ended)
}

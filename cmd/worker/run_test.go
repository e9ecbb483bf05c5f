package main

import (
	"context"
	"io"
	"os"
	"strings"
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

// Once the owner has changed tables and declaration and tried them, a running worker knows them. Until then, and with a file that was
// not tried, it goes on as it was.
func TestRunFollowsADomainThatWasTriedAnew(t *testing.T) {
	t.Parallel()

	e, pool := attached(t, "grove")
	execute(t, pool, `INSERT INTO grove.users VALUES (1, 'Ada'); INSERT INTO grove.trees VALUES (1, 1, 'Oak'); SELECT start_session('ada')`)
	execute(t, pool, `INSERT INTO grove_alfred.alfred_accounts SELECT id, 1 FROM users WHERE name = 'ada'`)
	mustWork(t, e, "domain", "check", "--probe")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, []string{"run", "--quiet"}, e, io.Discard, io.Discard) }()
	trees := func() (reply string) {
		turn := query[string](t, pool, `SELECT enqueue_turn(start_session('ada'), 'what trees do I have?')`)
		require.Eventually(t, func() bool {
			return pool.QueryRow(t.Context(), `SELECT reply FROM v_turns WHERE turn_id = $1::uuid AND status = 'succeeded'`, turn).Scan(&reply) == nil
		}, dbtest.Patience, 10*time.Millisecond)

		return reply
	}
	require.NotContains(t, trees(), "20 m")

	execute(t, pool, `ALTER TABLE grove.trees ADD COLUMN height integer NOT NULL DEFAULT 20`)
	file, err := os.ReadFile(e["ALFRED_DOMAIN"])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(e["ALFRED_DOMAIN"], []byte(strings.Replace(string(file), "{name}", "{name}, {height} m", 2)), 0o600))
	mustWork(t, e, "domain", "attach")
	mustWork(t, e, "domain", "check", "--probe")
	require.Eventually(t, func() bool { return strings.Contains(trees(), "20 m") }, dbtest.Patience, 500*time.Millisecond)
	stop()
	require.NoError(t, <-ended)
}

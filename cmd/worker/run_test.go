package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
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

// What a decision waits for does not hold the new file up, nor does a file that is broken by then end a worker that works.
func TestRunGoesOnWhateverBecomesOfItsDomain(t *testing.T) {
	t.Parallel()

	e, pool := attached(t, "coppice")
	asked := make(chan struct{}, 9)
	model := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	t.Cleanup(model.Close)
	e["ALFRED_LLM"], e["OPENAI_BASE_URL"], e["ALFRED_MODEL"], e["ALFRED_METRICS_ADDR"] = "openai", model.URL, "slow", "127.0.0.1:0"
	execute(t, pool, `INSERT INTO coppice.users VALUES (1, 'Ada'); SELECT start_session('ada')`)
	execute(t, pool, `INSERT INTO coppice_alfred.alfred_accounts SELECT id, 1 FROM users WHERE name = 'ada'`)
	mustWork(t, e, "domain", "check", "--probe")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"run", "--quiet", "--grace", "3s", "--conns", "3"}, e, io.Discard, io.Discard)
	}()
	execute(t, pool, `SELECT enqueue_turn(start_session('ada'), 'what trees do I have?')`)
	<-asked

	file, err := os.ReadFile(e["ALFRED_DOMAIN"])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(e["ALFRED_DOMAIN"], append(file, "# tried\n"...), 0o600))
	mustWork(t, e, "domain", "attach")
	mustWork(t, e, "domain", "check", "--probe")
	workers := func(n int) func() bool {
		return func() bool { return query[int](t, pool, `SELECT count(*)::int FROM workers`) == n }
	}
	require.Eventually(t, workers(2), dbtest.Patience, 10*time.Millisecond, "another worker takes new turns while the model is waited for")
	require.NoError(t, os.WriteFile(e["ALFRED_DOMAIN"], []byte("name: ["), 0o600))
	<-asked
	require.Eventually(t, workers(1), dbtest.Patience, 10*time.Millisecond)
	require.Empty(t, ended)
	stop()
	require.NoError(t, <-ended)
}

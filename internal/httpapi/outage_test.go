package httpapi_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/internal/httpapi"
)

// While the database is down, a client is told to retry rather than that we have a bug, and the probe says why.
func TestDatabaseAway(t *testing.T) {
	t.Parallel()

	b := setup(t, func(config *httpapi.Config) {
		away := config.Pool.Config()
		away.ConnConfig.Port = 1 // nobody listens there
		away.ConnConfig.Fallbacks = nil
		pool, err := pgxpool.NewWithConfig(t.Context(), away)
		require.NoError(t, err)
		t.Cleanup(pool.Close)
		config.Pool = pool
	})
	got := b.call(t, http.MethodGet, "/v1/sessions", nil)
	require.Equal(t, http.StatusServiceUnavailable, got.status)
	require.Equal(t, "unavailable", got.code())
	require.Equal(t, http.StatusServiceUnavailable, b.call(t, http.MethodGet, "/readyz", nil).status)
	require.Equal(t, http.StatusOK, b.call(t, http.MethodGet, "/healthz", nil).status)
}

// K11: on a read-only database, reading works with a key, and writes say that they are unavailable.
func TestK11AReadOnlyDatabaseIsRead(t *testing.T) {
	t.Parallel()

	b := setup(t)
	session := b.session(t)
	config := b.pool.Config()
	config.ConnConfig.RuntimeParams["default_transaction_read_only"] = "on"
	standby, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(standby.Close)
	b.url = b.serve(t, func(c *httpapi.Config) { c.Pool = standby })

	for _, path := range []string{"/v1/sessions", "/v1/sessions/" + session, "/v1/sessions/" + session + "/entities", "/v1/data/recipe"} {
		require.Equal(t, http.StatusOK, b.call(t, http.MethodGet, path, nil).status, path)
	}
	b.call(t, http.MethodPost, "/v1/sessions/"+session+"/turns", map[string]any{"message": "hello"}).requireProblem(t, http.StatusServiceUnavailable, "unavailable")
	b.call(t, http.MethodPost, "/v1/sessions", map[string]any{}).requireProblem(t, http.StatusServiceUnavailable, "unavailable")
	ready := send(t, b.url, http.MethodGet, "/readyz", nil, nil)
	require.Equal(t, http.StatusServiceUnavailable, ready.status)
}

// A database that restarts ends nobody's wait.
func TestAWaitOutlastsARestartOfTheDatabase(t *testing.T) {
	t.Parallel()

	var broken atomic.Bool
	b := setup(t, func(config *httpapi.Config) {
		flaky := config.Pool.Config()
		flaky.PrepareConn = func(context.Context, *pgx.Conn) (bool, error) {
			if broken.Load() {
				return false, &pgconn.PgError{Code: pgerrcode.CannotConnectNow, Message: "the database system is starting up"}
			}

			return true, nil
		}
		pool, err := pgxpool.NewWithConfig(t.Context(), flaky)
		require.NoError(t, err)
		t.Cleanup(pool.Close)
		config.Pool = pool
	})
	turn := b.message(t, b.session(t), "hi")
	wait, done := meanwhile(t, func() (*answer, error) {
		return fetch(t.Context(), b.url, http.MethodGet, "/v1/turns/"+turn+"?wait=1m", nil, header{"Authorization": "Bearer " + b.key})
	})
	time.Sleep(300 * time.Millisecond) // it has begun
	broken.Store(true)
	b.emit(t, turn, "reply.delta", map[string]any{"text": "Hi "}) // makes it look
	select {
	case <-done:
		require.Fail(t, "not ended", wait().raw)
	case <-time.After(time.Second):
	}
	b.reply(t, turn, "Hi there.")
	broken.Store(false)
	require.Equal(t, "Hi there.", wait().text("reply"))
}

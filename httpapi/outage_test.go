package httpapi_test

import (
	"net/http"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/httpapi"
)

// While the database is away a client is told to try again, not that we have a bug, and the probe says why.
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

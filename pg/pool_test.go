package pg_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/pg"
)

func TestOpen(t *testing.T) {
	t.Parallel()

	t.Run("SetsWhatEveryConnectionNeeds", func(t *testing.T) {
		t.Parallel()

		pool, err := pg.Open(t.Context(), pg.Config{AppName: "probe", IdleInTxTimeout: 5 * time.Second, MaxConns: 3, URL: dbtest.URL(t)})
		require.NoError(t, err)
		t.Cleanup(pool.Close)
		var app, idle, path string
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT current_setting('application_name'), current_setting('idle_in_transaction_session_timeout'),
			current_setting('search_path')`).Scan(&app, &idle, &path))
		require.Equal(t, []string{"probe", "5s", "alfred, public"}, []string{app, idle, path})
		require.EqualValues(t, 3, pool.Config().MaxConns)
	})

	t.Run("NothingAnswers", func(t *testing.T) {
		t.Parallel()

		_, err := pg.Open(t.Context(), pg.Config{URL: "postgres://nobody:secret@127.0.0.1:1/nothing"})
		require.ErrorIs(t, err, pg.ErrNoAnswer)
		require.NotContains(t, err.Error(), "secret")
	})

	t.Run("NotAnAddress", func(t *testing.T) {
		t.Parallel()

		_, err := pg.Open(t.Context(), pg.Config{URL: "postgres://nobody:secret@127.0.0.1:port/nothing"})
		require.ErrorContains(t, err, "DATABASE_URL")
		require.NotContains(t, err.Error(), "secret")
	})
}

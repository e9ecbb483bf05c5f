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

	t.Run("UsesExtensionsWhereTheyAre", func(t *testing.T) {
		t.Parallel()

		url := dbtest.EmptyURL(t)
		_, err := open(t, url).Exec(t.Context(), `
			CREATE SCHEMA "Their own";
			CREATE EXTENSION vector WITH SCHEMA "Their own";
			CREATE EXTENSION pg_trgm WITH SCHEMA "Their own"`)
		require.NoError(t, err)
		pool := open(t, url)
		migrator, err := pg.NewMigrator(pool, discard())
		require.NoError(t, err)
		_, err = migrator.Up(t.Context())
		require.NoError(t, err)

		var narrow int
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT '[1,2]'::vector <=> '[1,2]'`).Scan(new(float64)))
		require.NoError(t, pool.QueryRow(t.Context(), `
			SELECT count(*) FROM pg_proc AS p, unnest(proconfig) AS setting
			WHERE pronamespace = 'alfred'::regnamespace AND setting LIKE 'search_path=%alfred%' AND setting NOT LIKE '%Their own%'`).Scan(&narrow))
		require.Zero(t, narrow)
		_, err = migrator.DownAll(t.Context())
		require.NoError(t, err)
	})
}

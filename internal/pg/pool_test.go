package pg_test

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/pg"
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

	t.Run("ReliesOnNoDefault", func(t *testing.T) { // K11
		t.Parallel()

		url := dbtest.URL(t)
		_, err := open(t, url).Exec(t.Context(), `DO $$ BEGIN
			EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = serializable', current_database());
			EXECUTE format('ALTER DATABASE %I SET row_security = off', current_database());
			EXECUTE format('ALTER DATABASE %I SET quote_all_identifiers = on', current_database());
			EXECUTE format('ALTER DATABASE %I SET DateStyle = ''SQL, DMY''', current_database());
			EXECUTE format('ALTER DATABASE %I SET standard_conforming_strings = off', current_database()); END $$`)
		require.NoError(t, err)
		var level, policies, date, odd, name string
		require.NoError(t, open(t, url).QueryRow(t.Context(), `SELECT current_setting('transaction_isolation'), current_setting('row_security'),
			'2026-12-31'::date::text, '\S', quote_ident('name')`).Scan(&level, &policies, &date, &odd, &name))
		require.Equal(t, []string{"read committed", "on", "2026-12-31", `\S`, "name"}, []string{level, policies, date, odd, name})
	})

	t.Run("AnEncodingWithoutEveryCharacter", func(t *testing.T) {
		t.Parallel()

		name := "alfred_test_ascii_" + uuid.NewString()[:8]
		server := open(t, dbtest.Server(t))
		_, err := server.Exec(t.Context(), `CREATE DATABASE `+name+` ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`)
		require.NoError(t, err)
		t.Cleanup(func() {
			_, err := server.Exec(context.WithoutCancel(t.Context()), `DROP DATABASE `+name)
			require.NoError(t, err)
		})
		address, err := url.Parse(dbtest.Server(t))
		require.NoError(t, err)
		address.Path = name
		_, err = pg.Open(t.Context(), pg.Config{URL: address.String()})
		require.ErrorIs(t, err, pg.ErrEncoding)
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

	t.Run("QuotedAddress", func(t *testing.T) {
		t.Parallel()

		for _, around := range []string{" ", "'", `"`} {
			_, err := pg.Open(t.Context(), pg.Config{URL: around + "postgres://nobody:secret@127.0.0.1:1/nothing?sslmode=disable" + around})
			require.ErrorContains(t, err, "DATABASE_URL")
			require.NotErrorIs(t, err, pg.ErrNoAnswer, "a default address was tried")
			require.NotContains(t, err.Error(), "secret")
		}
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

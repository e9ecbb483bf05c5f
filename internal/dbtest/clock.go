package dbtest

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

// clockSQL replaces the database's clocks by ones that may be off. Postgres calls the built-in functions of these names by
// their numbers, so the names inside them still mean those.
const clockSQL = `
	CREATE SCHEMA wrong_clock;
	CREATE TABLE wrong_clock.setting (by interval NOT NULL);
	INSERT INTO wrong_clock.setting VALUES ('0');
	CREATE FUNCTION wrong_clock.by() RETURNS interval LANGUAGE plpgsql STABLE SECURITY DEFINER AS 'BEGIN RETURN (SELECT s.by FROM wrong_clock.setting AS s); END';
	GRANT USAGE ON SCHEMA wrong_clock TO PUBLIC;
	CREATE OR REPLACE FUNCTION pg_catalog.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS 'SELECT pg_catalog.clock_timestamp() + wrong_clock.by()';
	CREATE OR REPLACE FUNCTION pg_catalog.statement_timestamp() RETURNS timestamptz LANGUAGE sql STABLE AS 'SELECT pg_catalog.statement_timestamp() + wrong_clock.by()';
	CREATE OR REPLACE FUNCTION pg_catalog.now() RETURNS timestamptz LANGUAGE sql STABLE AS 'SELECT pg_catalog.now() + wrong_clock.by()';`

// SetClock sets the clock of a test's own database: it is off by so much from then on, for whoever asks it in SQL.
func SetClock(t testing.TB, pool *pgxpool.Pool, by time.Duration) {
	t.Helper()

	ctx := t.Context()
	var may, made bool
	require.NoError(t, pool.QueryRow(ctx, `SELECT rolsuper, to_regclass('wrong_clock.setting') IS NOT NULL FROM pg_roles WHERE rolname = current_user`).Scan(&may, &made))
	if !may {
		t.Skip("only a superuser of the database can set its clock")
	}
	if !made {
		_, err := pool.Exec(ctx, clockSQL)
		require.NoError(t, err)
		pool.Reset() // what is prepared asks the old one
	}
	_, err := pool.Exec(ctx, `UPDATE wrong_clock.setting SET by = $1`, by)
	require.NoError(t, err)
}

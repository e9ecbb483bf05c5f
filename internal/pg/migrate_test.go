package pg_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"alfred/internal/dbtest"
	"alfred/internal/pg"
)

type migrateBundle struct {
	migrator *pg.Migrator
	pool     *pgxpool.Pool
}

func setupEmpty(t *testing.T) *migrateBundle {
	t.Helper()

	pool := open(t, dbtest.EmptyURL(t))
	migrator, err := pg.NewMigrator(pool, discard())
	require.NoError(t, err)

	return &migrateBundle{migrator: migrator, pool: pool}
}

func open(t *testing.T, url string) *pgxpool.Pool {
	t.Helper()

	pool, err := pg.Open(t.Context(), pg.Config{AppName: "pg_test", MaxConns: 4, URL: url})
	require.NoError(t, err)
	t.Cleanup(pool.Close)

	return pool
}

func TestMigratorDown(t *testing.T) {
	t.Parallel()

	t.Run("AllOfNothing", func(t *testing.T) {
		t.Parallel()

		bundle := setupEmpty(t)
		steps, err := bundle.migrator.DownAll(t.Context())
		require.NoError(t, err)
		require.Empty(t, steps)
	})

	t.Run("AllThenUpGivesTheSameSchema", func(t *testing.T) {
		t.Parallel()

		bundle := setupEmpty(t)
		_, err := bundle.migrator.Up(t.Context())
		require.NoError(t, err)
		first := catalog(t, bundle.pool)
		require.Greater(t, len(first), 100)

		_, err = bundle.migrator.DownAll(t.Context())
		require.NoError(t, err)
		require.Empty(t, catalog(t, bundle.pool), "down forgot something")

		_, err = bundle.migrator.Up(t.Context())
		require.NoError(t, err)
		require.Equal(t, first, catalog(t, bundle.pool))
	})

	t.Run("EveryStepIsUndone", func(t *testing.T) {
		t.Parallel()

		bundle := setupEmpty(t)
		up, err := bundle.migrator.Up(t.Context())
		require.NoError(t, err)
		for _, step := range slices.Backward(up) {
			down, err := bundle.migrator.Down(t.Context())
			require.NoError(t, err)
			require.Len(t, down, 1)
			require.Equal(t, step.Source, down[0].Source)
			require.Equal(t, step.Version, down[0].Version)
		}
		down, err := bundle.migrator.Down(t.Context())
		require.NoError(t, err)
		require.Empty(t, down)
	})
}

func TestMigratorPrint(t *testing.T) {
	t.Parallel()

	bundle := setupEmpty(t)
	text, err := bundle.migrator.Print(t.Context())
	require.NoError(t, err)
	require.Contains(t, text, "CREATE EXTENSION IF NOT EXISTS vector")
	require.Contains(t, text, "CREATE TABLE users")

	require.NoError(t, bundle.pool.QueryRow(t.Context(), `SELECT coalesce(to_regnamespace('alfred')::text, '')`).Scan(&text))
	require.Empty(t, text, "printing changes nothing")
}

func TestMigratorStatus(t *testing.T) {
	t.Parallel()

	bundle := setupEmpty(t)
	ctx := t.Context()
	status, err := bundle.migrator.Status(ctx)
	require.NoError(t, err)
	require.ErrorIs(t, status.Err(), pg.ErrSchemaBehind)
	require.ErrorIs(t, pg.CheckSchema(ctx, bundle.pool, discard()), pg.ErrSchemaBehind)

	_, err = bundle.migrator.Up(ctx)
	require.NoError(t, err)
	require.NoError(t, pg.CheckSchema(ctx, bundle.pool, discard()))

	_, err = bundle.pool.Exec(ctx, `INSERT INTO alfred.schema_migrations (version_id, is_applied) VALUES (9999, true)`)
	require.NoError(t, err)
	require.ErrorIs(t, pg.CheckSchema(ctx, bundle.pool, discard()), pg.ErrSchemaAhead)
	_, err = bundle.migrator.Up(ctx)
	require.ErrorIs(t, err, pg.ErrSchemaAhead)
	_, err = bundle.migrator.Print(ctx)
	require.ErrorIs(t, err, pg.ErrSchemaAhead)
	_, err = bundle.migrator.DownAll(ctx)
	require.ErrorIs(t, err, pg.ErrSchemaAhead)
}

// A database migrated with a different text of a migration, and perhaps with more of them, is rejected: the program says so at
// startup, does not migrate it further, and can rebuild it.
func TestMigratorAltered(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	bundle := setupEmpty(t)
	ctx := t.Context()
	_, err := bundle.migrator.Up(ctx)
	require.NoError(t, err)
	_, err = bundle.pool.Exec(ctx, `UPDATE alfred.migration_texts SET sha256 = 'an earlier text' WHERE source = 'alfred' AND version = 2;
		INSERT INTO alfred.schema_migrations (version_id, is_applied) VALUES (9999, true);
		ALTER TABLE alfred.sessions DROP COLUMN pinned_at CASCADE`)
	require.NoError(t, err)
	require.ErrorIs(t, pg.CheckSchema(ctx, bundle.pool, discard()), pg.ErrSchemaAltered)
	_, err = bundle.migrator.Up(ctx)
	require.ErrorIs(t, err, pg.ErrSchemaAltered)
	require.ErrorContains(t, err, "alfred has another [2]")
	_, err = bundle.migrator.Down(ctx)
	require.ErrorIs(t, err, pg.ErrSchemaAltered)

	_, err = bundle.migrator.Print(ctx)
	require.ErrorIs(t, err, pg.ErrSchemaAltered)

	undone, err := bundle.migrator.DownAll(ctx)
	require.NoError(t, err)
	applied, err := bundle.migrator.Up(ctx)
	require.NoError(t, err)
	require.Len(t, undone, len(applied), "it says what it has dropped")
	require.NoError(t, pg.CheckSchema(ctx, bundle.pool, discard()))
	require.Equal(t, catalog(t, dbtest.Pool(t)), catalog(t, bundle.pool))
}

// A role that may not make the schema is told so, and not that an extension is missing.
func TestMigratorMayNot(t *testing.T) {
	t.Parallel()
	dbtest.Pool(t) // makes the role
	migrator, err := pg.NewMigrator(open(t, dbtest.EmptyURL(t)+"&role=alfred_tenant"), discard())
	require.NoError(t, err)
	_, err = migrator.Up(t.Context())
	require.ErrorContains(t, err, "permission denied for database")
	require.NotErrorIs(t, err, pg.ErrVectorMissing)
}

// A function of the owner's may have the name of one of ours and other arguments: the error says what to do, and the next
// run goes on.
func TestMigratorBesideAFunctionOfTheSameName(t *testing.T) {
	t.Parallel()
	bundle := setupEmpty(t)
	exec := func(sql string) {
		_, err := bundle.pool.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	exec(`CREATE FUNCTION public.uuid_v7() RETURNS uuid LANGUAGE sql AS 'SELECT gen_random_uuid()'`)
	_, err := bundle.migrator.Up(t.Context())
	require.ErrorContains(t, err, `"uuid_v7" is not unique`)
	require.ErrorContains(t, err, "rename it, or move it to another schema")

	exec(`CREATE SCHEMA shop; ALTER FUNCTION public.uuid_v7() SET SCHEMA shop`)
	_, err = bundle.migrator.Up(t.Context())
	require.NoError(t, err)
}

// Of four processes started at once on a new database, one applies everything and nobody fails.
func TestMigratorUpAtOnce(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	url := dbtest.EmptyURL(t)
	counts := make([]int, 4)
	group, ctx := errgroup.WithContext(t.Context())
	for i := range counts {
		pool := open(t, url)
		group.Go(func() error {
			migrator, err := pg.NewMigrator(pool, discard())
			if err != nil {
				return err
			}
			steps, err := migrator.Up(ctx)
			counts[i] = len(steps)

			return err
		})
	}
	require.NoError(t, group.Wait())

	var busy int
	for _, count := range counts {
		if count > 0 {
			busy++
		}
	}
	require.Equal(t, 1, busy, "steps per process: %v", counts)
}

// A migration that waits for a table makes everybody wait who comes after it. While a long transaction writes
// the table, the migration therefore tries again and again, and the others get their turn.
func TestMigratorGivesWay(t *testing.T) {
	t.Parallel()

	bundle := setupEmpty(t)
	_, err := bundle.migrator.Up(t.Context())
	require.NoError(t, err)
	for range 3 { // the kitchen's tables, which refer to users
		_, err = bundle.migrator.Down(t.Context())
		require.NoError(t, err)
	}
	busy, err := bundle.pool.Begin(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = busy.Rollback(context.Background()) }) // where the test fails
	_, err = busy.Exec(t.Context(), `INSERT INTO users (name) VALUES ('ada')`)
	require.NoError(t, err)

	var (
		steps []pg.Step
		group errgroup.Group
	)
	group.Go(func() (err error) {
		steps, err = bundle.migrator.Up(t.Context())

		return err
	})
	require.Eventually(t, func() bool {
		var waits bool
		err := bundle.pool.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = 'users'::regclass)`).Scan(&waits)

		return err == nil && waits
	}, dbtest.Patience, time.Millisecond)
	_, err = bundle.pool.Exec(t.Context(), `SET statement_timeout = '30s'; INSERT INTO users (name) VALUES ('bob')`)
	require.NoError(t, err, "while the transaction goes on")

	require.NoError(t, busy.Commit(t.Context()))
	require.NoError(t, group.Wait())
	require.Len(t, steps, 3)
}

// catalog describes everything in our schemas that a migration can create, one line each.
func catalog(t *testing.T, pool *pgxpool.Pool) []string {
	t.Helper()

	rows, err := pool.Query(context.Background(), `
		WITH ours AS (SELECT oid, nspname FROM pg_namespace WHERE nspname IN ('alfred', 'kitchen')),
		relations AS (
			SELECT c.* FROM pg_class AS c JOIN ours ON ours.oid = c.relnamespace
			WHERE c.relname NOT IN ('schema_migrations', 'kitchen_migrations', 'schema_migrations_pkey', 'kitchen_migrations_pkey',
				'schema_migrations_id_seq', 'kitchen_migrations_id_seq'))
		SELECT format('schema %s %s', nspname, nspacl) FROM ours JOIN pg_namespace USING (oid, nspname)
		UNION ALL SELECT format('relation %s kind=%s acl=%s rls=%s/%s options=%s comment=%s', oid::regclass, relkind, relacl,
			relrowsecurity, relforcerowsecurity, reloptions, obj_description(oid, 'pg_class')) FROM relations
		UNION ALL SELECT format('column %s.%s %s null=%s default=%s generated=%s acl=%s comment=%s', c.oid::regclass, a.attname,
			format_type(a.atttypid, a.atttypmod), NOT a.attnotnull, pg_get_expr(d.adbin, d.adrelid), a.attgenerated, a.attacl,
			col_description(c.oid, a.attnum))
			FROM relations AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
			LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum WHERE c.relkind IN ('r', 'p', 'v', 'm')
		UNION ALL SELECT format('constraint %s.%s %s', conrelid::regclass, conname, pg_get_constraintdef(k.oid))
			FROM pg_constraint AS k JOIN relations AS c ON c.oid = k.conrelid
		UNION ALL SELECT format('index %s', pg_get_indexdef(i.indexrelid)) FROM pg_index AS i JOIN relations AS c ON c.oid = i.indexrelid
		UNION ALL SELECT format('view %s %s', oid::regclass, pg_get_viewdef(oid)) FROM relations WHERE relkind IN ('v', 'm')
		UNION ALL SELECT format('trigger %s', pg_get_triggerdef(g.oid)) FROM pg_trigger AS g JOIN relations AS c ON c.oid = g.tgrelid WHERE NOT tgisinternal
		UNION ALL SELECT format('policy %s.%s %s %s using %s check %s', polrelid::regclass, polname, polcmd, polroles::regrole[],
			pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid)) FROM pg_policy AS y JOIN relations AS c ON c.oid = y.polrelid
		UNION ALL SELECT format('function %s acl=%s %s', f.oid::regprocedure, f.proacl, CASE WHEN f.prokind IN ('f', 'p') THEN pg_get_functiondef(f.oid) END)
			FROM pg_proc AS f JOIN ours ON ours.oid = f.pronamespace
		UNION ALL SELECT format('enum %s %s', e.enumtypid::regtype, string_agg(e.enumlabel, ',' ORDER BY e.enumsortorder))
			FROM pg_enum AS e JOIN pg_type AS y ON y.oid = e.enumtypid JOIN ours ON ours.oid = y.typnamespace GROUP BY e.enumtypid
		ORDER BY 1`)
	require.NoError(t, err)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)

	return lines
}

package pg

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/sql/schema"
)

const (
	// migrateLock is the key of the advisory lock that a run of the migrator holds, from "alfred".
	migrateLock = 0x616c66726564

	lockRetry = 100 * time.Millisecond
)

// Migrator migrates a database to this program's schema and back: River's tables, the engine's, the kitchen's, in this
// order, because the engine's views and functions name River's tables and the kitchen's tables name the engine's.
type Migrator struct {
	logger  *slog.Logger
	pool    *pgxpool.Pool
	sources []*source
}

// Step is one migration that was applied or undone.
type Step struct {
	DurationMS int64  `json:"duration_ms"`
	Name       string `json:"name"`
	Source     string `json:"source"`
	Version    int64  `json:"version"`
}

// source is one numbered sequence of migrations with its own version table in schema alfred.
type source struct {
	name  string
	known []migration // this program's, ascending
	// ours: the migrations are this project's own: if a version's text has changed since it was applied, it is a different
	// one.
	ours  bool
	table string
	list  string // the SQL that lists the table's versions, ascending
	// record is the SQL that records a version as applied.
	record func(version int64) string
	// migrate returns what it did; of our own migrations also what it did before it failed.
	migrate func(ctx context.Context, pool *pgxpool.Pool, way direction) ([]Step, error)
}

// direction is what a run does with a source.
type direction int

const (
	up      direction = iota // apply all that are pending
	downOne                  // undo the newest
	downAll
)

type migration struct {
	name    string
	sql     string
	version int64
}

// NewMigrator returns a migrator over the embedded migrations. It reads on the pool and migrates on connections of its
// own, up to as many as the pool's, which must be three or more.
func NewMigrator(pool *pgxpool.Pool, logger *slog.Logger) (*Migrator, error) {
	queue, err := newRiverSource(pool, logger)
	if err != nil {
		return nil, err
	}
	engine, err := newGooseSource(logger, "alfred", "alfred.schema_migrations", schema.Alfred)
	if err != nil {
		return nil, err
	}
	kitchen, err := newGooseSource(logger, "kitchen", "alfred.kitchen_migrations", schema.Kitchen)
	if err != nil {
		return nil, err
	}

	return &Migrator{logger: logger, pool: pool, sources: []*source{queue, engine, kitchen}}, nil
}

// Down undoes the newest migration (the kitchen's if it has any, else the engine's, else River's). Data in what it
// drops is lost.
func (m *Migrator) Down(ctx context.Context) ([]Step, error) {
	return m.locked(ctx, func(own *pgxpool.Pool, _ *pgxpool.Conn, status Status) ([]Step, error) {
		if err := status.refused(ErrSchemaAltered); err != nil {
			return nil, err
		}

		return m.undo(ctx, own, status, downOne)
	})
}

// DownAll undoes every migration and drops schema alfred itself. All of Alfred's data is lost; extensions and roles
// stay, because other databases and programs may use them. Objects created by altered migrations are dropped with
// everything that depends on them, because nothing here says how to undo those.
func (m *Migrator) DownAll(ctx context.Context) ([]Step, error) {
	return m.locked(ctx, func(own *pgxpool.Pool, conn *pgxpool.Conn, status Status) ([]Step, error) {
		if status.refused(ErrSchemaAltered) != nil {
			_, err := m.givingWay(ctx, func() ([]Step, error) {
				_, err := conn.Exec(ctx, `DROP SCHEMA IF EXISTS kitchen, alfred CASCADE`)

				return nil, err
			})

			return m.applied(status), err
		}
		steps, err := m.undo(ctx, own, status, downAll)
		if err != nil {
			return steps, err
		}
		// Without CASCADE: anything a migration forgot to undo must be an error.
		_, err = conn.Exec(ctx, `
			DROP TABLE IF EXISTS alfred.kitchen_migrations, alfred.schema_migrations, alfred.migration_texts;
			DROP SCHEMA IF EXISTS alfred`)
		if err != nil {
			err = fmt.Errorf("drop schema alfred: %w", err)
		}

		return steps, err
	})
}

// undo undoes the newest migration or, of every source, all.
func (m *Migrator) undo(ctx context.Context, own *pgxpool.Pool, status Status, way direction) ([]Step, error) {
	var steps []Step
	for i, source := range slices.Backward(m.sources) {
		if len(status.Sources[i].Applied) == 0 {
			continue
		}
		done, err := m.givingWay(ctx, func() ([]Step, error) { return source.migrate(ctx, own, way) })
		steps = append(steps, done...)
		if err != nil || way == downOne {
			return steps, err
		}
	}

	return steps, nil
}

// applied lists what a database has of this program's migrations, last first.
func (m *Migrator) applied(status Status) []Step {
	var steps []Step
	for i, source := range slices.Backward(m.sources) {
		for _, migration := range slices.Backward(source.known) {
			if slices.Contains(status.Sources[i].Applied, migration.version) {
				steps = append(steps, Step{Name: migration.name, Source: source.name, Version: migration.version})
			}
		}
	}

	return steps
}

// Print writes the SQL that Up would run, in order, including what records it: run unchanged by psql, it has the same
// effect as Up, and the same errors. Where Up waits for a table in use and tries again, psql stops.
func (m *Migrator) Print(ctx context.Context) (string, error) {
	status, err := m.Status(ctx)
	if err = cmp.Or(err, status.refused(ErrSchemaAhead), status.refused(ErrSchemaAltered)); err != nil {
		return "", err
	}
	var text strings.Builder
	text.WriteString(printHeader)
	for _, name := range slices.Sorted(maps.Keys(migrating)) {
		fmt.Fprintf(&text, "SET %s = '%s';\n", name, migrating[name])
	}
	text.WriteString(bootstrapSQL)
	text.WriteString("SET search_path = alfred, public;\n")
	for i, source := range m.sources {
		for _, migration := range source.known {
			if slices.Contains(status.Sources[i].Pending, migration.version) {
				fmt.Fprintf(&text, "\n-- %s %s\nBEGIN;\n%s\n%s%s;\nCOMMIT;\n", source.name, migration.name,
					strings.TrimSpace(migration.sql), source.record(migration.version), migration.note(source))
			}
		}
	}

	return text.String(), nil
}

// printHeader begins what Print writes. After an error psql would go on with the migrations that follow, on a schema
// that lacks one.
const printHeader = `-- For psql. Everybody who uses a table waits behind a migration that waits for it, as long as a backup runs. So the script
-- stops if it does not get a table within the lock_timeout below. What was applied until then stays and is recorded:
-- print and run once more what is left. "worker migrate up" tries again by itself.
\set ON_ERROR_STOP on
`

// Migrate is [Migrator.Up] for who does not ask what was applied.
func Migrate(ctx context.Context, pool *pgxpool.Pool, logger *slog.Logger) error {
	migrator, err := NewMigrator(pool, logger)
	if err != nil {
		return err
	}
	_, err = migrator.Up(ctx)

	return err
}

// Up applies pending migrations. Any number of processes may call it concurrently: one works, the others wait and find
// nothing to do. Errors: [ErrSchemaAhead], [ErrSchemaAltered], [ErrVectorMissing].
func (m *Migrator) Up(ctx context.Context) ([]Step, error) {
	return m.locked(ctx, func(own *pgxpool.Pool, conn *pgxpool.Conn, status Status) (steps []Step, err error) {
		if err := status.refused(ErrSchemaAltered); err != nil {
			return nil, err
		}
		if _, err := m.givingWay(ctx, func() ([]Step, error) { return nil, bootstrap(ctx, conn) }); err != nil {
			return nil, err
		}
		for i, source := range m.sources {
			if err := noteTexts(ctx, conn, source, status.Sources[i].Pending); err != nil {
				return steps, err
			}
			done, err := m.givingWay(ctx, func() ([]Step, error) { return source.migrate(ctx, own, up) })
			steps = append(steps, done...)
			if err != nil {
				return steps, err
			}
		}
		_, err = m.givingWay(ctx, func() ([]Step, error) { return nil, widenFunctions(ctx, conn) })

		return steps, err
	})
}

// locked runs work while holding the migrator's lock, and refuses a schema that is ahead. It gives work the connections
// to migrate on, and the one that holds the lock.
func (m *Migrator) locked(ctx context.Context, work func(own *pgxpool.Pool, conn *pgxpool.Conn, status Status) ([]Step, error)) ([]Step, error) {
	own, err := ownPool(ctx, m.pool)
	if err != nil {
		return nil, err
	}
	defer own.Close()
	conn, err := own.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	defer conn.Release()

	if err := lock(ctx, conn); err != nil {
		return nil, err
	}
	defer func() { _ = unlock(ctx, conn, migrateLock) }() // what it cannot give up ends with the connection

	status, err := m.Status(ctx)
	if err != nil {
		return nil, err
	}
	if err := status.refused(ErrSchemaAhead); err != nil {
		return nil, err
	}

	return work(own, conn, status)
}

// lock polls: a statement waiting for a lock holds a snapshot, and CREATE INDEX CONCURRENTLY in the run that holds the
// lock would wait for that snapshot, a deadlock.
func lock(ctx context.Context, conn *pgxpool.Conn) error {
	for {
		if got, err := tryLock(ctx, conn, migrateLock); got || err != nil {
			return err
		}
		if err := Pause(ctx, lockRetry); err != nil {
			return fmt.Errorf("wait for another migration: %w", err)
		}
	}
}

// bootstrapSQL creates what no migration can: the schema of the version tables, and extensions, which are used where
// they are if the database already has them.
const bootstrapSQL = `CREATE SCHEMA IF NOT EXISTS alfred;
CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public;
CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;
CREATE TABLE IF NOT EXISTS alfred.migration_texts (source text, version bigint, sha256 text NOT NULL, PRIMARY KEY (source, version));
COMMENT ON TABLE alfred.migration_texts IS 'What each migration''s text was when it was applied: an edited one is another, and nothing brings this database to it.';
COMMENT ON COLUMN alfred.migration_texts.source IS 'river, alfred or kitchen.';
COMMENT ON COLUMN alfred.migration_texts.version IS 'The migration''s number.';
COMMENT ON COLUMN alfred.migration_texts.sha256 IS 'SHA-256 of its SQL, in hexadecimal digits.';
`

func bootstrap(ctx context.Context, conn *pgxpool.Conn) error {
	_, err := conn.Exec(ctx, bootstrapSQL)
	if err == nil {
		return nil
	}
	codes := []string{pgerrcode.InsufficientPrivilege, pgerrcode.UndefinedFile, pgerrcode.FeatureNotSupported}
	if slices.Contains(codes, Code(err)) && strings.Contains(raised(err).Message, "vector") {
		return fmt.Errorf("%w: %w", ErrVectorMissing, err)
	}

	return fmt.Errorf("create schema and extensions: %w", err)
}

// widenFunctions adds the schemas of extensions outside public to our functions' search paths, which the migrations
// cannot know. The path's last entry stays last: it is pg_temp, so that nobody's temporary table is found first.
func widenFunctions(ctx context.Context, conn *pgxpool.Conn) error {
	facts, err := readServerFacts(ctx, conn.Conn().Config())
	if err != nil || len(facts.elsewhere) == 0 {
		return err
	}
	path := searchPath(facts.elsewhere) + ", pg_temp"
	_, err = conn.Exec(ctx, `
		DO $$
		DECLARE f regprocedure;
		BEGIN
			FOR f IN
				SELECT p.oid::regprocedure FROM pg_proc AS p
				WHERE p.pronamespace IN ('alfred'::regnamespace, to_regnamespace('kitchen'))
				  AND EXISTS (SELECT FROM unnest(p.proconfig) AS setting WHERE setting LIKE 'search_path=%alfred, public%')
			LOOP
				EXECUTE format('ALTER ROUTINE %s SET search_path = `+strings.ReplaceAll(path, "'", "''")+`', f);
			END LOOP;
		END
		$$`)
	if err != nil {
		return fmt.Errorf("set the functions' search path: %w", err)
	}

	return nil
}

// tablePause is how long others may use the tables that a migration could not get.
const tablePause = time.Second

// migrating are the settings of connections that migrate, whatever the role's.
var migrating = map[string]string{
	// Everybody who comes after a waiting migration waits as well, for as long as a backup runs. Shorter than
	// deadlock_timeout, so that in a deadlock the migration gives way, not a turn.
	"lock_timeout": "500ms",
	// An index or a constraint of a large table takes its time, and the connection with the lock is idle meanwhile.
	"idle_in_transaction_session_timeout": "0", "idle_session_timeout": "0", "statement_timeout": "0",
}

// ownPool opens a pool like another, for migrating.
func ownPool(ctx context.Context, like *pgxpool.Pool) (*pgxpool.Pool, error) {
	config := like.Config()
	for name, value := range migrating {
		Set(config.ConnConfig, name, value)
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open connections to migrate on: %w", err)
	}

	return pool, nil
}

// givingWay runs work until it gets the tables that it needs, and returns the steps of all attempts.
func (m *Migrator) givingWay(ctx context.Context, work func() ([]Step, error)) ([]Step, error) {
	var steps []Step
	for attempt := 1; ; attempt++ {
		done, err := work()
		steps = append(steps, done...)
		if code := Code(err); code != pgerrcode.LockNotAvailable && code != pgerrcode.DeadlockDetected {
			return steps, err
		}
		if attempt == 1 {
			m.logger.WarnContext(ctx, "waiting until older transactions, such as a backup's, have ended: they use a table that is to be changed", slog.Any("error", err))
		}
		if Pause(ctx, tablePause) != nil {
			return steps, fmt.Errorf("wait for tables in use: %w", err)
		}
	}
}

package pg

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// gooseSource is a folder of goose files.
type gooseSource struct {
	files      fs.FS
	logger     *slog.Logger
	migrations []migration
	pool       *pgxpool.Pool
	source     string
	table      string
}

func newGooseSource(pool *pgxpool.Pool, logger *slog.Logger, folder, table string, files fs.FS) (*gooseSource, error) {
	sub, err := fs.Sub(files, folder)
	if err != nil {
		return nil, fmt.Errorf("open migrations of %s: %w", folder, err)
	}
	names, err := fs.Glob(sub, "*.sql")
	if err != nil {
		return nil, fmt.Errorf("list migrations of %s: %w", folder, err)
	}
	s := &gooseSource{files: sub, logger: logger, pool: pool, source: folder, table: table}
	for _, name := range names {
		version, err := goose.NumericComponent(name)
		if err != nil {
			return nil, fmt.Errorf("migration %s of %s: %w", name, folder, err)
		}
		text, err := fs.ReadFile(sub, name)
		if err != nil {
			return nil, fmt.Errorf("read migration of %s: %w", folder, err)
		}
		s.migrations = append(s.migrations, migration{name: name, sql: string(text), version: version})
	}
	slices.SortFunc(s.migrations, func(a, b migration) int { return cmp.Compare(a.version, b.version) })

	return s, nil
}

func (s *gooseSource) applied(ctx context.Context, conn queryer) ([]int64, error) {
	return versions(ctx, conn, s.table, `SELECT version_id FROM `+s.table+` WHERE is_applied AND version_id > 0 ORDER BY 1`)
}

func (s *gooseSource) down(ctx context.Context, n int) ([]Step, error) {
	return s.run(func(provider *goose.Provider) ([]*goose.MigrationResult, error) {
		if n < 0 {
			return provider.DownTo(ctx, 0)
		}
		result, err := provider.Down(ctx)

		return []*goose.MigrationResult{result}, err
	})
}

func (s *gooseSource) known() []migration { return s.migrations }

func (s *gooseSource) name() string { return s.source }

// run gives work a provider. database/sql keeps a goroutine until it is closed, so its handle lives this long only;
// closing it leaves the pool open.
func (s *gooseSource) run(work func(provider *goose.Provider) ([]*goose.MigrationResult, error)) ([]Step, error) {
	handle := stdlib.OpenDBFromPool(s.pool)
	defer handle.Close()

	provider, err := goose.NewProvider(goose.DialectPostgres, handle, s.files,
		goose.WithTableName(s.table), goose.WithDisableGlobalRegistry(true), goose.WithSlog(s.logger))
	if err != nil {
		return nil, fmt.Errorf("read migrations of %s: %w", s.source, err)
	}
	results, err := work(provider)
	if err != nil {
		return nil, fmt.Errorf("run migrations of %s: %w", s.source, err)
	}
	steps := make([]Step, 0, len(results))
	for _, result := range results {
		steps = append(steps, Step{
			DurationMS: result.Duration.Milliseconds(),
			Name:       result.Source.Path,
			Source:     s.source,
			Version:    result.Source.Version,
		})
	}

	return steps, nil
}

func (s *gooseSource) up(ctx context.Context) ([]Step, error) {
	return s.run(func(provider *goose.Provider) ([]*goose.MigrationResult, error) { return provider.Up(ctx) })
}

// riverSource is River's own migrations.
type riverSource struct {
	migrator *rivermigrate.Migrator[pgx.Tx]
}

func newRiverSource(pool *pgxpool.Pool, logger *slog.Logger) (*riverSource, error) {
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: logger, Schema: Schema})
	if err != nil {
		return nil, fmt.Errorf("read River's migrations: %w", err)
	}

	return &riverSource{migrator: migrator}, nil
}

func (s *riverSource) applied(ctx context.Context, conn queryer) ([]int64, error) {
	return versions(ctx, conn, "alfred.river_migration", `SELECT version FROM alfred.river_migration ORDER BY 1`)
}

func (s *riverSource) down(ctx context.Context, n int) ([]Step, error) {
	opts := &rivermigrate.MigrateOpts{MaxSteps: n}
	if n < 0 {
		opts = &rivermigrate.MigrateOpts{TargetVersion: -1}
	}

	return s.migrate(ctx, rivermigrate.DirectionDown, opts)
}

func (s *riverSource) known() []migration {
	versions := s.migrator.AllVersions()
	all := make([]migration, 0, len(versions))
	for _, version := range versions {
		all = append(all, migration{name: version.Name, sql: version.SQLUp, version: int64(version.Version)})
	}

	return all
}

func (s *riverSource) migrate(ctx context.Context, direction rivermigrate.Direction, opts *rivermigrate.MigrateOpts) ([]Step, error) {
	result, err := s.migrator.Migrate(ctx, direction, opts)
	if err != nil {
		return nil, fmt.Errorf("migrate River's tables %s: %w", direction, err)
	}
	steps := make([]Step, 0, len(result.Versions))
	for _, version := range result.Versions {
		steps = append(steps, Step{
			DurationMS: version.Duration.Milliseconds(),
			Name:       version.Name,
			Source:     s.name(),
			Version:    int64(version.Version),
		})
	}

	return steps, nil
}

func (s *riverSource) name() string { return "river" }

func (s *riverSource) up(ctx context.Context) ([]Step, error) {
	return s.migrate(ctx, rivermigrate.DirectionUp, nil)
}

// versions reads a version table, and finds none where the table is not there yet.
func versions(ctx context.Context, conn queryer, table, query string) ([]int64, error) {
	rows, err := conn.Query(ctx, `SELECT to_regclass($1) IS NOT NULL`, table)
	if err != nil {
		return nil, fmt.Errorf("look for %s: %w", table, err)
	}
	exists, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[bool])
	if err != nil || !exists {
		return nil, err
	}
	rows, err = conn.Query(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", table, err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", table, err)
	}

	return found, nil
}

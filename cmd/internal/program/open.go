package program

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/cmd/internal/settings"
	"alfred/internal/directory"
	"alfred/internal/domain"
	"alfred/internal/engine"
	"alfred/internal/llm/provider"
	"alfred/internal/pg"
	"alfred/internal/recall"
	"alfred/internal/telemetry"
)

// ErrNoDirectory says that commands about the directory have none to work on.
var ErrNoDirectory = errors.New("ALFRED_DIRECTORY_URL is not set: there is one database, and no map of users")

// opener opens what commands ask for.
type opener struct {
	ctx    context.Context
	env    settings.Env
	line   CommandLine
	logger *slog.Logger // for warnings
	opened []func()
}

func (o *opener) close() {
	for _, done := range o.opened {
		done()
	}
}

func (o *opener) settings() (*settings.Settings, error) {
	return settings.Parse(o.env, o.line.Settings)
}

// AnyDatabase is a small pool on a database whose schema may be of any version, or missing.
type AnyDatabase struct{ *pgxpool.Pool }

func (o *opener) anyDatabase() (AnyDatabase, error) {
	pool, err := o.pool("", smallPool)

	return AnyDatabase{pool}, err
}

// database is a small pool on a database whose schema is this program's.
func (o *opener) database() (*pgxpool.Pool, error) {
	pool, err := o.pool("", smallPool)
	if err == nil {
		err = pg.CheckSchema(o.ctx, pool, slog.New(slog.DiscardHandler))
	}

	return pool, err
}

// migratorConns: one holds the lock, goose and River take the others.
const migratorConns = 4

func (o *opener) migrator() (*pg.Migrator, error) {
	pool, err := o.pool(" migrate", migratorConns)
	if err != nil {
		return nil, err
	}

	return pg.NewMigrator(pool, o.logger)
}

func (o *opener) pool(purpose string, conns int32) (*pgxpool.Pool, error) {
	pool, err := OpenDatabase(o.ctx, o.env, "alfred "+o.line.Name+purpose, conns)
	if err == nil {
		o.opened = append(o.opened, pool.Close)
	}

	return pool, err
}

func (o *opener) domain(pool *pgxpool.Pool) (*domain.Domain, error) {
	return OpenDomain(o.ctx, pool, settings.Domain(o.env))
}

func (o *opener) directory() (*directory.Directory, error) {
	known, err := OpenDirectory(o.ctx, o.env)
	if err == nil && known == nil {
		err = ErrNoDirectory
	}
	if err == nil {
		o.opened = append(o.opened, known.Close)
	}

	return known, err
}

// OpenDomain binds the domain with that name or path to the database.
func OpenDomain(ctx context.Context, pool *pgxpool.Pool, nameOrPath string) (*domain.Domain, error) {
	files, file := domain.Find(nameOrPath)

	return domain.Open(ctx, pool, files, file)
}

// CheckProven refuses a domain of which nobody knows whether it keeps users apart, and says what to run.
func CheckProven(ctx context.Context, pool *pgxpool.Pool, nameOrPath string) error {
	files, file := domain.Find(nameOrPath)
	err := engine.CheckProven(ctx, pool, files, file)
	if errors.Is(err, engine.ErrUnproven) {
		return fmt.Errorf("%w %s", err, nameOrPath)
	}

	return err
}

// FollowDomain calls renew each time that a domain of the owner's was tried anew, until ctx ends. What fails is tried again.
func FollowDomain(ctx context.Context, pool *pgxpool.Pool, nameOrPath string, logger *slog.Logger, renew func(ctx context.Context) error) {
	files, file := domain.Find(nameOrPath)
	engine.FollowProofs(ctx, pool, files, file, func(ctx context.Context) error {
		err := renew(ctx)
		if err != nil {
			logger.WarnContext(ctx, "the domain was tried anew, and stays as it was", slog.String("domain", nameOrPath), slog.Any("error", err))
		} else {
			logger.InfoContext(ctx, "the domain was tried anew, and opened again", slog.String("domain", nameOrPath))
		}

		return err
	})
}

// OpenSearch opens the configured searcher. While the embedder is being changed, it uses whichever embeddings the
// database has.
func OpenSearch(s *settings.Settings, pool *pgxpool.Pool, bound *domain.Domain) (*recall.Searcher, error) {
	embedder, err := provider.NewEmbedder(&s.Embedder)
	if err != nil {
		return nil, fmt.Errorf("choose an embedder: %w", err)
	}
	searcher := recall.New(bound, embedder)
	searcher.Follow(pool, s.Embedder.Earlier)

	return searcher, nil
}

// OpenDirectory connects to the directory of users, and is nil where ALFRED_DIRECTORY_URL names none. The caller closes
// it.
func OpenDirectory(ctx context.Context, e settings.Env) (*directory.Directory, error) {
	url, err := settings.Directory(e)
	if err != nil || url == "" {
		return nil, err
	}

	return directory.Open(ctx, url)
}

const telemetryGrace = 5 * time.Second

// OpenTelemetry opens a process's telemetry. The returned function flushes it, to a collector that may be gone.
func OpenTelemetry(ctx context.Context, service, collector string, logger *slog.Logger) (*telemetry.Telemetry, func(), error) {
	opened, err := telemetry.Open(ctx, telemetry.Config{Service: service, Version: Version(), Instance: instance(), Collector: collector})
	if err != nil {
		return nil, nil, err
	}

	return opened, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), telemetryGrace)
		defer cancel()
		if err := opened.Close(ctx); err != nil {
			logger.WarnContext(ctx, "last traces and metrics lost", slog.Any("error", err))
		}
	}, nil
}

// instance identifies this process among its kind.
func instance() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}

	return host + ":" + strconv.Itoa(os.Getpid())
}

package pg

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	connectTimeout   = 5 * time.Second
	minServerVersion = 150000

	// SearchPath is the path of every connection, so that SQL and the names generated from it are unqualified.
	SearchPath = "alfred, public"

	// Schema holds the engine's tables and River's.
	Schema = "alfred"
)

// Config says how to reach the database.
type Config struct {
	// AppName is shown in pg_stat_activity.
	AppName string

	// IdleInTxTimeout ends a transaction of a stopped or wedged process, whose row locks would otherwise hide its
	// work from the others' recovery. Zero: the server's setting.
	IdleInTxTimeout time.Duration

	// MaxConns bounds the pool; zero: pgx's default, or pool_max_conns of the URL.
	MaxConns int32

	// URL is the address, as in DATABASE_URL.
	URL string
}

// Open connects and checks the server: its version, and that pgvector is there or can be created.
// Errors: [ErrNoAnswer], [ErrServerTooOld], [ErrVectorMissing], [ErrVectorTooOld]. The caller closes the pool.
func Open(ctx context.Context, config Config) (*pgxpool.Pool, error) {
	poolConfig, err := config.pool()
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, poolConfig)
	if err != nil {
		return nil, fmt.Errorf("open pool: %w", err)
	}
	if err := checkServer(ctx, pool); err != nil {
		pool.Close()

		return nil, err
	}

	return pool, nil
}

func (c Config) pool() (*pgxpool.Config, error) {
	poolConfig, err := pgxpool.ParseConfig(c.URL)
	if err != nil {
		return nil, fmt.Errorf("parse DATABASE_URL: %w", err) // pgx redacts the password
	}
	if c.MaxConns > 0 {
		poolConfig.MaxConns = c.MaxConns
	}
	if poolConfig.ConnConfig.ConnectTimeout == 0 {
		poolConfig.ConnConfig.ConnectTimeout = connectTimeout
	}
	params := poolConfig.ConnConfig.RuntimeParams
	params["application_name"] = c.AppName
	params["search_path"] = SearchPath
	if c.IdleInTxTimeout > 0 {
		params["idle_in_transaction_session_timeout"] = strconv.FormatInt(c.IdleInTxTimeout.Milliseconds(), 10)
	}

	return poolConfig, nil
}

const serverFacts = `
	SELECT current_setting('server_version_num')::int,
	       coalesce((SELECT extversion FROM pg_extension WHERE extname = 'vector'),
	                (SELECT default_version FROM pg_available_extensions WHERE name = 'vector'), '')`

func checkServer(ctx context.Context, pool *pgxpool.Pool) error {
	var (
		server int
		vector string
	)
	if err := pool.QueryRow(ctx, serverFacts).Scan(&server, &vector); err != nil {
		return fmt.Errorf("%w: %w", ErrNoAnswer, err)
	}
	if server < minServerVersion {
		return fmt.Errorf("%w (it is %d)", ErrServerTooOld, server/10000)
	}
	if vector == "" {
		return ErrVectorMissing
	}
	if tooOld(vector) {
		return fmt.Errorf("%w (it is %s)", ErrVectorTooOld, vector)
	}

	return nil
}

// tooOld reports whether a pgvector version is below 0.8. What does not parse is taken for newer.
func tooOld(version string) bool {
	var major, minor int
	if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err != nil {
		return false
	}

	return major == 0 && minor < 8
}

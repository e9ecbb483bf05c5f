package pg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	connectTimeout   = 5 * time.Second
	minServerVersion = 150000

	// SearchPath is the search path of every connection, so that SQL and the names generated from it are unqualified.
	// If a database has its extensions in another schema, that one is appended.
	SearchPath = "alfred, public"

	// Schema holds the engine's tables and River's.
	Schema = "alfred"
)

// fixed are settings that Alfred's own SQL relies on, whatever a database's or role's defaults.
var fixed = map[string]string{
	"bytea_output": "hex", "DateStyle": "ISO", "extra_float_digits": "1", "IntervalStyle": "postgres", "standard_conforming_strings": "on",
	"quote_all_identifiers": "off",
	// With it off, what row-level security would filter is an error.
	"row_security": "on",
	// A statement that waited for a lock re-reads what it waited for; the lock order keeps commits apart.
	"default_transaction_isolation": "read committed",
	// Compiling a lookup takes longer than the lookup.
	"jit": "off",
}

// Config says how to reach the database.
type Config struct {
	// AppName is shown in pg_stat_activity.
	AppName string

	// IdleInTxTimeout ends the transaction of a stopped or wedged process, whose row locks would otherwise hide its
	// work from recovery. Zero: the server's setting.
	IdleInTxTimeout time.Duration

	// MaxConns bounds the pool; zero: pgx's default, or pool_max_conns of the URL.
	MaxConns int32

	// URL is the address, as in DATABASE_URL.
	URL string
}

// Open connects and checks the server: its version, and that pgvector exists or can be created. Errors: [ErrNoAnswer],
// [ErrEncoding], [ErrServerTooOld], [ErrVectorMissing], [ErrVectorTooOld]. The caller closes the pool.
func Open(ctx context.Context, config Config) (*pgxpool.Pool, error) {
	poolConfig, err := config.pool()
	if err != nil {
		return nil, err
	}
	facts, err := readServerFacts(ctx, poolConfig.ConnConfig)
	if refusesSettings(err) {
		setByStatements(poolConfig.ConnConfig)
		facts, err = readServerFacts(ctx, poolConfig.ConnConfig)
	}
	if err != nil {
		return nil, err
	}
	if err := facts.check(); err != nil {
		return nil, err
	}
	Set(poolConfig.ConnConfig, "search_path", searchPath(facts.elsewhere))
	if len(facts.elsewhere) > 0 {
		// A migration creates functions that refer to public; the search path they need is set once all exist.
		Set(poolConfig.ConnConfig, "check_function_bodies", "off")
	}
	pool, err := pgxpool.NewWithConfig(ctx, poolConfig)
	if err != nil {
		return nil, fmt.Errorf("open pool: %w", err)
	}

	return pool, nil
}

// OpenPlain connects to a database that need not be one of Alfred's. It checks only that the database answers.
func OpenPlain(ctx context.Context, config Config, searchPath string) (*pgxpool.Pool, error) {
	poolConfig, err := config.pool()
	if err != nil {
		return nil, err
	}
	Set(poolConfig.ConnConfig, "search_path", searchPath)
	pool, err := pgxpool.NewWithConfig(ctx, poolConfig)
	if err != nil {
		return nil, fmt.Errorf("open pool: %w", err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()

		return nil, noAnswer(ctx, err)
	}

	return pool, nil
}

// noAnswer is [ErrNoAnswer] with its reason. A connection being established may notice the context's deadline before
// the context does; the caller still finds the context's error.
func noAnswer(ctx context.Context, err error) error {
	if deadline, ok := ctx.Deadline(); ok && errors.Is(err, os.ErrDeadlineExceeded) && !time.Now().Before(deadline) {
		err = errors.Join(context.DeadlineExceeded, err)
	}

	return fmt.Errorf("%w: %w", ErrNoAnswer, err)
}

var errQuoted = errors.New("parse DATABASE_URL: it begins neither with postgres:// nor with a keyword such as host=; are there quotes or blanks around it?")

// quoted says that pgx would take a URL for a list of keywords, and connect to a default address.
func quoted(url string) bool {
	scheme, _, isURL := strings.Cut(url, "://")

	return isURL && !strings.Contains(scheme, "=") && scheme != "postgres" && scheme != "postgresql"
}

func (c Config) pool() (*pgxpool.Config, error) {
	if quoted(c.URL) {
		return nil, errQuoted
	}
	poolConfig, err := pgxpool.ParseConfig(c.URL)
	if err != nil {
		return nil, fmt.Errorf("parse DATABASE_URL: %w", err) // pgx redacts the password
	}
	if c.MaxConns > 0 {
		poolConfig.MaxConns = c.MaxConns
	}
	poolConfig.ConnConfig.ConnectTimeout = cmp.Or(poolConfig.ConnConfig.ConnectTimeout, connectTimeout)
	params := poolConfig.ConnConfig.RuntimeParams
	params["application_name"] = c.AppName
	maps.Copy(params, fixed)
	if c.IdleInTxTimeout > 0 {
		params["idle_in_transaction_session_timeout"] = strconv.FormatInt(c.IdleInTxTimeout.Milliseconds(), 10)
	}

	return poolConfig, nil
}

// serverFacts is what Open has to know before it creates a pool.
type serverFacts struct {
	// elsewhere are schemas other than public that contain one of our extensions, because another program put it there.
	elsewhere []string
	version   int
	encoding  string
	vector    string
}

const serverFactsSQL = `
	SELECT current_setting('server_version_num')::int, current_setting('server_encoding'),
	       coalesce((SELECT extversion FROM pg_extension WHERE extname = 'vector'),
	                (SELECT default_version FROM pg_available_extensions WHERE name = 'vector'), ''),
	       ARRAY(SELECT DISTINCT n.nspname::text FROM pg_extension AS e JOIN pg_namespace AS n ON n.oid = e.extnamespace
	             WHERE e.extname IN ('pg_trgm', 'vector') AND n.nspname NOT IN ('alfred', 'pg_catalog', 'public') ORDER BY 1)`

func readServerFacts(ctx context.Context, config *pgx.ConnConfig) (serverFacts, error) {
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return serverFacts{}, noAnswer(ctx, err)
	}
	defer conn.Close(context.WithoutCancel(ctx))

	var facts serverFacts
	if err := conn.QueryRow(ctx, serverFactsSQL).Scan(&facts.version, &facts.encoding, &facts.vector, &facts.elsewhere); err != nil {
		return serverFacts{}, noAnswer(ctx, err)
	}

	return facts, nil
}

func (f serverFacts) check() error {
	switch {
	case f.version < minServerVersion:
		return fmt.Errorf("%w (it is %d)", ErrServerTooOld, f.version/10000)
	case f.encoding != "UTF8":
		return fmt.Errorf("%w (it is %s)", ErrEncoding, f.encoding)
	case f.vector == "":
		return ErrVectorMissing
	case tooOld(f.vector):
		return fmt.Errorf("%w (it is %s)", ErrVectorTooOld, f.vector)
	default:
		return nil
	}
}

// searchPath is [SearchPath] followed by the extensions' schemas.
func searchPath(elsewhere []string) string {
	path := []string{SearchPath}
	for _, schema := range elsewhere {
		path = append(path, pgx.Identifier{schema}.Sanitize())
	}

	return strings.Join(path, ", ")
}

// tooOld reports whether a pgvector version is below 0.8. An unparsable one counts as newer.
func tooOld(version string) bool {
	var major, minor int
	if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err != nil {
		return false
	}

	return major == 0 && minor < 8
}

// refusesSettings reports whether a pooler in front of the server rejects settings sent with a connection, as pgbouncer
// does unless told to ignore them.
func refusesSettings(err error) bool {
	return Code(err) == pgerrcode.ProtocolViolation && strings.Contains(raised(err).Message, "unsupported startup parameter")
}

// Set gives config's connections a setting: at connection time or, if a pooler rejects that, in a first statement.
func Set(config *pgx.ConnConfig, name, value string) {
	before := config.AfterConnect
	if before == nil {
		config.RuntimeParams[name] = value

		return
	}
	config.AfterConnect = func(ctx context.Context, conn *pgconn.PgConn) error {
		if err := before(ctx, conn); err != nil {
			return err
		}
		result := conn.ExecParams(ctx, "SELECT set_config($1, $2, false)", [][]byte{[]byte(name), []byte(value)}, nil, nil, nil).Read()
		if result.Err != nil {
			return fmt.Errorf("set %s: %w", name, result.Err)
		}

		return nil
	}
}

// setByStatements removes the settings from what config sends when connecting. Any pooler accepts application_name.
func setByStatements(config *pgx.ConnConfig) {
	settings := config.RuntimeParams
	config.RuntimeParams = map[string]string{"application_name": settings["application_name"]}
	config.AfterConnect = func(context.Context, *pgconn.PgConn) error { return nil }
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		Set(config, name, settings[name])
	}
}

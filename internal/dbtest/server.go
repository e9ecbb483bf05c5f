package dbtest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/pg"
)

const (
	// prefix starts the names of clones (then run and number) and of templates (then the fingerprint).
	prefix         = "alfred_test_"
	templatePrefix = "alfred_template_"

	// templateLock is held while a template is built, so that packages tested in parallel build it once.
	templateLock = 0x616c667465

	// sweepLock is held while old databases are dropped.
	sweepLock = 0x616c667377
)

// server is the Postgres under test, as one test binary sees it.
type server struct {
	// admin runs CREATE and DROP DATABASE. Its application name tells other runs that our clones are in use, so
	// it stays open as long as the process.
	admin    *pgxpool.Pool
	count    atomic.Int64
	run      string
	strategy string
	template string
	url      *url.URL
}

// serverURL is TEST_DATABASE_URL, or what the script says that finds or starts a server.
func serverURL(ctx context.Context) (string, error) {
	if address := os.Getenv("TEST_DATABASE_URL"); address != "" {
		return address, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the project's root: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no go.mod above the test's folder: set TEST_DATABASE_URL")
		}
		dir = filepath.Dir(dir)
	}
	command := exec.CommandContext(ctx, filepath.Join(dir, "scripts", "postgres"), "test-url")
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("scripts/postgres test-url: %w", err)
	}

	return strings.TrimSpace(string(out)), nil
}

func connect(ctx context.Context, address string) (*server, error) {
	parsed, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("TEST_DATABASE_URL must be a postgres:// address")
	}
	s := &server{run: randomName(), url: parsed}
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("parse TEST_DATABASE_URL: %w", err)
	}
	config.MaxConns = 4
	config.MinConns = 1
	config.MaxConnIdleTime = 0
	config.ConnConfig.RuntimeParams["application_name"] = prefix + s.run
	if s.admin, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, fmt.Errorf("connect to the test server: %w", err)
	}
	if err := s.prepare(ctx); err != nil {
		s.admin.Close()

		return nil, err
	}

	return s, nil
}

func (s *server) prepare(ctx context.Context) error {
	if err := s.chooseStrategy(ctx); err != nil {
		return err
	}
	conn, err := s.admin.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("connect to the test server: %w", err)
	}
	defer conn.Release()

	if err := s.ensureTemplate(ctx, conn); err != nil {
		return err
	}

	return s.sweep(ctx, conn)
}

func randomName() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails

	return hex.EncodeToString(b[:])
}

// chooseStrategy: copying files is the quicker way unless each copy has to reach the disk.
func (s *server) chooseStrategy(ctx context.Context) error {
	var fsync string
	if err := s.admin.QueryRow(ctx, `SHOW fsync`).Scan(&fsync); err != nil {
		return fmt.Errorf("%w: %w", pg.ErrNoAnswer, err)
	}
	s.strategy = "WAL_LOG"
	if fsync == "off" {
		s.strategy = "FILE_COPY"
	}

	return nil
}

// clone copies the template and returns the new database's name and address.
func (s *server) clone(ctx context.Context) (name, address string, err error) {
	return s.create(ctx, s.template)
}

func (s *server) create(ctx context.Context, template string) (name, address string, err error) {
	name = fmt.Sprintf("%s%s_%d", prefix, s.run, s.count.Add(1))
	_, err = s.admin.Exec(ctx, fmt.Sprintf(`CREATE DATABASE %s TEMPLATE %s STRATEGY %s`, quote(name), quote(template), s.strategy))
	if err != nil {
		return "", "", fmt.Errorf("clone %s: %w", template, err)
	}

	return name, s.address(name), nil
}

func (s *server) address(database string) string {
	address := *s.url
	address.Path = "/" + database

	return address.String()
}

func (s *server) drop(ctx context.Context, name string) error {
	if _, err := s.admin.Exec(ctx, `DROP DATABASE IF EXISTS `+quote(name)+` WITH (FORCE)`); err != nil {
		return fmt.Errorf("drop %s: %w", name, err)
	}

	return nil
}

// ensureTemplate builds the template of the current migrations unless it is there. Being marked as a template comes
// last, so that one half built by a killed process is built anew.
func (s *server) ensureTemplate(ctx context.Context, conn *pgxpool.Conn) error {
	fingerprint, err := s.fingerprint()
	if err != nil {
		return err
	}
	s.template = templatePrefix + fingerprint[:16]
	if ready, err := isTemplate(ctx, conn, s.template); err != nil || ready {
		return err
	}
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock($1)`, templateLock); err != nil { // ends with the session
		return fmt.Errorf("lock the template: %w", err)
	}
	defer func() { _, _ = conn.Exec(ctx, `SELECT pg_advisory_unlock($1)`, templateLock) }()

	if ready, err := isTemplate(ctx, conn, s.template); err != nil || ready {
		return err
	}

	return s.buildTemplate(ctx, conn)
}

func isTemplate(ctx context.Context, conn *pgxpool.Conn, name string) (bool, error) {
	var ready bool
	err := conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1 AND datistemplate)`, name).Scan(&ready)
	if err != nil {
		return false, fmt.Errorf("look for the template: %w", err)
	}

	return ready, nil
}

func (s *server) buildTemplate(ctx context.Context, conn *pgxpool.Conn) error {
	if err := s.drop(ctx, s.template); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, `CREATE DATABASE `+quote(s.template)+` TEMPLATE template0`); err != nil {
		return fmt.Errorf("create the template: %w", err)
	}
	pool, err := pg.Open(ctx, pg.Config{AppName: "dbtest", MaxConns: 4, URL: s.address(s.template)})
	if err != nil {
		return err
	}
	defer pool.Close()

	migrator, err := pg.NewMigrator(pool, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	if _, err := migrator.Up(ctx); err != nil {
		return err
	}
	// Every connection of every test reads the catalog anew: without the migrations' dead rows it takes half as long.
	if _, err := pool.Exec(ctx, `VACUUM (FULL, ANALYZE)`); err != nil {
		return fmt.Errorf("vacuum the template: %w", err)
	}
	pool.Close() // CREATE DATABASE refuses a template to which anybody is connected
	comment := `COMMENT ON DATABASE ` + quote(s.template) + ` IS '` + time.Now().UTC().Format(time.RFC3339) + `'`
	if _, err := conn.Exec(ctx, comment+`; ALTER DATABASE `+quote(s.template)+` IS_TEMPLATE true ALLOW_CONNECTIONS false`); err != nil {
		return fmt.Errorf("mark the template: %w", err)
	}

	return nil
}

// fingerprint names the template; the migrator needs no connection to tell it.
func (s *server) fingerprint() (string, error) {
	migrator, err := pg.NewMigrator(s.admin, slog.New(slog.DiscardHandler))
	if err != nil {
		return "", err
	}

	return migrator.Fingerprint(), nil
}

const leftovers = `
	SELECT datname FROM pg_database AS d
	WHERE starts_with(datname, @prefix)
	  AND NOT EXISTS (SELECT FROM pg_stat_activity WHERE starts_with(application_name, @prefix) AND starts_with(d.datname, application_name))
	UNION ALL
	SELECT datname FROM pg_database
	WHERE starts_with(datname, @template_prefix) AND datname <> @template
	  AND coalesce(shobj_description(oid, 'pg_database')::timestamptz < now() - interval '1 day', false)`

// sweep drops the clones of runs that are over, and templates of other migrations after a day. One run does it.
func (s *server) sweep(ctx context.Context, conn *pgxpool.Conn) error {
	var mine bool
	if err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1)`, sweepLock).Scan(&mine); err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	if !mine {
		return nil
	}
	defer func() { _, _ = conn.Exec(ctx, `SELECT pg_advisory_unlock($1)`, sweepLock) }() // ends with the session

	rows, err := conn.Query(ctx, leftovers, pgx.NamedArgs{"prefix": prefix, "template": s.template, "template_prefix": templatePrefix})
	if err != nil {
		return fmt.Errorf("list old databases: %w", err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("list old databases: %w", err)
	}
	for _, name := range names {
		if strings.HasPrefix(name, templatePrefix) {
			if _, err := conn.Exec(ctx, `ALTER DATABASE `+quote(name)+` IS_TEMPLATE false`); err != nil {
				return fmt.Errorf("unmark %s: %w", name, err)
			}
		}
		if err := s.drop(ctx, name); err != nil {
			return err
		}
	}

	return nil
}

func quote(name string) string { return pgx.Identifier{name}.Sanitize() }

package dbtest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/internal/pg"
	"alfred/internal/scratch"
)

const (
	// prefix starts the names of clones (then run and number) and of templates (then the fingerprint).
	prefix         = "alfred_test_"
	templatePrefix = "alfred_template_"

	// templateLock is held while a template is built, so that packages tested in parallel build it once.
	templateLock = 0x616c667465
)

// server is the Postgres under test, as one test binary sees it.
type server struct {
	*scratch.Server

	template string
}

// serverURL is TEST_DATABASE_URL, or the output of the script that finds or starts a server.
func serverURL(ctx context.Context) (string, error) {
	if address := os.Getenv("TEST_DATABASE_URL"); address != "" {
		return address, nil
	}
	_, file, _, known := runtime.Caller(0)
	if !known {
		return "", errors.New("set TEST_DATABASE_URL: this binary does not know where scripts/postgres is")
	}
	command := exec.CommandContext(ctx, filepath.Join(filepath.Dir(file), "..", "..", "scripts", "postgres"), "test-url")
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("scripts/postgres test-url: %w; or set TEST_DATABASE_URL", err)
	}

	return strings.TrimSpace(string(out)), nil
}

func connect(ctx context.Context, address string) (*server, error) {
	opened, err := scratch.Open(ctx, address, prefix)
	if err != nil {
		return nil, fmt.Errorf("TEST_DATABASE_URL: %w", err)
	}
	s := &server{Server: opened}
	if err := s.prepare(ctx); err != nil {
		s.Close()

		return nil, err
	}

	return s, nil
}

func (s *server) prepare(ctx context.Context) error {
	conn, err := s.Admin.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("connect to the test server: %w", err)
	}
	defer conn.Release()
	if err := s.ensureTemplate(ctx, conn); err != nil {
		return err
	}
	if err := s.Sweep(ctx); err != nil {
		return err
	}

	return s.sweepTemplates(ctx)
}

// ensureTemplate builds the template of the current migrations unless it exists. It is marked as a template last, so
// that one left half-built by a killed process is built again.
func (s *server) ensureTemplate(ctx context.Context, conn *pgxpool.Conn) error {
	migrator, err := pg.NewMigrator(s.Admin, slog.New(slog.DiscardHandler)) // which needs no connection to name it
	if err != nil {
		return err
	}
	s.template = templatePrefix + migrator.Fingerprint()[:16]
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
	if err := s.Drop(ctx, s.template); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, `CREATE DATABASE `+scratch.Quote(s.template)+` TEMPLATE template0`); err != nil {
		return fmt.Errorf("create the template: %w", err)
	}
	if err := scratch.Migrate(ctx, s.Address(s.template), nil); err != nil {
		return err
	}
	comment := `COMMENT ON DATABASE ` + scratch.Quote(s.template) + ` IS '` + time.Now().UTC().Format(time.RFC3339) + `'`
	if _, err := conn.Exec(ctx, comment+`; ALTER DATABASE `+scratch.Quote(s.template)+` IS_TEMPLATE true ALLOW_CONNECTIONS false`); err != nil {
		return fmt.Errorf("mark the template: %w", err)
	}

	return nil
}

const oldTemplates = `
	SELECT datname FROM pg_database
	WHERE starts_with(datname, $1) AND datname <> $2
	  AND coalesce(shobj_description(oid, 'pg_database')::timestamptz < now() - interval '1 day', false)`

// sweepTemplates drops templates of other migrations after a day. Only one run does it.
func (s *server) sweepTemplates(ctx context.Context) error {
	return pg.WithLock(ctx, s.Admin, templateLock, func(conn *pgxpool.Conn) error {
		names, err := pg.Collect(ctx, conn, pgx.RowTo[string], "list old templates", oldTemplates, templatePrefix, s.template)
		if err != nil {
			return err
		}
		for _, name := range names {
			if _, err := conn.Exec(ctx, `ALTER DATABASE `+scratch.Quote(name)+` IS_TEMPLATE false`); err != nil {
				return fmt.Errorf("unmark %s: %w", name, err)
			}
			if err := s.Drop(ctx, name); err != nil {
				return err
			}
		}

		return nil
	})
}

package scratch

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/internal/pg"
)

// sweepLock is held while old databases are dropped.
const sweepLock = 0x616c667377

// ErrAddress says that another database cannot be named in this form of address.
var ErrAddress = errors.New("the database's address must be a postgres:// address")

// Server is a Postgres server, as seen by one run that creates databases on it.
type Server struct {
	// Admin runs CREATE and DROP DATABASE. Its application name tells other runs that our databases are in use, so one
	// of its connections stays open until Close.
	Admin *pgxpool.Pool

	count    atomic.Int64
	prefix   string // of all runs of this kind
	run      string // of this one
	strategy string
	url      *url.URL
}

// Open connects to the server at address. All runs of a kind share the prefix of their names.
func Open(ctx context.Context, address, prefix string) (*Server, error) {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Scheme == "" {
		return nil, ErrAddress
	}
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("parse the database's address: %w", err)
	}
	s := &Server{prefix: prefix, run: prefix + strings.ToLower(rand.Text()[:8]), url: parsed}
	config.MaxConns = 4
	config.MinConns = 1
	config.MaxConnIdleTime = 0
	config.ConnConfig.RuntimeParams["application_name"] = s.run
	if s.Admin, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, fmt.Errorf("connect to the server: %w", err)
	}
	if err := s.chooseStrategy(ctx); err != nil {
		s.Admin.Close()

		return nil, err
	}

	return s, nil
}

// Close ends the run; the next one sweeps what it has not dropped.
func (s *Server) Close() { s.Admin.Close() }

// chooseStrategy: copying files is faster unless each copy has to reach the disk.
func (s *Server) chooseStrategy(ctx context.Context) error {
	var fsync string
	if err := s.Admin.QueryRow(ctx, `SHOW fsync`).Scan(&fsync); err != nil {
		return fmt.Errorf("%w: %w", pg.ErrNoAnswer, err)
	}
	s.strategy = "WAL_LOG"
	if fsync == "off" {
		s.strategy = "FILE_COPY"
	}

	return nil
}

// Create copies a database, which must have no connections, and returns the copy's name and address.
func (s *Server) Create(ctx context.Context, template string) (name, address string, err error) {
	name = fmt.Sprintf("%s_%d", s.run, s.count.Add(1))
	_, err = s.Admin.Exec(ctx, fmt.Sprintf(`CREATE DATABASE %s TEMPLATE %s STRATEGY %s`, Quote(name), Quote(template), s.strategy))
	if err != nil {
		return "", "", fmt.Errorf("make a database from %s: %w", template, err)
	}

	return name, s.Address(name), nil
}

// Migrate gives a database Alfred's tables, and what more makes besides; nil for nothing. It can be copied afterwards.
func Migrate(ctx context.Context, address string, more func(pool *pgxpool.Pool) error) error {
	pool, err := pg.Open(ctx, pg.Config{AppName: "alfred scratch", MaxConns: 4, URL: address})
	if err != nil {
		return err
	}
	defer pool.Close() // CREATE DATABASE refuses a template with open connections
	if err := pg.Migrate(ctx, pool, slog.New(slog.DiscardHandler)); err != nil {
		return err
	}
	if more != nil {
		if err := more(pool); err != nil {
			return err
		}
	}
	// Every connection to it or a copy reads the catalog: without the migrations' dead rows, that takes half as long.
	if _, err := pool.Exec(ctx, `VACUUM (FULL, ANALYZE)`); err != nil {
		return fmt.Errorf("vacuum: %w", err)
	}
	pool.Reset()
	if err := pool.Ping(ctx); err != nil { // a first connection leaves a file from which those to copies read the catalog
		return fmt.Errorf("connect to the new database: %w", err)
	}

	return nil
}

// Address is the address of another database on the server.
func (s *Server) Address(database string) string {
	address := *s.url
	address.Path = "/" + database

	return address.String()
}

// Drop drops a database, even if it has connections.
func (s *Server) Drop(ctx context.Context, name string) error {
	if _, err := s.Admin.Exec(ctx, `DROP DATABASE IF EXISTS `+Quote(name)+` WITH (FORCE)`); err != nil {
		return fmt.Errorf("drop %s: %w", name, err)
	}

	return nil
}

const leftovers = `
	SELECT datname FROM pg_database AS d
	WHERE starts_with(datname, $1) AND pg_has_role(current_user, d.datdba, 'USAGE')
	  AND NOT EXISTS (SELECT FROM pg_stat_activity WHERE starts_with(application_name, $1) AND starts_with(d.datname, application_name))`

// Sweep drops the databases of finished runs of this kind. One run at a time does it; others continue without.
func (s *Server) Sweep(ctx context.Context) error {
	return pg.WithLock(ctx, s.Admin, sweepLock, func(conn *pgxpool.Conn) error {
		names, err := pg.Collect(ctx, conn, pgx.RowTo[string], "list old databases", leftovers, s.prefix)
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := s.Drop(ctx, name); err != nil {
				return err
			}
		}

		return nil
	})
}

// Quote quotes a name for SQL.
func Quote(name string) string { return pgx.Identifier{name}.Sanitize() }

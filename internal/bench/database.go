package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/internal/pg"
)

// database is created for a run and dropped after it.
const database = "alfred_bench"

// createEmpty makes a database on the server of address.
func createEmpty(ctx context.Context, address string) (string, error) {
	parsed, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("parse the address: %w", err)
	}
	if err := dropDatabase(ctx, address); err != nil {
		return "", err
	}
	if err := adminExec(ctx, address, "CREATE DATABASE "+database); err != nil {
		return "", err
	}
	parsed.Path = "/" + database

	return parsed.String(), nil
}

// createDatabase makes an empty, migrated database on the server of address.
func createDatabase(ctx context.Context, address string) (string, error) {
	own, err := createEmpty(ctx, address)
	if err != nil {
		return "", err
	}
	pool, err := openPool(ctx, own, 4, nil)
	if err != nil {
		return "", err
	}
	defer pool.Close()
	migrator, err := pg.NewMigrator(pool, slog.New(slog.DiscardHandler))
	if err != nil {
		return "", fmt.Errorf("migrate: %w", err)
	}
	if _, err := migrator.Up(ctx); err != nil {
		return "", fmt.Errorf("migrate: %w", err)
	}
	// Like autovacuum within minutes: until then, each new connection reads the migrations' dead rows in the catalog.
	if _, err := pool.Exec(ctx, `VACUUM (FULL, ANALYZE)`); err != nil {
		return "", fmt.Errorf("vacuum: %w", err)
	}

	return own, nil
}

func dropDatabase(ctx context.Context, address string) error {
	return adminExec(ctx, address, "DROP DATABASE IF EXISTS "+database+" WITH (FORCE)")
}

func adminExec(ctx context.Context, address, sql string) error {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, sql); err != nil {
		return fmt.Errorf("%s: %w", sql, err)
	}

	return nil
}

// openPool opens a pool like a worker's, with a tracer.
func openPool(ctx context.Context, address string, conns int32, tracer pgx.QueryTracer) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("parse the address: %w", err)
	}
	config.MaxConns = conns
	config.ConnConfig.Tracer = tracer
	config.ConnConfig.RuntimeParams["search_path"] = pg.SearchPath
	config.ConnConfig.RuntimeParams["application_name"] = "alfred bench"
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open pool: %w", err)
	}

	return pool, nil
}

// newSessions creates n sessions, each with its own user with the demo's rows.
func newSessions(ctx context.Context, pool *pgxpool.Pool, n int) ([]uuid.UUID, error) {
	sessions := make([]uuid.UUID, n)
	for i := range sessions {
		err := pool.QueryRow(ctx, `SELECT start_session($1)`, userPrefix+uuid.NewString()).Scan(&sessions[i])
		if err == nil {
			_, err = pool.Exec(ctx, `SELECT kitchen.seed_demo(user_id) FROM sessions WHERE id = $1`, sessions[i])
		}
		if err != nil {
			return nil, fmt.Errorf("make a session: %w", err)
		}
	}

	return sessions, nil
}

package main

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/internal/pg"
)

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

package main

import (
	"context"
	"fmt"
	"maps"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
	"alfred/db"
	"alfred/internal/directory"
)

// placed is a user and the database that serves them.
type placed struct {
	id    uuid.UUID
	pool  *pgxpool.Pool
	known *directory.Directory // nil where there is one database
	at    directory.Database
}

// withUser works for a user, made if missing: in the database that there is, or in the one that the directory says.
func withUser(ctx context.Context, e settings.Env, name string, work func(placed) error) error {
	known, err := program.OpenDirectory(ctx, e)
	if err != nil {
		return err
	}
	if known == nil {
		return program.WithSchema(ctx, e, "alfred api", func(pool *pgxpool.Pool) error {
			id, err := db.New().UserEnsure(ctx, pool, name)
			if err != nil {
				return fmt.Errorf("make user: %w", err)
			}

			return work(placed{id: id, pool: pool})
		})
	}
	defer known.Close()
	user, err := known.Place(ctx, name)
	if err != nil {
		return err
	}

	return inDatabase(ctx, e, user.Database, func(pool *pgxpool.Pool) error {
		if err := db.New().UserPlaceMake(ctx, pool, &db.UserPlaceMakeParams{ID: user.ID, Name: name}); err != nil {
			return fmt.Errorf("make user: %w", err)
		}

		return work(placed{id: user.ID, pool: pool, known: known, at: user.Database})
	})
}

// inDatabase is [program.WithSchema] on a database of the directory.
func inDatabase(ctx context.Context, e settings.Env, database directory.Database, work func(*pgxpool.Pool) error) error {
	there := maps.Clone(e)
	there["DATABASE_URL"] = database.URL
	if err := program.WithSchema(ctx, there, "alfred api", work); err != nil {
		return fmt.Errorf("database %s: %w", database.Name, err)
	}

	return nil
}

// everywhere works on the database that there is, or on each of the directory's.
func everywhere(ctx context.Context, e settings.Env, work func(*pgxpool.Pool) error) error {
	known, err := program.OpenDirectory(ctx, e)
	if err != nil {
		return err
	}
	if known == nil {
		return program.WithSchema(ctx, e, "alfred api", work)
	}
	defer known.Close()
	databases, err := known.Databases(ctx)
	if err != nil {
		return err
	}
	for _, row := range databases {
		if err := inDatabase(ctx, e, row.Database, work); err != nil {
			return err
		}
	}

	return nil
}

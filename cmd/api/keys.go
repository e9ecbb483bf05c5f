package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
	"alfred/db"
	"alfred/internal/auth"
	"alfred/internal/pg"
)

type keysCommand struct {
	Create keysCreateCommand `cmd:"" help:"Create a key and print it once; only its hash is stored."`
	List   keysListCommand   `cmd:"" help:"List keys by id and name."`
	Revoke keysRevokeCommand `cmd:"" help:"Revoke a key."`
}

type keysCreateCommand struct {
	User   program.UserName `max:"200" min:"1" help:"The user it acts for; created if missing." required:""`
	Name   string           `max:"200" help:"What the key is for."`
	Scopes []string         `default:"chat,read" enum:"chat,read,admin" help:"Scopes: any of ${enum}."`
}

// Validate implements kong's hook.
func (c *keysCreateCommand) Validate() error {
	if len(c.Scopes) == 0 {
		return fmt.Errorf("%w: --scopes names none", settings.ErrBad)
	}

	return nil
}

// Run creates a key.
func (c *keysCreateCommand) Run(ctx context.Context, e settings.Env, console *program.Console) error {
	key, hash := auth.NewKey()
	err := withUser(ctx, e, string(c.User), func(u placed) error {
		_, err := db.New().ApiKeyInsert(ctx, u.pool, &db.ApiKeyInsertParams{UserID: u.id, Name: c.Name, KeyHash: hash, Scopes: c.Scopes})
		if err == nil && u.known != nil {
			err = u.known.AddKey(ctx, hash, u.id)
		}
		if err != nil {
			return fmt.Errorf("store key: %w", err)
		}

		return nil
	})
	if err == nil {
		fmt.Fprintln(console.Out, key)
	}

	return err
}

type keysListCommand struct {
	JSON bool `help:"Print JSON."`
}

// Run lists the keys.
func (c *keysListCommand) Run(ctx context.Context, e settings.Env, console *program.Console) error {
	var keys []*db.ApiKeyListRow
	err := everywhere(ctx, e, func(pool *pgxpool.Pool) error {
		there, err := db.New().ApiKeyList(ctx, pool)
		keys = append(keys, there...)

		return err
	})
	if err != nil {
		err = fmt.Errorf("list keys: %w", err)
	}
	for _, k := range keys {
		err = errors.Join(err, c.print(console, k))
	}

	return err
}

func (c *keysListCommand) print(console *program.Console, k *db.ApiKeyListRow) error {
	if c.JSON {
		return json.NewEncoder(console.Out).Encode(map[string]any{
			"id": k.ID, "user": k.UserName, "name": k.Name, "scopes": k.Scopes, "created_at": k.CreatedAt,
			"last_used_at": k.LastUsedAt, "revoked_at": k.RevokedAt,
		})
	}
	state := "active"
	if k.RevokedAt != nil {
		state = "revoked " + k.RevokedAt.Format(time.DateOnly)
	}
	fmt.Fprintf(console.Out, "%s  %-20s %-20s %-16s %s\n", k.ID, k.UserName, k.Name, strings.Join(k.Scopes, ","), state)

	return nil
}

type keysRevokeCommand struct {
	ID uuid.UUID `arg:"" help:"The key's id, as listed."`
}

var errNoKey = errors.New("there is no such active key: see api keys list")

// Run revokes a key. A user who is being moved has it in two databases.
func (c *keysRevokeCommand) Run(ctx context.Context, e settings.Env) error {
	var revoked int64
	missing := errNoKey
	err := everywhere(ctx, e, func(pool *pgxpool.Pool) error {
		n, err := db.New().ApiKeyRevoke(ctx, pool, c.ID)
		if err != nil {
			err = fmt.Errorf("revoke key: %w", err)
		}
		if pg.IsElsewhere(err) {
			missing, err = err, nil
		}
		revoked += n

		return err
	})
	if err == nil && revoked == 0 {
		err = missing
	}

	return err
}

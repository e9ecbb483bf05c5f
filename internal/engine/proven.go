package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/db"
	"alfred/internal/domain"
	"alfred/internal/pg"
)

// ErrUnproven refuses a domain of which nobody knows whether it keeps users apart.
var ErrUnproven = errors.New("run worker domain check --probe")

// CheckProven refuses a domain whose user isolation has not been probed since its declaration, tables or privileges last
// changed. Built-in domains are tested with the program. Errors: [ErrUnproven].
func CheckProven(ctx context.Context, pool *pgxpool.Pool, files fs.FS, file string) error {
	if domain.Embedded(files) {
		return nil
	}
	decl, err := domain.Load(files, file)
	if err != nil {
		return err
	}

	return pg.InReadTx(ctx, pool, func(tx pgx.Tx) error {
		hash, err := domain.Hash(ctx, tx, decl)
		if err != nil {
			return err
		}
		known, err := db.New().DomainProofGet(ctx, tx, decl.Name)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return fmt.Errorf("nobody has tried whether domain %s keeps users apart: %w", decl.Name, ErrUnproven)
		case err != nil:
			return fmt.Errorf("look for the domain's proof: %w", err)
		case known != hash:
			return fmt.Errorf("the declaration, tables or rights of domain %s have changed since it was tried: %w", decl.Name, ErrUnproven)
		default:
			return nil
		}
	})
}

// FollowProofs calls renew each time that the domain has been tried anew, if its file here is what was tried, until ctx ends: from then
// on a program that was bound to it before knows another file or other tables. What fails is tried again.
func FollowProofs(ctx context.Context, pool *pgxpool.Pool, files fs.FS, file string, renew func(ctx context.Context) error) {
	decl, err := domain.Load(files, file)
	if err != nil || domain.Embedded(files) {
		return
	}
	var bound string
	known := func(ctx context.Context) string {
		hash, err := db.New().DomainProofGet(ctx, pool, decl.Name)
		if err != nil { // the database is away
			return bound
		}

		return hash
	}
	bound = known(ctx)
	pg.Every(ctx, changesInterval, func(ctx context.Context) {
		if hash := known(ctx); hash != bound && CheckProven(ctx, pool, files, file) == nil && renew(ctx) == nil {
			bound = hash
		}
	})
}

// Prove probes a domain and, if nothing is broken, remembers that.
func Prove(ctx context.Context, pool *pgxpool.Pool, files fs.FS, file string) (*domain.Proof, error) {
	decl, err := domain.Load(files, file)
	if err != nil {
		return nil, err
	}
	proof, err := domain.Probe(ctx, pool, decl)
	if err != nil || len(proof.Broken) > 0 {
		return proof, err
	}
	if err := db.New().DomainProofUpsert(ctx, pool, &db.DomainProofUpsertParams{Name: decl.Name, Hash: proof.Hash}); err != nil {
		return nil, fmt.Errorf("remember the proof: %w", err)
	}

	return proof, nil
}

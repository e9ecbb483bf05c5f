package main

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
	"alfred/internal/domain"
	"alfred/internal/eval"
)

type evalCaseCommand struct {
	Session uuid.UUID `arg:"" help:"The session's id."`
}

// Run prints the suite; what could not be reconstructed is printed as messages.
func (c *evalCaseCommand) Run(ctx context.Context, e settings.Env, pool *pgxpool.Pool, console *program.Console) error {
	src, _, err := openSource(ctx, pool, settings.Domain(e))
	if err != nil {
		return err
	}
	suite, notes, err := eval.FromSession(ctx, src, c.Session)
	if err != nil {
		return err
	}
	for _, note := range notes {
		fmt.Fprintln(console.Errs, "note:", note)
	}

	return suite.YAML(console.Out)
}

// openSource binds a domain, by name or path, to a conversation's database.
func openSource(ctx context.Context, pool *pgxpool.Pool, nameOrPath string) (*eval.Source, *domain.Declaration, error) {
	decl, err := domain.Load(domain.Find(nameOrPath))
	if err != nil {
		return nil, nil, err
	}
	bound, err := domain.Bind(ctx, pool, decl)
	if err != nil {
		return nil, nil, err
	}

	return &eval.Source{Pool: pool, Bound: bound, Domain: nameOrPath, Views: decl.Source.Schema}, decl, nil
}

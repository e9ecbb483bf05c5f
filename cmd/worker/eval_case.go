package main

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
	"alfred/domain"
	"alfred/eval"
)

type evalCaseCommand struct {
	Session uuid.UUID `arg:"" help:"The session's id."`
}

// Run prints the suite; what could not be told of the past goes to the talk.
func (c *evalCaseCommand) Run(ctx context.Context, e settings.Env, console *program.Console) error {
	return program.WithSchema(ctx, e, "alfred worker", func(pool *pgxpool.Pool) error {
		name := settings.Domain(e)
		files, file := domain.Find(name)
		decl, err := domain.Load(files, file)
		if err != nil {
			return err
		}
		bound, err := domain.Bind(ctx, pool, decl)
		if err != nil {
			return err
		}
		suite, notes, err := eval.FromSession(ctx, pool, bound, name, decl.Source.Schema, c.Session)
		if err != nil {
			return err
		}
		for _, note := range notes {
			fmt.Fprintln(console.Errs, "note:", note)
		}

		return suite.YAML(console.Out)
	})
}

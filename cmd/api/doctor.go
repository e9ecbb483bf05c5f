package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
)

type doctorCommand struct {
	Config bool `help:"Print every setting with its value, secrets masked, its default and its meaning; check nothing."`
	JSON   bool `help:"Print JSON."`
}

// Run checks what serve needs; it returns an error if something is wrong.
func (c *doctorCommand) Run(ctx context.Context, e settings.Env, console *program.Console) error {
	if c.Config {
		return program.PrintSettings(console, e, settings.API, c.JSON)
	}
	s, err := settings.Parse(e, settings.API)
	if errors.Is(err, settings.ErrNoDatabase) {
		return err
	}
	findings := []program.Finding{program.Found("settings", err, "they can be read")}
	listed, err := databases(ctx, e)
	if !slices.Contains(listed, theOnly) {
		findings = append(findings, program.Found("directory", err, fmt.Sprintf("it lists %d databases", len(listed))))
	}
	for _, database := range listed {
		for _, f := range examine(ctx, program.At(e, database.Database), s) {
			if database != theOnly {
				f.Detail = database.Name + ": " + f.Detail
			}
			findings = append(findings, f)
		}
	}

	return program.Report(console, findings, c.JSON)
}

// examine checks one database; s is nil if the settings cannot be read.
func examine(ctx context.Context, e settings.Env, s *settings.Settings) []program.Finding {
	var findings []program.Finding
	err := program.WithSchema(ctx, e, "alfred api doctor", func(pool *pgxpool.Pool) error {
		findings = append(findings, program.Found("schema", nil, "it is this program's"))
		bound, found := program.FoundDomain(ctx, pool, settings.Domain(e))
		findings = append(findings, found)
		if s != nil && bound != nil {
			_, err := program.OpenSearch(s, pool, bound)
			findings = append(findings, program.Found("embedder", err, s.Embedder.Name+" can be used"))
		}

		return nil
	})
	if err != nil {
		findings = append(findings, program.Found("database", err, ""))
	}

	return findings
}

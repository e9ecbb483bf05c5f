package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
	"alfred/domain"
)

type domainCommand struct {
	Check domainCheckCommand `cmd:"" help:"Compare a domain's declaration with the database and print every mismatch."`
	Init  domainInitCommand  `cmd:"" help:"Write a first declaration of a schema, from what the database knows of it."`
}

type domainCheckCommand struct {
	Domain string `arg:"" help:"Name of a domain that comes with the program, or path of a YAML file. Default: ALFRED_DOMAIN, else kitchen." optional:""`
	JSON   bool   `help:"Print JSON."`
}

// domainReport is what check prints as JSON.
type domainReport struct {
	Domain     string          `json:"domain"`
	Entities   []string        `json:"entities"`
	Problems   []domainProblem `json:"problems"`
	Subdomains []string        `json:"subdomains"`
}

type domainProblem struct {
	Line    int    `json:"line"`
	Message string `json:"message"`
}

// Run prints every mismatch; its error makes the exit status say that there is one.
func (c *domainCheckCommand) Run(ctx context.Context, e settings.Env, console *program.Console) error {
	c.Domain = cmp.Or(c.Domain, settings.Domain(e))
	report := domainReport{Domain: c.Domain, Entities: []string{}, Problems: []domainProblem{}, Subdomains: []string{}}
	var bound *domain.Domain
	err := program.WithDatabase(ctx, e, "alfred worker domain", func(pool *pgxpool.Pool) (err error) {
		bound, err = program.OpenDomain(ctx, pool, c.Domain)

		return err
	})
	var mismatch *domain.CheckError
	if err != nil && !errors.As(err, &mismatch) {
		return err
	}
	if mismatch != nil {
		for _, problem := range mismatch.Problems {
			report.Problems = append(report.Problems, domainProblem(problem))
		}
	} else {
		report.add(bound)
	}
	if err := c.print(console.Out, &report, mismatch); err != nil {
		return err
	}
	if mismatch != nil {
		return fmt.Errorf("%d mismatches between %s and the database", len(mismatch.Problems), c.Domain)
	}

	return nil
}

func (r *domainReport) add(bound *domain.Domain) {
	for _, entity := range bound.Entities {
		r.Entities = append(r.Entities, entity.Type)
	}
	for _, subdomain := range bound.Subdomains {
		r.Subdomains = append(r.Subdomains, subdomain.Name)
	}
}

func (c *domainCheckCommand) print(out io.Writer, report *domainReport, mismatch *domain.CheckError) error {
	if c.JSON {
		return program.PrintJSON(out, report)
	}
	text := fmt.Sprintf("%s: %d entity types and %d subdomains, no mismatch", c.Domain, len(report.Entities), len(report.Subdomains))
	if mismatch != nil {
		text = mismatch.Error()
	}
	_, err := fmt.Fprintln(out, text)

	return err //nolint:wrapcheck // a closed stdout
}

type domainInitCommand struct {
	Schema string `help:"Schema whose tables are declared." required:""`
}

// Run prints the declaration; redirect it into a file.
func (c *domainInitCommand) Run(ctx context.Context, e settings.Env, console *program.Console) error {
	return program.WithDatabase(ctx, e, "alfred worker domain", func(pool *pgxpool.Pool) error {
		text, err := domain.Init(ctx, pool, c.Schema)
		if err != nil {
			return err //nolint:wrapcheck // the domain's own words
		}
		_, err = io.WriteString(console.Out, text)

		return err //nolint:wrapcheck // a closed stdout
	})
}

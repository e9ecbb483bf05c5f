package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
	"alfred/internal/domain"
	"alfred/internal/engine"
)

type domainCommand struct {
	Check  domainCheckCommand  `cmd:"" help:"Compare a domain's declaration with the database and print every mismatch."`
	Init   domainInitCommand   `cmd:"" help:"Write a first declaration of a schema, and the SQL of the views by which Alfred reaches it."`
	Views  domainViewsCommand  `cmd:"" help:"Print the SQL of a declaration's views anew, after a change of it or of the tables."`
	Attach domainAttachCommand `cmd:"" help:"Make a declaration's views, as domain views prints them."`
	Detach domainDetachCommand `cmd:"" help:"Take a declaration's views away while the tables are changed; turns wait until domain attach."`
	Drop   domainDropCommand   `cmd:"" help:"Take away all that domain views made: views, functions, grants and the role."`
}

type domainCheckCommand struct {
	Domain string `arg:"" help:"Name of a domain that comes with the program, or path of a YAML file. Default: ALFRED_DOMAIN, else kitchen." optional:""`
	JSON   bool   `help:"Print JSON."`
	Probe  bool   `help:"Try in a transaction that is rolled back whether users are kept apart, and remember that it was so; workers run no domain of yours that is not proven."`
}

// domainReport is what check prints as JSON.
type domainReport struct {
	Domain     string          `json:"domain"`
	Entities   []string        `json:"entities"`
	Problems   []domainProblem `json:"problems"`
	Subdomains []string        `json:"subdomains"`
	// Broken and Untried are the result of a probe.
	Broken  []string `json:"broken,omitempty"`
	Untried []string `json:"untried,omitempty"`
	Proven  bool     `json:"proven"`
}

type domainProblem struct {
	Line    int    `json:"line"`
	Message string `json:"message"`
}

// Run prints every mismatch; it returns an error if there is one.
func (c *domainCheckCommand) Run(ctx context.Context, e settings.Env, console *program.Console) error {
	c.Domain = cmp.Or(c.Domain, settings.Domain(e))
	report := domainReport{Domain: c.Domain, Entities: []string{}, Problems: []domainProblem{}, Subdomains: []string{}}
	var bound *domain.Domain
	err := program.WithSchema(ctx, e, "alfred worker domain", func(pool *pgxpool.Pool) (err error) {
		if bound, err = program.OpenDomain(ctx, pool, c.Domain); err != nil || !c.Probe {
			return err
		}

		return report.probe(ctx, pool, c.Domain)
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
	if len(report.Broken) > 0 {
		return fmt.Errorf("%s does not keep users apart", c.Domain)
	}

	return nil
}

// probe probes the domain and records that it held.
func (r *domainReport) probe(ctx context.Context, pool *pgxpool.Pool, name string) error {
	files, file := domain.Find(name)
	proof, err := engine.Prove(ctx, pool, files, file)
	if err != nil {
		return err
	}
	r.Broken, r.Untried, r.Proven = proof.Broken, proof.Untried, len(proof.Broken) == 0

	return nil
}

// lines are a probe's findings, for people.
func (r *domainReport) lines() string {
	var b strings.Builder
	for _, one := range r.Broken {
		b.WriteString("\nbroken: " + one)
	}
	for _, one := range r.Untried {
		b.WriteString("\nnot tried: " + one)
	}
	if r.Proven {
		b.WriteString("\nproven: users are kept apart")
	}

	return b.String()
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
	_, err := fmt.Fprintln(out, text+report.lines())

	return err
}

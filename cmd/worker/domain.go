package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
	"alfred/internal/domain"
	"alfred/internal/engine"
)

type domainCommand struct {
	Check  domainCheckCommand  `cmd:"" help:"Compare a domain's declaration with the database and print every mismatch."`
	Init   domainInitCommand   `cmd:"" help:"Write a first declaration of a schema, and the SQL of its views."`
	Views  domainViewsCommand  `cmd:"" help:"Print the SQL of a declaration's views, after it or the tables changed."`
	Attach domainAttachCommand `cmd:"" help:"Create a declaration's views, as domain views prints them."`
	Detach domainDetachCommand `cmd:"" help:"Drop a declaration's views while you change the tables; calls that need them fail until domain attach."`
	Drop   domainDropCommand   `cmd:"" help:"Drop everything domain views created: views, functions, grants and the role."`
}

type domainCheckCommand struct {
	Domain string `arg:"" help:"A built-in domain or a YAML file. Default: ALFRED_DOMAIN, else kitchen." optional:""`
	JSON   bool   `help:"Print JSON."`
	Probe  bool   `help:"Also test, in a transaction that is rolled back, that users are kept apart, and record the result. Workers run only domains that passed."`
}

// domainReport is what check prints as JSON.
type domainReport struct {
	Domain     string           `json:"domain"`
	Entities   []string         `json:"entities"`
	Problems   []domain.Problem `json:"problems"`
	Subdomains []string         `json:"subdomains"`
	Outdated   string           `json:"outdated,omitempty"` // why the views have to be attached again
	// Broken and Untried are the result of a probe.
	Broken  []string `json:"broken,omitempty"`
	Untried []string `json:"untried,omitempty"`
	// Everybodys are the types whose rows all users have.
	Everybodys []string `json:"everybodys,omitempty"`
	Proven     bool     `json:"proven"`
}

// Run prints every mismatch; it returns an error if there is one.
func (c *domainCheckCommand) Run(ctx context.Context, e settings.Env, pool *pgxpool.Pool, console *program.Console) error {
	c.Domain = cmp.Or(c.Domain, settings.Domain(e))
	report := domainReport{Domain: c.Domain, Entities: []string{}, Problems: []domain.Problem{}, Subdomains: []string{}}
	files, file := domain.Find(c.Domain)
	decl, err := domain.Load(files, file)
	if err == nil {
		report.Outdated, err = domain.Outdated(ctx, pool, decl)
	}
	var bound *domain.Domain
	if err == nil {
		bound, err = domain.Bind(ctx, pool, decl)
	}
	mismatch, mismatched := errors.AsType[*domain.CheckError](err)
	switch {
	case mismatched:
		report.Problems = mismatch.Problems
	case err != nil:
		return err
	default:
		if err := report.add(ctx, pool, bound, c.Probe && report.Outdated == ""); err != nil {
			return err
		}
	}
	if err := console.Answer(c.JSON, report, report.text(mismatch)+"\n"); err != nil {
		return err
	}
	if mismatched {
		return fmt.Errorf("%d mismatches between %s and the database", len(mismatch.Problems), c.Domain)
	}
	if report.Outdated != "" {
		return fmt.Errorf("the views of %s are outdated", c.Domain)
	}
	if len(report.Broken) > 0 {
		return fmt.Errorf("%s does not keep users apart", c.Domain)
	}

	return nil
}

// add describes a domain that fits, and probes it if that is asked for, which is recorded if it held.
func (r *domainReport) add(ctx context.Context, pool *pgxpool.Pool, bound *domain.Domain, probe bool) error {
	for _, entity := range bound.Entities {
		r.Entities = append(r.Entities, entity.Type)
	}
	for _, subdomain := range bound.Subdomains {
		r.Subdomains = append(r.Subdomains, subdomain.Name)
	}
	if !probe {
		return nil
	}
	files, file := domain.Find(r.Domain)
	proof, err := engine.Prove(ctx, pool, files, file)
	if err != nil {
		return err
	}
	r.Broken, r.Untried, r.Everybodys, r.Proven = proof.Broken, proof.Untried, proof.Everybodys, len(proof.Broken) == 0

	return nil
}

// text is the report for people.
func (r *domainReport) text(mismatch *domain.CheckError) string {
	var b strings.Builder
	if mismatch != nil {
		b.WriteString(mismatch.Error())
	} else {
		fmt.Fprintf(&b, "%s: %d entity types and %d subdomains, no mismatch", r.Domain, len(r.Entities), len(r.Subdomains))
	}
	if r.Outdated != "" {
		b.WriteString("\noutdated: " + r.Outdated)
	}
	for _, one := range r.Broken {
		b.WriteString("\nbroken: " + one)
	}
	for _, one := range r.Untried {
		b.WriteString("\nnot tried: " + one)
	}
	if len(r.Everybodys) > 0 {
		b.WriteString("\neverybody's, as declared: " + strings.Join(r.Everybodys, ", "))
	}
	if r.Proven {
		b.WriteString("\nproven: users are kept apart")
		if len(r.Untried) > 0 {
			b.WriteString(", but for what was not tried")
		}
		if len(r.Everybodys) > 0 {
			b.WriteString(", and but for what everybody has")
		}
	}

	return b.String()
}

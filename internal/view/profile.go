package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"alfred/internal/clean"
	"alfred/internal/pg"
)

// guidanceAt marks the row of the guidance, where other rows have the index of their query.
const guidanceAt = -1

// queueProfile queues the domain's own queries as one statement. They run as the user and in the user's time zone, so
// that current_date is the user's day.
func (v *View) queueProfile(b *pg.Batch) {
	p, queries := &v.Profile, slices.Concat(v.Domain.Profile, v.Domain.Snapshot)
	*p = Profile{Guidance: map[string]string{}, known: true}
	parts := make([]string, 0, len(queries)+1)
	for i, query := range queries {
		parts = append(parts, fmt.Sprintf("SELECT %d, ARRAY(SELECT q.line::text FROM (\n%s\n) AS q (line)), NULL::text[]", i, inner(query.SQL)))
	}
	if v.Domain.Guidance != "" {
		parts = append(parts, fmt.Sprintf("SELECT %d, array_agg(q.name::text), array_agg(q.wish::text) FROM (\n%s\n) AS q (name, wish)", guidanceAt, inner(v.Domain.Guidance)))
	}
	if len(parts) == 0 {
		return
	}
	b.Query("run the domain's queries", strings.Join(parts, "\nUNION ALL "), nil, func(rows pgx.Rows) error {
		var (
			at          int
			lines, more []*string
			all         = make([]string, len(queries))
		)
		_, err := pgx.ForEachRow(rows, []any{&at, &lines, &more}, func() error {
			if at == guidanceAt {
				p.guide(lines, more)
			} else {
				all[at] = line(queries[at].Label, lines)
			}

			return nil
		})
		p.Profile, p.Snapshot = nonEmpty(all[:len(v.Domain.Profile)]), nonEmpty(all[len(v.Domain.Profile):])

		return err
	})
}

// inner returns a query's text for use as a subquery.
func inner(query string) string { return strings.TrimRight(query, "; \t\r\n") }

// nonEmpty drops empty lines.
func nonEmpty(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return line == "" })
}

// line is a query's result on one line, its label and its rows; no rows, no line.
func line(label string, values []*string) string {
	var line strings.Builder
	for _, value := range values {
		if word := clean.Inline(clean.Text(value), 0); word != "" {
			line.WriteString("; " + word)
		}
	}
	if line.Len() == 0 {
		return ""
	}

	return "**" + label + ":** " + line.String()[len("; "):]
}

func (p *Profile) guide(subdomains, wishes []*string) {
	for i, name := range subdomains {
		subdomain := clean.Text(name)
		if _, seen := p.Guidance[subdomain]; !seen {
			p.Order = append(p.Order, subdomain)
		}
		p.Guidance[subdomain] = clean.Text(wishes[i])
	}
}

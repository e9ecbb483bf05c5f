package view

import (
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"alfred/domain"
	"alfred/internal/clean"
)

// queueProfile queues the domain's own queries. They run as the user and in the user's time zone, so that current_date
// is the user's day.
func (v *View) queueProfile(b *pgx.Batch) {
	p := &v.Profile
	*p = Profile{Guidance: map[string]string{}, known: true}
	b.Queue("SELECT set_config('TimeZone', $1, true)", v.Before.Location().String())
	for _, query := range v.Domain.Profile {
		queueLine(b, query, &p.Profile)
	}
	for _, query := range v.Domain.Snapshot {
		queueLine(b, query, &p.Snapshot)
	}
	if v.Domain.Guidance != "" {
		b.Queue(v.Domain.Guidance).Query(p.readGuidance)
	}
}

// queueLine turns a query's result into one line, its label and its rows; no rows, no line.
func queueLine(b *pgx.Batch, query domain.Query, lines *[]string) {
	b.Queue(query.SQL).Query(func(rows pgx.Rows) error {
		values, err := pgx.CollectRows(rows, pgx.RowTo[*string])
		if err != nil {
			return fmt.Errorf("read %s: %w", query.Label, err)
		}
		var line strings.Builder
		for _, value := range values {
			if word := clean.Inline(clean.Text(value), 0); word != "" {
				line.WriteString("; " + word)
			}
		}
		if line.Len() > 0 {
			*lines = append(*lines, "**"+query.Label+":** "+line.String()[len("; "):])
		}

		return nil
	})
}

func (p *Profile) readGuidance(rows pgx.Rows) error {
	var subdomain, wish string
	_, err := pgx.ForEachRow(rows, []any{&subdomain, &wish}, func() error {
		if _, seen := p.Guidance[subdomain]; !seen {
			p.Order = append(p.Order, subdomain)
		}
		p.Guidance[subdomain] = wish

		return nil
	})

	return err
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/domain"
	"alfred/pg"
)

type doctorCommand struct {
	JSON bool `help:"Print JSON."`
}

// finding is what one check of doctor found.
type finding struct {
	Check  string `json:"check"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"` // what is wrong and what to do, or the fact that was looked at
}

var errUnwell = errors.New("not all is well")

// health are the checks that one statement answers. Each returns whether all is well and the fact.
//
//nolint:gochecknoglobals // a constant in all but syntax
var health = []struct{ name, sql string }{
	{"workers", `SELECT count(*) FILTER (WHERE beat_at > clock_timestamp() - interval '3 seconds') > 0,
		count(*) FILTER (WHERE beat_at > clock_timestamp() - interval '3 seconds') || ' alive, ' ||
		count(*) FILTER (WHERE beat_at <= clock_timestamp() - interval '3 seconds') || ' dead; start one with "worker run"' FROM workers`},
	{"queue", `SELECT coalesce(max(clock_timestamp() - scheduled_at) FILTER (WHERE state = 'available') < interval '1 minute', true),
		count(*) || ' jobs wait or run, the oldest waits for ' ||
		coalesce(round(extract(epoch FROM max(clock_timestamp() - scheduled_at) FILTER (WHERE state = 'available' AND scheduled_at < clock_timestamp()))), 0) || ' s' FROM v_queue`},
	{"turns", `SELECT count(*) = 0, count(*) || ' turns run for more than 10 minutes: see v_turns' FROM turns
		WHERE status = 'running' AND started_at < clock_timestamp() - interval '10 minutes'`},
	{"failures", `SELECT count(*) FILTER (WHERE status = 'failed') * 10 <= count(*),
		count(*) FILTER (WHERE status = 'failed') || ' of ' || count(*) || ' turns failed in the last hour' FROM turns
		WHERE created_at > clock_timestamp() - interval '1 hour'`},
	{"partitions", `SELECT to_regclass('alfred.turn_events' || to_char((now() + interval '1 month') AT TIME ZONE 'UTC', '"_y"YYYY"m"MM')) IS NOT NULL,
		'those of next month are made by any running worker, or by SELECT alfred.partitions_ensure()'`},
	{"role", `SELECT pg_has_role(current_user, 'alfred_tenant', 'MEMBER'), 'this login must be a member of alfred_tenant'`},
}

// Run checks and prints; its error makes the exit status say that something is wrong.
func (c *doctorCommand) Run(ctx context.Context, e env, console *console) error {
	var findings []finding
	err := withPool(ctx, e, func(pool *pgxpool.Pool) error {
		findings = examine(ctx, e, pool)

		return nil
	})
	if errors.Is(err, errNoDatabase) {
		return err
	}
	if err != nil {
		findings = append(findings, found("database", err, ""))
	}
	if err := printFindings(console.out, findings, c.JSON); err != nil {
		return err
	}
	for _, f := range findings {
		if !f.OK {
			return errUnwell
		}
	}

	return nil
}

func examine(ctx context.Context, e env, pool *pgxpool.Pool) []finding {
	schema := pg.CheckSchema(ctx, pool, slog.New(slog.DiscardHandler))
	findings := []finding{found("database", nil, "it answers"), found("schema", schema, "it is this program's")}
	if schema != nil {
		return findings // nothing else can be looked at
	}
	name := cmp.Or(e["ALFRED_DOMAIN"], "kitchen")
	files, file := domain.Find(name)
	bound, err := domain.Open(ctx, pool, files, file)
	findings = append(findings, found("domain", err, name+" matches the database"))
	s, settingsErr := parseSettings(e)
	findings = append(findings, found("settings", settingsErr, "they can be read"))
	if err == nil && settingsErr == nil {
		findings = append(findings, askModels(ctx, s, bound), askEmbedder(ctx, s, pool, bound))
	}
	for _, check := range health {
		f := finding{Check: check.name}
		if err := pool.QueryRow(ctx, check.sql).Scan(&f.OK, &f.Detail); err != nil {
			f = found(check.name, err, "")
		}
		findings = append(findings, f)
	}

	return findings
}

func found(check string, err error, fine string) finding {
	if err != nil {
		return finding{Check: check, Detail: err.Error()}
	}

	return finding{Check: check, OK: true, Detail: fine}
}

func printFindings(out io.Writer, findings []finding, asJSON bool) error {
	if asJSON {
		return printJSON(out, map[string]any{"checks": findings})
	}
	for _, f := range findings {
		word := "ok  "
		if !f.OK {
			word = "FAIL"
		}
		if _, err := fmt.Fprintf(out, "%s %-10s %s\n", word, f.Check, f.Detail); err != nil {
			return fmt.Errorf("print: %w", err)
		}
	}

	return nil
}

package main

import (
	"context"
	"errors"
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
	"alfred/internal/pg"
)

type doctorCommand struct {
	Config bool `help:"Print every setting with its value, secrets masked, its default and its meaning; check nothing."`
	JSON   bool `help:"Print JSON."`
	Model  bool `help:"Send each configured model one small request per node, with its schema, tools and streaming, and print what it rejected. Costs a few thousand tokens; does not use the database."`
}

// health are the checks that one statement answers. Each returns whether it passed, and a detail.
var health = []struct{ name, sql string }{
	{"workers", `SELECT count(*) FILTER (WHERE beat_at > clock_timestamp() - interval '3 seconds') > 0,
		count(*) FILTER (WHERE beat_at > clock_timestamp() - interval '3 seconds') || ' alive, ' ||
		count(*) FILTER (WHERE beat_at <= clock_timestamp() - interval '3 seconds') || ' dead' ||
		CASE WHEN count(*) FILTER (WHERE beat_at > clock_timestamp() - interval '3 seconds') = 0 THEN '; start one with "worker run"' ELSE '' END FROM workers`},
	{"clocks", `SELECT coalesce(max(abs(extract(epoch FROM clock_skew))) < 5, true),
		'the clocks of workers are up to ' || coalesce(round(max(abs(extract(epoch FROM clock_skew))), 1), 0) || ' s from the database''s' ||
		CASE WHEN max(abs(extract(epoch FROM clock_skew))) >= 5 THEN '; turns do not mind, logs do: synchronise them' ELSE '' END
		FROM workers WHERE beat_at > clock_timestamp() - interval '3 seconds'`},
	{"tables", `SELECT count(*) = 0, CASE WHEN count(*) = 0 THEN 'the tables are those that the workers know'
		ELSE 'changed since workers were started: ' || string_agg(DISTINCT d, ', ') || '; start the workers again with a declaration that fits' END
		FROM workers, unnest(differences) AS d WHERE beat_at > clock_timestamp() - interval '3 seconds'`},
	{"queue", `SELECT coalesce(max(clock_timestamp() - scheduled_at) FILTER (WHERE state = 'available') < interval '1 minute', true),
		count(*) || ' jobs wait or run' || coalesce(', the oldest waits for ' ||
		round(extract(epoch FROM max(clock_timestamp() - scheduled_at) FILTER (WHERE state = 'available' AND scheduled_at < clock_timestamp()))) || ' s', '') FROM v_queue`},
	{"retries", `SELECT count(*) = 0, count(*) || ' jobs failed three times or more and are tried again' ||
		coalesce('; the last one: ' || one_line((array_agg(error ORDER BY attempted_at DESC))[1], 200), '') FROM v_queue WHERE attempt >= 3 AND error IS NOT NULL`},
	{"turns", `SELECT count(*) = 0, count(*) || ' turns run for more than 10 minutes: see v_turns' FROM turns
		WHERE status = 'running' AND started_at < clock_timestamp() - interval '10 minutes'`},
	{"failures", `SELECT count(*) FILTER (WHERE status = 'failed') * 10 <= count(*),
		count(*) FILTER (WHERE status = 'failed') || ' of ' || count(*) || ' turns failed in the last hour' FROM turns
		WHERE created_at > clock_timestamp() - interval '1 hour'`},
	{"partitions", `SELECT made, CASE WHEN made THEN 'those of next month are there'
		ELSE 'those of next month are missing; any running worker makes them, and so does SELECT alfred.partitions_ensure()' END
		FROM (SELECT to_regclass('alfred.turn_events' || to_char((now() + interval '1 month') AT TIME ZONE 'UTC', '"_y"YYYY"m"MM')) IS NOT NULL AS made) AS next`},
	{"strangers", `SELECT count(*) = 0, CASE WHEN count(*) = 0 THEN 'no other role may create functions that Alfred''s SQL would call'
		ELSE format('any role may create functions in %1$s, which Alfred''s SQL would call: REVOKE CREATE ON SCHEMA %1$s FROM PUBLIC', string_agg(quote_ident(s), ', ')) END
		FROM unnest(current_schemas(false)) AS s WHERE has_schema_privilege('public', s, 'CREATE')`},
	{"role", `SELECT member, current_user || CASE WHEN member THEN ' is' ELSE ' has to be' END || ' a member of alfred_tenant'
		FROM (SELECT pg_has_role(current_user, 'alfred_tenant', 'MEMBER') AS member) AS login`},
}

// Run checks and prints; it returns an error if something is wrong.
func (c *doctorCommand) Run(ctx context.Context, e settings.Env, console *program.Console) error {
	if c.Config {
		return program.PrintSettings(console, e, settings.Worker, c.JSON)
	}
	if c.Model {
		findings, err := tryNodes(ctx, e)
		if err != nil {
			return err
		}

		return program.Report(console, findings, c.JSON)
	}
	pool, err := program.OpenDatabase(ctx, e, "alfred worker", doctorConns)
	if errors.Is(err, settings.ErrNoDatabase) {
		return err
	}
	if err != nil {
		return program.Report(console, []program.Finding{program.Found("database", err, "")}, c.JSON)
	}
	defer pool.Close()

	return program.Report(console, examine(ctx, e, pool), c.JSON)
}

const doctorConns = 2

func examine(ctx context.Context, e settings.Env, pool *pgxpool.Pool) []program.Finding {
	schema := pg.CheckSchema(ctx, pool, slog.New(slog.DiscardHandler))
	findings := []program.Finding{program.Found("database", nil, "it answers"), program.Found("schema", schema, "it is this program's")}
	if schema != nil {
		return findings // nothing else can be checked
	}
	bound, found := program.FoundDomain(ctx, pool, settings.Domain(e))
	s, settingsErr := settings.Parse(e, settings.Worker)
	findings = append(findings, found, program.Found("settings", settingsErr, "they can be read"))
	if bound != nil && settingsErr == nil {
		findings = append(append(findings, askModels(ctx, s, bound)...), askEmbedder(ctx, s, pool, bound))
	}
	for _, check := range health {
		f := program.Finding{Check: check.name}
		if err := pool.QueryRow(ctx, check.sql).Scan(&f.OK, &f.Detail); err != nil {
			f = program.Found(check.name, err, "")
		}
		findings = append(findings, f)
	}

	return findings
}

package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"alfred/db"
	"alfred/internal/httpapi/problem"
	"alfred/internal/telemetry"
)

const gaugeTimeout = 5 * time.Second

// lately is the period covered by the figures of /metrics that are not momentary.
var lately = pgtype.Interval{Microseconds: (5 * time.Minute).Microseconds(), Valid: true}

// gauges are the figures stored as rows: what all workers do, reported by any API process.
var gauges = []struct{ name, unit, text string }{
	{"alfred.workers", "", "Workers whose lease stands."},
	{"alfred.domain.differences", "", "Tables and columns that changed since a live worker was started, at most."},
	{"alfred.worker.clock_skew", "s", "How far the clock of a live worker's machine is from the database's, at most."},
	{"alfred.queue.jobs", "", "Jobs that wait or run, by queue and state."},
	{"alfred.queue.age", "s", "How long the oldest job that could run has waited, by queue."},
	{"alfred.recent.turns", "", "Turns of the last 5 minutes, by status."},
	{"alfred.recent.turn.duration", "s", "Enqueued to ended, turns of the last 5 minutes, by status and quantile."},
	{"alfred.recent.node.runs", "", "Decisions in turns of the last 5 minutes, by node."},
	{"alfred.recent.node.duration", "s", "Load to commit, turns of the last 5 minutes, by node and quantile."},
	{"alfred.recent.calls", "", "Calls of models in the last 5 minutes, by node and model."},
	{"alfred.recent.call.errors", "", "Of these, the failed ones."},
	{"alfred.recent.tokens", "", "Tokens of the last 5 minutes, by node, model and kind."},
	{"alfred.recent.cost_usd", "", "Cost in US dollars of the last 5 minutes, by node and model."},
}

// ObserveRows adds the figures stored as rows to the metrics. They are read whenever the metrics are collected. Labels
// tell databases apart where there are several.
func ObserveRows(meters metric.MeterProvider, pool *pgxpool.Pool, logger *slog.Logger, labels ...attribute.KeyValue) error {
	meter := meters.Meter(telemetry.Scope)
	byName, all := map[string]metric.Float64Observable{}, []metric.Observable{}
	for _, g := range gauges {
		gauge, err := meter.Float64ObservableGauge(g.name, metric.WithUnit(g.unit), metric.WithDescription(g.text))
		if err != nil {
			return fmt.Errorf("make gauge %s: %w", g.name, err)
		}
		byName[g.name], all = gauge, append(all, gauge)
	}
	_, err := meter.RegisterCallback(func(ctx context.Context, observer metric.Observer) error {
		ctx, cancel := context.WithTimeout(ctx, gaugeTimeout)
		defer cancel()
		figures, err := db.New().Metrics(ctx, pool, lately)
		if err != nil {
			logger.WarnContext(ctx, "metrics not read", slog.String("error", problem.OneLine(err.Error())))
		}
		for _, f := range figures {
			by := slices.Clone(labels)
			for pair := range slices.Chunk(f.Labels, 2) {
				by = append(by, attribute.String(pair[0], pair[1]))
			}
			observer.ObserveFloat64(byName[f.Name], f.Value, metric.WithAttributes(by...))
		}

		return nil // this process's own figures are still shown
	}, all...)
	if err != nil {
		return fmt.Errorf("register gauges: %w", err)
	}

	return nil
}

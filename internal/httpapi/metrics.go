package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
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
var gauges = []struct {
	name, unit, text string
	whole            bool
}{
	{"alfred.workers", "", "Workers whose lease stands.", true},
	{"alfred.domain.differences", "", "Tables and columns that changed since a live worker was started, at most.", true},
	{"alfred.worker.clock_skew", "s", "How far the clock of a live worker's machine is from the database's, at most.", false},
	{"alfred.queue.jobs", "", "Jobs that wait or run, by queue and state.", true},
	{"alfred.queue.age", "s", "How long the oldest job that could run has waited, by queue.", false},
	{"alfred.recent.turns", "", "Turns of the last 5 minutes, by status.", true},
	{"alfred.recent.turn.duration", "s", "Enqueued to ended, turns of the last 5 minutes, by status and quantile.", false},
	{"alfred.recent.node.runs", "", "Decisions in turns of the last 5 minutes, by node.", true},
	{"alfred.recent.node.duration", "s", "Load to commit, turns of the last 5 minutes, by node and quantile.", false},
	{"alfred.recent.calls", "", "Calls of models in the last 5 minutes, by node and model.", true},
	{"alfred.recent.call.errors", "", "Of these, the failed ones.", true},
	{"alfred.recent.tokens", "", "Tokens of the last 5 minutes, by node, model and kind.", true},
	{"alfred.recent.cost_usd", "", "Cost in US dollars of the last 5 minutes, by node and model.", false},
}

// ObserveRows adds the figures stored as rows to the metrics. They are read whenever the metrics are collected. Labels
// tell databases apart where there are several.
func ObserveRows(meters metric.MeterProvider, pool *pgxpool.Pool, logger *slog.Logger, labels ...attribute.KeyValue) error {
	meter := meters.Meter(telemetry.Scope)
	instruments, err := makeGauges(meter)
	if err != nil {
		return fmt.Errorf("make gauges: %w", err)
	}
	_, err = meter.RegisterCallback(func(ctx context.Context, observer metric.Observer) error {
		ctx, cancel := context.WithTimeout(ctx, gaugeTimeout)
		defer cancel()
		figures, err := db.New().Metrics(ctx, pool, lately)
		if err != nil {
			logger.WarnContext(ctx, "metrics not read", slog.String("error", problem.OneLine(err.Error())))
		}
		for _, f := range figures {
			observe(observer, instruments[f.Name], f, labels)
		}

		return nil // this process's own figures are still shown
	}, slices.Collect(maps.Values(instruments))...)
	if err != nil {
		return fmt.Errorf("register gauges: %w", err)
	}

	return nil
}

func observe(observer metric.Observer, instrument metric.Observable, figure *db.MetricsRow, labels []attribute.KeyValue) {
	by := slices.Clone(labels)
	for pair := range slices.Chunk(figure.Labels, 2) {
		by = append(by, attribute.String(pair[0], pair[1]))
	}
	switch gauge := instrument.(type) {
	case metric.Int64Observable:
		observer.ObserveInt64(gauge, int64(figure.Value), metric.WithAttributes(by...))
	case metric.Float64Observable:
		observer.ObserveFloat64(gauge, figure.Value, metric.WithAttributes(by...))
	}
}

func makeGauges(meter metric.Meter) (map[string]metric.Observable, error) {
	made := map[string]metric.Observable{}
	var errs []error
	for _, g := range gauges {
		var err error
		if g.whole {
			made[g.name], err = meter.Int64ObservableGauge(g.name, metric.WithUnit(g.unit), metric.WithDescription(g.text))
		} else {
			made[g.name], err = meter.Float64ObservableGauge(g.name, metric.WithUnit(g.unit), metric.WithDescription(g.text))
		}
		errs = append(errs, err)
	}

	return made, errors.Join(errs...)
}

package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"alfred/db"
	"alfred/internal/httpapi/problem"
	"alfred/internal/pg"
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
		o := func(name string, value float64, by ...attribute.KeyValue) {
			attributes := metric.WithAttributes(slices.Concat(by, labels)...)
			switch gauge := instruments[name].(type) {
			case metric.Int64Observable:
				observer.ObserveInt64(gauge, int64(value), attributes)
			case metric.Float64Observable:
				observer.ObserveFloat64(gauge, value, attributes)
			}
		}
		err := pg.InReadTx(ctx, pool, func(tx pgx.Tx) error {
			return errors.Join(observeWorkers(ctx, tx, o), observeQueue(ctx, tx, o), observeTurns(ctx, tx, o), observeCalls(ctx, tx, o))
		})
		if err != nil {
			logger.WarnContext(ctx, "metrics not read", slog.String("error", problem.OneLine(err.Error())))
		}

		return nil // this process's own figures are still shown
	}, slices.Collect(maps.Values(instruments))...)
	if err != nil {
		return fmt.Errorf("register gauges: %w", err)
	}

	return nil
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

// observe reports a gauge's value.
type observe func(name string, value float64, by ...attribute.KeyValue)

func (o observe) quantiles(name string, p50, p95 float64, by attribute.KeyValue) {
	o(name, p50, by, attribute.String("quantile", "0.5"))
	o(name, p95, by, attribute.String("quantile", "0.95"))
}

func observeWorkers(ctx context.Context, tx pgx.Tx, o observe) error {
	workers, err := db.New().MetricsWorkers(ctx, tx)
	if err != nil {
		return fmt.Errorf("count workers: %w", err)
	}
	o("alfred.workers", float64(workers.Alive))
	o("alfred.worker.clock_skew", workers.ClockSkew)
	o("alfred.domain.differences", float64(workers.Differences))

	return nil
}

func observeQueue(ctx context.Context, tx pgx.Tx, o observe) error {
	rows, err := db.New().MetricsQueue(ctx, tx)
	if err != nil {
		return fmt.Errorf("measure the queue: %w", err)
	}
	for _, row := range rows {
		queue := attribute.String("queue", row.Queue)
		o("alfred.queue.jobs", float64(row.Jobs), queue, attribute.String("state", row.State))
		if row.State == "available" {
			o("alfred.queue.age", row.Age, queue)
		}
	}

	return nil
}

func observeTurns(ctx context.Context, tx pgx.Tx, o observe) error {
	turns, err := db.New().MetricsTurns(ctx, tx, lately)
	if err != nil {
		return fmt.Errorf("measure turns: %w", err)
	}
	for _, row := range turns {
		status := attribute.String("status", string(row.Status))
		o("alfred.recent.turns", float64(row.Turns), status)
		if row.P95 > 0 {
			o.quantiles("alfred.recent.turn.duration", row.P50, row.P95, status)
		}
	}
	nodes, err := db.New().MetricsNodes(ctx, tx, lately)
	if err != nil {
		return fmt.Errorf("measure nodes: %w", err)
	}
	for _, row := range nodes {
		node := attribute.String("node", row.Node)
		o("alfred.recent.node.runs", float64(row.Runs), node)
		o.quantiles("alfred.recent.node.duration", row.P50, row.P95, node)
	}

	return nil
}

func observeCalls(ctx context.Context, tx pgx.Tx, o observe) error {
	calls, err := db.New().MetricsCalls(ctx, tx, lately)
	if err != nil {
		return fmt.Errorf("measure calls: %w", err)
	}
	for _, row := range calls {
		node, model := attribute.String("node", row.Node), attribute.String("model", row.Model)
		o("alfred.recent.calls", float64(row.Calls), node, model)
		o("alfred.recent.call.errors", float64(row.Errors), node, model)
		o("alfred.recent.cost_usd", row.CostUsd, node, model)
		for kind, n := range map[string]int64{"input": row.InputTokens, "output": row.OutputTokens, "cached": row.CachedTokens} {
			o("alfred.recent.tokens", float64(n), node, model, attribute.String("kind", kind))
		}
	}

	return nil
}

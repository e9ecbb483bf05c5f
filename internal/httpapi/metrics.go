package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"alfred/db"
	"alfred/internal/httpapi/problem"
	"alfred/internal/pg"
	"alfred/internal/telemetry"
)

const (
	// lately is the period covered by the figures of /metrics that are not momentary.
	lately = 5 * time.Minute

	gaugeTimeout = 5 * time.Second
)

// gauges are the figures stored as rows: what all workers do, reported by any API process.
type gauges struct {
	workers, jobs, turns, nodes, calls, callErrors, tokens, differences metric.Int64ObservableGauge
	age, skew, turnSeconds, nodeSeconds, cost                           metric.Float64ObservableGauge
}

// ObserveRows adds the figures stored as rows to the metrics. They are read whenever the metrics are collected. Labels
// tell databases apart where there are several.
func ObserveRows(meters metric.MeterProvider, pool pg.OptionBeginner, logger *slog.Logger, labels ...attribute.KeyValue) error {
	meter, g := meters.Meter(telemetry.Scope), &gauges{}
	all := make([]metric.Observable, 0, 14)
	var errs []error
	count := func(into *metric.Int64ObservableGauge, name, text string) {
		gauge, err := meter.Int64ObservableGauge(name, metric.WithDescription(text))
		*into, all, errs = gauge, append(all, gauge), append(errs, err)
	}
	number := func(into *metric.Float64ObservableGauge, name, unit, text string) {
		gauge, err := meter.Float64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(text))
		*into, all, errs = gauge, append(all, gauge), append(errs, err)
	}
	count(&g.workers, "alfred.workers", "Workers whose lease stands.")
	count(&g.differences, "alfred.domain.differences", "Tables and columns that changed since a live worker was started, at most.")
	number(&g.skew, "alfred.worker.clock_skew", "s", "How far the clock of a live worker's machine is from the database's, at most.")
	count(&g.jobs, "alfred.queue.jobs", "Jobs that wait or run, by queue and state.")
	number(&g.age, "alfred.queue.age", "s", "How long the oldest job that could run has waited, by queue.")
	count(&g.turns, "alfred.recent.turns", "Turns of the last 5 minutes, by status.")
	number(&g.turnSeconds, "alfred.recent.turn.duration", "s", "Enqueued to ended, turns of the last 5 minutes, by status and quantile.")
	count(&g.nodes, "alfred.recent.node.runs", "Decisions in turns of the last 5 minutes, by node.")
	number(&g.nodeSeconds, "alfred.recent.node.duration", "s", "Load to commit, turns of the last 5 minutes, by node and quantile.")
	count(&g.calls, "alfred.recent.calls", "Calls of models in the last 5 minutes, by node and model.")
	count(&g.callErrors, "alfred.recent.call.errors", "Of these, the failed ones.")
	count(&g.tokens, "alfred.recent.tokens", "Tokens of the last 5 minutes, by node, model and kind.")
	number(&g.cost, "alfred.recent.cost_usd", "", "Cost in US dollars of the last 5 minutes, by node and model.")
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("make gauges: %w", err)
	}
	_, err := meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		ctx, cancel := context.WithTimeout(ctx, gaugeTimeout)
		defer cancel()
		err := pg.InReadTx(ctx, pool, func(tx pgx.Tx) error { return g.observe(ctx, tx, labelled{o, metric.WithAttributes(labels...)}) })
		if err != nil {
			logger.WarnContext(ctx, "metrics not read", slog.String("error", problem.OneLine(err.Error())))
		}

		return nil // this process's own figures are still shown
	}, all...)
	if err != nil {
		return fmt.Errorf("register gauges: %w", err)
	}

	return nil
}

// labelled adds labels to what is observed.
type labelled struct {
	metric.Observer

	labels metric.ObserveOption
}

func (l labelled) ObserveInt64(gauge metric.Int64Observable, value int64, options ...metric.ObserveOption) {
	l.Observer.ObserveInt64(gauge, value, append(options, l.labels)...)
}

func (l labelled) ObserveFloat64(gauge metric.Float64Observable, value float64, options ...metric.ObserveOption) {
	l.Observer.ObserveFloat64(gauge, value, append(options, l.labels)...)
}

func (g *gauges) observe(ctx context.Context, tx pgx.Tx, o metric.Observer) error {
	q := db.New()
	workers, err := q.MetricsWorkers(ctx, tx)
	if err != nil {
		return fmt.Errorf("count workers: %w", err)
	}
	o.ObserveInt64(g.workers, workers.Alive)
	o.ObserveFloat64(g.skew, workers.ClockSkew)
	o.ObserveInt64(g.differences, workers.Differences)

	return errors.Join(g.observeQueue(ctx, tx, o, q), g.observeTurns(ctx, tx, o, q), g.observeCalls(ctx, tx, o, q))
}

func (g *gauges) observeQueue(ctx context.Context, tx pgx.Tx, o metric.Observer, q *db.Queries) error {
	rows, err := q.MetricsQueue(ctx, tx)
	if err != nil {
		return fmt.Errorf("measure the queue: %w", err)
	}
	for _, row := range rows {
		queue := attribute.String("queue", row.Queue)
		o.ObserveInt64(g.jobs, row.Jobs, metric.WithAttributes(queue, attribute.String("state", row.State)))
		if row.State == "available" {
			o.ObserveFloat64(g.age, row.Age, metric.WithAttributes(queue))
		}
	}

	return nil
}

func (g *gauges) observeTurns(ctx context.Context, tx pgx.Tx, o metric.Observer, q *db.Queries) error {
	turns, err := q.MetricsTurns(ctx, tx, interval(lately))
	if err != nil {
		return fmt.Errorf("measure turns: %w", err)
	}
	for _, row := range turns {
		status := attribute.String("status", string(row.Status))
		o.ObserveInt64(g.turns, row.Turns, metric.WithAttributes(status))
		if row.P95 > 0 {
			observeQuantiles(o, g.turnSeconds, status, row.P50, row.P95)
		}
	}
	nodes, err := q.MetricsNodes(ctx, tx, interval(lately))
	if err != nil {
		return fmt.Errorf("measure nodes: %w", err)
	}
	for _, row := range nodes {
		node := attribute.String("node", row.Node)
		o.ObserveInt64(g.nodes, row.Runs, metric.WithAttributes(node))
		observeQuantiles(o, g.nodeSeconds, node, row.P50, row.P95)
	}

	return nil
}

func (g *gauges) observeCalls(ctx context.Context, tx pgx.Tx, o metric.Observer, q *db.Queries) error {
	calls, err := q.MetricsCalls(ctx, tx, interval(lately))
	if err != nil {
		return fmt.Errorf("measure calls: %w", err)
	}
	for _, row := range calls {
		node, model := attribute.String("node", row.Node), attribute.String("model", row.Model)
		by := metric.WithAttributes(node, model)
		o.ObserveInt64(g.calls, row.Calls, by)
		o.ObserveInt64(g.callErrors, row.Errors, by)
		o.ObserveFloat64(g.cost, row.CostUsd, by)
		for kind, n := range map[string]int64{"input": row.InputTokens, "output": row.OutputTokens, "cached": row.CachedTokens} {
			o.ObserveInt64(g.tokens, n, metric.WithAttributes(node, model, attribute.String("kind", kind)))
		}
	}

	return nil
}

func observeQuantiles(o metric.Observer, gauge metric.Float64Observable, by attribute.KeyValue, p50, p95 float64) {
	o.ObserveFloat64(gauge, p50, metric.WithAttributes(by, attribute.String("quantile", "0.5")))
	o.ObserveFloat64(gauge, p95, metric.WithAttributes(by, attribute.String("quantile", "0.95")))
}

func interval(d time.Duration) pgtype.Interval {
	return pgtype.Interval{Microseconds: d.Microseconds(), Valid: true}
}

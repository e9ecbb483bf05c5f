package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
	"alfred/internal/domain"
	"alfred/internal/engine"
	"alfred/internal/llm"
	"alfred/internal/pg"
	"alfred/internal/recall"
	"alfred/internal/telemetry"
	"alfred/jobs"
)

type runCommand struct {
	Conns int32         `default:"20"  min:"3"  help:"Maximum database connections; a decision that waits for a model holds none."`
	Grace time.Duration `default:"10s" min:"1ms" help:"How long decisions may take to finish after SIGTERM before other workers get them."`
	JSON  bool          `help:"Log JSON."`
	Turns int           `default:"200" min:"1"  max:"10000" help:"Decisions that run concurrently."`
	Quiet bool          `help:"Log only warnings and errors."`

	CompareCarried bool `hidden:"" help:"Reload every carried view and fail the turn if the two differ."`
}

// Help lists the settings.
func (c *runCommand) Help() string { return settings.Help(settings.Worker) }

// idleInTx ends the transactions of a stopped process, whose row locks would hide its jobs from recovery.
const idleInTx = 5 * time.Second

// Run works jobs until ctx ends, then stops within the grace period.
func (c *runCommand) Run(ctx context.Context, e settings.Env, s *settings.Settings, console *program.Console) error {
	logger := c.logger(console)
	program.WarnOfUnknownSettings(ctx, e, logger)
	if e["GOGC"] == "" && e["GOMEMLIMIT"] == "" {
		engine.RelaxGC()
	}
	pool, err := pg.Open(ctx, pg.Config{AppName: "alfred worker", IdleInTxTimeout: idleInTx, MaxConns: c.Conns, URL: s.DatabaseURL})
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := pg.CheckSchema(ctx, pool, logger); err != nil {
		return err
	}
	tele, closeTelemetry, err := program.OpenTelemetry(ctx, "alfred-worker", s.Collector, logger)
	if err != nil {
		return err
	}
	defer closeTelemetry()
	closeMetrics, err := serveMetrics(ctx, s.MetricsAddr, tele)
	if err != nil {
		return err
	}
	defer closeMetrics()

	return c.work(ctx, s, pool, tele, logger)
}

// work starts a worker and, once the domain was tried anew, another one, beside which the first finishes what it is deciding.
func (c *runCommand) work(ctx context.Context, s *settings.Settings, pool *pgxpool.Pool, tele *telemetry.Telemetry, logger *slog.Logger) error {
	stop, err := c.start(ctx, s, pool, tele, logger)
	if err != nil {
		return err
	}
	program.FollowDomain(ctx, pool, s.Domain, logger, func(ctx context.Context) error {
		stopNewer, err := c.start(ctx, s, pool, tele, logger)
		if err != nil {
			return err
		}
		if err := stop(); err != nil { // its jobs are found like those of one that crashed
			logger.WarnContext(ctx, "worker not stopped cleanly", slog.Any("error", err))
		}
		stop = stopNewer

		return nil
	})
	<-ctx.Done()

	return stop()
}

func (c *runCommand) start(ctx context.Context, s *settings.Settings, pool *pgxpool.Pool, tele *telemetry.Telemetry, logger *slog.Logger) (stop func() error, err error) {
	bound, err := program.OpenDomain(ctx, pool, s.Domain)
	if err != nil {
		return nil, err
	}
	config, index, err := c.configOf(s, pool, bound, logger)
	if err != nil {
		return nil, err
	}
	if err := program.CheckProven(ctx, pool, s.Domain); err != nil {
		return nil, err
	}
	config.Traces, config.Metrics = tele.Traces, tele.Metrics

	return engine.Start(ctx, config, index)
}

func (c *runCommand) logger(console *program.Console) *slog.Logger {
	options := &slog.HandlerOptions{Level: slog.LevelInfo}
	if c.Quiet {
		options.Level = slog.LevelWarn
	}
	if c.JSON {
		return slog.New(slog.NewJSONHandler(console.Errs, options))
	}

	return slog.New(slog.NewTextHandler(console.Errs, options))
}

// configOf builds the runner's configuration.
func (c *runCommand) configOf(s *settings.Settings, pool *pgxpool.Pool, bound *domain.Domain, logger *slog.Logger) (jobs.Config, *recall.Index, error) {
	models, err := openModels(s, bound)
	if err != nil {
		return jobs.Config{}, nil, err
	}
	searcher, err := program.OpenSearch(s, pool, bound)
	if err != nil {
		return jobs.Config{}, nil, err
	}
	config := jobs.Config{
		Pool: pool, Domain: bound, Logger: logger, Models: func(node string) llm.Model { return models[node] }, Prices: s.Prices, Limits: s.Limits,
		RetentionDecayTurns: s.RetentionDecay, Deadline: s.TurnDeadline, Timeouts: runTimes(s.Model.Whole), Grace: c.Grace, TurnWorkers: c.Turns, Version: program.Version(),
		CompareCarried: c.CompareCarried,
	}
	index := engine.Complete(&config, searcher, s.Windows)

	return config, index, nil
}

// callsOfRun is how many calls a decision has time for: the first, and two repairs.
const callsOfRun = 3

// runTimes bound decisions whose calls have their own limit.
func runTimes(calls map[string]time.Duration) jobs.Timeouts {
	times := jobs.Timeouts{}
	for node, call := range calls {
		times[node] = callsOfRun * call
	}

	return times
}

// serveMetrics serves /metrics and /healthz on addr until the returned function is called; with "" it serves nothing.
func serveMetrics(ctx context.Context, addr string, source *telemetry.Telemetry) (func(), error) {
	if addr == "" {
		return func() {}, nil
	}
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on ALFRED_METRICS_ADDR: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", source.Handler())
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("ok\n")) // a disconnected prober needs no answer
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }() // ends with Close below

	return func() { _ = server.Close() }, nil
}

package alfred

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"alfred/internal/domain"
	"alfred/internal/engine"
	"alfred/internal/llm"
	"alfred/internal/llm/lexical"
	"alfred/internal/llm/offline"
	"alfred/internal/llm/provider"
	"alfred/internal/prompt"
	"alfred/internal/recall"
	"alfred/jobs"
)

// Worker says how a program works its turns. Its zero value is the built-in kitchen and the model by rules.
type Worker struct {
	// Types names the declaration of the entity types: a built-in one, or a file. "" is the kitchen. Whether an own one
	// keeps users apart must have been tried since it or its tables changed: by worker domain check --probe, or by Probe.
	Types string
	// Files holds the declaration and what it refers to, if they are not on disk: an [embed.FS], for example.
	Files fs.FS
	// Probe tries it where nobody has, in a transaction that is rolled back, and tells Logger what it had no rows for.
	Probe bool

	// Model answers for every node; nil leaves it to Provider.
	Model    Model
	Provider Provider
	// Embedder is nil for the one that needs no network.
	Embedder Embedder

	// Limits hold for each user; zero: none.
	Limits Limits
	// Prices go before the built-in ones, by model. One that has none costs nothing, and no limit of cost holds for it.
	Prices map[string]Price

	// Turns is how many decisions run at a time; 0: 200.
	Turns int
	// Deadline is how long a turn may try for one decision before it fails; 0: five minutes.
	Deadline time.Duration
	// Grace is how long Close lets decisions finish before it hands them back to the queue; 0: ten seconds.
	Grace time.Duration

	// Traces and Metrics receive the telemetry of every turn; nil: none.
	Traces  trace.TracerProvider
	Metrics metric.MeterProvider
}

// start puts the worker together and starts it.
func (w *Worker) start(ctx context.Context, pool *pgxpool.Pool, logger *slog.Logger) (stop func() error, err error) {
	bound, err := w.bind(ctx, pool, logger)
	if err != nil {
		return nil, err
	}
	models, err := w.models(bound)
	if err != nil {
		return nil, err
	}
	prices, err := llm.DefaultPrices()
	if err != nil {
		return nil, err
	}
	maps.Copy(prices, w.Prices)
	searcher := recall.New(bound, cmp.Or[Embedder](w.Embedder, lexical.Embedder{}))
	searcher.Follow(pool, new(provider.EmbedderConfig).Earlier)
	config := jobs.Config{
		Pool: pool, Domain: bound, Logger: logger, Models: models, Prices: prices, Limits: w.Limits, TurnWorkers: w.Turns,
		Deadline: cmp.Or(w.Deadline, engine.Deadline), RetentionDecayTurns: engine.RetentionDecay, Grace: w.Grace,
		Traces: w.Traces, Metrics: w.Metrics,
	}
	index := engine.Complete(&config, searcher, prompt.DefaultConfig())

	return engine.Start(ctx, config, index)
}

func (w *Worker) bind(ctx context.Context, pool *pgxpool.Pool, logger *slog.Logger) (*domain.Domain, error) {
	files, file := domain.Find(cmp.Or(w.Types, "kitchen"))
	if w.Files != nil {
		files, file = w.Files, w.Types
	}
	bound, err := domain.Open(ctx, pool, files, file)
	if err != nil {
		return nil, err
	}
	err = engine.CheckProven(ctx, pool, files, file)
	if !errors.Is(err, engine.ErrUnproven) {
		return bound, err
	}
	if !w.Probe {
		return nil, fmt.Errorf("%w, or set Worker.Probe", err)
	}
	proof, err := engine.Prove(ctx, pool, files, file)
	if err != nil {
		return nil, err
	}
	if len(proof.Broken) > 0 {
		return nil, fmt.Errorf("%s does not keep users apart: %s", file, strings.Join(proof.Broken, "; "))
	}
	if len(proof.Untried) > 0 {
		logger.WarnContext(ctx, "whether users are kept apart was not tried in all", slog.String("types", file), slog.Any("not_tried", proof.Untried))
	}

	return bound, nil
}

func (w *Worker) models(bound *domain.Domain) (func(node string) Model, error) {
	if w.Model != nil {
		return func(string) Model { return w.Model }, nil
	}
	config := w.Provider
	config.OfflineModel = offline.New(bound)
	all, err := provider.New(&config)
	if err != nil {
		return nil, fmt.Errorf("choose models: %w", err)
	}

	return func(node string) Model { return all[node] }, nil
}

package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"alfred/internal/crud"
	"alfred/internal/pg"
	"alfred/internal/prompt"
	"alfred/internal/recall"
	"alfred/jobs"
)

const (
	// Deadline is how long a turn may try for one decision, where nobody says otherwise.
	Deadline = 5 * time.Minute
	// RetentionDecay is the number of turns after which an unrenewed reason to keep an entity ends, where nobody says
	// otherwise.
	RetentionDecay = 20

	// changesInterval is how often to look for rows that other programs wrote, sweepInterval how often to go through
	// everything and to tend the vector indexes.
	changesInterval = 5 * time.Second
	sweepInterval   = 10 * time.Minute

	// retryInterval is how long to wait after a sweep that failed: one reads every row.
	retryInterval = time.Minute
)

// shorterPrompts is how often a prompt that is too long is asked with half the budgets: beside the instructions, a model that takes
// 8,192 tokens has room for a quarter of them.
const shorterPrompts = 3

// Complete fills in a configuration that has a pool and a domain, and returns the index that its search needs swept.
func Complete(config *jobs.Config, searcher *recall.Searcher, windows prompt.Config) *recall.Index {
	index := recall.NewIndex(searcher, config.Pool)
	config.Windows, config.Index, config.Tools = windows.Windows, index, crud.New(config.Domain, searcher)
	config.Prompts = prompt.New(config.Domain, windows)
	for range shorterPrompts {
		windows = windows.Halved()
		config.Shorter = append(config.Shorter, prompt.New(config.Domain, windows))
	}

	return index
}

// leastConns: an index that is being made and a sweep each hold a connection for as long as they take, a backup's whole
// length for the index, and the sweep needs another.
const leastConns = 3

// ErrFewConns says that a pool is too small for a worker, which would wait for itself.
var ErrFewConns = fmt.Errorf("a worker needs at least %d database connections", leastConns)

// Start works jobs until stop is called, which waits for the grace period at most. ctx bounds only the start, whose
// failures are returned; what fails later is tried again.
func Start(ctx context.Context, config jobs.Config, index *recall.Index) (stop func() error, err error) {
	if most := config.Pool.Config().MaxConns; most < leastConns {
		return nil, fmt.Errorf("%w: its pool may have %d", ErrFewConns, most)
	}
	runner, err := jobs.NewRunner(config)
	if err != nil {
		return nil, err
	}
	if err := runner.Start(ctx); err != nil {
		return nil, err
	}
	config.Logger.InfoContext(ctx, "worker started", slog.String("worker", runner.ID()), slog.String("domain", config.Domain.Name))
	lasting := context.WithoutCancel(ctx)
	beside, end := context.WithCancel(lasting)
	var besides sync.WaitGroup
	besides.Go(func() { sweep(beside, index, config.Logger) })
	besides.Go(func() { tend(beside, index, config.Logger) })

	return func() error {
		end()
		besides.Wait()

		return runner.Stop(lasting)
	}, nil
}

// sweep embeds what no job covers, until ctx ends. Several workers may do so: a text is identified by its hash.
func sweep(ctx context.Context, index *recall.Index, logger *slog.Logger) {
	due, first := time.Now(), true
	look := func(ctx context.Context) {
		err := index.SweepChanged(ctx)
		if !time.Now().Before(due) {
			full := index.Sweep(ctx)
			due = time.Now().Add(untilNext(full, first))
			first = first && full != nil
			if !errors.Is(full, recall.ErrSweeping) {
				err = errors.Join(err, full)
			}
		}
		if err != nil && ctx.Err() == nil {
			logger.WarnContext(ctx, "sweep failed", slog.Any("error", err))
		}
	}
	look(ctx)
	pg.Every(ctx, changesInterval, look)
}

// untilNext returns how long to wait after a sweep. Another process's sweep will do, except for the first, which comes as
// soon as nobody sweeps: the other's may leave out what only this process's domain declares, or be a killed worker's, whose
// lock outlives it for a moment.
func untilNext(err error, first bool) time.Duration {
	switch {
	case errors.Is(err, recall.ErrSweeping):
		if first {
			return 0
		}
	case err != nil && !errors.Is(err, recall.ErrVector):
		return retryInterval
	}

	return sweepInterval
}

// tend makes and drops vector indexes until ctx ends. Making an index may wait for hours, and no sweep must wait for
// that.
func tend(ctx context.Context, index *recall.Index, logger *slog.Logger) {
	look := func(ctx context.Context) {
		if err := index.Maintain(ctx); err != nil && ctx.Err() == nil {
			logger.WarnContext(ctx, "vector indexes failed", slog.Any("error", err))
		}
	}
	look(ctx)
	pg.Every(ctx, sweepInterval, look)
}

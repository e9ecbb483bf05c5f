package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/domain"
	"alfred/internal/pg"
)

const scanInterval = 500 * time.Millisecond

// recoverLoop looks for abandoned work twice a second. Every worker does; whatever one finishes, the others find done.
func (r *Runner) recoverLoop(ctx context.Context) {
	ticker := time.NewTicker(scanInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := r.scan(ctx); err != nil && ctx.Err() == nil {
			r.Logger.WarnContext(ctx, "recovery scan failed", slog.Any("error", err))
		}
	}
}

// compareInterval is how often a worker checks that the tables still match its declaration.
const compareInterval = 5 * time.Second

// compareLoop notices when somebody changes the domain's tables under a running worker. Calls that need what has
// changed fail by themselves; the log and the lease tell the operator why.
func (r *Runner) compareLoop(ctx context.Context) {
	ticker := time.NewTicker(compareInterval)
	defer ticker.Stop()
	var known []string
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		found, err := r.compare(ctx)
		if err != nil {
			if ctx.Err() == nil {
				r.Logger.WarnContext(ctx, "tables not compared", slog.Any("error", err))
			}

			continue
		}
		if !slices.Equal(found, known) {
			r.Logger.WarnContext(ctx, "tables differ from what this worker knows", slog.Any("differences", found))
		}
		known = found
	}
}

func (r *Runner) compare(ctx context.Context) ([]string, error) {
	differences, err := domain.Drift(ctx, r.Pool, r.Domain)
	if err != nil {
		return nil, err
	}
	words := make([]string, len(differences))
	for i, d := range differences {
		words[i] = d.String()
	}
	if err := db.New().WorkerDiffers(ctx, r.Pool, &db.WorkerDiffersParams{ID: r.id, Differences: words}); err != nil {
		return nil, fmt.Errorf("note differences: %w", err)
	}

	return words, nil
}

func (r *Runner) scan(ctx context.Context) error {
	return errors.Join(r.bringBack(ctx), r.supersede(ctx), r.supersedeStrays(ctx), r.failAbandoned(ctx), r.finishSummaries(ctx), r.startWaiting(ctx))
}

// bringBack lets nothing wait for a time that a clock, set back since, had reached.
func (r *Runner) bringBack(ctx context.Context) error {
	if !r.clock.settling() {
		return nil
	}
	found, err := db.New().ClockSetBack(ctx, r.Pool)
	if err != nil {
		return fmt.Errorf("bring back times yet to come: %w", err)
	}
	if found > 0 {
		r.Logger.WarnContext(ctx, "the database's clock was set back; jobs and leases of a time yet to come count from now on", slog.Int64("found", found))
	}

	return nil
}

// supersede replaces the running jobs of dead workers with new ones. Without any it begins no transaction.
func (r *Runner) supersede(ctx context.Context) error {
	dead, err := db.New().WorkerDead(ctx, r.Pool, r.id)
	if err == nil && len(dead) > 0 {
		err = pg.InTx(ctx, r.Pool, func(tx pgx.Tx) error { return r.takeOver(ctx, tx) })
	}
	if err != nil {
		return fmt.Errorf("supersede jobs: %w", err)
	}

	return nil
}

// takeOver asks again which workers are dead, for until the transaction ends no other scan then takes them over. A row
// is never reopened: a late report of the dead worker would land on the live run. A job without attempts left gets no
// successor, and the next scan fails its turn. That cannot happen here, where jobs are locked: turns are locked before
// jobs.
func (r *Runner) takeOver(ctx context.Context, tx pgx.Tx) error {
	q := db.New()
	dead, err := q.WorkerDead(ctx, tx, r.id)
	if err != nil {
		return err
	}
	for _, id := range dead {
		n, err := q.JobSupersede(ctx, tx, &db.JobSupersedeParams{Client: id, Reason: "worker died: " + id})
		if err != nil {
			return err
		}
		if n > 0 {
			r.observe.takeovers.Add(ctx, int64(n))
			r.Logger.WarnContext(ctx, "jobs taken over", slog.String("worker", id), slog.Int("jobs", int(n)))
		}
	}

	return nil
}

// failAbandoned fails running turns without a live job: the last attempt was killed, or somebody cancelled the job by
// hand.
func (r *Runner) failAbandoned(ctx context.Context) error {
	q := db.New()
	turns, err := q.TurnAbandoned(ctx, r.Pool)
	if err != nil {
		return fmt.Errorf("find abandoned turns: %w", err)
	}
	for _, turnID := range turns {
		ended, err := q.TurnEnd(ctx, r.Pool, &db.TurnEndParams{
			TurnID: turnID, Status: db.TurnStatusFailed, Code: codeInternal, Message: sentences[codeInternal],
		})
		if err != nil {
			return fmt.Errorf("fail abandoned turn: %w", err)
		}
		if ended {
			r.notifier.Notify(turnID)
			r.Logger.ErrorContext(ctx, "abandoned turn failed", slog.String("turn_id", turnID.String()))
		}
	}

	return nil
}

// finishSummaries completes summaries that no job will finish, from facts.
func (r *Runner) finishSummaries(ctx context.Context) error {
	q := db.New()
	turns, err := q.SummaryAbandoned(ctx, r.Pool)
	if err != nil {
		return fmt.Errorf("find abandoned summaries: %w", err)
	}
	for _, turnID := range turns {
		if _, err := q.TurnSummaryFinish(ctx, r.Pool, turnID); err != nil {
			return fmt.Errorf("finish summary: %w", err)
		}
		r.notifier.Notify(turnID)
	}

	return nil
}

// startWaiting starts turns that waited for a summary that is late.
func (r *Runner) startWaiting(ctx context.Context) error {
	q := db.New()
	sessions, err := q.SessionStartable(ctx, r.Pool)
	if err != nil {
		return fmt.Errorf("find waiting sessions: %w", err)
	}
	for _, sessionID := range sessions {
		if _, err := q.TurnStartNext(ctx, r.Pool, &db.TurnStartNextParams{SessionID: sessionID, Wake: true}); err != nil {
			return fmt.Errorf("start next turn: %w", err)
		}
	}

	return nil
}

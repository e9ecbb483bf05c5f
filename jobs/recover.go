package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/domain"
	"alfred/internal/pg"
)

const scanInterval = 500 * time.Millisecond

// compareInterval is how often a worker checks that the tables still match its declaration.
const compareInterval = 5 * time.Second

// compareTables returns a function that notices when somebody changes the domain's tables under a running worker. Calls
// that need what has changed fail by themselves; the log and the lease tell the operator why.
func (r *Runner) compareTables() func(ctx context.Context) {
	var known []string

	return func(ctx context.Context) {
		found, err := r.differences(ctx)
		if err != nil {
			if ctx.Err() == nil {
				r.Logger.WarnContext(ctx, "tables not compared", slog.Any("error", err))
			}

			return
		}
		if !slices.Equal(found, known) {
			r.Logger.WarnContext(ctx, "tables differ from what this worker knows", slog.Any("differences", found))
		}
		known = found
	}
}

func (r *Runner) differences(ctx context.Context) ([]string, error) {
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

// scan looks for abandoned work. Every worker scans; what one has finished, the others find done.
func (r *Runner) scan(ctx context.Context) {
	q := db.New()
	err := errors.Join(r.bringBack(ctx), r.supersede(ctx), r.supersedeStrays(ctx),
		r.each(ctx, "renew or fail abandoned turns", q.TurnAbandoned, r.renewOrFail),
		r.each(ctx, "finish abandoned summaries", q.SummaryAbandoned, r.finishSummary),
		r.each(ctx, "start turns that waited for a late summary", q.SessionStartable, func(ctx context.Context, session uuid.UUID) error { return q.TurnStartNext(ctx, r.Pool, session) }))
	if err != nil && ctx.Err() == nil {
		r.Logger.WarnContext(ctx, "recovery scan failed", slog.Any("error", err))
	}
}

// each calls mend for every id that find returns.
func (r *Runner) each(ctx context.Context, what string, find func(context.Context, db.DBTX) ([]uuid.UUID, error), mend func(context.Context, uuid.UUID) error) error {
	found, err := find(ctx, r.Pool)
	for i := 0; i < len(found) && err == nil; i++ {
		err = mend(ctx, found[i])
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}

	return nil
}

// bringBack corrects timestamps in the future, left behind when the database's clock was set back, so that nothing
// waits for the clock to reach them again.
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

// supersede replaces the running jobs of dead workers with new ones. If there are none, it opens no transaction.
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

// takeOver asks again which workers are dead: the query locks those whose lease is fresh, so that no other scan takes
// them over until the transaction ends. A row is never reopened: a late report of the dead worker would land on the
// live run. A job without attempts left gets no successor. Its turn is failed by the next scan, not here, where the job
// is already locked: turns are locked before jobs.
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

// supersedeStrays replaces jobs that the database believes are running here but are not. They result from a connection
// that breaks between a fetch's commit and its response, and from a database that is down for longer than River retries
// its report (about 7 s). While this worker lives, nobody else would look for them.
func (r *Runner) supersedeStrays(ctx context.Context) error {
	n, err := db.New().JobSupersedeStray(ctx, r.Pool, &db.JobSupersedeStrayParams{Client: r.id, Working: r.runs.jobs()})
	if err != nil {
		return fmt.Errorf("supersede strays: %w", err)
	}
	if n > 0 {
		r.Logger.WarnContext(ctx, "jobs fetched but not delivered", slog.Int("jobs", int(n)))
	}

	return nil
}

// renewOrFail mends a running turn without a live job. A late report may have completed the job before its decision was
// made: it gets a successor. Otherwise the last attempt was killed, or somebody cancelled the job by hand: the turn fails.
func (r *Runner) renewOrFail(ctx context.Context, turnID uuid.UUID) error {
	renewed, err := db.New().JobRenew(ctx, r.Pool, turnID)
	if renewed {
		r.Logger.WarnContext(ctx, "job completed without its decision, renewed", slog.String("turn_id", turnID.String()))
	}
	if renewed || err != nil {
		return err
	}
	ended, err := db.New().TurnEnd(ctx, r.Pool, &db.TurnEndParams{
		TurnID: turnID, Status: db.TurnStatusFailed, Code: codeInternal, Message: sentences[codeInternal],
	})
	if ended {
		r.notifier.Notify(turnID)
		r.Logger.ErrorContext(ctx, "abandoned turn failed", slog.String("turn_id", turnID.String()))
	}

	return err
}

// finishSummary completes from facts a summary that no job will finish.
func (r *Runner) finishSummary(ctx context.Context, turnID uuid.UUID) error {
	if _, err := db.New().TurnSummaryFinish(ctx, r.Pool, turnID); err != nil {
		return fmt.Errorf("finish the summary: %w", err)
	}
	r.notifier.Notify(turnID)

	return nil
}

package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"alfred/db"
	"alfred/internal/pg"
	"alfred/internal/view"
)

// A commit completes its job and inserts the next one as already running on the same worker: no trip through the queue,
// still one row per node. River knows only the row of a job that was handed on. What it does for other jobs is done by
// us: ending it without a commit (release), stopping between decisions (handOff), time limits and panics (worker.go),
// cancelling (runs.go), recovery of lost jobs (recover.go).

// handOff ends a decision's transaction: its effects, the hand-over and the commit are one round trip. It returns the
// next job, or nil if there is none or another worker must take it because this one is stopping.
func (c *commit) handOff(ctx context.Context, m move) (*delivery, error) {
	c.changed.User = c.changed.User || c.changed.Rows
	made := &c.made
	made.Wrote = c.changed.User
	if m.next == "" || c.s.runner.Stopping() {
		return nil, c.leave(ctx, m.next)
	}
	next := delivery{TurnArgs: c.s.d.next(m.next), attempt: 1, handedOn: true}
	var err error
	if made.Args, err = json.Marshal(next.TurnArgs); err != nil {
		return nil, fmt.Errorf("encode arguments: %w", err)
	}
	made.Client, made.Kind = &c.s.runner.id, m.next
	var versions view.Written
	c.last.Scan("keep decision", db.DecisionKeep, made, &next.jobID, &versions.Session, &versions.User, nil)
	carried, err := c.s.runner.loader.Follow(&c.last, c.s.View, &c.changed, &versions)
	if err != nil {
		return nil, fmt.Errorf("carry the view: %w", err)
	}
	if m.coded && !c.reload && c.mayBundle() {
		return c.continueInTx(ctx, &next, carried)
	}
	if err := pg.CommitWith(ctx, c.tx, &c.last); err != nil {
		return nil, err
	}
	if !c.reload {
		next.carried = carried()
	}

	return &next, nil
}

// leave ends a decision's transaction when this worker does not continue the turn. The next job, if any, is anybody's.
func (c *commit) leave(ctx context.Context, next string) error {
	c.last.Exec("keep decision", db.DecisionKeep, &c.made)
	if next != "" {
		if err := c.insertJob(next, queueTurns, c.s.d.next(next)); err != nil {
			return err
		}
		c.wake = true
	}

	return pg.CommitWith(ctx, c.tx, &c.last)
}

// release ends a handed-on job the way River would. A committed one is already completed.
func (r *Runner) release(ctx context.Context, d delivery, o outcome, failure error) error {
	params := &db.JobReleaseParams{JobID: d.jobID, Attempt: int32(d.attempt)}
	switch o.verdict {
	case verdictDone:
		return nil
	case verdictStale:
		params.State = "completed"
	case verdictHandBack:
		params.State = "scheduled"
	case verdictSnooze:
		params.State, params.Pause = "scheduled", o.after.Seconds()
	case verdictCancel, verdictFail:
		params.State, params.Error = "cancelled", pg.OrNil(failure.Error())
	case verdictRetry:
		params.State, params.Pause, params.Error = "retryable", pause(d.attempt).Seconds(), pg.OrNil(failure.Error())
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	if _, err := db.New().JobRelease(ctx, r.Pool, params); err != nil {
		return fmt.Errorf("release job %d: %w", d.jobID, err) // the stray scan will find it
	}

	return nil
}

// wake tells idle workers that a job is waiting. It comes after the commit: see queue_wake.
func (r *Runner) wake(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = db.New().QueueWake(ctx, r.Pool, queueTurns) // workers poll once a second anyway
}

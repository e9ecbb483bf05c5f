package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/crud"
	"alfred/internal/pg"
	"alfred/internal/view"
	"alfred/internal/vocab"
)

// bundle is a transaction of decisions that are committed together: a first one, and those that code derives from it.
// It ends where a model has to be asked: after a question, for a repair, after a failed call. Each decision has its own
// job, row and position. If one of them fails, none is committed; the retry commits the first alone.
type bundle struct {
	tx   pgx.Tx
	size int  // decisions written
	wake bool // a job is waiting that this worker does not continue with
	// expired is what the end of the turn has to clean up; nil until it has been looked up.
	expired *db.SessionDueRow
	told    []func()
}

// report tells what has been committed, except for the first decision, whose job [Runner.settle] ends.
func (b *bundle) report(ctx context.Context, r *Runner) {
	for _, tell := range b.told {
		tell()
	}
	if b.wake {
		r.wake(ctx)
	}
}

// mayBundle reports whether another decision may follow in this transaction.
func (c *commit) mayBundle() bool { return c.s.d.attempt == 1 && c.s.d.snoozes == 0 }

// continueInTx makes the next decision in the same transaction if code can make it; otherwise it commits. carried returns
// the view after the decision just written.
func (c *commit) continueInTx(ctx context.Context, next *delivery, carried func() *view.View) (*delivery, error) {
	locked := int64(1)
	if next.Node == vocab.NodeReply { // waiting for it would break the order of locks
		c.last.Count("try to lock session", db.SessionTryLock, c.s.Turn.SessionID, &locked)
	}
	switch {
	case namesRows(next.Node):
		c.last.Exec("mark where a probe begins", view.Savepoint, nil)
	case next.Node == vocab.NodeSummarize:
		c.lookForExpired(&c.last)
	}
	if err := c.last.Send(ctx, c.tx); err != nil {
		return nil, err
	}
	c.size++
	next.carried = carried()
	if next.carried != nil && locked == 1 {
		after, made, err := c.follow(ctx, *next)
		if made || err != nil {
			return after, err
		}
	}

	return next, pg.CommitWith(ctx, c.tx, &pg.Batch{})
}

// follow makes and writes the next decision. If that takes a model or a search, it writes nothing and returns false.
func (c *commit) follow(ctx context.Context, d delivery) (next *delivery, made bool, err error) {
	r, report := c.s.runner, &report{delivery: d, started: time.Now()}
	ctx = r.observe.begin(ctx, d)
	dec, err := c.decideByCode(ctx, d, report)
	if dec == nil || err != nil {
		return nil, false, err
	}
	first := &pg.Batch{}
	first.Exec("plan as usual", db.PlansReset, nil)
	if namesRows(d.Node) {
		first.Exec("forget the mark", view.Release, nil)
	}
	if err := first.Defer(ctx, c.tx); err != nil {
		return nil, false, err
	}
	next, err = newCommit(report.s, c.bundle).write(ctx, dec, report)
	if err != nil {
		return nil, false, fmt.Errorf("%s in the same transaction: %w", d.Node, err)
	}
	report.committed()
	c.told = append(c.told, func() {
		done := judge(nil, d.attempt, d.snoozes)
		report.log(ctx, r, done, nil)
		r.observe.decided(ctx, report, done, nil)
	})

	return next, true, nil
}

// decideByCode returns the next decision, nil if it takes a model or a search.
func (c *commit) decideByCode(ctx context.Context, d delivery, report *report) (decision, error) {
	s, err := c.nextState(ctx, d)
	if s == nil || err != nil {
		return nil, err
	}
	report.loaded(s)
	dec, err := s.decision()
	if err != nil {
		return nil, err
	}
	if frame, err := dec.prepare(); err != nil || frame != nil {
		return nil, err
	}
	rec := &recorder{}
	err = dec.run(ctx, rec)
	report.ran(rec)

	return dec, err
}

// namesRows reports whether a node's decision names rows, whose versions are read before it.
func namesRows(node string) bool { return node == vocab.NodeThink || node == vocab.NodeAct }

// nextState returns the state in which the next decision is made, nil if it takes a model or a search.
func (c *commit) nextState(ctx context.Context, d delivery) (*state, error) {
	v, r := d.carried, c.s.runner
	s, err := r.state(c.tx, d, v)
	if err != nil {
		return nil, err
	}
	if step := v.Step(); d.Node == vocab.NodeAct && step != nil {
		if ready := s.readyCalls(step); ready != nil && crud.Searches(ready.Calls) {
			return nil, nil
		}
	}
	if namesRows(d.Node) {
		if s.View, err = view.Probe(ctx, c.tx, v, false); err != nil {
			return nil, err
		}
	}
	if r.CompareCarried {
		if err := pg.InTx(ctx, c.tx, func(tx pgx.Tx) error { return r.compareCarried(ctx, tx, d, s.View, false) }); err != nil {
			return nil, err
		}
	}
	if d.Node == vocab.NodeThink {
		if s.takePlan(); s.plan == nil {
			return nil, nil
		}
	}

	return s, nil
}

package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/tidwall/gjson"

	"alfred/db"
	"alfred/internal/llm"
	"alfred/internal/pg"
	"alfred/internal/view"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// workTurn works a job of a turn, the same way for all five nodes.
func (r *Runner) workTurn(ctx context.Context, job *river.Job[TurnArgs]) error {
	d := newDelivery(job.JobRow)
	d.TurnArgs = job.Args
	d.Node = job.Kind

	return r.work(ctx, d)
}

// delivery is one delivery of a job, a turn's or a background one.
type delivery struct {
	TurnArgs

	jobID   int64
	attempt int // from 1
	snoozes int
	// handedOn: River does not know that this worker has the job (handoff.go).
	handedOn bool
	// carried is the turn's view after the previous decision; nil: it must be loaded.
	carried *view.View
	// takenOver: the job was taken over from a worker that died.
	takenOver bool
}

func newDelivery(job *rivertype.JobRow) *delivery {
	return &delivery{
		TurnArgs: TurnArgs{Node: job.Kind}, jobID: job.ID, attempt: job.Attempt, snoozes: int(gjson.GetBytes(job.Metadata, "snoozes").Int()),
		takenOver: gjson.GetBytes(job.Metadata, "takeovers").Exists(),
	}
}

// decision is one decision of a node, between load and commit.
type decision interface {
	// prepare builds the input from the view and returns its frame, or nil if code decides and no model is asked.
	prepare() (*nodes.Frame, error)
	// run makes the decision, if need be with the recorder's model. No transaction is open.
	run(ctx context.Context, rec *recorder) error
	// fence queues the statements that begin the commit. They fail if the turn has moved on.
	fence(first *pg.Batch, c *commit)
	// effects writes the decision's effects and returns what follows. It sets c.output.
	effects(ctx context.Context, c *commit) (move, error)
}

// work makes a turn's decisions one after the other: each commit hands the next job to this goroutine. A node that
// fails returns its job to the queue.
func (r *Runner) work(ctx context.Context, d *delivery) error {
	for {
		next, err := r.workOne(ctx, *d)
		if next == nil {
			return err
		}
		d = next
	}
}

// workOne makes one decision and settles its job, whatever happens. It returns the next job if this worker continues
// with it.
func (r *Runner) workOne(ctx context.Context, d delivery) (*delivery, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer r.runs.enter(&run{jobID: d.jobID, turnID: d.TurnID, cancel: cancel})()
	ctx = r.observe.begin(ctx, d)
	report := &report{delivery: d, started: time.Now()}
	next, err := r.decide(ctx, d, report)
	if cause := context.Cause(ctx); cause != nil && err != nil {
		err = errors.Join(cause, err)
	}

	return next, r.settle(ctx, d, report, err)
}

// decide is load, run, commit.
func (r *Runner) decide(ctx context.Context, d delivery, report *report) (next *delivery, err error) {
	defer catch(&err)
	if d.Version != argsVersion {
		return nil, fmt.Errorf("%w: %d", errVersion, d.Version)
	}
	s, err := r.load(ctx, d)
	report.loaded(s)
	if err != nil {
		return nil, err
	}
	dec, err := r.makeDecision(ctx, s, report)
	for llm.KindOf(err) == llm.KindContextOverflow && s.shorten() {
		dec, err = r.makeDecision(ctx, s, report)
	}
	if err != nil {
		return nil, err
	}
	next, err = r.commit(ctx, dec, report)
	report.committed()

	return next, err
}

// makeDecision makes a decision from the view that the prompts show.
func (r *Runner) makeDecision(ctx context.Context, s *state, report *report) (decision, error) {
	dec, err := s.decision()
	if err != nil {
		return nil, err
	}
	frame, err := dec.prepare()
	if err != nil {
		return nil, err
	}
	rec, err := r.run(ctx, s, dec, frame)
	report.ran(rec)

	return dec, err
}

// run makes the decision; without a frame, no model is asked. If it fails, an answer that it received is stored here.
func (r *Runner) run(ctx context.Context, s *state, dec decision, frame *nodes.Frame) (*recorder, error) {
	d := s.d
	var err error
	if s.until, err = r.until(ctx, d, s); err != nil {
		return nil, err
	}
	ctx, cancel := r.withDeadline(ctx, d, s)
	defer cancel()
	rec := r.recorder(s.guard, s.Turn.SessionID)
	rec.turn, rec.position, rec.bought = &s.Turn.ID, d.Position, s.Answers
	if frame != nil {
		frame.At, rec.ordinal = s.at(), s.ordinal()
		rec.items, rec.model = frame.Items, r.Models(d.Node)
		defer r.reportSlow(ctx, d)()
	}

	if err = dec.run(ctx, rec); err != nil {
		err = errors.Join(err, rec.save(ctx)) // no commit will store the answer
		if errors.Is(context.Cause(ctx), errDeadline) {
			err = errors.Join(errDeadline, err)
		}
	}

	return rec, err
}

// settle decides what happens to a job given its error, and logs it.
func (r *Runner) settle(ctx context.Context, d delivery, report *report, err error) error {
	o := judge(err, d.attempt, d.snoozes)
	if report.s != nil && !report.s.until.IsZero() {
		o.after = min(o.after, max(time.Until(report.s.until), 0)) // the turn ends in time, whatever pause was requested
	}
	if o.verdict == verdictFail {
		if failErr := r.fail(ctx, d, o); failErr != nil {
			// The job is retried; once its attempts are used up, the scan fails the turn.
			err, o = errors.Join(err, failErr), outcome{verdict: verdictRetry}
		}
	}
	report.log(ctx, r, o, err)
	r.observe.decided(ctx, report, o, err)
	if d.handedOn {
		return r.release(ctx, d, o, err)
	}

	return o.returned(err)
}

// fail ends the turn if it is still where this job found it. A summary that fails is replaced by one made from facts:
// the turn has already succeeded.
func (r *Runner) fail(ctx context.Context, d delivery, o outcome) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	if d.Node == vocab.NodeSummarize {
		return r.finishSummary(ctx, d.TurnID)
	}
	err := pg.InTx(ctx, r.Pool, func(tx pgx.Tx) error { return r.failTurn(ctx, tx, d, o) })
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("end the turn: %w", err)
	}
	r.notifier.Notify(d.TurnID)

	return nil
}

func (r *Runner) failTurn(ctx context.Context, tx pgx.Tx, d delivery, o outcome) error {
	q := db.New()
	turn, err := q.TurnGet(ctx, tx, d.TurnID)
	if err != nil {
		return err
	}
	if _, err := q.SessionLock(ctx, tx, turn.SessionID); err != nil {
		return err
	}
	if _, err := q.TurnHold(ctx, tx, &db.TurnHoldParams{ID: d.TurnID, Position: int32(d.Position)}); err != nil {
		return err
	}
	if o.code == codeTimedOut {
		if o.text, err = r.overdueText(ctx, tx, turn); err != nil {
			return err
		}
	}
	_, err = q.TurnEnd(ctx, tx, &db.TurnEndParams{TurnID: d.TurnID, Status: db.TurnStatusFailed, Code: o.code, Message: cmp.Or(o.text, sentences[o.code])})

	return err
}

package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/exact"
	"alfred/internal/pg"
	"alfred/internal/view"
	"alfred/internal/vocab"
	"alfred/nodes"
	"alfred/registry"
)

// commit is what one decision writes: fence, output, effects, events, the next job, and the completion of this one.
type commit struct {
	*bundle

	// last holds statements whose results nothing waits for; they are sent with the commit.
	last pg.Batch
	s    *state
	at   nodes.At
	// made is the decision's row, and what is written with it. Effects set LlmCallID if another decision made the call.
	made db.DecisionKeepParams
	// output is what node_runs stores of the decision.
	output any
	events events
	// permitted: the turn may write, and so may a turn that answers its question.
	permitted bool
	// changed tells the next decision what this one changed.
	changed view.Changes
	// reload: the next decision must load its view, because changed is incomplete.
	reload bool
}

func (r *Runner) commit(ctx context.Context, dec decision, report *report) (next *delivery, err error) {
	c, rec := newCommit(report.s, &bundle{}), report.rec
	err = pg.InTx(ctx, r.Pool, func(tx pgx.Tx) error {
		c.tx = tx
		next, err = c.write(ctx, dec, report)

		return err
	})
	if pg.Code(err) == codeTakenOver {
		err = errors.Join(errStale, err)
	}
	if err != nil {
		return nil, fmt.Errorf("commit %s: %w", report.Node, errors.Join(err, rec.save(ctx)))
	}
	rec.stored()
	r.notifier.Notify(report.TurnID)
	c.report(ctx, r)

	return next, nil
}

func newCommit(s *state, in *bundle) *commit {
	return &commit{bundle: in, s: s, at: s.at(), changed: view.Changes{Refs: s.written}}
}

// write begins with the fence, which fails if the turn has moved on, and with it everything that follows.
func (c *commit) write(ctx context.Context, dec decision, report *report) (*delivery, error) {
	fence := &pg.Batch{}
	dec.fence(fence, c)
	if err := fence.Defer(ctx, c.tx); err != nil {
		return nil, err
	}
	m, err := dec.effects(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("effects: %w", err)
	}

	return c.finish(ctx, m, report.rec, time.Since(report.started))
}

// inTurn is a decision in the middle of a turn.
type inTurn struct{}

func (inTurn) fence(first *pg.Batch, c *commit) {
	first.Exec("fence", db.TurnFence, &db.TurnFenceParams{ID: c.s.d.TurnID, Position: int32(c.s.d.Position)})
}

func (c *commit) registry() *registry.Registry {
	return registry.New(c.tx, c.s.runner.Domain, c.s.scope(c.at))
}

// finish writes what every decision leaves behind and hands the turn on.
func (c *commit) finish(ctx context.Context, m move, rec *recorder, took time.Duration) (next *delivery, err error) {
	d, made := c.s.d, &c.made
	if made.Output, err = exact.Storable(c.output); err != nil {
		return nil, fmt.Errorf("encode output: %w", err)
	}
	if err := c.applyMove(ctx, m, took); err != nil {
		return nil, err
	}
	made.TurnID, made.SessionID, made.Position, made.Node = d.TurnID, c.s.Turn.SessionID, int32(d.Position), d.Node
	made.Step, made.Call, made.DurationMs = pg.OrNil(int32(c.at.Step)), int32(c.at.Call), int32(took.Milliseconds())
	made.RiverJobID, made.Attempt, made.LlmCallID = d.jobID, int32(d.attempt), cmp.Or(rec.lastCall, made.LlmCallID)
	if made.LlmCall, err = rec.sending(); err != nil {
		return nil, err
	}
	if made.Events, err = c.events.encoded(); err != nil {
		return nil, err
	}
	if !c.endsTurn() {
		made.NextNode = &m.next
	}
	if err := c.carryRound(m, rec); err != nil {
		return nil, err
	}
	c.changed.Run = &db.NodeRunListMadeRow{Position: made.Position, Node: made.Node, Step: made.Step, Call: made.Call, Output: made.Output, LlmCallID: made.LlmCallID}

	return c.handOff(ctx, m)
}

// carryRound keeps the model call that the step's next decision continues. The stored request of a replayed answer may differ
// from the one built now, so the view is then loaded.
func (c *commit) carryRound(m move, rec *recorder) (err error) {
	if c.s.d.Node != vocab.NodeAct || m.next != vocab.NodeAct || m.end != nil {
		return nil
	}
	c.reload = c.reload || rec.played > 0
	c.changed.Round, err = nodes.NewRound(rec.asked, rec.answered)

	return err
}

// endsTurn reports whether the decision belongs to the end of the turn.
func (c *commit) endsTurn() bool {
	return c.s.d.Node == vocab.NodeReply || c.s.d.Node == vocab.NodeSummarize
}

// applyMove writes a move: the step's end, the plan, the question, the events.
func (c *commit) applyMove(ctx context.Context, m move, took time.Duration) error {
	// Curating what a question offers may close it.
	curated := c.changed.Registry || len(c.s.written.Names) > 0
	c.changed.Questions = c.changed.Questions || m.ask != nil || curated && len(c.s.Questions) > 0
	c.endStep(m.end)
	c.skipSteps(m)
	first, err := c.appendSteps(m.plan, m.left)
	if err != nil {
		return err
	}
	if err := c.openQuestion(ctx, m.ask, m.keep...); err != nil {
		return err
	}
	if c.endsTurn() {
		return nil // a reply has its own events; a summary has none
	}
	c.events.add("node.finished", nodeData(c.s.d.Node, c.at, map[string]any{"duration_ms": took.Milliseconds()}))
	c.announce(m, first)
	c.changed.Turn = c.s.turnAfter(db.TurnStatusRunning, m.next)
	c.changed.Turn.Goal = cmp.Or(c.made.Goal, c.changed.Turn.Goal)

	return nil
}

// announce emits what is about to start, so that no transaction is needed for it later.
func (c *commit) announce(m move, firstNew *db.TurnSteps) {
	next := nodes.At{}
	if m.next == vocab.NodeAct {
		step := firstNew
		if step == nil {
			step = c.nextStep(m)
		}
		if step != nil {
			next.Step = int(step.Step)
			if m.end != nil || firstNew != nil {
				c.events.add("step.started", map[string]any{"step": step.Step, "step_type": step.StepType, "description": step.Description})
			}
		}
	}
	c.events.add("node.started", nodeData(m.next, next, nil))
}

func nodeData(node string, at nodes.At, more map[string]any) map[string]any {
	data := map[string]any{"node": node}
	if at.Step > 0 {
		data["step"] = at.Step
	}
	maps.Copy(data, more)

	return data
}

// openQuestion asks, once the steps that need no answer are done. A session has one open question; a new one replaces it.
func (c *commit) openQuestion(ctx context.Context, ask *question, done ...int32) error {
	if ask == nil {
		return nil
	}
	known := c.s.Scene(true)
	ask.pointAt(known)
	if err := c.s.keepWaiting(ask, done); err != nil {
		return err
	}
	if err := c.distinguishOptions(ctx, ask); err != nil {
		return err
	}
	stored := *ask
	stored.QuestionPayload, stored.Permitted = ask.forPeople(known), c.permitted
	encoded, err := exact.Storable(stored)
	if err != nil {
		return fmt.Errorf("encode question: %w", err)
	}
	id := c.s.runner.clock.newID()
	c.last.Exec("supersede question", db.QuestionSupersede, c.s.Turn.SessionID)
	c.last.Exec("insert question", db.QuestionInsert, &db.QuestionInsertParams{
		ID: id, SessionID: c.s.Turn.SessionID, TurnID: c.s.d.TurnID, Kind: ask.kind, Payload: encoded,
	})
	c.events.add("question", map[string]any{"id": id, "kind": ask.kind, "text": stored.Text, "options": stored.Options})

	return nil
}

// insertJob does not wake a worker: background jobs can wait, and a turn's commit is followed by a wake.
func (c *commit) insertJob(kind, queue string, args any) error {
	encoded, err := json.Marshal(args)
	if err != nil {
		return fmt.Errorf("encode arguments: %w", err)
	}
	c.last.Exec("insert "+kind+" job", db.JobInsert, &db.JobInsertParams{Kind: kind, Args: encoded, Queue: queue})

	return nil
}

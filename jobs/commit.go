package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
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
	// output is what node_runs stores of the decision.
	output any
	events events
	goal   *string
	plan   json.RawMessage // its new steps
	// call is the model call this decision came from, if another decision made it.
	call *uuid.UUID
	// permitted: the turn may write, and so may a turn that answers its question.
	permitted bool
	// changed tells the next decision what this one changed.
	changed view.Changes
	// lasting: a lasting constraint was added or ended.
	lasting bool
	// reload: the next decision must load its view, because changed is incomplete.
	reload bool
}

func (r *Runner) commit(ctx context.Context, s *state, dec decision, rec *recorder, report *report) (next *delivery, err error) {
	c, d := newCommit(s, &bundle{}), s.d
	err = pg.InTx(ctx, r.Pool, func(tx pgx.Tx) error {
		c.tx = tx
		next, err = c.write(ctx, dec, rec, report)

		return err
	})
	if pg.Code(err) == codeTakenOver {
		err = errors.Join(errStale, err)
	}
	if err != nil {
		return nil, fmt.Errorf("commit %s: %w", d.Node, errors.Join(err, rec.save(ctx)))
	}
	rec.stored()
	r.notifier.Notify(d.TurnID)
	c.settle(ctx, r)

	return next, nil
}

func newCommit(s *state, in *bundle) *commit {
	c := &commit{bundle: in, s: s, changed: view.Changes{Refs: s.written}}
	c.at, _ = s.at(s.d.Node)

	return c
}

// write begins with the fence, which fails if the turn has moved on, and with it everything that follows.
func (c *commit) write(ctx context.Context, dec decision, rec *recorder, report *report) (*delivery, error) {
	fence := &pg.Batch{}
	dec.fence(fence, c)
	if err := fence.Later(ctx, c.tx); err != nil {
		return nil, err
	}
	m, err := dec.effects(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("effects: %w", err)
	}

	return c.finish(ctx, m, rec, time.Since(report.started))
}

// inTurn is a decision in the middle of a turn.
type inTurn struct{}

func (inTurn) fence(first *pg.Batch, c *commit) {
	first.Exec("fence", db.TurnFence, &db.TurnFenceParams{ID: c.s.d.TurnID, Position: int32(c.s.d.Position)})
}

// lockSession precedes the fence in a commit that ends or starts a turn. If the session has been forgotten, it has no
// turn left that could pass the fence. Later decisions of a bundle find the session locked.
func (c *commit) lockSession(first *pg.Batch) {
	if c.size > 0 {
		return
	}
	first.Exec("lock session", db.SessionLock, c.s.Turn.SessionID)
}

func (c *commit) registry() *registry.Registry {
	return registry.New(c.tx, c.s.runner.Domain, c.s.scope(c.at))
}

// finish writes what every decision leaves behind and hands the turn on.
func (c *commit) finish(ctx context.Context, m move, rec *recorder, took time.Duration) (*delivery, error) {
	output, err := exact.Storable(c.output)
	if err != nil {
		return nil, fmt.Errorf("encode output: %w", err)
	}
	if err := c.apply(m, took); err != nil {
		return nil, err
	}
	if c.s.d.Node == vocab.NodeSummarize && c.s.runner.Index != nil { // once embedded, the turn and what it wrote can be found
		args := TurnArgs{TurnID: c.s.d.TurnID, Position: c.s.d.Position + 1, Version: argsVersion}
		if err := c.insertJob(kindEmbed, queueBackground, args); err != nil {
			return nil, err
		}
	}
	made := &db.DecisionKeepParams{
		TurnID: c.s.d.TurnID, SessionID: c.s.Turn.SessionID, Position: int32(c.s.d.Position), Node: c.s.d.Node, Step: positive(c.at.Step), Call: int32(c.at.Call),
		Output: output, RiverJobID: c.s.d.jobID, Attempt: int32(c.s.d.attempt), LlmCallID: cmp.Or(rec.lastCall, c.call), DurationMs: int32(took.Milliseconds()),
		Plan: c.plan,
	}
	if made.LlmCall, err = rec.sending(); err != nil {
		return nil, err
	}
	if made.Events, err = c.events.encoded(); err != nil {
		return nil, err
	}
	if c.s.d.Node != vocab.NodeReply && c.s.d.Node != vocab.NodeSummarize {
		made.NextNode, made.Goal = &m.next, c.goal
	}
	if c.s.d.Node == vocab.NodeAct && m.next == vocab.NodeAct && m.end == nil {
		// The stored request of a replayed answer may differ from the one built now.
		c.reload = c.reload || rec.played > 0
		if c.changed.Round, err = nodes.NewRound(rec.asked, rec.answered); err != nil {
			return nil, err
		}
	}
	if m.end != nil {
		made.Outcome, made.Summary, made.Conclusions, made.Note = &m.end.outcome, &m.end.summary, orNil(m.end.conclusions), orNil(m.end.note)
	}
	c.changed.Run = &db.NodeRunListMadeRow{Position: made.Position, Node: made.Node, Step: made.Step, Call: made.Call, Output: made.Output, LlmCallID: made.LlmCallID}

	return c.handOn(ctx, m, made)
}

// apply writes a move: the step's end, the plan, the question, the events.
func (c *commit) apply(m move, took time.Duration) error {
	// Curating what a question offers may close it.
	curated := c.changed.Registry || len(c.s.written.Names) > 0
	c.changed.Questions = c.changed.Questions || m.ask != nil || curated && len(c.s.Questions) > 0
	c.endStep(m.end)
	if m.skip && slices.ContainsFunc(c.s.Steps, func(s *db.TurnSteps) bool { return c.waits(m, s) }) {
		keep := make([]int32, 0, len(m.keep)+1)
		if m.end != nil { // its end is written with the decision
			keep = append(keep, int32(c.at.Step))
		}
		for _, step := range m.keep {
			keep = append(keep, int32(step))
		}
		c.skipSteps(keep)
		c.last.Exec("skip steps", db.TurnStepSkipRest, &db.TurnStepSkipRestParams{TurnID: c.s.d.TurnID, Keep: keep})
	}
	first, err := c.appendSteps(m.plan, m.left)
	if err != nil {
		return err
	}
	if err := c.openQuestion(m.ask); err != nil {
		return err
	}
	if c.s.d.Node == vocab.NodeReply || c.s.d.Node == vocab.NodeSummarize {
		return nil // a reply has its own events; a summary has none
	}
	c.events.add("node.finished", nodeData(c.s.d.Node, c.at, map[string]any{"duration_ms": took.Milliseconds()}))
	c.announce(m, first)
	c.changed.Turn = c.s.after(db.TurnStatusRunning, m.next)
	if c.goal != nil {
		c.changed.Turn.Goal = c.goal
	}

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

// waits reports whether a step has not ended and does not end now.
func (c *commit) waits(m move, step *db.TurnSteps) bool {
	return step.Outcome == nil && (m.end == nil || int(step.Step) != c.at.Step)
}

// nextStep is the step the next act works on.
func (c *commit) nextStep(m move) *db.TurnSteps {
	for _, step := range c.s.Steps {
		if c.waits(m, step) && (!m.skip || slices.Contains(m.keep, int(step.Step))) {
			return step
		}
	}

	return nil
}

func nodeData(node string, at nodes.At, more map[string]any) map[string]any {
	data := map[string]any{"node": node}
	if at.Step > 0 {
		data["step"] = at.Step
	}
	maps.Copy(data, more)

	return data
}

func (c *commit) endStep(end *ending) {
	if end == nil {
		return
	}
	step := c.step()
	step.Outcome, step.Summary, step.Conclusions, step.Note = &end.outcome, &end.summary, orNil(end.conclusions), orNil(end.note)
	c.events.add("step.finished", map[string]any{"step": c.at.Step, "outcome": end.outcome, "summary": end.summary})
}

// openQuestion asks. A session has one open question; a new one replaces it.
func (c *commit) openQuestion(ask *question) error {
	if ask == nil {
		return nil
	}
	payload := ask.payload(c.permitted, c.s.Scene(true))
	encoded, err := exact.Storable(payload)
	if err != nil {
		return fmt.Errorf("encode question: %w", err)
	}
	id := c.s.runner.clock.newID()
	c.last.Exec("supersede question", db.QuestionSupersede, c.s.Turn.SessionID)
	c.last.Exec("insert question", db.QuestionInsert, &db.QuestionInsertParams{
		ID: id, SessionID: c.s.Turn.SessionID, TurnID: c.s.d.TurnID, Kind: ask.kind, Payload: encoded,
	})
	c.events.add("question", map[string]any{"id": id, "kind": ask.kind, "text": payload.Text, "options": payload.Options})

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

package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/nodes"
	"alfred/pg"
	"alfred/registry"
)

// commit is the one transaction in which a decision happens: fence, output,
// effects, events, next job and the completion of this one.
type commit struct {
	runner *Runner
	tx     pgx.Tx
	q      *db.Queries
	d      delivery
	s      *state
	at     nodes.At
	// output is what node_runs keeps of the decision.
	output any
	events events
	goal   *string
	// wrote: rows of the domain changed, and their vectors with them.
	wrote bool
	// permitted: the turn may write, and so may one that answers what it asks.
	permitted bool
	// wake: a job waits that this worker does not go on with.
	wake bool
}

func (r *Runner) commit(ctx context.Context, d delivery, s *state, dec decision, rec *recorder, report *report) (next *delivery, err error) {
	wake := false
	err = pg.InTx(ctx, r.Pool, func(tx pgx.Tx) error {
		c := &commit{runner: r, tx: tx, q: db.New(), d: d, s: s}
		c.at, _ = s.at(d.node)
		passed, err := dec.fence(ctx, c)
		if err != nil {
			return fmt.Errorf("fence: %w", err)
		}
		if !passed {
			return errStale
		}
		m, err := dec.effects(ctx, c)
		if err != nil {
			return fmt.Errorf("effects: %w", err)
		}
		next, err = c.finish(ctx, m, rec, time.Since(report.started))
		wake = c.wake

		return err
	})
	if pg.Code(err) == codeTakenOver {
		err = errors.Join(errStale, err)
	}
	if err != nil {
		return nil, fmt.Errorf("commit %s: %w", d.node, errors.Join(err, rec.save(ctx)))
	}
	rec.stored()
	r.notifier.Notify(d.TurnID)
	if wake {
		r.wake(ctx)
	}

	return next, nil
}

// fence is that of a decision in the midst of a turn.
func (c *commit) fence(ctx context.Context) (bool, error) {
	n, err := c.q.TurnFence(ctx, c.tx, &db.TurnFenceParams{ID: c.d.TurnID, Position: int32(c.d.Position)})

	return n == 1, err //nolint:wrapcheck // wrapped by the caller
}

// lockSession comes before the fence in a commit that ends a turn or starts one. A session that was forgotten
// meanwhile has no turn to go on with.
func (c *commit) lockSession(ctx context.Context) error {
	_, err := c.q.SessionLock(ctx, c.tx, c.s.Turn.SessionID)
	if errors.Is(err, pgx.ErrNoRows) {
		return errStale
	}

	return err //nolint:wrapcheck // wrapped by the caller
}

func (c *commit) registry() *registry.Registry {
	return registry.New(c.tx, c.runner.Domain, c.s.scope(c.at))
}

// finish writes what every decision leaves behind, and hands the turn on.
func (c *commit) finish(ctx context.Context, m move, rec *recorder, took time.Duration) (*delivery, error) {
	output, err := storable(c.output)
	if err != nil {
		return nil, fmt.Errorf("encode output: %w", err)
	}
	if err := rec.add(ctx, c.tx); err != nil {
		return nil, err
	}
	err = c.q.NodeRunInsert(ctx, c.tx, &db.NodeRunInsertParams{
		TurnID: c.d.TurnID, Position: int32(c.d.Position), Node: c.d.node, Step: positive(c.at.Step), Call: int32(c.at.Call),
		Output: output, RiverJobID: &c.d.jobID, LlmCallID: rec.lastCall, DurationMs: int32(took.Milliseconds()),
	})
	if err != nil {
		return nil, fmt.Errorf("insert node run: %w", err)
	}
	if err := c.apply(ctx, m, took); err != nil {
		return nil, err
	}
	if c.wrote && c.runner.Index != nil {
		args := TurnArgs{TurnID: c.d.TurnID, Position: c.d.Position + 1, Version: argsVersion}
		if err := c.insertJob(ctx, kindEmbed, queueBackground, args); err != nil {
			return nil, err
		}
	}

	return c.handOn(ctx, m)
}

// apply writes a move: the step's end, the plan, the question, the events.
func (c *commit) apply(ctx context.Context, m move, took time.Duration) error {
	if err := c.endStep(ctx, m.end); err != nil {
		return err
	}
	if m.skip {
		keep := make([]int32, 0, len(m.keep))
		for _, step := range m.keep {
			keep = append(keep, int32(step))
		}
		if err := c.q.TurnStepSkipRest(ctx, c.tx, &db.TurnStepSkipRestParams{TurnID: c.d.TurnID, Keep: keep}); err != nil {
			return fmt.Errorf("skip steps: %w", err)
		}
	}
	first, err := c.appendSteps(ctx, m.plan)
	if err != nil {
		return err
	}
	if err := c.appendLeft(ctx, len(m.plan), m.left); err != nil {
		return err
	}
	if err := c.openQuestion(ctx, m.ask); err != nil {
		return err
	}
	if c.d.node == nodeReply || c.d.node == nodeSummarize {
		return nil // a reply's events are its own; a summary has none
	}
	c.events.add("node.finished", nodeData(c.d.node, c.at, map[string]any{"duration_ms": took.Milliseconds()}))
	c.announce(m, first)
	if err := c.events.append(ctx, c.tx, c.d.TurnID); err != nil {
		return err
	}
	if err := c.q.TurnAdvance(ctx, c.tx, &db.TurnAdvanceParams{ID: c.d.TurnID, CurrentNode: m.next, Goal: c.goal}); err != nil {
		return fmt.Errorf("advance turn: %w", err)
	}

	return nil
}

// announce says what is about to start, so that no transaction is needed for it later.
func (c *commit) announce(m move, firstNew *db.TurnSteps) {
	next := nodes.At{}
	if m.next == nodeAct {
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

// nextStep is the step that the next act works on.
func (c *commit) nextStep(m move) *db.TurnSteps {
	for _, step := range c.s.Steps {
		if step.Outcome == nil && (m.end == nil || int(step.Step) != c.at.Step) && (!m.skip || slices.Contains(m.keep, int(step.Step))) {
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

func (c *commit) endStep(ctx context.Context, end *ending) error {
	if end == nil {
		return nil
	}
	err := c.q.TurnStepEnd(ctx, c.tx, &db.TurnStepEndParams{
		TurnID: c.d.TurnID, Step: int32(c.at.Step), Outcome: end.outcome, Summary: end.summary,
		Conclusions: orNil(end.conclusions), Note: orNil(end.note),
	})
	if err != nil {
		return fmt.Errorf("end step: %w", err)
	}
	c.events.add("step.finished", map[string]any{"step": c.at.Step, "outcome": end.outcome, "summary": end.summary})

	return nil
}

// appendSteps writes a plan after the steps there are, and returns its first step, or nil.
func (c *commit) appendSteps(ctx context.Context, plan []nodes.Step) (*db.TurnSteps, error) {
	if len(plan) == 0 {
		return nil, nil
	}
	rows := make([]*db.TurnStepInsertParams, 0, len(plan))
	shown := make([]map[string]any, 0, len(plan))
	for i, step := range plan {
		row := &db.TurnStepInsertParams{
			TurnID: c.d.TurnID, Step: int32(len(c.s.Steps) + i + 1), StepType: db.StepType(step.Type), Subdomain: step.Subdomain,
			Description: step.Description, Refs: append([]string{}, step.Refs...), Needs: step.Needs,
		}
		if err := c.q.TurnStepInsert(ctx, c.tx, row); err != nil {
			return nil, fmt.Errorf("insert step: %w", err)
		}
		rows = append(rows, row)
		shown = append(shown, map[string]any{
			"step": row.Step, "step_type": row.StepType, "subdomain": row.Subdomain, "description": row.Description,
		})
	}
	data := map[string]any{"steps": shown}
	if c.goal != nil {
		data["goal"] = *c.goal
	}
	c.events.add("plan", data)
	first := rows[0]

	return &db.TurnSteps{Step: first.Step, StepType: first.StepType, Description: first.Description}, nil
}

// appendLeft writes the steps for which a plan had no room, as not done, so that the
// reply and the memory of the turn say so.
func (c *commit) appendLeft(ctx context.Context, planned int, left []nodes.Step) error {
	for i, step := range left {
		number := int32(len(c.s.Steps) + planned + i + 1)
		err := c.q.TurnStepInsert(ctx, c.tx, &db.TurnStepInsertParams{
			TurnID: c.d.TurnID, Step: number, StepType: db.StepType(step.Type), Subdomain: step.Subdomain,
			Description: step.Description, Refs: append([]string{}, step.Refs...), Needs: step.Needs,
		})
		if err != nil {
			return fmt.Errorf("insert step: %w", err)
		}
		err = c.q.TurnStepEnd(ctx, c.tx, &db.TurnStepEndParams{
			TurnID: c.d.TurnID, Step: number, Outcome: db.StepOutcomeSkipped, Summary: "Not done: the plan was too long for one turn.",
		})
		if err != nil {
			return fmt.Errorf("end step: %w", err)
		}
	}

	return nil
}

// openQuestion asks. A session has one open question, so that an older one gives way.
func (c *commit) openQuestion(ctx context.Context, ask *question) error {
	if ask == nil {
		return nil
	}
	encoded, err := storable(ask.payload(c.permitted))
	if err != nil {
		return fmt.Errorf("encode question: %w", err)
	}
	if _, err := c.q.QuestionSupersede(ctx, c.tx, c.s.Turn.SessionID); err != nil {
		return fmt.Errorf("supersede question: %w", err)
	}
	id, err := c.q.QuestionInsert(ctx, c.tx, &db.QuestionInsertParams{
		SessionID: c.s.Turn.SessionID, TurnID: c.d.TurnID, Kind: ask.kind, Payload: encoded,
	})
	if err != nil {
		return fmt.Errorf("insert question: %w", err)
	}
	c.events.add("question", map[string]any{"id": id, "kind": ask.kind, "text": ask.text, "options": ask.shown()})

	return nil
}

// insertJob wakes nobody: nobody waits for the background, and for a turn's job the commit is followed by a wake.
func (c *commit) insertJob(ctx context.Context, kind, queue string, args any) error {
	encoded, err := json.Marshal(args)
	if err != nil {
		return fmt.Errorf("encode arguments: %w", err)
	}
	if err := c.q.JobInsert(ctx, c.tx, &db.JobInsertParams{Kind: kind, Args: encoded, Queue: queue}); err != nil {
		return fmt.Errorf("insert %s job: %w", kind, err)
	}

	return nil
}

package jobs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"alfred/db"
	"alfred/internal/exact"
	"alfred/internal/pg"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// steps are the turn's steps as the commit leaves them. What the commit writes to their rows is also written here, so
// that the next decision need not read them.
func (c *commit) steps() []*db.TurnSteps {
	if c.changed.Steps == nil {
		for _, step := range c.s.Steps {
			copied := *step
			c.changed.Steps = append(c.changed.Steps, &copied)
		}
	}

	return c.changed.Steps
}

// step is the step that the decision works on.
func (c *commit) step() *db.TurnSteps { return c.stepAt(c.at.Step) }

func (c *commit) stepAt(number int) *db.TurnSteps {
	steps := c.steps()

	return steps[slices.IndexFunc(steps, func(s *db.TurnSteps) bool { return int(s.Step) == number })]
}

func (c *commit) endStep(end *ending) {
	if end == nil {
		return
	}
	step, made := c.step(), &c.made
	made.Outcome, made.Summary, made.Conclusions, made.Note = &end.outcome, &end.summary, pg.OrNil(end.conclusions), pg.OrNil(end.note)
	step.Outcome, step.Summary, step.Conclusions, step.Note = made.Outcome, made.Summary, made.Conclusions, made.Note
	c.events.add("step.finished", map[string]any{"step": c.at.Step, "outcome": end.outcome, "summary": end.summary})
}

// waits reports whether a step has not ended and does not end now.
func (c *commit) waits(m move, step *db.TurnSteps) bool {
	return step.Outcome == nil && (m.end == nil || int(step.Step) != c.at.Step)
}

// nextStep is the step the next act works on.
func (c *commit) nextStep(m move) *db.TurnSteps {
	for _, step := range c.s.Steps {
		if c.waits(m, step) && (!m.skip || slices.Contains(m.keep, step.Step)) {
			return step
		}
	}

	return nil
}

// skipSteps skips the steps that have not ended, except those that a move keeps.
func (c *commit) skipSteps(m move) {
	if !m.skip || !slices.ContainsFunc(c.s.Steps, func(s *db.TurnSteps) bool { return c.waits(m, s) }) {
		return
	}
	keep := append([]int32{}, m.keep...) // NULL would keep all
	if m.end != nil {
		keep = append(keep, int32(c.at.Step)) // its end is written with the decision
	}
	c.last.Exec("skip steps", db.TurnStepSkipRest, &db.TurnStepSkipRestParams{TurnID: c.s.d.TurnID, Keep: keep})
	for _, step := range c.steps() {
		if step.Outcome == nil && !slices.Contains(keep, step.Step) {
			step.Outcome = new(db.StepOutcomeSkipped)
		}
	}
}

// appendSteps appends a plan to the existing steps and returns its first step, or nil. What exceeded the plan's limit is
// recorded as not done, so that the reply and the turn's memory say so.
func (c *commit) appendSteps(plan, left []nodes.Step) (first *db.TurnSteps, err error) {
	if len(plan) == 0 {
		return nil, nil
	}
	shown, stored := []map[string]any{}, []map[string]any{}
	for i, step := range slices.Concat(plan, left) {
		row := &db.TurnSteps{
			TurnID: c.s.d.TurnID, UserID: c.s.Turn.UserID, Step: int32(len(c.s.Steps) + i + 1), StepType: db.StepType(step.Type), Subdomain: step.Subdomain,
			Description: step.Description, Refs: append([]string{}, step.Refs...), Needs: step.Needs, SchemaTables: []string{},
		}
		if i < len(plan) {
			if row.Calls, err = encodedCalls(step.ReadyCalls()); err != nil {
				return nil, err
			}
			shown = append(shown, map[string]any{"step": row.Step, "step_type": row.StepType, "subdomain": row.Subdomain, "description": row.Description})
		} else {
			row.Outcome, row.Summary = new(db.StepOutcomeSkipped), new("Not done: "+cmp.Or(step.Undone, "the plan was too long for one turn")+".")
		}
		c.changed.Steps = append(c.steps(), row)
		stored = append(stored, map[string]any{
			"step": row.Step, "step_type": row.StepType, "subdomain": row.Subdomain, "description": row.Description, "refs": row.Refs,
			"needs": row.Needs, "calls": row.Calls, "outcome": row.Outcome, "summary": row.Summary,
		})
	}
	if c.made.Plan, err = exact.Storable(stored); err != nil {
		return nil, fmt.Errorf("encode the plan: %w", err)
	}
	data := map[string]any{"steps": shown}
	if c.made.Goal != nil {
		data["goal"] = *c.made.Goal
	}
	c.events.add("plan", data)

	return c.changed.Steps[len(c.s.Steps)], nil
}

// encodedCalls are the calls that were written out for a step as they are stored, nil for none.
func encodedCalls(calls []vocab.Call) (json.RawMessage, error) {
	if len(calls) == 0 {
		return nil, nil
	}
	encoded, err := exact.Storable(calls)
	if err != nil {
		return nil, fmt.Errorf("encode calls of a step: %w", err)
	}

	return encoded, nil
}

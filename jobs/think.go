package jobs

import (
	"context"

	"alfred/internal/vocab"
	"alfred/nodes"
)

// think plans the turn, or proposes, or asks.
type think struct {
	inTurn

	s   *state
	in  nodes.ThinkInput
	out *nodes.ThinkOutput
}

// readyPlan is a plan that came with Understand's answer, and the input it was checked against.
type readyPlan struct {
	in  nodes.ThinkInput
	out *nodes.ThinkOutput
}

// takePlan takes the plan that came with Understand's answer, if it fits what is known by now.
func (s *state) takePlan() {
	waiting := s.WaitingPlan()
	if waiting == nil {
		return
	}
	in := s.prompts.Plan(s.View)
	in.Permission, _ = s.permission()
	var plan *nodes.ThinkOutput
	if plan, s.refused = in.Ready(waiting); plan != nil {
		s.plan = &readyPlan{in, plan}
	}
}

func (t *think) prepare() (*nodes.Frame, error) {
	if plan := t.s.plan; plan != nil {
		t.in, t.out = plan.in, plan.out

		return nil, nil
	}
	t.in = t.s.prompts.Think(t.s.View)
	t.in.Refused = t.s.refused
	t.in.Permission, _ = t.s.permission()

	return &t.in.Frame, nil
}

func (t *think) run(ctx context.Context, rec *recorder) error {
	if t.s.plan != nil {
		return nil
	}
	out, err := nodes.Think(ctx, rec, t.in)
	t.out = out

	return err
}

func (t *think) effects(ctx context.Context, c *commit) (move, error) {
	c.output, c.permitted = t.out, t.in.Permission.Allowed
	if t.s.plan != nil {
		c.made.LlmCallID = c.s.LastRun().LlmCallID
	}
	if t.out.Goal != "" { // it also titles the conversation
		c.made.Goal = new(c.s.Scene(false).Plain(t.out.Goal))
	}
	var named []string
	for _, step := range t.out.Steps {
		named = append(named, step.Refs...)
	}
	if err := c.registry().Touch(ctx, named); err != nil {
		return move{}, err
	}

	if len(c.s.Steps) == 0 && c.s.approves() {
		y := &yes{s: c.s, asked: c.s.answered, mentions: c.s.Understood().Mentions, in: &t.in, plan: t.out}

		return move{next: vocab.NodeAct, coded: true, plan: y.steps(), left: y.unsaid}, nil
	}
	said := t.s.plan != nil && c.s.prewritten() != nil

	return afterThink(t.out, thought{said: said, refs: t.in.Refs, mentions: c.s.Understood().Mentions, domain: t.s.Domain}), nil
}

package jobs

import (
	"context"
	"slices"

	"alfred/llm"
	"alfred/nodes"
	"alfred/pg"
)

// think plans the turn, or proposes, or asks.
type think struct {
	runner *Runner
	in     nodes.ThinkInput
	out    *nodes.ThinkOutput
	// carried: the plan came with Understand's answer, and no model is asked.
	carried bool
}

// carried is the plan that came with Understand's answer, nil if it does not fit what is known since.
func (s *state) carried(prompts Prompts) (*nodes.ThinkOutput, error) {
	in := prompts.Think(s.View)
	var err error
	in.Permission, err = s.permission()

	return in.Carried(s.Carried()), err
}

func (t *think) prepare(s *state) (err error) {
	t.in = s.prompts.Think(s.View)
	t.out, t.carried = s.plan, s.plan != nil
	t.in.Permission, err = s.permission()

	return err
}

func (t *think) frame() *nodes.Frame {
	if t.carried {
		return nil
	}

	return &t.in.Frame
}

func (t *think) run(ctx context.Context, model llm.Model) error {
	if t.carried {
		return nil
	}
	out, err := nodes.Think(ctx, model, t.in)
	t.out = out

	return err
}

func (t *think) fence(first *pg.Batch, c *commit) { c.fence(first) }

func (t *think) effects(ctx context.Context, c *commit) (move, error) {
	c.output, c.permitted = t.out, t.in.Permission.Allowed
	if t.carried {
		c.call = c.s.lastCall()
	}
	if t.out.Goal != "" {
		c.goal = &t.out.Goal
	}
	var named []string
	for _, step := range t.out.Steps {
		named = append(named, step.Refs...)
	}
	if _, err := c.registry().Touch(ctx, named); err != nil {
		return move{}, err
	}

	return afterThink(t.out, thought{writeAllowed: t.in.Permission.Allowed, refs: t.in.Refs, home: t.runner.home}), nil
}

// home is the subdomain in which refs of a type are read for a step: the step's own, where it can see their table.
func (r *Runner) home(entityType, subdomain string) string {
	entity := r.Domain.ByType(entityType)
	if entity == nil || r.sees(subdomain, entity.Table) {
		return subdomain
	}
	if of := r.Domain.SubdomainOf(entity); of != nil {
		return of.Name
	}

	return subdomain
}

func (r *Runner) sees(subdomain, table string) bool {
	s := r.Domain.Subdomain(subdomain)

	return s != nil && (slices.Contains(s.Tables, table) || slices.Contains(s.Readable, table))
}

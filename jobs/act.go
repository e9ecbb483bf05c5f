package jobs

import (
	"context"
	"fmt"
	"slices"

	"alfred/db"
	"alfred/internal/crud"
	"alfred/internal/view"
	"alfred/internal/vocab"
	"alfred/nodes"
	"alfred/registry"
)

// act is one decision of one step. It runs the decision's tool calls within its commit.
type act struct {
	inTurn

	s        *state
	ready    bool // written out by the plan, or with an earlier step; otherwise a model decides
	in       nodes.ActInput
	out      *nodes.ActOutput
	shown    map[string]map[string][]string // nil if no prompt was sent
	prepared crud.Prepared
}

func (a *act) prepare() (frame *nodes.Frame, err error) {
	s, step := a.s, a.s.Step()
	if a.out = s.readyCalls(step); a.out != nil {
		a.ready, a.in = true, s.prompts.Bounds(s.View, step)

		return nil, nil
	}
	if a.in, err = s.prompts.Act(s.View, step); err != nil {
		return nil, err
	}
	a.shown = shownBy(s.View, &a.in)
	a.in.Changed = s.acted(&nodes.ActOutput{}).rows > 0

	return &a.in.Frame, nil
}

// run also prepares the calls' searches, because the commit must not wait for an embedder or a search.
func (a *act) run(ctx context.Context, rec *recorder) error {
	var err error
	if !a.ready {
		if a.out, err = a.decide(ctx, rec); err != nil {
			return err
		}
	}
	a.prepared, err = a.s.runner.Tools.Prepare(ctx, a.s.runner.Pool, a.s.asker(), a.out.Calls)

	return err
}

// decide asks the model. Words that introduce drafts are streamed: they begin the reply.
func (a *act) decide(ctx context.Context, rec *recorder) (*nodes.ActOutput, error) {
	if a.in.Introduces {
		pieces := a.s.stream(ctx, a.in.At.Call > 1) // readers may have seen words of an earlier decision of the step
		a.in.OnDelta = pieces.add
		defer pieces.close() //nolint:contextcheck // it has the run's context
	}

	out, err := nodes.Act(ctx, rec, a.in)
	if err == nil && a.in.LeftOut > 0 && out.StepComplete != nil && out.StepComplete.Conclusions != "" {
		// The reply would tell it of all rows.
		out.StepComplete.Conclusions += fmt.Sprintf(" (Not counting %d of the rows, which were too many to be looked at.)", a.in.LeftOut)
	}

	return out, err
}

func (a *act) effects(ctx context.Context, c *commit) (move, error) {
	in := c.s.acted(a.out)
	in.ready = a.ready
	in.said = in.ready && c.s.prewritten() != nil || a.out.Words != ""
	permission, agreed := c.s.permission()
	c.permitted = permission.Allowed
	var (
		outcome crud.Outcome
		err     error
	)
	if m := beforeAct(a.out, in); m != nil {
		c.output = actMade(a.out, &outcome)

		return *m, a.touch(ctx, c)
	}
	if len(a.out.Calls) > 0 {
		outcome, err = a.s.runner.Tools.Execute(ctx, c.tx, c.s.scope(c.at), a.bounds(agreed), a.prepared)
		if err != nil {
			return move{}, err
		}
	}
	if err := a.touch(ctx, c); err != nil {
		return move{}, err
	}
	if slices.ContainsFunc(outcome.Results, func(r crud.Result) bool { return r.MissingFrom(a.out.Words) }) {
		a.out.Words = "" // the next decision, or whoever words the reply, must see the notice first
	}
	c.remember(a.out, &outcome)
	m := afterAct(a.out, &outcome, in)

	return m, a.keepBeside(c, &m)
}

// touch keeps in view what the decision's calls and texts name, whether or not a result contains it; but what was put out
// of view in this turn may be spoken of and stays out. It follows the calls: what they deleted is not touched, and what
// they read or wrote already is.
func (a *act) touch(ctx context.Context, c *commit) error {
	named := slices.DeleteFunc(registry.RefsIn(c.s.runner.Domain, a.out.Text()), func(ref string) bool { return c.s.wasTouched(ref) || c.s.wasDemoted(ref) })

	return c.registry().Touch(ctx, named)
}

// keepBeside stores the calls that the answer contains for other steps, once this step has ended and another act follows.
func (a *act) keepBeside(c *commit, m *move) error {
	if m.end == nil || m.next != vocab.NodeAct {
		return nil
	}
	next := c.nextStep(*m)
	for _, beside := range a.out.Beside {
		encoded, err := encodedCalls(beside.Calls)
		if err != nil {
			return err
		}
		step := c.stepAt(beside.Step)
		step.Calls = encoded
		c.last.Exec("carry calls to step", db.TurnStepCarry, &db.TurnStepCarryParams{TurnID: c.s.d.TurnID, Step: step.Step, Calls: encoded})
		m.coded = m.coded || next != nil && next.Step == step.Step
	}

	return nil
}

func (a *act) bounds(agreed []crud.ApprovedCall) crud.Bounds {
	return crud.Bounds{
		StepType: a.in.StepType, Tables: a.in.Tables, Writable: a.in.Writable, Operations: operationNames(a.in.Operations), Message: a.s.Turn.Message,
		Agreed: agreed, Done: a.s.doneInStep(a.s.Step().Step), Deleted: a.s.deletedUnknown(),
		Seen: crud.Seen{Drafts: a.s.Versions.Drafts, Rows: a.s.Versions.Rows, Shown: a.shown},
	}
}

// deletedUnknown returns the labels of the rows that the turn was the first to find and has deleted.
func (s *state) deletedUnknown() []string {
	var labels []string
	for _, e := range s.Registry {
		if e.TurnCreated == s.Turn.Number && view.Is(e.DeletedAtTurn, s.Turn.Number) {
			labels = append(labels, e.Label)
		}
	}

	return labels
}

// shownBy returns the columns that appear in a prompt, by type and key.
func shownBy(v *view.View, in *nodes.ActInput) map[string]map[string][]string {
	shown := map[string]map[string][]string{}
	for _, e := range v.Registry {
		if columns := in.Shown[e.Ref]; e.EntityID != nil && len(columns) > 0 {
			if shown[e.EntityType] == nil {
				shown[e.EntityType] = map[string][]string{}
			}
			shown[e.EntityType][*e.EntityID] = columns
		}
	}

	return shown
}

func operationNames(operations []nodes.Operation) []string {
	names := []string{}
	for _, o := range operations {
		names = append(names, o.Name)
	}

	return names
}

// settled is a step whose only decision has been made by the user, so that code carries it out.
type settled struct {
	inTurn

	carryOut func(ctx context.Context, c *commit) (move, error)
}

func (*settled) prepare() (*nodes.Frame, error) { return nil, nil }

func (*settled) run(context.Context, *recorder) error { return nil }

func (s *settled) effects(ctx context.Context, c *commit) (move, error) { return s.carryOut(ctx, c) }

// remember stores the decision and emits the results of its calls.
func (c *commit) remember(out *nodes.ActOutput, outcome *crud.Outcome) {
	c.output = actMade(out, outcome)
	if r := out.RequestSchema; r != nil {
		c.last.Exec("add table to step", db.TurnStepSchemaAdd, &db.TurnStepSchemaAddParams{TurnID: c.s.d.TurnID, Step: int32(c.at.Step), TableName: r.Table})
		if step := c.step(); !slices.Contains(step.SchemaTables, r.Table) {
			step.SchemaTables = append(slices.Clip(step.SchemaTables), r.Table)
		}
	}
	refs := []string{}
	for i := range outcome.Results {
		result := &outcome.Results[i]
		c.noteChanges(result)
		c.events.add("tool.called", c.calledData(result))
		refs = append(refs, result.Refs...)
	}
	if len(refs) > 0 {
		c.events.add("entities", map[string]any{"refs": refs})
	}
}

// noteChanges tells the next decision what a call changed.
func (c *commit) noteChanges(result *crud.Result) {
	changed := &c.changed
	changed.Registry = changed.Registry || result.ErrorCode != "" // what was written before it may have been rolled back
	if result.Stored != nil {
		changed.Results = append(changed.Results, result.Stored)
	}
	changed.Drafts = changed.Drafts || result.Tool == vocab.ToolGenerate || !vocab.Reads(result.Tool) && len(c.s.Drafts) > 0
	changed.Rows = changed.Rows || len(result.Changes) > 0
}

// calledData is what an event says of a call.
func (c *commit) calledData(result *crud.Result) map[string]any {
	data := map[string]any{"step": c.at.Step, "call": result.Call, "tool": result.Tool, "row_count": result.RowCount}
	if result.EntityType != "" {
		data["entity_type"] = result.EntityType
	}
	if result.ErrorCode != "" {
		data["error"] = map[string]any{"code": result.ErrorCode, "message": result.ErrorMessage}
	}

	return data
}

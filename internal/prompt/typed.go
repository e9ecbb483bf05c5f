package prompt

import (
	"time"

	"alfred/db"
	"alfred/internal/clean"
	"alfred/internal/exact"
	"alfred/internal/view"
	"alfred/nodes"
)

// nodeFacts returns a turn's loaded data in typed form, in addition to the text of its prompt.
func (t *page) nodeFacts() nodes.Facts {
	f := nodes.Facts{
		Message: t.WithLabels(t.Turn.Message), Discarded: t.DroppedNow(), Understood: t.Understood(), InFull: t.InFull,
		Today: time.Date(t.Began.Year(), t.Began.Month(), t.Began.Day(), 0, 0, 0, 0, time.UTC),
	}
	for _, e := range t.Entities {
		f.Entities = append(f.Entities, t.typedEntity(e))
	}
	for _, p := range t.Window(t.config.UnderstandTurns) {
		f.Said = append(f.Said, nodes.Exchange{Turn: int(p.Number), Message: t.WithLabels(p.Message)})
	}
	f.Question = t.typedQuestion()
	if t.OwnQuestion() != nil {
		f.Question, f.Asked = nil, f.Question
	}
	for _, c := range t.Constraints {
		f.Constraints = append(f.Constraints, nodes.Holding{Kind: c.Kind, Value: c.Value})
	}
	for _, s := range t.Steps {
		f.Plan = append(f.Plan, typedStep(s))
	}
	for _, r := range t.Results {
		f.Results = append(f.Results, t.typedResult(r))
	}

	return f
}

func (t *page) typedEntity(e *view.Entity) nodes.Entity {
	out := nodes.Entity{
		Ref: e.Ref, Type: e.EntityType, Label: e.Label, Tier: e.Tier, Action: e.Action, Stale: e.Stale,
		Pending: e.Pending(), Deleted: e.State == db.RefStateDeleted, Touched: int(e.TurnLastRef),
	}
	if content, ok := t.Drafts[e.Ref]; ok && e.Pending() && exact.Decode(content, &out.Draft) != nil {
		out.Draft = nil // a draft that is not an object has no columns
	}
	r := t.Rows.ByRef[e.Ref]
	if r == nil || r.Deleted {
		return out
	}
	out.Columns, out.Children = r.Columns, map[string][]map[string]any{}
	for table, refs := range r.Children {
		out.Children[table] = []map[string]any{}
		for _, ref := range refs {
			out.Children[table] = append(out.Children[table], t.Rows.ByRef[ref].Columns)
		}
		for _, item := range r.Loose[table] {
			if columns, ok := item.(map[string]any); ok {
				out.Children[table] = append(out.Children[table], columns)
			}
		}
	}

	return out
}

func (t *page) typedQuestion() *nodes.OpenQuestion {
	payload := t.AnyQuestion()
	if payload == nil {
		return nil
	}
	out := &nodes.OpenQuestion{Turn: int(t.Question.AskedTurn)}
	for _, o := range payload.ForModels().Options {
		if o.Ref != "" {
			out.Options = append(out.Options, o.Ref)
		}
	}

	return out
}

func typedStep(s *db.TurnSteps) nodes.PlannedStep {
	out := nodes.PlannedStep{
		Number: int(s.Step), Summary: clean.Text(s.Summary),
		Step: nodes.Step{Type: string(s.StepType), Subdomain: s.Subdomain, Description: s.Description, Refs: s.Refs, Needs: s.Needs},
	}
	if s.Outcome != nil {
		out.Outcome = string(*s.Outcome)
	}

	return out
}

func (t *page) typedResult(r *view.Result) nodes.Result {
	return nodes.Result{
		Turn: int(r.TurnNumber), Step: int(r.Step), Current: r.TurnID == t.Turn.ID, Tool: r.Tool, Type: clean.Text(r.EntityType),
		Refs: r.Refs, Rows: t.WithoutKeys(r), ErrorCode: clean.Text(r.ErrorCode), Error: clean.Text(r.ErrorMessage),
	}
}

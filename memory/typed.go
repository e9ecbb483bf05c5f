package memory

import (
	"encoding/json"
	"slices"
	"time"

	"alfred/db"
	"alfred/nodes"
)

// nodeFacts is what is loaded of a turn as data, beside the words of its prompt.
func (t *turn) nodeFacts() nodes.Facts {
	f := nodes.Facts{
		Message: t.withLabels(t.row.Message), Discarded: t.droppedNow(), Understood: t.understood,
		Today: time.Date(t.now.Year(), t.now.Month(), t.now.Day(), 0, 0, 0, 0, time.UTC),
	}
	for _, e := range t.entities {
		f.Entities = append(f.Entities, t.typedEntity(e))
	}
	for _, p := range t.window(t.memory.config.UnderstandTurns) {
		f.Said = append(f.Said, t.typedExchange(p))
	}
	if q := t.question; q != nil && q.TurnID == t.row.ID {
		f.Asked = t.typedQuestion()
	} else if q != nil {
		f.Question = t.typedQuestion()
	}
	for _, c := range t.constraints {
		holding := nodes.Holding{Text: c.Text, Kind: c.Kind, Scope: c.Scope, Value: c.Value}
		if c.ExpiresAt != nil {
			holding.Expires = *c.ExpiresAt
		}
		f.Constraints = append(f.Constraints, holding)
	}
	for _, s := range t.steps {
		f.Plan = append(f.Plan, typedStep(s))
	}
	for _, r := range t.results {
		f.Results = append(f.Results, t.typedResult(r))
	}

	return f
}

func (t *turn) typedEntity(e *entity) nodes.Entity {
	out := nodes.Entity{
		Ref: e.Ref, Type: e.EntityType, Label: e.label, Tier: e.Tier, Action: e.Action, Stale: e.stale,
		Pending: e.pending(), Deleted: e.State == db.RefStateDeleted, Demoted: e.DemotedAtTurn != nil, Promoted: t.isJustSaved(e),
		Created: int(e.TurnCreated), Touched: int(e.TurnLastRef),
	}
	if content, ok := t.drafts[e.Ref]; ok && e.pending() && decode(content, &out.Draft) != nil {
		out.Draft = nil // a draft that is no object has no columns
	}
	r := t.rows.byRef[e.Ref]
	if r == nil || r.deleted {
		return out
	}
	out.Columns, out.Children = r.columns, map[string][]map[string]any{}
	for table, refs := range r.children {
		out.Children[table] = []map[string]any{}
		for _, ref := range refs {
			if child := t.rows.byRef[ref]; child != nil {
				out.Children[table] = append(out.Children[table], child.columns)
			}
		}
		for _, item := range r.loose[table] {
			if columns, ok := item.(map[string]any); ok {
				out.Children[table] = append(out.Children[table], columns)
			}
		}
	}

	return out
}

func (t *turn) typedExchange(p *db.TurnListPastRow) nodes.Exchange {
	out := nodes.Exchange{Turn: int(p.Number), Message: t.withLabels(p.Message), Reply: t.withLabels(p.Reply)}
	for _, event := range t.events[out.Turn] {
		if !slices.Contains(out.Refs, event.Ref) {
			out.Refs = append(out.Refs, event.Ref)
		}
	}

	return out
}

func (t *turn) typedQuestion() *nodes.OpenQuestion {
	var payload questionPayload
	if err := json.Unmarshal(t.question.Payload, &payload); err != nil {
		return nil
	}
	out := &nodes.OpenQuestion{Kind: t.question.Kind, Turn: int(t.question.AskedTurn), Text: t.withLabels(payload.Text)}
	for _, o := range payload.Options {
		if e := t.byRef[o.Ref]; e != nil && (o.Label == "" || o.Label == o.Ref) {
			o.Label = e.label
		}
		out.Options = append(out.Options, nodes.QuestionOption{Label: o.Label, Ref: o.Ref})
	}

	return out
}

func typedStep(s *db.TurnSteps) nodes.PlannedStep {
	out := nodes.PlannedStep{
		Number: int(s.Step), Summary: text(s.Summary), Conclusions: text(s.Conclusions), Note: text(s.Note),
		Step: nodes.Step{Type: string(s.StepType), Subdomain: s.Subdomain, Description: s.Description, Refs: s.Refs, Needs: s.Needs},
	}
	if s.Outcome != nil {
		out.Outcome = string(*s.Outcome)
	}

	return out
}

func (t *turn) typedResult(r *result) nodes.Result {
	out := nodes.Result{
		Turn: int(r.TurnNumber), Step: int(r.Step), Call: int(r.Call), Current: r.TurnID == t.row.ID, Tool: r.Tool, Params: r.Params,
		Refs: r.Refs, Rows: t.guarded(r), Count: int(r.RowCount), ErrorCode: text(r.ErrorCode), Error: text(r.ErrorMessage),
	}
	if r.EntityType != nil {
		out.Type = *r.EntityType
	}

	return out
}

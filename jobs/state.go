package jobs

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"alfred/db"
	"alfred/internal/crud"
	"alfred/internal/exact"
	"alfred/internal/view"
	"alfred/internal/vocab"
	"alfred/nodes"
	"alfred/registry"
)

// state is a turn as its jobs see it: its view, and what follows from its plan and earlier decisions. Everything that
// limits count is derived from these rows, so that it is the same after a crash.
type state struct {
	*view.View

	guard   *guard
	plan    *carried // came with Understand's answer and fits; nil: Think is asked
	prompts Prompts
	written *registry.Written
	until   time.Time // when the turn stops retrying the current decision; zero: never
}

// actMade is a stored decision of Act: its output and results.
type actMade struct {
	nodes.ActOutput
	Results []actResult `json:"results,omitempty"`
	Undo    string      `json:"undo,omitempty"` // what the user is told about undoing it
}

type actResult struct {
	Tool       string    `json:"tool"`
	EntityType string    `json:"entity_type,omitempty"`
	RowCount   int       `json:"row_count"`
	Told       string    `json:"told,omitempty"` // what it did, in words
	ErrorCode  crud.Code `json:"error_code,omitempty"`
}

func newActMade(out *nodes.ActOutput, outcome *crud.Outcome) actMade {
	made := actMade{ActOutput: *out, Undo: outcome.Undo}
	for i := range outcome.Results {
		r := &outcome.Results[i]
		made.Results = append(made.Results, actResult{Tool: r.Tool, EntityType: r.EntityType, RowCount: r.RowCount, Told: r.Told, ErrorCode: r.ErrorCode})
	}

	return made
}

func (m *actMade) failed() bool {
	return slices.ContainsFunc(m.Results, func(r actResult) bool { return r.ErrorCode != "" })
}

// carriedCalls returns the decision that the plan or an earlier step wrote out for a step, if the step has not started;
// otherwise nil. Calls that change rows are used only if nobody has changed those rows since they were read: otherwise
// Act looks first.
func (s *state) carriedCalls(step *db.TurnSteps) *nodes.ActOutput {
	if taken, _ := s.Calls(int(step.Step)); taken > 0 || len(step.Calls) == 0 {
		return nil
	}
	var calls []nodes.Call
	if json.Unmarshal(step.Calls, &calls) != nil {
		return nil
	}
	var known *view.Scene
	for _, call := range calls {
		if call.Tool != vocab.ToolUpdate && call.Tool != vocab.ToolDelete {
			continue
		}
		if known == nil {
			known = s.Scene(false)
		}
		if !carriable(known, call) {
			return nil
		}
	}

	out, err := nodes.Carried(calls)
	if err != nil {
		return nil
	}

	return out
}

// lastCall is the model call that the last decision came from.
func (s *state) lastCall() *uuid.UUID {
	if len(s.Runs) == 0 {
		return nil
	}

	return s.Runs[len(s.Runs)-1].LlmCallID
}

// later returns the steps after the current one. A step that needs a skipped step is skipped with it.
func (s *state) later() []later {
	var rest []later
	fallen := []*db.TurnSteps{s.Step()}
	for _, step := range s.Steps {
		if step.Outcome != nil || step == fallen[0] {
			continue
		}
		needs := slices.ContainsFunc(fallen, func(earlier *db.TurnSteps) bool { return s.Depends(earlier, step) })
		if needs {
			fallen = append(fallen, step)
		}
		rest = append(rest, later{step: int(step.Step), carries: len(step.Calls) > 0, needs: needs})
	}

	return rest
}

// at locates the next decision and returns its ordinal among the node's decisions in this turn that a model made.
func (s *state) at(node string) (at nodes.At, ordinal int) {
	ordinal = 1
	for _, run := range s.Runs {
		if run.Node == node && run.LlmCallID != nil {
			ordinal++
		}
	}
	at = nodes.At{Turn: int(s.Turn.Number), Call: s.DecisionsOf(node) + 1}
	step := s.Step()
	if node != vocab.NodeAct || step == nil {
		return at, ordinal
	}
	at.Step, at.Call = int(step.Step), 1
	for _, run := range s.Runs {
		if run.Node == vocab.NodeAct && run.Step != nil && *run.Step == step.Step {
			at.Call++
		}
	}

	return at, ordinal
}

// after is the turn as it will be once a decision has been committed.
func (s *state) after(status db.TurnStatus, next string) *db.Turns {
	turn := *s.Turn
	turn.Position++
	turn.Status, turn.CurrentNode = status, &next

	return &turn
}

func (s *state) scope(at nodes.At) registry.Scope {
	return registry.Scope{
		SessionID: s.Turn.SessionID, UserID: s.Turn.UserID, TurnID: s.Turn.ID, Turn: at.Turn, Step: at.Step, Call: at.Call,
		Results: s.results(at.Step), Actor: registry.ActorAssistant, Written: s.written,
	}
}

// written collects what a decision writes of the registry, for the view of its turn.
func (r *Runner) written() *registry.Written {
	return &registry.Written{Window: r.Windows.RetentionWindow}
}

// results is the number of the last result that this turn has stored for a step.
func (s *state) results(step int) (last int) {
	for _, r := range s.Results {
		if r.TurnID == s.Turn.ID && int(r.Step) == step {
			last = max(last, int(r.Call))
		}
	}

	return last
}

// asker says who is searching: what the turn's later prompts show in full is left out of the results.
func (r *Runner) asker(s *state) crud.Asker {
	return crud.Asker{Scope: s.scope(nodes.At{Turn: int(s.Turn.Number)}), ShownFrom: int(s.Turn.Number) - r.Windows.Full(int(s.Turn.Number)-1)}
}

// planned reports whether Think made this turn's plan. Otherwise code did: one quick read, or what the user approved.
func (s *state) planned() bool { return s.DecisionsOf(vocab.NodeThink) > 0 }

// approved returns the payload of the approve question that this turn carries out, or nil.
func (s *state) approved() json.RawMessage {
	answered := s.Answered()
	if s.planned() || len(s.Steps) == 0 || answered == nil || answered.Kind != vocab.AskApprove {
		return nil
	}

	return answered.Payload
}

// quick reports whether code words this turn's reply and summary: a read that Understand found simple enough.
func (s *state) quick() bool {
	return !s.planned() && len(s.Steps) > 0 && s.approved() == nil && !s.stuck()
}

// stuck reports whether a decision of Act gave up its step.
func (s *state) stuck() bool {
	for _, run := range s.Runs {
		var made actMade
		if run.Node == vocab.NodeAct && json.Unmarshal(run.Output, &made) == nil && (made.AskUser != nil || made.Blocked != nil) {
			return true
		}
	}

	return false
}

// acted derives what the edge after Act depends on.
func (s *state) acted(out *nodes.ActOutput) (acted, error) {
	step := s.Step()
	in := acted{
		stepType: string(step.StepType), description: step.Description, refs: step.Refs, later: s.later(),
		replans: max(s.DecisionsOf(vocab.NodeThink)-1, 0), quick: s.quick(),
	}
	seen := map[string]bool{}
	for _, run := range s.Runs {
		if run.Node != vocab.NodeAct || run.Step == nil || *run.Step != step.Step {
			continue
		}
		var made actMade
		if err := json.Unmarshal(run.Output, &made); err != nil {
			return acted{}, fmt.Errorf("read act's output: %w", err)
		}
		in.add(&made, seen)
	}
	in.repeats = len(out.Calls) > 0
	for _, call := range out.Calls {
		in.repeats = in.repeats && seen[fingerprint(call)]
	}

	return in, nil
}

// add counts one earlier decision of the step. seen collects the reads that would return the same again.
func (in *acted) add(made *actMade, seen map[string]bool) {
	if made.RequestSchema != nil {
		in.requests++
	}
	if len(made.Calls) == 0 {
		return
	}
	in.calls++
	if in.failing = made.failed(); in.failing {
		in.failures++

		return
	}
	for _, r := range made.Results {
		in.rows += weight(in.stepType, r.Tool, r.RowCount)
		in.done = append(in.done, r.Told)
	}
	for _, call := range made.Calls {
		if !vocab.Reads(call.Tool) {
			clear(seen)
		}
	}
	for _, call := range made.Calls {
		if vocab.Reads(call.Tool) {
			seen[fingerprint(call)] = true
		}
	}
}

// fingerprint is equal for calls that differ only in formatting.
func fingerprint(call nodes.Call) string {
	var args any
	if err := exact.Decode(call.Args, &args); err != nil {
		return call.Tool + string(call.Args)
	}
	sorted, err := json.Marshal(args)
	if err != nil {
		return call.Tool + string(call.Args)
	}

	return call.Tool + string(sorted)
}

package jobs

import (
	"fmt"
	"slices"
	"time"

	"alfred/db"
	"alfred/internal/crud"
	"alfred/internal/view"
	"alfred/internal/vocab"
	"alfred/nodes"
	"alfred/registry"
)

// state is a turn as its jobs see it: its view, and what follows from its plan and earlier decisions. Everything that
// limits count is derived from these rows, so that it is the same after a crash.
type state struct {
	*view.View

	runner  *Runner
	d       delivery
	guard   *guard
	plan    *readyPlan // came with Understand's answer and fits; nil: Think is asked
	refused string     // why the plan that came does not fit
	prompts Prompts
	shorter []Prompts         // what is left to try, once a prompt is too long
	written *registry.Written // what the decision writes of the registry, for the view of its turn
	// answered is the question that the turn's message has answered, nil for none.
	answered *question
	until    time.Time // when the turn stops retrying the current decision; zero: never
}

// state is what a decision is made from; its guard reads through conn.
func (r *Runner) state(conn db.DBTX, d delivery, v *view.View) (s *state, err error) {
	s = &state{
		View: v, runner: r, d: d, guard: r.guard(conn, v.Turn.SessionID), prompts: r.Prompts, shorter: r.Shorter, written: &registry.Written{Window: r.Windows.RetentionWindow},
	}
	if q := v.Answered(); q != nil {
		s.answered, err = s.readQuestion(q.ID, q.Kind, q.Payload)
	}

	return s, err
}

// shorten has the next prompt be shorter, false if it cannot be: first one that continues no conversation, then one with
// smaller budgets.
func (s *state) shorten() bool {
	switch {
	case s.isShortest():
		return false
	case s.Continues() != nil:
		s.Round = nil
	default:
		s.prompts, s.shorter = s.shorter[0], s.shorter[1:]
	}

	return true
}

func (s *state) isShortest() bool { return s.Continues() == nil && len(s.shorter) == 0 }

// decision returns an empty decision of the state's node.
func (s *state) decision() (decision, error) {
	switch s.d.Node {
	case vocab.NodeUnderstand:
		return &understand{s: s}, nil
	case vocab.NodeThink:
		return &think{s: s}, nil
	case vocab.NodeAct:
		return s.actDecision()
	case vocab.NodeReply:
		return &reply{s: s}, nil
	default:
		return &summarize{s: s}, nil
	}
}

func (s *state) actDecision() (decision, error) {
	if s.Step() == nil {
		return nil, fmt.Errorf("act: turn %s has no step left: %w", s.Turn.ID, errStale)
	}
	undo := s.undoing(s.Step())
	switch {
	case undo != nil:
		return &settled{carryOut: undo.run}, nil
	case s.approvedIn(s.Step()) != nil:
		return &settled{carryOut: runApproved}, nil
	default:
		return &act{s: s}, nil
	}
}

// actMade is what node_runs stores of a decision of Act.
func actMade(out *nodes.ActOutput, outcome *crud.Outcome) *view.Acted {
	made := &view.Acted{ActOutput: *out, Undo: outcome.Undo, Company: outcome.Company}
	for i := range outcome.Results {
		r := &outcome.Results[i]
		made.Results = append(made.Results, view.CallResult{Tool: r.Tool, EntityType: r.EntityType, RowCount: r.RowCount, Told: r.Told, ErrorCode: string(r.ErrorCode), Error: r.ErrorMessage})
	}

	return made
}

// stepsLeft returns the steps after the current one. A step that needs a skipped step is skipped with it.
func (s *state) stepsLeft() []later {
	var rest []later
	waiting, fallen := []*db.TurnSteps{s.Step()}, []*db.TurnSteps{s.Step()}
	for _, step := range s.Steps {
		if step.Outcome != nil || step == fallen[0] {
			continue
		}
		left := later{step: step.Step, ready: len(step.Calls) > 0, looks: view.IsReadOnly(step)}
		if left.waits = slices.ContainsFunc(waiting, func(earlier *db.TurnSteps) bool { return s.DependsOn(earlier, step) }); left.waits {
			waiting = append(waiting, step)
		}
		if left.needs = slices.ContainsFunc(fallen, func(earlier *db.TurnSteps) bool { return s.FallsWith(earlier, step) }); left.needs {
			fallen = append(fallen, step)
		}
		rest = append(rest, left)
	}

	return rest
}

// at locates the next decision.
func (s *state) at() nodes.At {
	at := nodes.At{Turn: int(s.Turn.Number), Call: s.DecisionsOf(s.d.Node) + 1}
	if step := s.Step(); s.d.Node == vocab.NodeAct && step != nil {
		at.Step, at.Call = int(step.Step), len(s.ActsOf(step.Step))+1
	}

	return at
}

// ordinal is the number that the next decision has among the node's decisions in this turn that a model made.
func (s *state) ordinal() int {
	ordinal := 1
	for _, run := range s.Runs {
		if run.Node == s.d.Node && run.LlmCallID != nil {
			ordinal++
		}
	}

	return ordinal
}

// turnAfter is the turn as it will be once a decision has been committed.
func (s *state) turnAfter(status db.TurnStatus, next string) *db.Turns {
	turn := *s.Turn
	turn.Position++
	turn.Status, turn.CurrentNode = status, &next

	return &turn
}

func (s *state) scope(at nodes.At) registry.Scope {
	return registry.Scope{
		SessionID: s.Turn.SessionID, UserID: s.Turn.UserID, TurnID: s.Turn.ID, Turn: at.Turn, Step: at.Step, Call: at.Call,
		Results: s.lastCall(at.Step), Actor: registry.ActorAssistant, Written: s.written,
	}
}

// lastCall is the number of the last result that this turn has stored for a step.
func (s *state) lastCall(step int) (last int) {
	for _, r := range s.Results {
		if r.TurnID == s.Turn.ID && int(r.Step) == step {
			last = max(last, int(r.Call))
		}
	}

	return last
}

// asker says who is searching: what the turn's later prompts show in full is left out of the results.
func (s *state) asker() crud.Asker {
	number := int(s.Turn.Number)

	return crud.Asker{Scope: s.scope(nodes.At{Turn: number}), ShownFrom: number - s.runner.Windows.Full(number-1)}
}

// wasTouched reports whether a ref was touched in this turn, as far as the view and this decision's writes tell.
func (s *state) wasTouched(ref string) bool {
	return slices.Contains(s.written.Names, ref) || slices.ContainsFunc(s.Registry, func(e *db.EntityRefListInViewRow) bool {
		return e.Ref == ref && e.TurnLastRef == s.Turn.Number
	})
}

// wasDemoted reports whether a ref was put out of view in this turn.
func (s *state) wasDemoted(ref string) bool {
	return slices.ContainsFunc(s.Decisions, func(d *db.DecisionListRecentRow) bool {
		return d.TurnNumber == s.Turn.Number && (d.Action == "clear_all" || d.Action == "demote" && view.Is(d.Ref, ref))
	})
}

// thinkPlanned reports whether Think made this turn's plan. Otherwise code did: one quick read, or what the user approved.
func (s *state) thinkPlanned() bool { return s.DecisionsOf(vocab.NodeThink) > 0 }

// isQuick reports whether code words this turn's reply and summary: it only made a read that Understand found simple enough,
// and no decision of Act gave it up.
func (s *state) isQuick() bool {
	gaveUp := func(run *view.Run) bool {
		return run.Acted != nil && (run.Acted.AskUser != nil || run.Acted.Blocked != nil)
	}

	return !s.thinkPlanned() && len(s.Steps) > 0 && !s.carriesOutApproved() && !slices.ContainsFunc(s.Runs, gaveUp)
}

// refusals are the codes of calls that were understood and are not allowed to be carried out.
var refusals = []crud.Code{crud.CodeConflict, crud.CodeNotAllowed, crud.CodeViolation}

// acted derives what the edge after Act depends on.
func (s *state) acted(out *nodes.ActOutput) acted {
	step := s.Step()
	in := acted{
		stepType: string(step.StepType), description: step.Description, refs: step.Refs, later: s.stepsLeft(),
		replans: max(s.DecisionsOf(vocab.NodeThink)-1, 0), quick: s.isQuick(),
		asked: s.Scene(false).QuestionToAsk() != nil, leftOut: s.leftOut(step.Step, out),
	}
	seen := map[string]bool{}
	for _, made := range s.ActsOf(step.Step) {
		in.add(made, seen)
	}
	in.repeats = len(out.Calls) > 0
	for _, call := range out.Calls {
		in.repeats = in.repeats && seen[crud.Fingerprint(call)]
	}

	return in
}

// add counts one earlier decision of the step. seen collects the reads that would return the same again.
func (in *acted) add(made *view.Acted, seen map[string]bool) {
	if made.RequestSchema != nil {
		in.requests++
	}
	if len(made.Calls) == 0 {
		return
	}
	in.calls++
	if made.Failed() {
		in.addFailure(made)

		return
	}
	in.failing = false
	for _, r := range made.Results {
		in.rows += rowsCounted(in.stepType, r.Tool, r.RowCount)
		in.done = append(in.done, r.Told)
	}
	if slices.ContainsFunc(made.Calls, func(call vocab.Call) bool { return !vocab.Reads(call.Tool) }) {
		clear(seen)
	}
	for _, call := range made.Calls {
		if vocab.Reads(call.Tool) {
			seen[crud.Fingerprint(call)] = true
		}
	}
}

// addFailure counts a decision that failed. If all that is wrong is that the step has made the same calls already, nothing is
// left undone.
func (in *acted) addFailure(made *view.Acted) {
	in.failures++
	for _, r := range made.Results {
		in.failing = in.failing || crud.Code(r.ErrorCode) != crud.CodeRepeated
		if slices.Contains(refusals, crud.Code(r.ErrorCode)) {
			in.refused = append(in.refused, r.Error)
		}
	}
}

// doneInStep is what a step's calls have done, by their fingerprint.
func (s *state) doneInStep(step int32) map[string]string {
	done := map[string]string{}
	for _, made := range s.ActsOf(step) {
		if made.Failed() || len(made.Results) != len(made.Calls) {
			continue
		}
		for i, call := range made.Calls {
			done[crud.Fingerprint(call)] = made.Results[i].Told
		}
	}

	return done
}

package jobs

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"alfred/db"
	"alfred/internal/view"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// said is the reply that an earlier answer of the turn contains.
type said struct {
	text string
	// introduces: the text stands before the drafts that the same answer made.
	introduces bool
	// holds: the turn went exactly as the answer had it.
	holds bool
	call  *uuid.UUID // the model call it came from
}

// said returns nil if no answer of the turn contains a reply.
func (s *state) said() (*said, error) {
	introduced, err := s.introduced()
	if introduced != nil || err != nil {
		return introduced, err
	}

	return s.saidAtOnce()
}

// introduced returns the words beside this turn's drafts. They hold if the step that made these ended the turn and
// succeeded, and all before it prepared it.
func (s *state) introduced() (*said, error) {
	if len(s.Runs) == 0 || s.Runs[len(s.Runs)-1].Node != vocab.NodeAct {
		return nil, nil
	}
	run := s.Runs[len(s.Runs)-1]
	var made nodes.ActOutput
	if err := json.Unmarshal(run.Output, &made); err != nil {
		return nil, fmt.Errorf("read act's output: %w", err)
	}
	if made.Words == "" {
		return nil, nil
	}
	last := s.Steps[len(s.Steps)-1]

	return &said{
		text: made.Words, introduces: true, call: run.LlmCallID,
		holds: s.OnlyDrafts(last) && last.Outcome != nil && *last.Outcome == db.StepOutcomeOk,
	}, nil
}

// generates reports whether a step of the turn may have shown words beside its drafts.
func (s *state) generates() bool {
	return slices.ContainsFunc(s.Steps, func(step *db.TurnSteps) bool { return step.StepType == db.StepTypeGenerate })
}

// saidAtOnce returns the reply in Understand's answer. It holds if nothing had to be done, or if all that was done is
// what the answer's own calls write, and all of them succeeded.
func (s *state) saidAtOnce() (*said, error) {
	if len(s.Runs) == 0 || s.Runs[0].Node != vocab.NodeUnderstand {
		return nil, nil
	}
	var made nodes.TogetherOutput
	if err := json.Unmarshal(s.Runs[0].Output, &made); err != nil {
		return nil, fmt.Errorf("read understand's output: %w", err)
	}
	if made.Reply == "" {
		return nil, nil
	}
	found := &said{text: made.Reply, call: s.Runs[0].LlmCallID}
	made.Say, made.Think = made.Reply, made.Plan
	found.holds = (made.Speaks() || len(s.Steps) > 0) && s.wentAsWritten(found.call)

	return found, nil
}

// wentAsWritten reports whether no other model call decided anything in this turn, every step wrote what it was to
// write, and nothing failed.
func (s *state) wentAsWritten(call *uuid.UUID) bool {
	for _, run := range s.Runs {
		if run.LlmCallID != nil && (call == nil || *run.LlmCallID != *call) {
			return false
		}
	}
	for _, step := range s.Steps {
		if step.StepType != db.StepTypeWrite || step.Outcome == nil || *step.Outcome != db.StepOutcomeOk {
			return false
		}
	}

	return !slices.ContainsFunc(s.Results, func(r *view.Result) bool { return r.TurnID == s.Turn.ID && r.Failed() })
}

package jobs

import (
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"alfred/db"
	"alfred/nodes"
)

// said is the reply that Understand's answer contains.
type said struct {
	text string
	// holds: the turn went exactly as the answer had it.
	holds bool
	call  *uuid.UUID // the model call it came from
}

// said returns nil if Understand's answer contains no reply. The reply holds if nothing had to be done, or if all that
// was done is what the answer's own calls write, and all of them succeeded.
func (s *state) said() (*said, error) {
	if len(s.Runs) == 0 || s.Runs[0].Node != nodeUnderstand {
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
	for _, r := range s.Results {
		if r.TurnID == s.Turn.ID && r.Failed() {
			return false
		}
	}

	return true
}

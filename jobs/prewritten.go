package jobs

import (
	"cmp"
	"slices"

	"github.com/google/uuid"

	"alfred/db"
	"alfred/internal/view"
	"alfred/internal/vocab"
)

// prewrittenReply is the reply that an earlier answer of the turn contains.
type prewrittenReply struct {
	text string
	// introduces: the text stands before the drafts that the same answer made.
	introduces bool
	// holds: the turn went exactly as the answer had it.
	holds bool
	call  *uuid.UUID // the model call it came from
}

// prewritten returns nil if no answer of the turn contains a reply.
func (s *state) prewritten() *prewrittenReply {
	return cmp.Or(s.prewrittenWithDrafts(), s.prewrittenByUnderstand())
}

// prewrittenWithDrafts returns the words that came with this turn's drafts. They hold if the step that made the drafts came last
// and succeeded, and every earlier step only prepared it.
func (s *state) prewrittenWithDrafts() *prewrittenReply {
	run := s.LastRun()
	if run == nil || run.Acted == nil || run.Acted.Words == "" {
		return nil
	}
	last := s.Steps[len(s.Steps)-1]

	return &prewrittenReply{
		text: run.Acted.Words, introduces: true, call: run.LlmCallID,
		holds: s.OnlyDrafts(last) && view.Is(last.Outcome, db.StepOutcomeOk),
	}
}

// mayHaveShownWords reports whether a step of the turn may have shown words with its drafts.
func (s *state) mayHaveShownWords() bool {
	return slices.ContainsFunc(s.Steps, func(step *db.TurnSteps) bool { return step.StepType == db.StepTypeGenerate })
}

// prewrittenByUnderstand returns the reply in Understand's answer. It holds if nothing had to be done, or if all that was done is
// what the answer's own calls write, and all of them succeeded.
func (s *state) prewrittenByUnderstand() *prewrittenReply {
	understood := s.Understood()
	if understood.Say == "" {
		return nil
	}
	call := s.Runs[0].LlmCallID

	return &prewrittenReply{text: understood.Say, call: call, holds: (understood.AnswersAlone() || len(s.Steps) > 0) && s.ranAsWritten(call)}
}

// ranAsWritten reports whether no other model call decided anything in this turn, every step wrote what it was to
// write, and nothing failed.
func (s *state) ranAsWritten(call *uuid.UUID) bool {
	for _, run := range s.Runs {
		if run.LlmCallID != nil && (call == nil || *run.LlmCallID != *call) {
			return false
		}
	}
	for _, step := range s.Steps {
		if step.StepType != db.StepTypeWrite || !view.Is(step.Outcome, db.StepOutcomeOk) {
			return false
		}
	}

	return !slices.ContainsFunc(s.Results, func(r *view.Result) bool {
		unknown := r.Tool == vocab.ToolUndo || s.Domain.Operation(r.Tool) != nil // what it does, no model knew

		return r.TurnID == s.Turn.ID && (r.Failed() || unknown)
	})
}

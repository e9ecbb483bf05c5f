package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/crud"
	"alfred/internal/pg"
	"alfred/internal/vocab"
	"alfred/nodes"
	"alfred/registry"
)

// To undo what a turn wrote is a step whose only decision code makes. If the user asked in words, it is a call of the plan,
// and other steps may stand beside it. In a turn that does nothing else, code also words the reply and the summary.

// UndoParams asks to undo what a turn wrote. Only TurnID is required.
type UndoParams struct {
	TurnID         uuid.UUID
	IdempotencyKey string // a second request with the same key returns the first one's turn
	IfBusy         string // one of the IfBusy constants; "" is IfBusyEnqueue
}

// Undo is the turn that undoes another one.
type Undo struct {
	Enqueued

	SessionID uuid.UUID
}

// UndoTurn enqueues a turn that undoes another one, inside the caller's transaction. Whether the rows are still as that
// turn left them is checked when it runs; its reply says so.
//
// Errors: [ErrTurnNotFound], [CannotUndoError], and those of [EnqueueTurn].
func UndoTurn(ctx context.Context, tx pgx.Tx, params UndoParams) (*Undo, error) {
	row, err := db.New().TurnUndo(ctx, tx, &db.TurnUndoParams{
		TurnID: params.TurnID, IdempotencyKey: pg.OrNil(params.IdempotencyKey), IfBusy: cmp.Or(params.IfBusy, IfBusyEnqueue),
	})
	if err != nil {
		return nil, fmt.Errorf("undo turn: %w", packageErrorOfTurn(err))
	}

	return &Undo{Enqueued{TurnID: row.TurnID, Number: int(row.Number), Status: row.Status, Existing: row.Existing}, row.SessionID}, nil
}

// undoing is what a step undoes.
type undoing struct {
	nodes.UndoRequest

	turn   *uuid.UUID // instead of a number
	agreed bool       // to changes that otherwise need approval
}

// undoing returns what a step of the turn undoes, nil for most.
func (s *state) undoing(step *db.TurnSteps) *undoing {
	if approved := s.approvedIn(step); approved != nil {
		return undoApproved(approved)
	}
	request := nodes.UndoIn(plannedCalls(step))
	if request == nil {
		return nil
	}
	u := &undoing{UndoRequest: *request}
	if !s.thinkPlanned() {
		u.turn = s.Turn.Undoes
	}

	return u
}

// onlyUndoes reports whether the turn does nothing but undo.
func (s *state) onlyUndoes() bool {
	return len(s.Steps) > 0 && !slices.ContainsFunc(s.Steps, func(step *db.TurnSteps) bool { return s.undoing(step) == nil })
}

// undoApproved is the undo that the user has approved, nil if the approval is about something else.
func undoApproved(calls []crud.ApprovedCall) *undoing {
	if len(calls) != 1 || len(calls[0].Keys) != 1 {
		return nil
	}
	request, turn := nodes.UndoIn([]vocab.Call{calls[0].Call}), uuid.UUID{}
	if request == nil || turn.UnmarshalText([]byte(calls[0].Keys[0])) != nil {
		return nil
	}

	return &undoing{UndoRequest: *request, turn: &turn, agreed: true}
}

// run is the single decision of the step that undoes.
func (u *undoing) run(ctx context.Context, c *commit) (move, error) {
	c.permitted, c.reload = true, true
	target, err := u.target(ctx, c)
	if err != nil {
		return move{}, err
	}
	var outcome crud.Outcome
	failure := u.whyNot(target)
	if failure == "" {
		outcome, err = c.s.runner.Tools.Undo(ctx, c.tx, c.s.scope(c.at), crud.Undoing{
			Turn: target.ID, Number: int(target.Number), Asked: target.Asked, Refs: u.Refs, Agreed: u.agreed,
		})
		if err != nil {
			return move{}, err
		}
		if outcome.Failed() {
			failure = firstError(&outcome)
		}
	}
	c.remember(&nodes.ActOutput{}, &outcome)
	in := c.s.acted(&nodes.ActOutput{})
	switch {
	case outcome.Approval != nil:
		in.later = nil // what is asked beside an undo is read after it

		return afterAct(&nodes.ActOutput{}, &outcome, in), nil
	case failure != "":
		return in.afterStep(&ending{outcome: db.StepOutcomeFailed, summary: failure}), nil
	}
	c.last.Exec("note what was undone", db.TurnUndone, &db.TurnUndoneParams{TurnID: target.ID, UndoneBy: c.s.d.TurnID, Part: outcome.Part, Alone: len(c.s.Steps) == 1})
	asked := target.Asked
	if outcome.Part {
		asked = "part of " + asked
	}

	return in.afterStep(&ending{outcome: db.StepOutcomeOk, summary: strings.TrimSpace(fmt.Sprintf("Took back %s: %s. %s", asked, outcome.Did(), outcome.Aftermath))}), nil
}

// target is the turn to undo, nil if there is none.
func (u *undoing) target(ctx context.Context, c *commit) (*db.TurnUndoTargetRow, error) {
	u.Redo = u.Redo || nodes.AsksForRedoInEnglish(c.s.Turn.Message)
	which := &db.TurnUndoTargetParams{SessionID: c.s.Turn.SessionID, Before: c.s.Turn.Number, TurnID: u.turn, Redo: u.Redo}
	if u.Turn > 0 {
		which.Number = new(turnNumber(u.Turn))
	}
	target, err := db.New().TurnUndoTarget(ctx, c.tx, which)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for the turn to undo: %w", err)
	}
	target.Asked = registry.Scrub(target.Asked)

	return target, nil
}

// whyNot says why a turn cannot be undone, "" if it can. Of one that cannot be undone as a whole, some rows perhaps can.
func (u *undoing) whyNot(target *db.TurnUndoTargetRow) string {
	switch {
	case target == nil && u.Redo:
		return "Nothing was taken back that could be set again."
	case target == nil:
		return "There is nothing to take back."
	case target.Undo == nil:
		return "Nothing of " + target.Asked + " can be taken back: it changed nothing."
	case *target.Undo == "done":
		return "What " + target.Asked + " wrote has been taken back already."
	case *target.Undo == "impossible" && target.UndoReason != nil && len(u.Refs) == 0:
		return *target.UndoReason + " Nothing was changed." // it says what cannot be taken back; people know no numbers of turns
	default:
		return ""
	}
}

// undoReply is the reply of a turn that does nothing but undo: what its steps achieved, or what it has to ask. It returns
// false for other turns.
func (s *state) undoReply() (string, bool) {
	if !s.onlyUndoes() {
		return "", false
	}
	if asked := s.Scene(false).QuestionToAsk(); asked != nil {
		return asked.Text, true
	}
	var told []string
	for _, step := range s.Steps {
		if step.Summary != nil {
			told = append(told, *step.Summary)
		}
	}

	return strings.Join(told, "\n\n"), len(told) > 0
}

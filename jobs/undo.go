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
	"alfred/internal/domain"
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
	summary, err := c.undoSummary(ctx, target.Asked, &outcome)

	return in.afterStep(&ending{outcome: db.StepOutcomeOk, summary: summary}), err
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

// undoSummary words the result of an undo, by the message that asked for what was taken back and the names of the rows. The
// parts of rows that are named go without saying.
func (c *commit) undoSummary(ctx context.Context, asked string, outcome *crud.Outcome) (string, error) {
	var parts []string
	for i := range outcome.Results {
		result := &outcome.Results[i]
		if len(result.Changes) == 0 || c.s.runner.haveParent(result, outcome) {
			continue
		}
		labels, drafts, err := c.labelsOf(ctx, result.Refs)
		if err != nil {
			return "", err
		}
		if rows := len(result.Changes) - len(drafts); rows > 0 {
			parts = append(parts, c.s.runner.undoneRows(result, labels, rows))
		}
		switch len(drafts) {
		case 0:
		case 1:
			parts = append(parts, drafts[0]+" is a draft again")
		default:
			parts = append(parts, namesInShort(drafts, len(drafts))+" are drafts again")
		}
	}
	if outcome.Part {
		asked = "part of " + asked
	}

	return strings.TrimSpace(fmt.Sprintf("Took back %s: %s. %s", asked, strings.Join(parts, "; "), outcome.Aftermath)), nil
}

// labelsOf are the labels of refs, of stored rows and of drafts.
func (c *commit) labelsOf(ctx context.Context, refs []string) (rows, drafts []string, err error) {
	entries, err := c.registry().Lookup(ctx, refs)
	for _, ref := range refs {
		switch e, ok := entries[ref]; {
		case !ok || e.LabelIsPlaceholder:
		case e.Pending():
			drafts = append(drafts, e.Label)
		default:
			rows = append(rows, e.Label)
		}
	}

	return rows, drafts, err
}

// undoVerbs say what an undo did to rows, by the action that it is recorded as.
var undoVerbs = map[string]string{registry.ActionDeletedUser: "deleted", registry.ActionCreatedUser: "brought back", registry.ActionUpdatedUser: "set back"}

// undoneRows says what happened to the stored rows of one result.
func (r *Runner) undoneRows(result *crud.Result, labels []string, rows int) string {
	e, action := r.Domain.Entity(result.EntityType), result.Changes[0].Action
	verb := cmp.Or(undoVerbs[action], "changed")
	if action == registry.ActionUpdatedUser && len(labels) > 0 && rows == len(result.Changes) {
		labels = result.Lines(e) // what they are again, not only which
	}
	if len(labels) == 0 {
		return fmt.Sprintf("%s %d %s", verb, rows, nounOf(e, rows))
	}

	return verb + " " + partNoun(e, rows) + namesInShort(labels, rows)
}

// haveParent reports whether a result's rows are children of another type in the outcome.
func (r *Runner) haveParent(result *crud.Result, outcome *crud.Outcome) bool {
	e := r.Domain.Entity(result.EntityType)

	return slices.ContainsFunc(outcome.Results, func(other crud.Result) bool {
		parent := r.Domain.Entity(other.EntityType)

		return parent != nil && parent.Child(e.Table) != nil
	})
}

// partNoun precedes the names of parts of rows: a part is often called like what it points to, so that "deleted Milk" would
// be the wrong milk.
func partNoun(e *domain.Entity, rows int) string {
	if !e.Part {
		return ""
	}

	return "the " + nounOf(e, rows) + " "
}

func nounOf(e *domain.Entity, rows int) string {
	if rows == 1 {
		return e.Name
	}

	return e.Plural
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

package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/pg"
)

// What happens to a message that arrives while a turn is running.
const (
	// IfBusyEnqueue makes it wait; the default.
	IfBusyEnqueue = "enqueue"
	// IfBusyInterrupt cancels the running turn; this message goes ahead of others that wait.
	IfBusyInterrupt = "interrupt"
	// IfBusyReject refuses it with a [TurnRunningError].
	IfBusyReject = "reject"
)

// EnqueueParams is one message. Only SessionID and Message are required.
type EnqueueParams struct {
	SessionID uuid.UUID
	Message   string // the text as typed, at most 32 KiB

	Answer            *Answer // the clicked option of an open question; nil for none
	IdempotencyKey    string  // a second message with the same key returns the first one's turn
	IfBusy            string  // one of the IfBusy constants; "" is IfBusyEnqueue
	Limits            Limits  // what the user may use per day; zero: unlimited
	MentionedEntities []MentionedEntity
	Mode              string     // quick, plan or create; "": the session's
	UIChanges         []UIChange // what the user changed outside the chat since the last message
}

// Answer is a click on an option of a question.
type Answer struct {
	QuestionID string `json:"question_id"`
	OptionID   string `json:"option_id"`
}

// MentionedEntity is a row that the user pointed at.
type MentionedEntity struct {
	RefType string          `json:"ref_type"` // its entity type, as declared
	UUID    string          `json:"uuid"`     // the row's key, of whatever type
	Label   string          `json:"label"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// UIChange is a row that the user changed outside the chat.
type UIChange struct {
	Action     string          `json:"action"` // created:user, updated:user or deleted:user
	EntityType string          `json:"entity_type"`
	EntityID   string          `json:"entity_id"`
	Label      string          `json:"label"`
	Data       json.RawMessage `json:"data,omitempty"`
}

// Enqueued is the turn that a message became.
type Enqueued struct {
	TurnID uuid.UUID
	Number int           // within the session, from 1
	Status db.TurnStatus // running or queued; any when Existing
	// Existing: the idempotency key was seen before, and this is its turn.
	Existing bool
}

// StartSession starts a conversation with the user of that name, who is made if missing, inside the caller's transaction.
// Errors: [InvalidError].
func StartSession(ctx context.Context, tx pgx.Tx, user, title string) (uuid.UUID, error) {
	id, err := db.New().SessionStart(ctx, tx, &db.SessionStartParams{UserName: user, Title: title})
	if err != nil {
		return uuid.Nil, fmt.Errorf("start a session of %q: %w", user, packageError(err))
	}

	return id, nil
}

// EnqueueTurn makes a message a turn of its session, inside the caller's
// transaction: the turn starts when the transaction commits and does not exist if it
// rolls back. The session's row stays locked until then, so keep the transaction short.
//
// Errors: [ErrSessionNotFound], [ErrSessionArchived], [ErrQuestionClosed], [TurnRunningError],
// [ErrLimit], [LimitError], [ErrMessageTooLarge], [InvalidError]. As after any Postgres
// error, the transaction can then only be rolled back.
func EnqueueTurn(ctx context.Context, tx pgx.Tx, params EnqueueParams) (*Enqueued, error) {
	arg, err := params.row()
	if err != nil {
		return nil, err
	}
	row, b := &db.TurnEnqueueRow{}, &pg.Batch{}
	b.Scan("enqueue turn", db.TurnEnqueue, arg, &row.TurnID, &row.Number, &row.Status, &row.Existing)
	if err := b.Send(ctx, tx); err != nil {
		return nil, packageError(err)
	}
	if !row.Existing {
		if err := params.Limits.check(ctx, tx, params.SessionID, endOfTime); err != nil {
			return nil, err
		}
	}

	return &Enqueued{TurnID: row.TurnID, Number: int(row.Number), Status: db.TurnStatus(row.Status), Existing: row.Existing}, nil
}

func (p EnqueueParams) row() (*db.TurnEnqueueParams, error) {
	changes, err := json.Marshal(append([]UIChange{}, p.UIChanges...)) // [] for none
	if err != nil {
		return nil, fmt.Errorf("encode ui changes: %w", err)
	}
	mentioned, err := json.Marshal(append([]MentionedEntity{}, p.MentionedEntities...))
	if err != nil {
		return nil, fmt.Errorf("encode mentioned entities: %w", err)
	}
	arg := &db.TurnEnqueueParams{
		SessionID: p.SessionID, Message: p.Message, IdempotencyKey: pg.OrNil(p.IdempotencyKey), Mode: pg.OrNil(p.Mode),
		IfBusy: cmp.Or(p.IfBusy, IfBusyEnqueue), UiChanges: changes, MentionedEntities: mentioned,
	}
	if p.Answer != nil {
		if arg.Answer, err = json.Marshal(p.Answer); err != nil {
			return nil, fmt.Errorf("encode answer: %w", err)
		}
	}

	return arg, nil
}

// CancelTurn cancels a queued or running turn, inside the caller's transaction, and starts the session's next one. It
// returns false if the turn had already ended. Once committed, no decision of the turn can commit, and the worker
// running it stops soon after. Errors: [ErrTurnNotFound].
func CancelTurn(ctx context.Context, tx pgx.Tx, turnID uuid.UUID) (bool, error) {
	cancelled, err := db.New().TurnCancel(ctx, tx, turnID)
	if err != nil {
		return false, fmt.Errorf("cancel turn: %w", packageErrorOfTurn(err))
	}

	return cancelled, nil
}

package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
)

// What becomes of a message that meets a running turn.
const (
	// IfBusyEnqueue lets it wait; the default.
	IfBusyEnqueue = "enqueue"
	// IfBusyInterrupt cancels the running turn; this one goes before others that wait.
	IfBusyInterrupt = "interrupt"
	// IfBusyReject refuses it with a [TurnRunningError].
	IfBusyReject = "reject"
)

// EnqueueParams is one message. Only SessionID and Message are required.
type EnqueueParams struct {
	SessionID uuid.UUID
	Message   string // the text as typed, at most 32 KiB

	Answer            *Answer // the option of an open question that the user clicked; nil for none
	IdempotencyKey    string  // a second message with the same key gives the first one's turn
	IfBusy            string  // one of the IfBusy constants; "" is IfBusyEnqueue
	Limits            Limits  // what the user may use in a day; the zero value: anything
	MentionedEntities []MentionedEntity
	Mode              string     // quick, plan or create; "" is the session's
	UIChanges         []UIChange // what the user changed outside the chat since the last message
}

// Answer is a click on an option of a question.
type Answer struct {
	QuestionID string `json:"question_id"`
	OptionID   string `json:"option_id"`
}

// MentionedEntity is a row that the user pointed at.
type MentionedEntity struct {
	RefType string          `json:"ref_type"`
	UUID    string          `json:"uuid"` // the row's key, of whatever type
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
	// Existing: the idempotency key had been seen, and this is the turn it named.
	Existing bool
}

// EnqueueTurn makes a message a turn of its session, inside the caller's
// transaction: the turn starts when that commits and never was when it does not.
// Until then the session's row is locked, so the transaction should be short.
//
// Errors: [ErrSessionNotFound], [ErrSessionArchived], [ErrQuestionClosed], [TurnRunningError],
// [ErrLimit], [LimitError], [ErrMessageTooLarge], [InvalidError]. As with any error of
// Postgres, the transaction can only be rolled back then.
func EnqueueTurn(ctx context.Context, tx pgx.Tx, params EnqueueParams) (*Enqueued, error) {
	arg, err := params.row()
	if err != nil {
		return nil, err
	}
	row, err := db.New().TurnEnqueue(ctx, tx, arg)
	if err != nil {
		return nil, fmt.Errorf("enqueue turn: %w", typed(err))
	}
	if !row.Existing {
		if err := params.Limits.check(ctx, tx, params.SessionID, endOfTime); err != nil {
			return nil, err
		}
	}

	return &Enqueued{TurnID: row.TurnID, Number: int(row.Number), Status: row.Status, Existing: row.Existing}, nil
}

func (p EnqueueParams) row() (*db.TurnEnqueueParams, error) {
	changes, err := list(p.UIChanges)
	if err != nil {
		return nil, fmt.Errorf("encode ui changes: %w", err)
	}
	mentioned, err := list(p.MentionedEntities)
	if err != nil {
		return nil, fmt.Errorf("encode mentioned entities: %w", err)
	}
	arg := &db.TurnEnqueueParams{
		SessionID: p.SessionID, Message: p.Message, IdempotencyKey: orNil(p.IdempotencyKey), Mode: orNil(p.Mode),
		IfBusy: cmp.Or(p.IfBusy, IfBusyEnqueue), UiChanges: changes, MentionedEntities: mentioned,
	}
	if p.Answer != nil {
		if arg.Answer, err = json.Marshal(p.Answer); err != nil {
			return nil, fmt.Errorf("encode answer: %w", err)
		}
	}
	return arg, nil
}

// CancelTurn ends a queued or running turn as cancelled, inside the caller's
// transaction, and starts the session's next one. It reports false when the turn
// had ended already. From the commit on no decision of the turn can be committed;
// the worker that runs it stops soon after. Errors: [ErrTurnNotFound].
func CancelTurn(ctx context.Context, tx pgx.Tx, turnID uuid.UUID) (bool, error) {
	cancelled, err := db.New().TurnCancel(ctx, tx, turnID)
	if err != nil {
		return false, fmt.Errorf("cancel turn: %w", typedOfTurn(err))
	}

	return cancelled, nil
}

// list is the JSON of a list, [] for an empty one.
func list[T any](items []T) (json.RawMessage, error) {
	if len(items) == 0 {
		return json.RawMessage(`[]`), nil
	}

	return json.Marshal(items)
}

func orNil(text string) *string {
	if text == "" {
		return nil
	}

	return &text
}

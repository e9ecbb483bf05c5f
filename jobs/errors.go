package jobs

import (
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5/pgconn"

	"alfred/internal/pg"
)

var (
	// ErrLimit says that the session already has the maximum number of messages waiting.
	ErrLimit = errors.New("too many messages are waiting in this session")

	// ErrMessageTooLarge says that the message exceeds 32 KiB.
	ErrMessageTooLarge = errors.New("the message is larger than 32 KiB")

	// ErrQuestionClosed says that the question was answered, expired or was replaced before the click arrived.
	ErrQuestionClosed = errors.New("the question can no longer be answered")

	// ErrSessionArchived says that the session takes no more turns.
	ErrSessionArchived = errors.New("the session is archived")

	// ErrSessionNotFound says that the session does not exist or belongs to another user.
	ErrSessionNotFound = errors.New("session not found")

	// ErrTurnNotFound says that the turn does not exist or belongs to another user.
	ErrTurnNotFound = errors.New("turn not found")
)

// InvalidError describes a fault in the parameters, worded for their author.
type InvalidError struct {
	Message string
}

func (e *InvalidError) Error() string { return e.Message }

// TurnRunningError says that a turn was refused because another is running or waiting and if_busy is "reject".
type TurnRunningError struct {
	TurnID uuid.UUID // the turn in the way
}

func (e *TurnRunningError) Error() string {
	return fmt.Sprintf("turn %s is running in this session", e.TurnID)
}

// CannotUndoError says that a turn cannot be undone; Message tells its user why.
type CannotUndoError struct{ Message string }

func (e *CannotUndoError) Error() string { return e.Message }

// SQLSTATEs that the SQL functions raise, besides those of raisedAs.
const (
	codeTurnRunning = "AL003"
	codeInvalid     = "AL005"
	codeTakenOver   = "AL007" // for a job: its commit is refused
	codeCannotUndo  = "AL009"
)

// raisedAs are the errors that say all there is, by the SQLSTATE that a SQL function raises.
var raisedAs = map[string]error{
	"AL001": ErrSessionNotFound,
	"AL002": ErrSessionArchived,
	"AL004": ErrLimit,
	"AL006": ErrMessageTooLarge,
	"AL008": ErrQuestionClosed,
}

// bounds are the constraints whose violation is a fault in the parameters, with what they ask for.
var bounds = map[string]string{
	"sessions_title_length":        "a title has at most 200 characters",
	"turns_idempotency_key_length": "an idempotency key has 1 to 255 characters",
	"users_name_length":            "a user's name has 1 to 200 characters",
}

// packageError converts errors of start_session and enqueue_turn to this package's errors; others pass through.
func packageError(err error) error {
	raised, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return err
	}
	if known := raisedAs[raised.Code]; known != nil {
		return known
	}
	switch {
	case pg.Violates(err, "sessions_parent_fkey"): // forgotten while it was forked
		return ErrSessionNotFound
	case raised.Code == codeTurnRunning:
		return turnRunning(raised.Detail)
	case raised.Code == codeInvalid:
		return &InvalidError{Message: raised.Message}
	case raised.Code == codeCannotUndo:
		return &CannotUndoError{Message: raised.Message}
	case raised.Code == pgerrcode.CharacterNotInRepertoire, raised.Code == pgerrcode.UntranslatableCharacter: // of a text, of JSON
		return &InvalidError{Message: "a text has a character that cannot be stored, such as NUL"}
	case bounds[raised.ConstraintName] != "":
		return &InvalidError{Message: bounds[raised.ConstraintName]}
	}

	return err
}

// packageErrorOfTurn is packageError for functions that take a turn: "not found" then means the turn.
func packageErrorOfTurn(err error) error {
	if err = packageError(err); errors.Is(err, ErrSessionNotFound) {
		return ErrTurnNotFound
	}

	return err
}

func turnRunning(detail string) error {
	turnID, err := uuid.Parse(detail)
	if err != nil {
		return fmt.Errorf("read running turn: %w", err)
	}

	return &TurnRunningError{TurnID: turnID}
}

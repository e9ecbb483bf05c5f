package alfred

import (
	"alfred/db"
	"alfred/internal/follow"
	"alfred/jobs"
)

type (
	// EnqueueParams is one message. Only its session and its text are required.
	//
	//	type EnqueueParams struct {
	//		SessionID uuid.UUID
	//		Message   string // the text as typed, at most 32 KiB
	//
	//		Answer            *Answer // the clicked option of an open question; nil for none
	//		IdempotencyKey    string  // a second message with the same key returns the first one's turn
	//		IfBusy            string  // one of the IfBusy constants; "" is IfBusyEnqueue
	//		Limits            Limits  // what the user may use per day; zero: unlimited
	//		MentionedEntities []MentionedEntity
	//		Mode              string     // quick, plan or create; "": the session's
	//		UIChanges         []UIChange // what the user changed outside the chat since the last message
	//	}
	EnqueueParams = jobs.EnqueueParams
	// Enqueued is the turn that a message became.
	//
	//	type Enqueued struct {
	//		TurnID uuid.UUID
	//		Number int           // within the session, from 1
	//		Status TurnStatus // running or queued; any when Existing
	//		// Existing: the idempotency key was seen before, and this is its turn.
	//		Existing bool
	//	}
	Enqueued = jobs.Enqueued
	// Answer is a click on an option of a question.
	//
	//	type Answer struct {
	//		QuestionID string
	//		OptionID   string
	//	}
	Answer = jobs.Answer
	// MentionedEntity is a row that the user pointed at.
	//
	//	type MentionedEntity struct {
	//		RefType string // its entity type, as declared
	//		UUID    string // the row's key, of whatever type
	//		Label   string
	//		Data    json.RawMessage
	//	}
	MentionedEntity = jobs.MentionedEntity
	// UIChange is a row that the user changed outside the chat.
	//
	//	type UIChange struct {
	//		Action     string // created:user, updated:user or deleted:user
	//		EntityType string
	//		EntityID   string
	//		Label      string
	//		Data       json.RawMessage
	//	}
	UIChange = jobs.UIChange
	// Limits bound what a user may use per day.
	//
	//	type Limits struct {
	//		Turns   int
	//		Tokens  int // of all calls, prompts and answers
	//		CostUSD float64
	//	}
	Limits = jobs.Limits

	// Event is one entry of a turn's stream. Package client describes the same events, each type with its fields.
	//
	//	type Event struct {
	//		Seq  int32
	//		Type string
	//		Data json.RawMessage
	//	}
	//	// Decode decodes Data into a struct. A mismatch is an error.
	//	func (e *Event) Decode(into any) error
	Event = follow.Event
	// Turn is a message and what became of it.
	//
	//	type Turn struct {
	//		ID        uuid.UUID
	//		SessionID uuid.UUID
	//		Number    int32
	//		Status    TurnStatus
	//		Message   string
	//		Goal      string
	//		Reply     string
	//		Steps     []Step
	//		Question  *Question
	//		Error     *TurnError
	//		Wrote     []Wrote
	//		Unwritten bool // it was to write, and no row was saved, changed or deleted, whatever the reply says
	//		Usage     TurnUsage
	//		CreatedAt time.Time
	//	}
	//	// Text is the reply, followed by the question if the reply omits it.
	//	func (t *Turn) Text() string
	//	// PlainText is everything the turn says to a reader who sees only text: Text, and the question's options unless it names
	//	// all of them in its own way.
	//	func (t *Turn) PlainText() string
	Turn = follow.Turn
	// TurnStatus is one of the constants below.
	//
	//	type TurnStatus string
	//	func (e *TurnStatus) Scan(src interface{}) error
	TurnStatus = db.TurnStatus
	// Step is one step of a turn's plan.
	//
	//	type Step struct {
	//		Step        int32
	//		StepType    string
	//		Description string
	//		Refs        []string
	//		Outcome     string
	//		Summary     string
	//	}
	Step = follow.Step
	// Question is what the assistant asked instead of continuing; an [Answer] clicks on one of its options.
	//
	//	type Question struct {
	//		ID      uuid.UUID
	//		Kind    string
	//		Status  string
	//		Text    string
	//		Options []Option
	//	}
	Question = follow.Question
	// Option is one answer to a question.
	//
	//	type Option struct {
	//		ID    string
	//		Label string
	//		Ref   string
	//	}
	Option = follow.Option
	// Wrote is a row that the turn made, changed or deleted.
	//
	//	type Wrote struct {
	//		Action string
	//		Type   string
	//		Ref    string
	//		Label  string
	//	}
	Wrote = follow.Wrote
	// TurnError says why a turn failed, in words fit for its user.
	//
	//	type TurnError struct {
	//		Code    string
	//		Message string
	//	}
	TurnError = follow.Error
	// TurnUsage is what a turn's calls of models have cost so far.
	//
	//	type TurnUsage struct {
	//		Calls        int32
	//		InputTokens  int64
	//		OutputTokens int64
	//		CachedTokens int64
	//		CostUSD      float64
	//	}
	TurnUsage = follow.Usage
)

// Where a turn stands. The last three are how it ends.
const (
	TurnQueued    = db.TurnStatusQueued
	TurnRunning   = db.TurnStatusRunning
	TurnSucceeded = db.TurnStatusSucceeded
	TurnFailed    = db.TurnStatusFailed
	TurnCancelled = db.TurnStatusCancelled
)

// What happens to a message that arrives while a turn is running: it waits, cancels that turn, or is refused.
const (
	IfBusyEnqueue   = jobs.IfBusyEnqueue
	IfBusyInterrupt = jobs.IfBusyInterrupt
	IfBusyReject    = jobs.IfBusyReject
)

// Errors of [Enqueue], [Cancel] and of what looks for a turn.
var (
	ErrLimit           = jobs.ErrLimit
	ErrMessageTooLarge = jobs.ErrMessageTooLarge
	ErrQuestionClosed  = jobs.ErrQuestionClosed
	ErrSessionArchived = jobs.ErrSessionArchived
	ErrSessionNotFound = jobs.ErrSessionNotFound
	ErrTurnNotFound    = jobs.ErrTurnNotFound
)

type (
	// InvalidError describes a fault in the parameters, worded for their author.
	//
	//	type InvalidError struct {
	//		Message string
	//	}
	//	func (e *InvalidError) Error() string
	InvalidError = jobs.InvalidError
	// LimitError says which of a user's limits is reached.
	//
	//	type LimitError struct {
	//		What string // turns, tokens or cost
	//	}
	//	func (e *LimitError) Error() string
	LimitError = jobs.LimitError
	// TurnRunningError says that a turn was refused because another is running or waiting.
	//
	//	type TurnRunningError struct {
	//		TurnID uuid.UUID // the turn in the way
	//	}
	//	func (e *TurnRunningError) Error() string
	TurnRunningError = jobs.TurnRunningError
)

package alfred

import (
	"alfred/internal/follow"
	"alfred/internal/llm"
	"alfred/internal/llm/provider"
	"alfred/jobs"
)

type (
	// EnqueueParams is one message. Only its session and its text are required.
	EnqueueParams = jobs.EnqueueParams
	// Enqueued is the turn that a message became.
	Enqueued = jobs.Enqueued
	// Answer is a click on an option of a question.
	Answer = jobs.Answer
	// MentionedEntity is a row that the user pointed at.
	MentionedEntity = jobs.MentionedEntity
	// UIChange is a row that the user changed outside the chat.
	UIChange = jobs.UIChange
	// Limits bound what a user may use per day.
	Limits = jobs.Limits

	// Event is one entry of a turn's stream.
	Event = follow.Event
	// Turn is a message and what became of it.
	Turn = follow.Turn
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
	InvalidError = jobs.InvalidError
	// LimitError says which of a user's limits is reached.
	LimitError = jobs.LimitError
	// TurnRunningError says that a turn was refused because another is running or waiting.
	TurnRunningError = jobs.TurnRunningError
)

type (
	// Model answers requests. It is safe for concurrent use, returns as soon as its context is done, and each of its
	// errors is a *[ModelError].
	Model = llm.Model
	// Request is what a model is asked.
	Request = llm.Request
	// Message is one entry of the conversation with the model.
	Message = llm.Message
	// Tool is one that the model may call.
	Tool = llm.Tool
	// Response is a model's whole answer.
	Response = llm.Response
	// ToolCall is one call of a tool in an answer.
	ToolCall = llm.ToolCall
	// Usage is what an answer has cost in tokens.
	Usage = llm.Usage
	// Embedder turns texts into vectors.
	Embedder = llm.Embedder
	// Provider chooses among the models of Anthropic, Gemini and OpenAI, of servers that speak like it, and the model by
	// rules, which needs no network.
	Provider = provider.Config
	// Server is how to reach a provider.
	Server = provider.Server
	// ModelError is every error of a model or an embedder; its kind says whether to try again.
	ModelError = llm.Error
	// ModelErrorKind is one of the constants below.
	ModelErrorKind = llm.Kind
)

// The kinds of error a Model returns.
const (
	KindAuth            = llm.KindAuth
	KindContextOverflow = llm.KindContextOverflow
	KindInvalidOutput   = llm.KindInvalidOutput
	KindInvalidRequest  = llm.KindInvalidRequest
	KindOverloaded      = llm.KindOverloaded
	KindRateLimit       = llm.KindRateLimit
	KindRefusal         = llm.KindRefusal
	KindTooLarge        = llm.KindTooLarge
)

// The roles of a [Message].
const (
	RoleUser      = llm.RoleUser
	RoleAssistant = llm.RoleAssistant
	RoleTool      = llm.RoleTool
)

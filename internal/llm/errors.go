package llm

import (
	"errors"
	"fmt"
	"time"
)

// Kind classifies a failed call, so that the caller can decide whether to retry, repair or give up.
type Kind string

// The kinds of error a Model returns.
const (
	KindAuth            Kind = "auth"             // key missing, wrong or without permission
	KindContextOverflow Kind = "context_overflow" // the prompt is longer than the model accepts
	KindInvalidOutput   Kind = "invalid_output"   // the answer is empty, cut off or not as requested
	KindInvalidRequest  Kind = "invalid_request"  // the provider rejects the request: unknown model, no tool support
	KindOverloaded      Kind = "overloaded"       // provider down, overloaded, timed out or connection lost
	KindRateLimit       Kind = "rate_limit"       // too many requests
	KindRefusal         Kind = "refusal"          // the model declines to answer
	KindTooLarge        Kind = "answer_too_large" // the answer is longer than allowed
	KindScriptExhausted Kind = "script_exhausted" // the script has no entry for this node
)

// Error is every error of a Model or an Embedder.
type Error struct {
	Kind Kind
	// Provider names who answered (or did not).
	Provider string
	// RetryAfter is the wait the provider asks for; 0 if it does not say.
	RetryAfter time.Duration
	// Err is the cause. It never contains a key.
	Err error
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s: %s: %v", e.Provider, e.Kind, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// Transient reports whether the same request may succeed later.
func (e *Error) Transient() bool {
	return e.Kind == KindOverloaded || e.Kind == KindRateLimit
}

// KindOf returns the kind of err, or "" if it is not a model's error.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}

	return ""
}

package jobs

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/riverqueue/river"

	"alfred/internal/llm"
	"alfred/internal/pg"
	"alfred/internal/view"
)

// The codes a turn fails with.
const (
	codeCancelled       = "cancelled"
	codeContextOverflow = "context_overflow"
	codeInternal        = "internal"
	codeInvalidOutput   = "invalid_output"
	codeUsedUp          = "limit_exceeded"
	codeModelAuth       = "model_auth"
	codeModelRefused    = "model_refused"
	codeModelUnavail    = "model_unavailable"
	codeScriptExhausted = "script_exhausted"
	codeTimedOut        = "timed_out"
)

// sentences are what the user is told. They omit causes that only an operator can act on.
var sentences = map[string]string{
	codeCancelled:       "You cancelled this request.",
	codeContextOverflow: "This is too long for the model. Please ask for less at once, or start a new conversation.",
	codeInternal:        "Something went wrong on our side. Please try again.",
	codeInvalidOutput:   "The model did not give a usable answer. Please try again, perhaps in other words.",
	codeUsedUp:          "You have used up what you may use in a day. Please come back tomorrow.",
	codeModelAuth:       "The model refuses our key. Please tell whoever runs this service.",
	codeModelRefused:    "The model declined to answer this. Please ask in another way.",
	codeModelUnavail:    "The model cannot be reached right now. Please try again in a few minutes.",
	codeScriptExhausted: "The script has no answer for this.",
	codeTimedOut:        "The model gave no answer in time, so I stopped here.",
}

// unsuitable describes a model that does not exist or supports no tools or schemas: retrying does not help.
const unsuitable = "The configured model cannot do this. Please tell whoever runs this service to choose another; the worker's log names one."

var (
	// errCancelled stops a run whose turn was cancelled.
	errCancelled = errors.New("the turn was cancelled")

	// errCarried says that a carried view differs from the loaded one. Only tests raise it.
	errCarried = errors.New("the carried view is another than the loaded one")

	// errInputs says that the user's changes and mentions must be applied first.
	errInputs = errors.New("the turn has inputs to apply")

	// errLeaseLost stops a run whose worker failed to renew its lease for too long beside others, who have taken over.
	errLeaseLost = errors.New("the worker's lease is over")

	// errStale says that somebody else made this decision, or that the turn has ended.
	errStale = errors.New("the turn has moved on")

	// errVersion says that the job's arguments have another version.
	errVersion = errors.New("the job is of another version")
)

// panicError is a node's panic, with its stack.
type panicError struct {
	value any
	stack []byte
}

// catch turns a panic into an error. It must be the deferred function itself: recover works nowhere else.
func catch(err *error) {
	if value := recover(); value != nil {
		*err = &panicError{value: value, stack: debug.Stack()}
	}
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.value, e.stack) }

// verdict is what happens to a job.
type verdict string

const (
	verdictDone     verdict = "done"      // nothing is left to do
	verdictStale    verdict = "stale"     // the same, because somebody else did it
	verdictCancel   verdict = "cancelled" // the turn was cancelled
	verdictHandBack verdict = "handed_back"
	verdictSnooze   verdict = "snoozed"
	verdictRetry    verdict = "retried"
	verdictFail     verdict = "failed"
)

// outcome is a verdict with its particulars.
type outcome struct {
	verdict verdict
	after   time.Duration // for a snooze
	code    string        // for a failure
	text    string        // for a failure whose code is too general; otherwise the code's sentence
}

// returned is what River's worker returns for a job that ended so with an error.
func (o outcome) returned(err error) error {
	switch o.verdict {
	case verdictDone, verdictStale:
		return nil
	case verdictHandBack:
		return river.JobSnooze(0)
	case verdictSnooze:
		return river.JobSnooze(o.after)
	case verdictCancel, verdictFail:
		return river.JobCancel(err)
	case verdictRetry:
	}

	return err
}

const (
	// internalAttempts is how often a likely bug is retried.
	internalAttempts = 3

	// A provider may ask for a pause. A longer pause, or one too many, counts as a failed attempt.
	maxSnooze  = 2 * time.Minute
	maxSnoozes = 10

	// maxWaits is how often a job waits for a database that is down, full or read-only before that counts as a failed
	// attempt: about eight minutes.
	maxWaits = 20

	// versionPause gives a worker of the right version time to take the job, and a user who moves time to arrive.
	versionPause = 2 * time.Second
)

// judge maps a job's error to its outcome. attempt counts from 1; snoozes is the number of pauses taken before.
func judge(err error, attempt, snoozes int) outcome {
	switch {
	case err == nil:
		return outcome{verdict: verdictDone}
	case errors.Is(err, errStale):
		return outcome{verdict: verdictStale}
	case errors.Is(err, errCancelled):
		return outcome{verdict: verdictCancel}
	case errors.Is(err, errCarried):
		return outcome{verdict: verdictFail, code: codeInternal}
	case errors.Is(err, errDeadline):
		return outcome{verdict: verdictFail, code: codeTimedOut}
	case errors.Is(err, errVersion), pg.IsElsewhere(err): // a user who has moved away takes the job along; one who comes back finds it
		return outcome{verdict: verdictSnooze, after: versionPause}
	case errors.Is(err, errLeaseLost), errors.Is(err, context.Canceled):
		return outcome{verdict: verdictHandBack}
	case errors.Is(err, view.ErrLeak):
		return outcome{verdict: verdictFail, code: codeInternal}
	}
	if _, limited := errors.AsType[*LimitError](err); limited {
		return outcome{verdict: verdictFail, code: codeUsedUp}
	}
	if model, ok := errors.AsType[*llm.Error](err); ok {
		return judgeModel(model, attempt, snoozes)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return retryUntil(maxAttempts, attempt, codeModelUnavail)
	case pg.IsTransient(err) && snoozes < maxWaits:
		return outcome{verdict: verdictSnooze, after: pause(snoozes + 1)}
	case pg.IsTransient(err):
		return retryUntil(maxAttempts, attempt, codeInternal)
	default:
		return retryUntil(internalAttempts, attempt, codeInternal)
	}
}

// permanent are the errors of models that asking again does not help.
var permanent = map[llm.Kind]outcome{
	llm.KindAuth:            {code: codeModelAuth},
	llm.KindContextOverflow: {code: codeContextOverflow},
	llm.KindInvalidOutput:   {code: codeInvalidOutput},
	llm.KindInvalidRequest:  {code: codeModelUnavail, text: unsuitable},
	llm.KindRefusal:         {code: codeModelRefused},
	llm.KindScriptExhausted: {code: codeScriptExhausted},
	llm.KindTooLarge:        {code: codeInvalidOutput},
}

func judgeModel(err *llm.Error, attempt, snoozes int) outcome {
	o, isPermanent := permanent[err.Kind]
	switch {
	case isPermanent:
		o.verdict = verdictFail

		return o
	case !err.Transient():
		return retryUntil(internalAttempts, attempt, codeInternal)
	case err.RetryAfter > 0 && err.RetryAfter <= maxSnooze && snoozes < maxSnoozes:
		return outcome{verdict: verdictSnooze, after: err.RetryAfter}
	default:
		return retryUntil(maxAttempts, attempt, codeModelUnavail)
	}
}

func retryUntil(last, attempt int, code string) outcome {
	if attempt >= last {
		return outcome{verdict: verdictFail, code: code}
	}

	return outcome{verdict: verdictRetry}
}

const (
	firstPause = 500 * time.Millisecond
	longPause  = 30 * time.Second
)

// pause is how long a job waits after its n-th attempt: 0.5 s, 1 s, 2 s, 4 s ...
func pause(attempt int) time.Duration {
	return min(firstPause<<min(max(attempt-1, 0), 10), longPause)
}

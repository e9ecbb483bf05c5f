package problem

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"

	"alfred/internal/auth"
	"alfred/internal/pg"
	"alfred/jobs"
	"alfred/registry"
)

// Problem is every error of the API: RFC 9457 problem JSON with a stable code.
type Problem struct { //nolint:errname // the name of RFC 9457
	Type   string   `json:"type"`
	Title  string   `json:"title"`
	Status int      `json:"status"`
	Code   string   `doc:"Stable: decide on this, not on the texts." enum:"invalid_request,unauthorized,forbidden,not_found,turn_running,session_archived,question_closed,confirmation_needed,conflict,rule_violation,schema_changed,message_too_large,limit_exceeded,unavailable,internal" json:"code"`
	Detail string   `json:"detail"`
	TurnID string   `json:"turn_id,omitempty"`
	Errors []string `json:"errors,omitempty"`

	// Challenge says how to authenticate; "" is Bearer.
	Challenge string `json:"-"`

	retryAfter time.Duration // 0: unknown
	elsewhere  bool          // another database serves the user
}

func (p *Problem) Error() string { return p.Code + ": " + p.Detail }

// GetStatus makes a problem an error that Huma answers with.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType is the media type of problems.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// GetHeaders are what Huma sends with it.
func (p *Problem) GetHeaders() http.Header {
	h := http.Header{}
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", cmp.Or(p.Challenge, "Bearer"))
	}
	if p.elsewhere {
		h.Set(ElsewhereHeader, "true")
	}
	if p.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(p.retryAfter.Seconds()))))
	}

	return h
}

// ErrNotFound is the answer for what does not exist, and for what is another user's.
var ErrNotFound = New(http.StatusNotFound, "not_found", "There is no such thing here.")

// New is a problem with a stable code.
func New(status int, code, detail string) *Problem {
	return &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Code: code, Detail: detail}
}

// Invalid says what is wrong with a request.
func Invalid(detail string) *Problem {
	return New(http.StatusBadRequest, "invalid_request", detail)
}

// Unavailable says why nothing can be done at the moment, and when to try again; 0: that is not known.
func Unavailable(detail string, retryAfter time.Duration) *Problem {
	p := New(http.StatusServiceUnavailable, "unavailable", detail)
	p.retryAfter = retryAfter

	return p
}

// Unprocessable says why a well-formed request cannot be carried out.
func Unprocessable(detail string) *Problem {
	return New(http.StatusUnprocessableEntity, "invalid_request", detail)
}

// ElsewhereHeader marks the answer of a database that does not serve the user, for a router that knows the others.
const ElsewhereHeader = "Alfred-Elsewhere"

// brokenBody is what Huma says of a body that breaks off, and takes for a fault of the server's.
const brokenBody = "cannot read request body"

// FromHuma is how Huma makes errors: of validation, of bodies it cannot read.
func FromHuma(status int, message string, errs ...error) huma.StatusError {
	code := map[int]string{
		http.StatusUnauthorized: "unauthorized", http.StatusForbidden: "forbidden", http.StatusNotFound: "not_found",
		http.StatusRequestEntityTooLarge: "message_too_large", http.StatusTooManyRequests: "limit_exceeded",
	}[status]
	switch {
	case code != "":
	case status == http.StatusUnprocessableEntity:
		status, code = http.StatusBadRequest, "invalid_request"
	case status < http.StatusInternalServerError:
		code = "invalid_request"
	case message == brokenBody:
		return Invalid("The request could not be read.")
	default:
		code = "internal"
	}
	p := New(status, code, message)
	for _, err := range errs[:min(len(errs), maxErrors)] {
		p.Errors = append(p.Errors, fault(err))
	}

	return p
}

// maxErrors is how many faults of a request are told.
const maxErrors = 20

// fault says what is wrong, and where. It leaves out the value, which of an unknown field is the whole body.
func fault(err error) string {
	detail, ok := errors.AsType[*huma.ErrorDetail](err)
	if !ok {
		return err.Error()
	}

	return detail.Message + " (" + detail.Location + ")"
}

// known are the problems of errors that need no more said than that they occurred.
var known = []struct {
	err     error
	problem *Problem
}{
	{jobs.ErrSessionNotFound, ErrNotFound},
	{jobs.ErrTurnNotFound, ErrNotFound},
	{pgx.ErrNoRows, ErrNotFound},
	{jobs.ErrSessionArchived, New(http.StatusConflict, "session_archived", "The session is archived: reopen it to go on.")},
	{jobs.ErrQuestionClosed, New(http.StatusConflict, "question_closed", "The question was answered, has expired or gave way to another.")},
	{jobs.ErrMessageTooLarge, New(http.StatusRequestEntityTooLarge, "message_too_large", "A message has at most 32 KiB.")},
	{jobs.ErrTimezone, Invalid("This time zone is not known here. It is named as Europe/Berlin is.")},
	{jobs.ErrLimit, New(http.StatusTooManyRequests, "limit_exceeded", "Too many messages are waiting in this session.")},
	{auth.ErrElsewhere, moving},
	{auth.ErrForbidden, New(http.StatusForbidden, "forbidden", "This key may not do that.")},
	{auth.ErrNoKeys, Unavailable("The keys that tokens are checked with cannot be fetched from their issuer; try again, or use an API key.", 0)},
	{auth.ErrUnauthorized, New(http.StatusUnauthorized, "unauthorized", "Send a valid key: Authorization: Bearer <key>.")},
	{context.DeadlineExceeded, interrupted},
	{context.Canceled, interrupted},
}

// moving is the answer where nobody could send the request on to the user's database.
var moving = func() *Problem {
	p := Unavailable("This user is being moved to another database; try again.", time.Second)
	p.elsewhere = true

	return p
}()

var interrupted = Unavailable("This took too long or was interrupted; try again.", 0)

// Of is the only place that maps an error to what the caller is told. Anything unknown is internal and does not
// reveal its cause; the log does.
func Of(err error) *Problem {
	if p := worded(err); p != nil {
		return p
	}
	if pg.IsElsewhere(err) {
		return moving
	}
	for _, k := range known {
		if errors.Is(err, k.err) {
			return k.problem
		}
	}
	switch {
	case unstorable(pg.Code(err)):
		return Invalid("A text or value is not one that can be stored, such as a NUL character.")
	case pg.IsTransient(err):
		return interrupted
	default:
		return New(http.StatusInternalServerError, "internal", "Something went wrong on our side.")
	}
}

// worded maps errors that say themselves what is wrong; nil for others.
func worded(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	if running, ok := errors.AsType[*jobs.TurnRunningError](err); ok {
		p := New(http.StatusConflict, "turn_running", "A turn is running in this session.")
		p.TurnID = running.TurnID.String()

		return p
	}
	if bad, ok := errors.AsType[*jobs.InvalidError](err); ok {
		return Invalid(bad.Message)
	}
	if no, ok := errors.AsType[*jobs.CannotUndoError](err); ok {
		return New(http.StatusConflict, "conflict", no.Message)
	}
	if usedUp, ok := errors.AsType[*jobs.LimitError](err); ok {
		return New(http.StatusTooManyRequests, "limit_exceeded", "You have used up what you may use in a day ("+usedUp.What+"). Please come back tomorrow.")
	}
	if bad, ok := errors.AsType[*registry.RefError](err); ok {
		if bad.Reason == registry.ReasonSaved {
			return New(http.StatusConflict, "conflict", bad.Sentence)
		}

		return New(http.StatusNotFound, "not_found", bad.Sentence)
	}
	if much, ok := errors.AsType[*auth.BudgetError](err); ok {
		p := New(http.StatusTooManyRequests, "limit_exceeded", much.Detail)
		p.retryAfter = much.RetryAfter

		return p
	}

	return nil
}

// unstorable: Postgres rejects the value itself. Our own values are valid, so the caller's must be at fault.
func unstorable(sqlstate string) bool {
	return pgerrcode.IsDataException(sqlstate) || pgerrcode.IsProgramLimitExceeded(sqlstate)
}

// Write answers with a problem.
func Write(w http.ResponseWriter, p *Problem) {
	maps.Copy(w.Header(), p.GetHeaders())
	w.Header().Set("Content-Type", p.ContentType(""))
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) //nolint:errchkjson // a client that has gone needs no answer
}

// OneLine prevents client input from breaking the log or a header.
func OneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}

		return r
	}, text)
}

type causeKey struct{}

// Cause is why a request failed.
type Cause struct{ Err error }

// Keep returns a context in which [Note] keeps the cause.
func Keep(ctx context.Context) (context.Context, *Cause) {
	c := &Cause{}

	return context.WithValue(ctx, causeKey{}, c), c
}

// Note keeps why a request failed for its log line: the client must not be told.
func Note(ctx context.Context, err error) {
	if c, ok := ctx.Value(causeKey{}).(*Cause); ok && err != nil {
		c.Err = err
	}
}

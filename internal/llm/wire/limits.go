package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"alfred/internal/llm"
)

// Limits bound one model call: how long a server may take, and how much it may send. 0 is each one's default.
type Limits struct {
	// FirstByte is how long a server may take to begin its answer; 90 s. An answer that is not streamed begins when it
	// is complete.
	FirstByte time.Duration
	// Silence is the longest pause in the middle of an answer; 30 s.
	Silence time.Duration
	// Whole is how long an entire answer may take; 3 min.
	Whole time.Duration
	// MaxBytes is the maximum size of an answer on the wire; 4 MiB.
	MaxBytes int64
}

// MaxVectors is the maximum size of an embedding response, in bytes; a batch of 100 with 2,000 numbers each exceeds
// what any text should take.
const MaxVectors = 64 << 20

const (
	defaultFirstByte = 90 * time.Second
	defaultSilence   = 30 * time.Second
	defaultWhole     = 3 * time.Minute
	defaultMaxBytes  = 4 << 20
)

func (l Limits) filled() Limits {
	return Limits{
		FirstByte: cmp.Or(l.FirstByte, defaultFirstByte), Silence: cmp.Or(l.Silence, defaultSilence),
		Whole: cmp.Or(l.Whole, defaultWhole), MaxBytes: cmp.Or(l.MaxBytes, defaultMaxBytes),
	}
}

// limitError says which limit an answer exceeded.
type limitError struct {
	kind llm.Kind
	text string
}

func (e *limitError) Error() string { return e.text }

type stopKey struct{}

// stoppable returns a context that ends with a limit that its call exceeds, as its cause: SDKs report an unreadable body
// in different ways, and mostly lose the cause.
func stoppable(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, stop := context.WithCancelCause(ctx)
	return context.WithValue(ctx, stopKey{}, stop), stop
}

// transport enforces limits on answers. It reads failures itself: the SDKs lose the status if the body is not the JSON
// they expect, for example from a proxy.
type transport struct {
	next   http.RoundTripper
	limits Limits
}

// RoundTrip implements http.RoundTripper for requests whose context is a stoppable one.
func (t transport) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx := request.Context()
	stop, _ := ctx.Value(stopKey{}).(context.CancelCauseFunc)
	after := func(limit time.Duration, format string) *time.Timer {
		return time.AfterFunc(limit, func() { stop(&limitError{llm.KindOverloaded, fmt.Sprintf(format, limit)}) })
	}
	whole := after(t.limits.Whole, "the answer was not complete after %s")
	first := after(t.limits.FirstByte, "no answer began within %s")
	response, err := t.next.RoundTrip(request)
	first.Stop()
	if err != nil {
		whole.Stop()

		return nil, errors.Join(context.Cause(ctx), err)
	}
	response.Body = &limitedBody{
		ReadCloser: response.Body, left: t.limits.MaxBytes, limits: t.limits, stop: stop, whole: whole,
		quiet: after(t.limits.Silence, "the answer stopped for %s"),
		cause: func() error { return context.Cause(ctx) },
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return nil, failed(response)
	}

	return response, nil
}

// limitedBody is a body that fails when it exceeds a limit.
type limitedBody struct {
	io.ReadCloser

	left         int64
	limits       Limits
	whole, quiet *time.Timer
	stop         context.CancelCauseFunc
	cause        func() error // why the answer was stopped
}

// Read implements io.Reader.
func (b *limitedBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	b.left -= int64(n)
	if b.left < 0 {
		b.stop(&limitError{llm.KindTooLarge, fmt.Sprintf("the answer is longer than %d bytes", b.limits.MaxBytes)})
		return 0, b.cause()
	}
	if n > 0 {
		b.quiet.Reset(b.limits.Silence)
	}
	if cause := b.cause(); cause != nil && err != nil && !errors.Is(err, io.EOF) {
		return n, cause
	}

	return n, err
}

// Close implements io.Closer.
func (b *limitedBody) Close() error {
	b.quiet.Stop()
	b.whole.Stop()

	return b.ReadCloser.Close()
}

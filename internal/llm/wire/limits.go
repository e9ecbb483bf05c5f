package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
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

func late(format string, after time.Duration) error {
	return &limitError{kind: llm.KindOverloaded, text: fmt.Sprintf(format, after)}
}

// watch holds the limit that a call exceeded. It is passed in the call's context: SDKs report an unreadable body in
// different ways, and mostly lose the cause.
type watch struct {
	mu    sync.Mutex
	cause error
}

type watchKey struct{}

func watched(ctx context.Context) (context.Context, *watch) {
	w := &watch{}
	return context.WithValue(ctx, watchKey{}, w), w
}

func (w *watch) broke() error {
	w.mu.Lock()
	defer w.mu.Unlock()

	return w.cause
}

func (w *watch) set(cause error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cause = cmp.Or(w.cause, cause)
}

// limited is a transport that enforces limits on answers.
type limited struct {
	next   http.RoundTripper
	limits Limits
}

// RoundTrip implements http.RoundTripper.
func (l limited) RoundTrip(request *http.Request) (*http.Response, error) {
	w, _ := request.Context().Value(watchKey{}).(*watch)
	if w == nil { // a caller that cannot distinguish limits still gets an error
		w = &watch{}
	}
	ctx, cancel := context.WithCancel(request.Context())
	stop := func(cause error) func() { return func() { w.set(cause); cancel() } }
	whole := time.AfterFunc(l.limits.Whole, stop(late("the answer was not complete after %s", l.limits.Whole)))
	first := time.AfterFunc(l.limits.FirstByte, stop(late("no answer began within %s", l.limits.FirstByte)))
	response, err := l.next.RoundTrip(request.WithContext(ctx))
	first.Stop()
	if err != nil {
		whole.Stop()
		cancel()

		return nil, errors.Join(w.broke(), err)
	}
	response.Body = &limitedBody{
		ReadCloser: response.Body, watch: w, left: l.limits.MaxBytes, silence: l.limits.Silence, maxBytes: l.limits.MaxBytes,
		quiet: time.AfterFunc(l.limits.Silence, stop(late("the answer stopped for %s", l.limits.Silence))),
		end:   func() { whole.Stop(); cancel() },
	}

	return response, nil
}

// limitedBody is a body that fails when it exceeds a limit.
type limitedBody struct {
	io.ReadCloser

	watch          *watch
	left, maxBytes int64
	silence        time.Duration
	quiet          *time.Timer
	end            func()
}

// Read implements io.Reader.
func (b *limitedBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	if b.left -= int64(n); b.left < 0 {
		b.watch.set(&limitError{kind: llm.KindTooLarge, text: fmt.Sprintf("the answer is longer than %d bytes", b.maxBytes)})
		return 0, b.watch.broke()
	}
	if n > 0 {
		b.quiet.Reset(b.silence)
	}
	if cause := b.watch.broke(); cause != nil && err != nil && !errors.Is(err, io.EOF) {
		return n, cause
	}

	return n, err
}

// Close implements io.Closer.
func (b *limitedBody) Close() error {
	b.quiet.Stop()
	err := b.ReadCloser.Close()
	b.end()

	return err
}

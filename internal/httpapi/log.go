package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"alfred/internal/httpapi/problem"
)

// statusWriter records the status. Unwrap lets http.ResponseController reach the connection's flush and deadlines.
type statusWriter struct {
	http.ResponseWriter

	status int
}

func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

const (
	writePiece   = 64 << 10
	writeTimeout = 10 * time.Second // for one piece
)

// Write gives up on a reader who takes nothing, and would otherwise keep goroutine and connection for ever.
func (w *statusWriter) Write(data []byte) (written int, err error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	control := http.NewResponseController(w.ResponseWriter)
	for piece := range slices.Chunk(data, writePiece) {
		_ = control.SetWriteDeadline(time.Now().Add(writeTimeout)) // without a connection nobody is waited for
		n, err := w.ResponseWriter.Write(piece)
		written += n
		if err != nil {
			return written, err
		}
	}

	return written, nil
}

func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// logRequests writes one line per API request; files of the page and successful probes are not logged.
func (a *api) logRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		ctx, why := problem.Keep(r.Context())
		sw := &statusWriter{ResponseWriter: w}
		guarded(next, sw, r.WithContext(ctx)) //nolint:contextcheck // it is the request's
		if sw.status < http.StatusInternalServerError && !strings.HasPrefix(r.URL.Path, "/v1/") {
			return
		}
		attrs := []slog.Attr{
			slog.String("method", r.Method), slog.String("path", problem.OneLine(r.URL.Path)), slog.Int("status", sw.status),
			slog.Int64("duration_ms", time.Since(start).Milliseconds()),
		}
		level := slog.LevelInfo
		if sw.status >= http.StatusInternalServerError && !errors.Is(why.Err, context.Canceled) {
			level = slog.LevelError
			if why.Err != nil {
				attrs = append(attrs, slog.String("error", problem.OneLine(why.Err.Error())))
			}
		}
		a.Logger.LogAttrs(r.Context(), level, "request", attrs...)
	})
}

// guarded serves a request, and answers it if the handler panics.
func guarded(next http.Handler, w *statusWriter, r *http.Request) {
	defer func() {
		reason := recover()
		if reason == nil {
			return
		}
		problem.Note(r.Context(), fmt.Errorf("panic: %v\n%s", reason, debug.Stack()))
		if w.status != 0 {
			panic(http.ErrAbortHandler) // too late for an answer: abort, so that nobody takes it for complete
		}
		problem.Write(w, problem.Of(errPanic))
	}()
	next.ServeHTTP(w, r)
}

var errPanic = errors.New("a handler panicked")

const (
	maxDrain     = 8 << 20
	drainTimeout = 5 * time.Second
)

// drainBodies reads what a handler left of a rejected body. Closing while the client still writes resets the
// connection, and the client never sees the answer. Huma closes bodies, and a closed one cannot be read: only the
// server closes them.
func drainBodies(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		open := r.WithContext(r.Context())
		open.Body = io.NopCloser(r.Body)
		next.ServeHTTP(w, open)
		if r.ContentLength == 0 {
			return
		}
		if err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(drainTimeout)); err != nil {
			return // no connection to read from
		}
		_, _ = io.CopyN(io.Discard, r.Body, maxDrain) // a disconnected client needs no answer
	})
}

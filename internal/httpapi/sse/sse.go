package sse

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// PingEvery is how long a stream may be silent before a comment says that it is alive.
const PingEvery = 15 * time.Second

// Writer writes to one client. A client that does not read loses its connection, as with any answer; it resumes with
// Last-Event-ID.
type Writer struct {
	w       io.Writer
	control *http.ResponseController
	err     error
}

// Open begins a response of events.
func Open(w http.ResponseWriter) *Writer {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)

	return &Writer{w: w, control: http.NewResponseController(w)}
}

// Err is the first error that a write met. After it nothing more is written.
func (e *Writer) Err() error { return e.err }

// Event writes an event with an id to resume from. It is sent by [Writer.Flush].
func (e *Writer) Event(id, name string, data []byte) {
	e.writef("id: %s\nevent: %s\ndata: %s\n\n", id, name, data)
}

// Data sends JSON without a name or an id.
func (e *Writer) Data(value any) {
	encoded, err := json.Marshal(value)
	if err != nil && e.err == nil {
		e.err = fmt.Errorf("encode event: %w", err)
	}
	e.Text(string(encoded))
}

// Text sends a line without a name or an id.
func (e *Writer) Text(line string) {
	e.writef("data: %s\n\n", line)
	e.Flush()
}

// Comment sends what clients pass over: a sign of life.
func (e *Writer) Comment(text string) {
	e.writef(": %s\n\n", text)
	e.Flush()
}

func (e *Writer) writef(format string, values ...any) {
	if e.err != nil {
		return
	}
	if _, err := fmt.Fprintf(e.w, format, values...); err != nil {
		e.err = fmt.Errorf("write event: %w", err)
	}
}

// Flush sends what was written.
func (e *Writer) Flush() {
	if e.err != nil {
		return
	}
	if err := e.control.Flush(); err != nil {
		e.err = fmt.Errorf("flush events: %w", err)
	}
}

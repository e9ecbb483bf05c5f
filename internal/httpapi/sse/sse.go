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
}

// Open begins a response of events.
func Open(w http.ResponseWriter) *Writer {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)

	return &Writer{w: w, control: http.NewResponseController(w)}
}

// Event writes an event with an id to resume from. It is sent by [Writer.Flush].
func (e *Writer) Event(id, name string, data []byte) error {
	return e.write("id: %s\nevent: %s\ndata: %s\n\n", id, name, data)
}

// Data sends JSON without a name or an id.
func (e *Writer) Data(value any) error {
	encoded, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}

	return e.Text(string(encoded))
}

// Text sends a line without a name or an id.
func (e *Writer) Text(line string) error {
	if err := e.write("data: %s\n\n", line); err != nil {
		return err
	}

	return e.Flush()
}

// Comment sends what clients pass over: a sign of life.
func (e *Writer) Comment(text string) error {
	if err := e.write(": %s\n\n", text); err != nil {
		return err
	}

	return e.Flush()
}

func (e *Writer) write(format string, values ...any) error {
	if _, err := fmt.Fprintf(e.w, format, values...); err != nil {
		return fmt.Errorf("write event: %w", err)
	}

	return nil
}

// Flush sends what was written.
func (e *Writer) Flush() error {
	if err := e.control.Flush(); err != nil {
		return fmt.Errorf("flush events: %w", err)
	}

	return nil
}

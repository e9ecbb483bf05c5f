package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/follow"
	"alfred/jobs"
)

// What third-party protocols (chat completions, AG-UI) have in common: their clients know neither our sessions nor our
// turns, and send the whole conversation with every message.

const (
	sessionHeader = "X-Session-Id"
	turnHeader    = "X-Turn-Id"

	// maxProtocolBody bounds a request: it contains the conversation so far, although only the last message counts.
	maxProtocolBody = 8 << 20

	bodyReadTimeout = 10 * time.Second

	maxTitle = 200 // characters
)

var errStopping = newCode(http.StatusServiceUnavailable, "unavailable", "This server is being stopped; ask another for the turn.")

// untilStopping is ctx, cancelled also when the server is about to stop.
func (a *api) untilStopping(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-a.Stopping:
			cancel(errStopping)
		case <-ctx.Done():
		}
	}()

	return ctx, func() { cancel(context.Canceled) }
}

// readBody decodes a JSON body. Unknown fields are part of the protocol, not errors.
func readBody(w http.ResponseWriter, r *http.Request, into any) error {
	if err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyReadTimeout)); err != nil {
		return fmt.Errorf("set read deadline: %w", err)
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxProtocolBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return newCode(http.StatusRequestEntityTooLarge, "message_too_large", "The request is larger than 8 MiB.")
	}
	if err != nil {
		return invalid("The request could not be read.")
	}
	if err := json.Unmarshal(data, into); err != nil {
		return invalid("The request is not the JSON that it should be: " + oneLine(err.Error()))
	}
	// The server detects a disconnecting client by reading; that must not hit the deadline.
	if err := http.NewResponseController(w).SetReadDeadline(time.Time{}); err != nil {
		return fmt.Errorf("clear read deadline: %w", err)
	}

	return nil
}

// textOf reads a message's content: a text, or a list of text parts.
func textOf(content json.RawMessage) (string, error) {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text, nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(content, &parts); err != nil {
		return "", invalid("A message's content is a text, or a list of parts of type text.")
	}
	texts := make([]string, 0, len(parts))
	for _, part := range parts {
		if part.Type != "text" {
			return "", invalid("Parts of type " + oneLine(part.Type) + " cannot be read here; send text.")
		}
		texts = append(texts, part.Text)
	}

	return strings.Join(texts, "\n"), nil
}

// knownSession is the caller's session of that id.
func (a *api) knownSession(ctx context.Context, id string) (uuid.UUID, error) {
	row, err := a.session(ctx, id)
	if err != nil {
		return uuid.Nil, err
	}

	return row.ID, nil
}

// namedSession is the caller's session of that name, created if missing. Its id is derived from user and name, so that
// two concurrent first messages, or one resent after its answer was lost, share one session.
func (a *api) namedSession(ctx context.Context, name, title string) (uuid.UUID, error) {
	id := uuid.NewSHA1(userOf(ctx), []byte(name))
	title = oneLine(title)
	if runes := []rune(title); len(runes) > maxTitle {
		title = string(runes[:maxTitle])
	}
	err := a.q.SessionEnsure(ctx, a.Pool, &db.SessionEnsureParams{ID: id, UserID: userOf(ctx), Domain: a.Domain.Name, Title: title})
	if err != nil {
		return uuid.Nil, fmt.Errorf("make session: %w", err)
	}

	return id, nil
}

func (a *api) newSession(ctx context.Context) (uuid.UUID, error) {
	row, err := a.q.SessionInsert(ctx, a.Pool, &db.SessionInsertParams{UserID: userOf(ctx), Domain: a.Domain.Name, Mode: "plan"})
	if err != nil {
		return uuid.Nil, fmt.Errorf("make session: %w", err)
	}

	return row.ID, nil
}

// enqueue makes a message a turn. If the session has seen the key, it returns that key's turn.
func (a *api) enqueue(ctx context.Context, session uuid.UUID, message, key string) (*jobs.Enqueued, error) {
	var made *jobs.Enqueued
	err := a.write(ctx, func(tx pgx.Tx) (err error) {
		made, err = jobs.EnqueueTurn(ctx, tx, jobs.EnqueueParams{SessionID: session, Message: message, IdempotencyKey: key, Limits: a.Limits})

		return err
	})

	return made, err
}

func (a *api) reader(ctx context.Context) *follow.Reader {
	return &follow.Reader{Pool: a.Pool, Listener: a.Listener, UserID: userOf(ctx), StillGood: a.stillGood}
}

// relay passes a turn's events to one client as they occur, with comments during long silences, and returns nil when
// the turn has ended.
func (a *api) relay(ctx context.Context, out *eventWriter, turn uuid.UUID, pass func(follow.Event) error) error {
	tail := a.reader(ctx).Tail(turn, 0)
	defer tail.Close()
	for {
		events, err := tail.Next(ctx, pingEvery)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(events) == 0 {
			if err := out.comment("ping"); err != nil {
				return err
			}
		}
		for _, event := range events {
			if err := pass(event); err != nil {
				return err
			}
		}
	}
}

// openStream begins a response of server-sent events.
func openStream(w http.ResponseWriter) *eventWriter {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)

	return &eventWriter{w: w, control: http.NewResponseController(w)}
}

// data writes one JSON event without name or id.
func (e *eventWriter) data(value any) error {
	encoded, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	if err := e.extend(); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(e.w, "data: %s\n\n", encoded); err != nil {
		return fmt.Errorf("write event: %w", err)
	}

	return e.flush()
}

// problemOfTurn says as an HTTP error why a turn has no reply; nil if it has one.
func problemOfTurn(turn *follow.Turn) *problem {
	if turn.Status == db.TurnStatusSucceeded {
		return nil
	}
	p := newCode(http.StatusInternalServerError, string(turn.Status), "The turn has no reply.")
	if turn.Error == nil {
		return p
	}
	p.Code, p.Detail = turn.Error.Code, turn.Error.Message
	switch turn.Error.Code {
	case "cancelled":
		p.Status = http.StatusConflict
	case "context_overflow", "model_refused":
		p.Status = http.StatusBadRequest
	case "limit_exceeded":
		p.Status = http.StatusTooManyRequests
	case "model_unavailable":
		p.Status = http.StatusServiceUnavailable
	case "timed_out":
		p.Status = http.StatusGatewayTimeout
	}

	return p
}

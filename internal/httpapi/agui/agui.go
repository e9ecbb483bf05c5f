package agui

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/internal/follow"
	"alfred/internal/httpapi/door"
	"alfred/internal/httpapi/problem"
	"alfred/internal/httpapi/sse"
	"alfred/internal/pg"
	"alfred/jobs"
)

// input is the part of AG-UI's RunAgentInput that is read. Conversation and state are kept on the server; the
// page's tools are not called.
type input struct {
	ThreadID string            `json:"threadId"` //nolint:tagliatelle // AG-UI's name
	RunID    string            `json:"runId"`    //nolint:tagliatelle // AG-UI's name
	Messages []json.RawMessage `json:"messages"`
}

// Refs reads a session's refs as the API shows them, at most so many.
type Refs func(ctx context.Context, tx pgx.Tx, session uuid.UUID, most int) (any, error)

type server struct {
	*door.Door

	refs Refs
}

// Register serves the protocol: a run is a turn, a thread a session.
func Register(mux *http.ServeMux, d *door.Door, refs Refs) {
	s := &server{d, refs}
	mux.HandleFunc("POST /v1/agui", d.Admit(http.MethodPost, door.Converse(d, s.run), problem.Write))
}

// run returns errors that occur before the stream is open; later ones are events.
func (s *server) run(ctx context.Context, w http.ResponseWriter, _ *http.Request, in *input) error {
	message, err := in.message()
	if err != nil {
		return err
	}
	session, made, err := s.enqueue(ctx, in, message)
	if err != nil {
		return err
	}
	w.Header().Set(door.SessionHeader, session.String())
	w.Header().Set(door.TurnHeader, made.TurnID.String())
	run := &run{server: s, out: sse.Open(w), in: in, session: session, turn: made.TurnID}
	if err := run.play(ctx); err != nil {
		problem.Note(ctx, err)
		p := problem.Of(err)
		run.out.Data(map[string]any{"type": "RUN_ERROR", "message": p.Detail, "code": p.Code})
	}

	return nil
}

// message returns the user's last message.
func (in *input) message() (string, error) {
	if in.ThreadID == "" || in.RunID == "" {
		return "", problem.Invalid("threadId and runId are missing.")
	}
	for _, raw := range slices.Backward(in.Messages) {
		var message door.Message
		if err := json.Unmarshal(raw, &message); err != nil {
			return "", problem.Invalid("A message is not an object with role and content.")
		}
		if message.Role == door.RoleUser {
			return message.Text()
		}
	}

	return "", problem.Invalid("There is no message of the role user.")
}

// enqueue finds the thread's session and makes the run a turn there. A run that is sent again maps to the same turn.
func (s *server) enqueue(ctx context.Context, in *input, message string) (uuid.UUID, *jobs.Enqueued, error) {
	session, err := s.SessionID(ctx, in.ThreadID)
	named := err != nil && problem.Of(err) == problem.ErrNotFound
	if named {
		session = door.Named(ctx, "thread:"+in.ThreadID)
	} else if err != nil {
		return uuid.Nil, nil, err
	}
	made, err := pg.Value(ctx, s.Write, func(tx pgx.Tx) (*jobs.Enqueued, error) {
		if named {
			if _, err := s.MakeSession(ctx, tx, &session, ""); err != nil {
				return nil, err
			}
		}

		return jobs.EnqueueTurn(ctx, tx, jobs.EnqueueParams{
			SessionID: session, Message: message, IdempotencyKey: "agui:" + in.RunID, Limits: s.Limits,
		})
	})

	return session, made, err
}

// play reports the run from beginning to end.
func (r *run) play(ctx context.Context) error {
	r.send("RUN_STARTED", map[string]any{"threadId": r.in.ThreadID, "runId": r.in.RunID})
	turn, err := r.Relay(ctx, r.out, r.turn, func(event follow.Event) error {
		r.event(ctx, &event)

		return r.err
	})
	if err != nil {
		return err
	}
	r.finishSpeech(turn)
	for len(r.open) > 0 {
		r.finishStep(r.open[0])
	}
	r.snapshot(ctx)
	r.send("RUN_FINISHED", map[string]any{
		"threadId": r.in.ThreadID, "runId": r.in.RunID, "result": map[string]any{"turn_id": turn.ID, "usage": turn.Usage},
	})

	return r.err
}

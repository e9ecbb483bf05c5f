package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/google/uuid"

	"alfred/follow"
	"alfred/jobs"
)

// aguiInput is the part of AG-UI's RunAgentInput that is read. Conversation and state are kept on the server; the
// page's tools are not called.
type aguiInput struct {
	ThreadID string            `json:"threadId"` //nolint:tagliatelle // AG-UI's name
	RunID    string            `json:"runId"`    //nolint:tagliatelle // AG-UI's name
	Messages []json.RawMessage `json:"messages"`
}

// registerAGUI serves the Agent-User Interaction protocol: a run is a turn, a
// thread a session.
func (a *api) registerAGUI(mux *http.ServeMux) {
	mux.HandleFunc("POST /v1/agui", func(w http.ResponseWriter, r *http.Request) {
		who, err := a.gate.Admit(r.Context(), r.Header.Get("Authorization"), r.Method)
		if err == nil {
			err = a.aguiRun(context.WithValue(r.Context(), callerKey, who), w, r)
		}
		if err != nil {
			noteCause(r.Context(), err)
			writeProblem(w, problemOf(err))
		}
	})
}

// aguiRun returns errors that occur before the stream is open; later ones are events.
func (a *api) aguiRun(ctx context.Context, w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := a.untilStopping(ctx)
	defer cancel()
	in := &aguiInput{}
	if err := readBody(w, r, in); err != nil {
		return err
	}
	message, err := in.message()
	if err != nil {
		return err
	}
	closed, err := a.gate.OpenStream(callerOf(ctx))
	if err != nil {
		return err
	}
	defer closed()
	session, made, err := a.aguiTurn(ctx, in, message)
	if err != nil {
		return err
	}
	w.Header().Set(sessionHeader, session.String())
	w.Header().Set(turnHeader, made.TurnID.String())
	run := &aguiWriter{api: a, out: openStream(w), in: in, session: session, turn: made.TurnID}
	if err := run.play(ctx); err != nil {
		noteCause(ctx, err)
		p := problemOf(err)
		_ = run.out.data(map[string]any{"type": "RUN_ERROR", "message": p.Detail, "code": p.Code}) // a disconnected client needs no answer
	}

	return nil
}

// message returns the user's last message.
func (in *aguiInput) message() (string, error) {
	if in.ThreadID == "" || in.RunID == "" {
		return "", invalid("threadId and runId are missing.")
	}
	for i := range in.Messages {
		var message completionMessage
		if err := json.Unmarshal(in.Messages[len(in.Messages)-1-i], &message); err != nil {
			return "", invalid("A message is not an object with role and content.")
		}
		if message.Role == roleUser {
			return textOf(message.Content)
		}
	}

	return "", invalid("There is no message of the role user.")
}

// aguiTurn finds the thread's session and makes the run a turn there. A run that is sent again maps to the same turn.
func (a *api) aguiTurn(ctx context.Context, in *aguiInput, message string) (uuid.UUID, *jobs.Enqueued, error) {
	session, err := a.knownSession(ctx, in.ThreadID)
	if err != nil && problemOf(err) == errNotFound {
		session, err = a.namedSession(ctx, "thread:"+in.ThreadID, "")
	}
	if err != nil {
		return uuid.Nil, nil, err
	}
	made, err := a.enqueue(ctx, session, message, "agui:"+in.RunID)

	return session, made, err
}

// play reports the run from beginning to end.
func (r *aguiWriter) play(ctx context.Context) error {
	if err := r.send("RUN_STARTED", map[string]any{"threadId": r.in.ThreadID, "runId": r.in.RunID}); err != nil {
		return err
	}
	err := r.api.relay(ctx, r.out, r.turn, func(event follow.Event) error { return r.event(ctx, &event) })
	if err != nil {
		return err
	}
	turn, err := r.api.reader(ctx).Turn(ctx, r.turn)
	if err != nil {
		return fmt.Errorf("read turn: %w", err)
	}
	if p := problemOfTurn(turn); p != nil {
		return p
	}

	return errors.Join(r.finishSpeech(turn), r.finishSteps(), r.snapshot(ctx), r.send("RUN_FINISHED", map[string]any{
		"threadId": r.in.ThreadID, "runId": r.in.RunID, "result": map[string]any{"turn_id": turn.ID, "usage": turn.Usage},
	}))
}

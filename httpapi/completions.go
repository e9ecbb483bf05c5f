package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"alfred/follow"
	"alfred/jobs"
)

// modelName is the assistant's model name.
const modelName = "alfred"

// registerCompletions serves OpenAI's protocol, so that clients made for it can talk to the assistant. The server keeps
// the conversation by session: only the user's last message is answered, and the others find its session.
func (a *api) registerCompletions(mux *http.ServeMux) {
	mux.HandleFunc("GET /v1/models", a.openai(a.modelList))
	mux.HandleFunc("GET /v1/models/{model}", a.openai(a.modelGet))
	mux.HandleFunc("POST /v1/chat/completions", a.openai(a.completionCreate))
}

// openai returns errors in OpenAI's form.
func (a *api) openai(handle func(ctx context.Context, w http.ResponseWriter, r *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		who, err := a.gate.Admit(r.Context(), r.Header.Get("Authorization"), r.Method)
		if err == nil {
			err = handle(context.WithValue(r.Context(), callerKey, who), w, r)
		}
		if err != nil {
			noteCause(r.Context(), err)
			writeCompletionError(w, problemOf(err))
		}
	}
}

func (a *api) modelList(_ context.Context, w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, map[string]any{"object": "list", "data": []any{modelObject()}})
}

func (a *api) modelGet(_ context.Context, w http.ResponseWriter, r *http.Request) error {
	if err := checkModel(r.PathValue("model")); err != nil {
		return err
	}

	return writeJSON(w, modelObject())
}

func modelObject() map[string]any {
	return map[string]any{"id": modelName, "object": "model", "created": 0, "owned_by": modelName}
}

func checkModel(name string) error {
	if name != modelName {
		return newCode(http.StatusNotFound, "model_not_found", "There is one model here: "+modelName+".")
	}

	return nil
}

func (a *api) completionCreate(ctx context.Context, w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := a.untilStopping(ctx)
	defer cancel()
	in := &completionRequest{}
	if err := readBody(w, r, in); err != nil {
		return err
	}
	message, err := in.message()
	if err != nil {
		return err
	}
	closed, err := a.gate.OpenStream(callerOf(ctx)) // a request waiting for its answer counts like one that streams
	if err != nil {
		return err
	}
	defer closed()
	made, err := a.completionTurn(ctx, w, r, in, message)
	if err != nil {
		return err
	}
	w.Header().Set(turnHeader, made.TurnID.String())
	w.Header().Set("X-Should-Retry", "false") // the message is stored; from now on, failures are the turn's
	if in.Stream {
		return a.completionStream(ctx, w, made.TurnID, in.StreamOptions.IncludeUsage)
	}
	reader := a.reader(ctx)
	if err := reader.Wait(ctx, made.TurnID); err != nil {
		return fmt.Errorf("wait for turn: %w", err)
	}
	turn, err := reader.Turn(ctx, made.TurnID)
	if err != nil {
		return err
	}
	if p := problemOfTurn(turn); p != nil {
		return p
	}

	return writeJSON(w, completionOf(turn))
}

// completionTurn finds the session and enqueues the message there.
func (a *api) completionTurn(ctx context.Context, w http.ResponseWriter, r *http.Request, in *completionRequest, message string) (*jobs.Enqueued, error) {
	key, named := r.Header.Get("Idempotency-Key"), r.Header.Get(sessionHeader)
	again := r.Header.Get("X-Stainless-Retry-Count")
	sent := &sentTurn{Message: message, Key: key, History: in.history(), Again: key == "" && again != "" && again != "0"}
	var err error
	switch {
	case named != "":
		sent.Session, err = a.knownSession(ctx, named)
	case in.User != "":
		sent.Session, err = a.namedSession(ctx, "user:"+in.User, in.User)
	case key != "" && sent.History.before == nil:
		// One that is sent again does not know the session that it made, so that has its name from the key.
		sent.Session, err = a.namedSession(ctx, "key:"+key, "")
	}
	if err != nil {
		return nil, err
	}
	made, session, err := a.enqueueSent(ctx, sent)
	if err != nil {
		return nil, err
	}
	w.Header().Set(sessionHeader, session.String())

	return made, nil
}

// completionStream streams the reply while it is generated.
func (a *api) completionStream(ctx context.Context, w http.ResponseWriter, turnID uuid.UUID, includeUsage bool) error {
	out := openStream(w)
	stream := &completionWriter{out: out, id: completionID(turnID)}
	if err := a.completionRelay(ctx, stream, turnID, includeUsage); err != nil {
		noteCause(ctx, err)
		if err := out.data(errorOfProblem(problemOf(err))); err != nil {
			return nil //nolint:nilerr // the client has gone; the answer has begun and can be no other
		}
	}

	return nil
}

func (a *api) completionRelay(ctx context.Context, stream *completionWriter, turnID uuid.UUID, includeUsage bool) error {
	if err := stream.delta(completionDelta{Role: roleAssistant}, nil); err != nil {
		return err
	}
	speech := &follow.Speech{}
	err := a.relay(ctx, stream.out, turnID, func(event follow.Event) error {
		piece, err := speech.Hear(&event)
		if err != nil {
			return err
		}

		return stream.say(piece)
	})
	if err != nil {
		return err
	}
	turn, err := a.reader(ctx).Turn(ctx, turnID)
	if err != nil {
		return err
	}
	if p := problemOfTurn(turn); p != nil {
		return p
	}
	rest, corrected := speech.Rest(turn.Said())
	if corrected {
		rest = "\n\n" + rest
	}
	if err := errors.Join(stream.say(rest), stream.delta(completionDelta{}, new("stop"))); err != nil {
		return err
	}
	if includeUsage {
		if err := stream.usage(turn); err != nil {
			return err
		}
	}

	return stream.done()
}

func completionID(turnID uuid.UUID) string {
	return "chatcmpl-" + strings.ReplaceAll(turnID.String(), "-", "")
}

func writeJSON(w http.ResponseWriter, value any) error {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(value); err != nil {
		return fmt.Errorf("write answer: %w", err)
	}

	return nil
}

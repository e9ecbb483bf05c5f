package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"alfred/internal/follow"
	"alfred/internal/httpapi/door"
	"alfred/internal/httpapi/problem"
	"alfred/internal/httpapi/sse"
	"alfred/jobs"
)

// modelName is the assistant's model name.
const modelName = "alfred"

type server struct{ *door.Door }

// Register serves the protocol, so that clients made for it can talk to the assistant. The server keeps the
// conversation by session: only the user's last message is answered, and the others find its session.
func Register(mux *http.ServeMux, d *door.Door) {
	s := &server{d}
	mux.HandleFunc("GET /v1/models", d.Admit(http.MethodGet, s.modelList, refuse))
	mux.HandleFunc("GET /v1/models/{model}", d.Admit(http.MethodGet, s.modelGet, refuse))
	mux.HandleFunc("POST /v1/chat/completions", d.Admit(http.MethodPost, door.Converse(d, s.create), refuse))
	mux.HandleFunc("POST /v1/responses", d.Admit(http.MethodPost, notServed, refuse))
}

// notServed tells clients that by default speak OpenAI's newer protocol which one is served.
func notServed(context.Context, http.ResponseWriter, *http.Request) error {
	return problem.New(http.StatusNotFound, "not_found", "The Responses API is not served here. Set your client to Chat Completions: POST /v1/chat/completions.")
}

func (s *server) modelList(_ context.Context, w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, map[string]any{"object": "list", "data": []any{modelObject()}})
}

func (s *server) modelGet(_ context.Context, w http.ResponseWriter, r *http.Request) error {
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
		return problem.New(http.StatusNotFound, "model_not_found", "There is one model here: "+modelName+".")
	}

	return nil
}

func (s *server) create(ctx context.Context, w http.ResponseWriter, r *http.Request, in *request) error {
	message, err := in.message()
	if err != nil {
		return err
	}
	made, err := s.enqueue(ctx, w, r, in, message)
	if err != nil {
		return err
	}
	w.Header().Set(door.TurnHeader, made.TurnID.String())
	w.Header().Set("X-Should-Retry", "false") // the message is stored; from now on, failures are the turn's
	if in.Stream {
		s.stream(ctx, w, made.TurnID, in.StreamOptions.IncludeUsage)

		return nil
	}
	turn, err := s.Wait(ctx, made.TurnID)
	if err != nil {
		return err
	}

	return writeJSON(w, completionOf(turn))
}

// enqueue finds the session and enqueues the message there.
func (s *server) enqueue(ctx context.Context, w http.ResponseWriter, r *http.Request, in *request, message string) (*jobs.Enqueued, error) {
	key, named := r.Header.Get("Idempotency-Key"), r.Header.Get(door.SessionHeader)
	again := r.Header.Get("X-Stainless-Retry-Count")
	sent := &sentTurn{Message: message, Key: key, History: in.history(), Again: key == "" && again != "" && again != "0"}
	var err error
	switch {
	case named != "":
		sent.Session, err = s.SessionID(ctx, named)
	case in.User != "":
		sent.Session, sent.Title, sent.Ensure = door.Named(ctx, "user:"+in.User), in.User, true
	case key != "" && sent.History.before == nil:
		// One that is sent again does not know the session that it made, so that has its name from the key.
		sent.Session, sent.Ensure = door.Named(ctx, "key:"+key), true
	}
	if err != nil {
		return nil, err
	}
	made, session, err := s.enqueueSent(ctx, sent)
	if err != nil {
		return nil, err
	}
	w.Header().Set(door.SessionHeader, session.String())

	return made, nil
}

// stream streams the reply while it is generated.
func (s *server) stream(ctx context.Context, w http.ResponseWriter, turnID uuid.UUID, includeUsage bool) {
	stream := &writer{out: sse.Open(w), id: completionID(turnID)}
	if err := s.relay(ctx, stream, turnID, includeUsage); err != nil {
		problem.Note(ctx, err)
		stream.out.Data(errorOfProblem(problem.Of(err))) // the answer has begun and can be no other
	}
}

func (s *server) relay(ctx context.Context, stream *writer, turnID uuid.UUID, includeUsage bool) error {
	stream.delta(delta{Role: door.RoleAssistant}, nil)
	speech := &follow.Speech{}
	turn, err := s.Relay(ctx, stream.out, turnID, func(event follow.Event) error {
		piece, err := speech.Hear(&event)
		stream.say(piece)

		return cmp.Or(err, stream.out.Err())
	})
	if err != nil {
		return err
	}
	rest, corrected := speech.Rest(turn.PlainText())
	if corrected {
		rest = "\n\n" + rest
	}
	stream.say(rest)
	stream.delta(delta{}, new("stop"))
	if includeUsage {
		stream.chunk([]choice{}, usageOf(turn))
	}
	stream.out.Text("[DONE]")

	return stream.out.Err()
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

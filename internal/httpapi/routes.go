package httpapi

import (
	"context"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"alfred/internal/httpapi/problem"
)

// What routes may return besides the errors that all of them may.
const (
	conflict = http.StatusConflict
	stale    = http.StatusPreconditionFailed
	tooLarge = http.StatusRequestEntityTooLarge
)

// maxBody is the most bytes of a request.
const maxBody = 1 << 20

// registerConversations describes and serves the routes about conversations and their turns.
func (a *api) registerConversations() {
	serveBody(a, operation("POST /v1/sessions", "create-session", "Start a conversation", http.StatusCreated, conflict, tooLarge), a.sessionCreate)
	serveBody(a, operation("GET /v1/sessions", "list-sessions", "List conversations, pinned ones first, then the newest", http.StatusOK), a.sessionList)
	serveBody(a, operation("GET /v1/sessions/{id}", "get-session", "Get a conversation", http.StatusOK), a.sessionGet)
	serveBody(a, operation("PATCH /v1/sessions/{id}", "patch-session", "Rename, pin, archive or reopen a conversation", http.StatusOK, tooLarge), a.sessionPatch)
	serveEmpty(a, operation("DELETE /v1/sessions/{id}", "forget-session", "Delete a conversation and all it left; domain rows stay", http.StatusNoContent), a.sessionForget)
	serve(a, a.enqueues(operation("POST /v1/sessions/{id}/turns", enqueueTurn, "Send a message", http.StatusAccepted, conflict, tooLarge, http.StatusUnprocessableEntity)), a.turnEnqueue)
	serveBody(a, operation("GET /v1/sessions/{id}/turns", "list-turns", "List a conversation's turns", http.StatusOK), a.turnList)
	serveBody(a, operation("GET /v1/turns/{id}", "get-turn", "Get a turn, and wait for its end if asked to", http.StatusOK), a.turnGet)
	serveBody(a, operation("POST /v1/turns/{id}/cancel", "cancel-turn", "Cancel a turn", http.StatusOK), a.turnCancel)
	serveBody(a, operation("POST /v1/sessions/{id}/fork", "fork-session", "Begin a conversation as another stood after a turn", http.StatusCreated, conflict, tooLarge), a.sessionFork)
	serveBody(a, operation("GET /v1/sessions/{id}/fork", "get-fork", "Get what a conversation is a fork of, and what changed in the rows that it knows since", http.StatusOK), a.forkGet)
	serveBody(a, operation("GET /v1/sessions/{id}/branches", "list-branches", "List the forks of a conversation, and what it is a fork of", http.StatusOK), a.sessionBranches)
	serve(a, a.enqueues(operation("POST /v1/turns/{id}/undo", "undo-turn", "Take back what a turn wrote", http.StatusAccepted, conflict)), a.turnUndo)
	serveBody(a, operation("PUT /v1/turns/{id}/feedback", "give-feedback", "Say what you think of a reply; the last word counts", http.StatusOK, tooLarge), a.feedbackGive)
	serveEmpty(a, operation("DELETE /v1/turns/{id}/feedback", "take-back-feedback", "Take back what you thought of a reply", http.StatusNoContent), a.feedbackTakeBack)
	a.registerEvents()
}

// registerInsight describes and serves the routes about what conversations know and how turns came about.
func (a *api) registerInsight() {
	serveBody(a, operation("GET /v1/turns/{id}/timeline", "get-timeline", "What happened in a turn, in order", http.StatusOK), a.turnTimeline)
	serveBody(a, operation("GET /v1/turns/{id}/results", "list-results", "What a turn's tools were asked and returned", http.StatusOK), a.turnResults)
	serveBody(a, operation("GET /v1/turns/{id}/calls", "list-calls", "A turn's requests to models", http.StatusOK), a.callList)
	serveBody(a, operation("GET /v1/calls/{id}", "get-call", "One request to a model: what was asked and answered, and why it stood in the prompt", http.StatusOK), a.callGet)
	serveBody(a, operation("GET /v1/sessions/{id}/entities", "list-entities", "What the session knows, by tier", http.StatusOK), a.entityList)
	serveBody(a, operation("GET /v1/sessions/{id}/context", "preview-context", "What a node would see now, and why", http.StatusOK), a.contextPreview)
	serveBody(a, operation("GET /v1/sessions/{id}/summaries", "list-summaries", "What is remembered of each turn", http.StatusOK), a.summaryList)
	serveBody(a, operation("GET /v1/sessions/{id}/decisions", "list-decisions", "What was kept in view or taken out of it, and why", http.StatusOK), a.decisionList)
	serveBody(a, operation("GET /v1/sessions/{id}/constraints", "list-constraints", "What the user asked to hold, here and lastingly", http.StatusOK), a.constraintList)
	serveEmpty(a, operation("PUT /v1/sessions/{id}/entities/{ref}/pin", "pin-entity", "Keep an entity in view", http.StatusNoContent), a.pin)
	serveEmpty(a, operation("DELETE /v1/sessions/{id}/entities/{ref}/pin", "unpin-entity", "No longer keep it", http.StatusNoContent), a.unpin)
}

// registerRows describes and serves the routes about drafts and the domain's rows.
func (a *api) registerRows() {
	const draft = " /v1/sessions/{id}/artifacts/{ref}"
	serve(a, operation("GET"+draft, "get-artifact", "A draft with its versions", http.StatusOK), a.artifactGet)
	serve(a, operation("PATCH"+draft, "patch-artifact", "Change a draft: its whole content, as a new version", http.StatusOK, conflict, stale, tooLarge), a.artifactPatch)
	serveEmpty(a, operation("DELETE"+draft, "drop-artifact", "Discard a draft", http.StatusNoContent, conflict, stale), a.artifactDrop)
	serve(a, operation("POST"+draft+"/save", "save-artifact", "Save a draft as it stands: the row it became", http.StatusCreated, conflict, stale), a.artifactSave)
	serveBody(a, operation("POST /v1/data/{type}/batch", "batch-rows", "Create, change and delete many rows, all or none; what is wrong is said of each", http.StatusOK, conflict, tooLarge), a.rowBatch)
	serveBody(a, operation("GET /v1/data/{type}/{id}/history", "row-history", "Who changed a row, in which conversation or beside them, newest first", http.StatusOK), a.rowHistory)
	serveBody(a, operation("GET /v1/data/{type}", "list-rows", "Rows of a type", http.StatusOK), a.rowList)
	serve(a, operation("POST /v1/data/{type}", "create-row", "Create a row", http.StatusCreated, conflict, tooLarge), a.rowCreate)
	serve(a, operation("GET /v1/data/{type}/{id}", "get-row", "One row with its parts", http.StatusOK), a.rowGet)
	serve(a, operation("PATCH /v1/data/{type}/{id}", "patch-row", "Change a row; null clears a column", http.StatusOK, conflict, stale, tooLarge), a.rowPatch)
	remove := operation("DELETE /v1/data/{type}/{id}", "delete-row", "Delete a row; 409 confirmation_needed says which rows of others go with it", http.StatusOK, conflict, stale)
	remove.Responses = map[string]*huma.Response{"200": {Description: "As preferred: the row that went, in _was."}, "204": {Description: http.StatusText(http.StatusNoContent)}}
	serve(a, remove, a.rowDelete)
	serve(a, operation("POST /v1/data/{type}/{id}/{operation}", "operate-row", "Do to a row what the domain declares; 409 confirmation_needed says what it would do", http.StatusOK, conflict, stale, tooLarge), a.rowOperate)
	serveBody(a, operation("GET /v1/data", "list-types", "Types of rows", http.StatusOK), a.typeList)
	serveBody(a, operation("GET /v1/mentions", "list-mentions", "Rows to mention, by part of their name", http.StatusOK), a.mentionList)
	serveBody(a, operation("GET /v1/user", "get-user", "Get who you are", http.StatusOK), a.userGet)
	serveBody(a, operation("PATCH /v1/user", "patch-user", "Say in which time zone you are", http.StatusOK, tooLarge), a.userPatch)
	serveBody(a, operation("GET /v1/search", "search", "Search rows and past turns by words and meaning", http.StatusOK), a.search)
}

// operation describes a route, given as for [http.ServeMux]. Every route may return the common errors; errs are its own.
func operation(route, id, summary string, status int, errs ...int) huma.Operation {
	method, path, _ := strings.Cut(route, " ")
	if slices.Contains(errs, tooLarge) { // it takes a body
		errs = append(errs, http.StatusUnsupportedMediaType)
	}

	return huma.Operation{
		Method: method, Path: path, OperationID: id, Summary: summary, DefaultStatus: status, Tags: []string{tagOf(path)},
		MaxBodyBytes: maxBody, BodyReadTimeout: 10 * time.Second,
		Errors: append(errs, http.StatusBadRequest, http.StatusTooManyRequests, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusServiceUnavailable),
	}
}

// tags are the sections of the description. A route belongs to the first whose pattern matches its path.
var tags = []struct{ name, about, pattern string }{
	{"events", "What happens, as it happens: server-sent events that go on where a connection broke.", "events$"},
	{"drafts", "What was generated and is not saved.", "artifacts"},
	{"memory", "What a conversation knows, and why.", "/(entities|decisions|constraints|summaries|context)|mentions"},
	{"sessions", "Conversations.", "^/v1/sessions(/{id}(/fork|/branches)?)?$"},
	{"inspection", "How a turn came about.", "/(calls|timeline|results)"},
	{"turns", "Messages and what became of them.", "turns"},
	{"rows", "The domain's rows, for user interfaces.", "data"},
	{"user", "Who is asking.", "^/v1/user$"},
	{"search", "All that was said and stored.", "search"},
}

func tagOf(path string) string {
	for _, tag := range tags {
		if regexp.MustCompile(tag.pattern).MatchString(path) {
			return tag.name
		}
	}

	return "others"
}

// serve adds a route. Its handler's errors become problems here, and are kept for the log.
func serve[In, Out any](a *api, op huma.Operation, handle func(context.Context, *In) (*Out, error)) {
	huma.Register(a.huma, op, func(ctx context.Context, in *In) (*Out, error) {
		out, err := handle(ctx, in)
		if err != nil {
			problem.Note(ctx, err)

			return nil, problem.Of(err)
		}

		return out, nil
	})
}

// serveBody is serve for handlers that return the body and leave the headers alone.
func serveBody[In, Body any](a *api, op huma.Operation, handle func(context.Context, *In) (Body, error)) {
	type answer struct{ Body Body }

	serve(a, op, func(ctx context.Context, in *In) (*answer, error) {
		body, err := handle(ctx, in)

		return &answer{body}, err
	})
}

// serveEmpty is serve for answers without a body.
func serveEmpty[In any](a *api, op huma.Operation, handle func(context.Context, *In) error) {
	serve(a, op, func(ctx context.Context, in *In) (*struct{}, error) { return &struct{}{}, handle(ctx, in) })
}

// pathID is an id in a path. A malformed one is the nil id, so that it gets the same answer as one that does not exist.
type pathID struct{ uuid.UUID }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (id *pathID) UnmarshalText(text []byte) error {
	if parsed, err := uuid.ParseBytes(text); err == nil {
		id.UUID = parsed
	}

	return nil
}

// Schema says no more than that it is a text, as for the ids in answers.
func (pathID) Schema(huma.Registry) *huma.Schema { return &huma.Schema{Type: huma.TypeString} }

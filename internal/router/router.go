package router

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/internal/auth"
	"alfred/internal/directory"
	"alfred/internal/httpapi/problem"
	"alfred/internal/pg"
)

// Config is what a router works with.
type Config struct {
	// Users says who is where.
	Users *directory.Map
	// Tokens is nil where none are taken.
	Tokens *auth.Tokens
	// Open makes the API of a database. It is tried again a moment after it has failed.
	Open func(ctx context.Context, database directory.Database) (API, error)
	// Patience is how long a request waits for a user who is being moved: for the end of the turn that runs, and the switch; 0
	// means 20 s.
	Patience time.Duration
	Logger   *slog.Logger
}

// API is that of one database.
type API struct {
	http.Handler

	Pool *pgxpool.Pool
}

// Router is the API over many databases.
type Router struct {
	Config

	mu     sync.Mutex
	places map[directory.Database]*place
}

// New returns a router that has opened nothing yet.
func New(config Config) *Router {
	config.Patience = cmp.Or(config.Patience, moveWait)

	return &Router{Config: config, places: map[directory.Database]*place{}}
}

// reopenPause is how long a database that could not be opened is left alone.
const reopenPause = time.Second

// place is a database's API. Who comes while it is being opened waits for that.
type place struct {
	mu     sync.Mutex
	api    API
	failed time.Time
	err    error
}

// Warm opens databases ahead of their first request. One that cannot be opened does not hinder the others.
func (r *Router) Warm(ctx context.Context, databases []directory.Listed) {
	var all sync.WaitGroup
	for _, database := range databases {
		all.Go(func() {
			if _, err := r.open(ctx, database.Database); err != nil {
				r.Logger.WarnContext(ctx, "a database cannot be opened", slog.String("database", database.Name), slog.Any("error", err))
			}
		})
	}
	all.Wait()
}

func (r *Router) open(ctx context.Context, database directory.Database) (API, error) {
	r.mu.Lock()
	p := r.places[database]
	if p == nil {
		p = &place{}
		r.places[database] = p
	}
	r.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.api.Handler == nil && time.Since(p.failed) > reopenPause {
		if p.api, p.err = r.Open(ctx, database); p.err != nil {
			p.failed = time.Now()
		}
	}

	return p.api, p.err
}

// opened is every API there is.
func (r *Router) opened() []http.Handler {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []http.Handler
	for _, p := range r.places {
		if !p.mu.TryLock() {
			continue // it is being opened
		}
		if p.api.Handler != nil {
			all = append(all, p.api)
		}
		p.mu.Unlock()
	}

	return all
}

// ServeHTTP answers a request where its user is; what needs none, such as the page, anywhere.
func (r *Router) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.URL.Path == "/readyz" {
		r.ready(w, request)

		return
	}
	who, err := r.caller(request)
	if err != nil {
		r.serveAnywhere(w, request) // which says what is wrong, or needs nobody

		return
	}
	user, err := r.Users.Find(request.Context(), who)
	switch {
	case errors.Is(err, directory.ErrUnknown):
		r.serveAnywhere(w, request) // where it is refused in the words of a key that is not good
	case err != nil:
		unavailable(w)
	default:
		r.serveUser(w, request.WithContext(auth.WithPlace(request.Context(), r.placeOf(who), time.Now())), who, user)
	}
}

// placeOf finds the database of a user whose request is being answered while they move.
func (r *Router) placeOf(who directory.Who) auth.Place {
	return func(ctx context.Context) (*pgxpool.Pool, error) {
		user, err := r.Users.Ask(ctx, who)
		if err != nil { // known users go on
			user, err = r.Users.Find(ctx, who)
		}
		if err != nil {
			return nil, err
		}
		api, err := r.open(ctx, user.Database)

		return api.Pool, err
	}
}

func (r *Router) caller(request *http.Request) (directory.Who, error) {
	credential, err := auth.Read(request.Context(), auth.Authorization(request), r.Tokens)

	return directory.Who{KeyHash: credential.KeyHash, Name: credential.User}, err
}

const (
	moveWait = 20 * time.Second
	// tryPause is the pause between two attempts; it grows to longPause.
	tryPause, longPause = 25 * time.Millisecond, 200 * time.Millisecond
)

// serveUser tries the known database and, if that refuses or no longer knows the key, the one that the directory names.
func (r *Router) serveUser(w http.ResponseWriter, request *http.Request, who directory.Who, user directory.User) {
	body, until := &replay{}, time.Time{}
	for length := tryPause; ; length = min(2*length, longPause) {
		answer := &held{ResponseWriter: w, holds: refusedOrFailed}
		began := r.serve(answer, body.again(request), user.Database)
		if !answer.holding {
			return
		}
		if until.IsZero() { // the request itself may have waited for long
			until = time.Now().Add(r.Patience)
		}
		now, err := r.ask(request.Context(), who, answer)
		moved := now.Epoch != user.Epoch || now.Database != user.Database
		again := answer.elsewhere() || moved && answer.harmless(began, request)
		if err != nil || !again || body.over || time.Now().After(until) {
			answer.release()

			return
		}
		// What refused has set a deadline as if the request were over. Where there is no connection there is none.
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
		if !moved && pg.Pause(request.Context(), length) != nil {
			return
		}
		user = now
	}
}

// ask asks the directory where the user is now. A database that has just failed is no reason to wait for it.
func (r *Router) ask(ctx context.Context, who directory.Who, answer *held) (directory.User, error) {
	if answer.elsewhere() {
		return r.Users.Ask(ctx, who)
	}

	return r.Users.Look(ctx, who)
}

// serve reports whether the database was asked.
func (r *Router) serve(answer *held, request *http.Request, database directory.Database) bool {
	handler, err := r.open(request.Context(), database)
	if err != nil {
		r.Logger.WarnContext(request.Context(), "a database cannot be opened", slog.String("database", database.Name), slog.Any("error", err))
		unavailable(answer)

		return false
	}
	handler.ServeHTTP(answer, request)

	return true
}

// serveAnywhere serves what is the same at every database.
func (r *Router) serveAnywhere(w http.ResponseWriter, request *http.Request) {
	if all := r.opened(); len(all) > 0 {
		all[0].ServeHTTP(w, request)

		return
	}
	unavailable(w)
}

// ready reports the process as ready as long as one database is: there are users to serve.
func (r *Router) ready(w http.ResponseWriter, request *http.Request) {
	for _, handler := range r.opened() {
		answer := &held{ResponseWriter: w, holds: notOK}
		handler.ServeHTTP(answer, request)
		if !answer.holding {
			return
		}
	}
	unavailable(w)
}

func unavailable(w http.ResponseWriter) {
	problem.Write(w, problem.Unavailable("The database of this user does not answer; try again.", time.Second))
}

// refusedOrFailed: the database does not know the key, or fails; it may be one that the user has left.
func refusedOrFailed(status int) bool {
	return status == http.StatusUnauthorized || status >= http.StatusInternalServerError
}

func notOK(status int) bool { return status != http.StatusOK }

// held is a response that is withheld if it says that the user is elsewhere, or has one of the statuses that holds names.
type held struct {
	http.ResponseWriter

	holds   func(status int) bool
	header  http.Header
	status  int
	holding bool
	body    []byte
}

// Header is separate until the response is sent: a withheld one leaves no headers behind.
func (h *held) Header() http.Header {
	if h.header == nil {
		h.header = http.Header{}
	}

	return h.header
}

// WriteHeader decides whether the response is sent.
func (h *held) WriteHeader(status int) {
	if h.status != 0 {
		return
	}
	h.status = status
	h.holding = h.elsewhere() || h.holds(status)
	if !h.holding {
		h.send()
	}
}

// elsewhere: the database has said that it does not serve the user.
func (h *held) elsewhere() bool { return h.Header().Get(problem.ElsewhereHeader) != "" }

// harmless reports whether the request can be sent again: it has done nothing, or is idempotent.
func (h *held) harmless(began bool, request *http.Request) bool {
	if h.status == http.StatusUnauthorized || !began {
		return true
	}
	switch request.Method {
	case http.MethodGet, http.MethodHead:
		return true
	case http.MethodPost:
		return request.Header.Get("Idempotency-Key") != ""
	default:
		return false
	}
}

func (h *held) send() {
	h.Header().Del(problem.ElsewhereHeader)
	maps.Copy(h.ResponseWriter.Header(), h.header)
	h.ResponseWriter.WriteHeader(h.status)
}

// Write stores the body of a withheld response, which is short.
func (h *held) Write(data []byte) (int, error) {
	h.WriteHeader(http.StatusOK)
	if h.holding {
		h.body = append(h.body, data...)

		return len(data), nil
	}

	return h.ResponseWriter.Write(data)
}

// FlushError is what [http.ResponseController] calls.
func (h *held) FlushError() error {
	h.WriteHeader(http.StatusOK)
	if h.holding {
		return nil
	}

	return http.NewResponseController(h.ResponseWriter).Flush()
}

// Unwrap leads to the connection's deadlines.
func (h *held) Unwrap() http.ResponseWriter { return h.ResponseWriter }

// release sends a withheld response.
func (h *held) release() {
	h.holding = false
	h.send()
	_, _ = h.ResponseWriter.Write(h.body) // a client that has gone needs no answer
}

// maxReplay bounds what is kept of a request to send it again; the API takes no larger ones.
const maxReplay = 9 << 20

// replay keeps what has been read of a request's body.
type replay struct {
	read bytes.Buffer
	over bool // there was more than is kept
}

// again is the request from its beginning: what was read before, then on. The server closes the body.
func (r *replay) again(request *http.Request) *http.Request {
	clone := request.Clone(request.Context())
	if request.Body != http.NoBody {
		clone.Body = io.NopCloser(io.MultiReader(bytes.NewReader(r.read.Bytes()), io.TeeReader(request.Body, r)))
	}

	return clone
}

// Write keeps what is read on.
func (r *replay) Write(data []byte) (int, error) {
	r.over = r.over || r.read.Len()+len(data) > maxReplay
	if !r.over {
		r.read.Write(data)
	}

	return len(data), nil
}

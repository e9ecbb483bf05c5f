package httpapi

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"alfred/internal/domain"
	"alfred/internal/httpapi/problem"
)

// noWorker is what readyz says while no worker is running; the page checks for its beginning.
const noWorker = `no worker is answering: start one with "worker run"`

// registerHealth serves the probes: healthz says that the process is alive, readyz that it can do its work: the
// database answers, and the tables are the expected ones.
func (a *api) registerHealth(mux *http.ServeMux) {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { probe(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
		defer cancel()
		status, text, err := a.ready(ctx)
		if err != nil {
			problem.Note(r.Context(), err)
		}
		probe(w, status, text)
	})
}

// ready is readyz's answer. Without a worker, messages are still accepted and wait, so a load balancer should not
// remove this server.
func (a *api) ready(ctx context.Context) (status int, text string, err error) {
	readOnly, err := a.q.DatabaseReadOnly(ctx, a.Pool)
	if err != nil {
		return http.StatusServiceUnavailable, "the database does not answer", fmt.Errorf("ask the database: %w", err)
	}
	if readOnly {
		return http.StatusServiceUnavailable, "the database may only be read: nothing new is taken", nil
	}
	alive, err := a.q.WorkerAlive(ctx, a.Pool)
	if err != nil {
		return http.StatusServiceUnavailable, "the database cannot be read", fmt.Errorf("look for workers: %w", err)
	}
	differences, err := a.drift.look(ctx, a.Pool, a.Domain)
	if len(differences) > 0 {
		return http.StatusServiceUnavailable, "the tables are not what they were when this program started: " + differences[0].String(), err
	}
	if !alive {
		return http.StatusOK, noWorker, err
	}

	return http.StatusOK, "ok", err
}

// drift is the last known difference between tables and declaration. Comparing reads the whole catalog, which is slow
// on a busy server: one probe at a time does it, every few seconds, and the others use the last result.
type drift struct {
	looking sync.Mutex
	last    atomic.Pointer[comparison]
}

type comparison struct {
	at    time.Time
	found []domain.Difference
}

const driftFor = 2 * time.Second

// look returns the last result, with an error if it could not be refreshed.
func (d *drift) look(ctx context.Context, db domain.DB, bound *domain.Domain) ([]domain.Difference, error) {
	last := cmp.Or(d.last.Load(), &comparison{})
	if time.Since(last.at) < driftFor || !d.looking.TryLock() {
		return last.found, nil
	}
	defer d.looking.Unlock()
	found, err := domain.Drift(ctx, db, bound)
	if err != nil {
		found, err = last.found, fmt.Errorf("compare tables: %w", err)
	}
	d.last.Store(&comparison{time.Now(), found})

	return found, err
}

func probe(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n")) // a disconnected prober needs no answer
}

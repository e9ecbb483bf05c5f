package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"alfred/domain"
)

// noWorker is what readyz says while nobody works; the page looks for its beginning.
const noWorker = `no worker is answering: start one with "worker run"`

// registerHealth serves the probes: healthz says that the process lives, readyz
// that it can do its work: the database answers, and the tables are those that it knows.
func (a *api) registerHealth(mux *http.ServeMux) {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { probe(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
		defer cancel()
		status, text, err := a.ready(ctx)
		if err != nil {
			noteCause(r.Context(), err)
		}
		probe(w, status, text)
	})
}

// ready is what readyz answers. Without a worker messages are taken all the same, and wait: a load balancer has no
// reason to leave.
func (a *api) ready(ctx context.Context) (status int, text string, err error) {
	readOnly, err := a.q.DatabaseReadOnly(ctx, a.Pool)
	if err != nil {
		return http.StatusServiceUnavailable, "the database does not answer", fmt.Errorf("ask the database: %w", err)
	}
	if readOnly {
		return http.StatusServiceUnavailable, "the database may only be read: nothing new is taken", nil
	}
	differences, err := domain.Drift(ctx, a.Pool, a.Domain)
	if err != nil {
		return http.StatusServiceUnavailable, "the database cannot be read", fmt.Errorf("compare tables: %w", err)
	}
	if len(differences) > 0 {
		return http.StatusServiceUnavailable, "the tables are not what they were when this program started: " + differences[0].String(), nil
	}
	alive, err := a.q.WorkerAlive(ctx, a.Pool)
	if err != nil {
		return http.StatusServiceUnavailable, "the database cannot be read", fmt.Errorf("look for workers: %w", err)
	}
	if !alive {
		return http.StatusOK, noWorker, nil
	}

	return http.StatusOK, "ok", nil
}

func probe(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n")) // a prober that has gone needs no answer
}

package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"sync"
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

// drift is what is known of how the tables have changed. Comparing reads the whole catalog, which a server under load
// does slowly: it is done for one probe at a time, every few seconds, and the others take what is known.
type drift struct {
	looking sync.Mutex

	mu    sync.Mutex
	at    time.Time
	known []domain.Difference
}

const driftFor = 2 * time.Second

// look returns what is known, with an error when it could not be found out anew.
func (d *drift) look(ctx context.Context, db domain.DB, bound *domain.Domain) ([]domain.Difference, error) {
	if known, fresh := d.last(); fresh || !d.looking.TryLock() {
		return known, nil
	}
	defer d.looking.Unlock()
	found, err := domain.Drift(ctx, db, bound)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at = time.Now()
	if err != nil {
		return d.known, fmt.Errorf("compare tables: %w", err)
	}
	d.known = found

	return found, nil
}

func (d *drift) last() (known []domain.Difference, fresh bool) {
	d.mu.Lock()
	defer d.mu.Unlock()

	return d.known, time.Since(d.at) < driftFor
}

func probe(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n")) // a prober that has gone needs no answer
}

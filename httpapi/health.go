package httpapi

import (
	"context"
	"net/http"
	"time"
)

// registerHealth serves the probes: healthz says that the process lives, readyz
// that it can do its work.
func (a *api) registerHealth(mux *http.ServeMux) {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { probe(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
		defer cancel()
		readOnly, err := a.q.DatabaseReadOnly(ctx, a.Pool)
		switch {
		case err != nil:
			noteCause(r.Context(), err)
			probe(w, http.StatusServiceUnavailable, "the database does not answer")
		case readOnly:
			probe(w, http.StatusServiceUnavailable, "the database may only be read: nothing new is taken")
		default:
			probe(w, http.StatusOK, "ok")
		}
	})
}

func probe(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n")) // a prober that has gone needs no answer
}

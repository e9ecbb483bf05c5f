package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"riverqueue.com/riverui"

	"alfred/internal/auth"
	"alfred/internal/httpapi/problem"
	"alfred/internal/pg"
)

const riverPrefix = "/riverui"

// RiverUI serves River's job pages until ctx ends. Its client inserts and works nothing.
func RiverUI(ctx context.Context, pool *pgxpool.Pool, logger *slog.Logger) (http.Handler, error) {
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Schema: pg.Schema, Logger: logger})
	if err != nil {
		return nil, fmt.Errorf("make River client: %w", err)
	}
	ui, err := riverui.NewHandler(&riverui.HandlerOpts{Endpoints: riverui.NewEndpoints(client, nil), Logger: logger, Prefix: riverPrefix})
	if err != nil {
		return nil, fmt.Errorf("make River UI: %w", err)
	}
	if err := ui.Start(ctx); err != nil {
		return nil, fmt.Errorf("start River UI: %w", err)
	}

	return ui, nil
}

// registerOperator serves what shows all users' work: the metrics and River's pages.
func (a *api) registerOperator(mux *http.ServeMux) {
	if a.Telemetry != nil {
		mux.Handle("GET /metrics", a.admin(a.Telemetry.Handler()))
	}
	if a.RiverUI != nil {
		// A browser also sends Basic credentials for other sites' pages, hence sameOrigin.
		mux.Handle(riverPrefix+"/", a.sameOrigin(a.admin(a.RiverUI)))
		mux.Handle("GET "+riverPrefix, http.RedirectHandler(riverPrefix+"/", http.StatusMovedPermanently))
	}
}

// admin requires an admin key, as [auth.Authorization] reads it.
func (a *api) admin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := a.checkAdmin(r); err != nil {
			problem.Note(r.Context(), err)
			refused := *problem.Of(err)
			refused.Challenge = `Basic realm="Alfred: a key of scope admin is the password", charset="UTF-8"`
			problem.Write(w, &refused)

			return
		}
		next.ServeHTTP(w, r)
	})
}

func (a *api) checkAdmin(r *http.Request) error {
	who, err := a.gate.Identify(r.Context(), auth.Authorization(r))
	if err == nil && !who.Admin() {
		err = auth.ErrForbidden
	}

	return err
}

// traced records API requests, within the caller's trace if there is one. Streams are excluded: their duration depends
// on their readers.
func (a *api) traced(next http.Handler) http.Handler {
	if a.Telemetry == nil {
		return next
	}

	return otelhttp.NewHandler(next, "request", otelhttp.WithTracerProvider(a.Telemetry.Traces), otelhttp.WithMeterProvider(a.Telemetry.Metrics),
		otelhttp.WithFilter(func(r *http.Request) bool {
			return strings.HasPrefix(r.URL.Path, "/v1/") && !strings.HasSuffix(r.URL.Path, "/events")
		}))
}

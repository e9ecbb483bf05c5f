package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"alfred/internal/telemetry"
)

// serveMetrics serves /metrics and /healthz on addr until the returned function is called; with "" it serves nothing.
func serveMetrics(ctx context.Context, addr string, told *telemetry.Telemetry) (func(), error) {
	if addr == "" {
		return func() {}, nil
	}
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on ALFRED_METRICS_ADDR: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", told.Handler())
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("ok\n")) // a disconnected prober needs no answer
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }() // ends with Close below

	return func() { _ = server.Close() }, nil
}

package program

import (
	"context"
	"log/slog"
	"os"
	"strconv"
	"time"

	"alfred/internal/telemetry"
)

const telemetryGrace = 5 * time.Second

// OpenTelemetry opens a process's telemetry. The returned function flushes it, to a collector that may be gone.
func OpenTelemetry(ctx context.Context, service, collector string, logger *slog.Logger) (*telemetry.Telemetry, func(), error) {
	told, err := telemetry.Open(ctx, telemetry.Config{Service: service, Version: Version(), Instance: instance(), Collector: collector})
	if err != nil {
		return nil, nil, err
	}

	return told, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), telemetryGrace)
		defer cancel()
		if err := told.Close(ctx); err != nil {
			logger.WarnContext(ctx, "last traces and metrics lost", slog.Any("error", err))
		}
	}, nil
}

// instance identifies this process among its kind.
func instance() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}

	return host + ":" + strconv.Itoa(os.Getpid())
}

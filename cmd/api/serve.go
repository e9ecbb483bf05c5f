package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
	"alfred/internal/auth"
	"alfred/internal/crud"
	"alfred/internal/httpapi"
	"alfred/internal/pg"
	"alfred/internal/preview"
)

type serveCommand struct {
	Conns int32 `default:"16" min:"1" help:"Maximum database connections, besides the one that listens."`
}

// Help lists the settings.
func (c *serveCommand) Help() string { return settings.Help(settings.API) }

// openUser is the user of all requests when authentication is off.
const openUser = "demo"

// shutdownGrace is how long open requests may take to finish. Streams and waits end at once: their clients resume
// elsewhere.
const shutdownGrace = 5 * time.Second

// Run serves until ctx ends.
func (c *serveCommand) Run(ctx context.Context, e settings.Env, s *settings.Settings, console *program.Console) error {
	logger := slog.New(slog.NewJSONHandler(console.Errs, nil))
	program.WarnOfUnknownSettings(ctx, e, logger)
	places := &places{settings: s, conns: c.Conns, tokens: auth.NewTokens(s.Tokens, logger), logger: logger}
	defer places.close()
	tele, closeTelemetry, err := program.OpenTelemetry(ctx, "alfred-api", s.Collector, logger)
	if err != nil {
		return err
	}
	defer closeTelemetry() // before the pools, from which the last metrics are read
	places.telemetry = tele
	if s.Open {
		logger.WarnContext(ctx, "authentication is off", slog.String("user", openUser), slog.String("addr", s.Addr))
	}
	if s.Directory != "" {
		return places.serveMany(ctx)
	}

	return places.serveOne(ctx)
}

// configure makes what the API of one database works with.
func configure(ctx context.Context, s *settings.Settings, pool *pgxpool.Pool, logger *slog.Logger) (httpapi.Config, error) {
	bound, err := program.OpenDomain(ctx, pool, s.Domain)
	if err != nil {
		return httpapi.Config{}, err
	}
	searcher, err := program.OpenSearch(s, pool, bound)
	if err != nil {
		return httpapi.Config{}, err
	}

	return httpapi.Config{
		Pool: pool, Listener: pg.NewListener(pool.Config().ConnConfig, logger), Domain: bound, Rows: crud.New(bound, searcher),
		Preview: preview.New(bound, s.Windows), Search: searcher, Limits: s.Limits, Budget: s.Budget, Origins: s.Origins, Logger: logger, Version: program.Version(),
	}, nil
}

// serve answers on addr until ctx is over. What is being answered then may finish. open makes the handler, and adds to the
// group what runs beside it; its context is over when the server is being stopped.
func serve(ctx context.Context, addr string, logger *slog.Logger, open func(ctx context.Context, group *errgroup.Group) (http.Handler, error)) error {
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("listen on ALFRED_ADDR: %w", err)
	}
	group, ctx := errgroup.WithContext(ctx)
	handler, err := open(ctx, group)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
	group.Go(func() error {
		<-ctx.Done()
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
		defer cancel()

		return server.Shutdown(grace)
	})
	logger.InfoContext(ctx, "serving", slog.String("addr", listener.Addr().String()))
	group.Go(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve: %w", err)
		}

		return nil
	})

	return group.Wait()
}

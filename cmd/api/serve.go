package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"alfred/crud"
	"alfred/db"
	"alfred/domain"
	"alfred/httpapi"
	"alfred/llm/provider"
	"alfred/memory"
	"alfred/pg"
	"alfred/recall"
)

type serveCommand struct {
	Conns int32 `default:"16" help:"Connections to the database at most, besides the one that listens."`
}

// Help lists the settings.
func (c *serveCommand) Help() string { return settingsHelp }

// openUser is whom requests act for when authentication is off.
const openUser = "demo"

// shutdownGrace is how long open requests may take to end. Streams and waits end
// at once: their clients go on elsewhere.
const shutdownGrace = 5 * time.Second

// Run serves until ctx is over.
func (c *serveCommand) Run(ctx context.Context, e env, console *console) error {
	s, err := parseSettings(e)
	if err != nil {
		return err
	}
	logger := slog.New(slog.NewJSONHandler(console.errs, nil))
	pool, err := pg.Open(ctx, pg.Config{URL: s.databaseURL, AppName: "alfred api", MaxConns: c.Conns})
	if err != nil {
		return err //nolint:wrapcheck // typed, and says what to do
	}
	defer pool.Close()
	if err := pg.CheckSchema(ctx, pool, logger); err != nil {
		return err //nolint:wrapcheck // typed, and says what to do
	}
	config, err := s.config(ctx, pool, logger)
	if err != nil {
		return err
	}

	return serve(ctx, s.addr, config)
}

// config makes what the API works with.
func (s *settings) config(ctx context.Context, pool *pgxpool.Pool, logger *slog.Logger) (httpapi.Config, error) {
	files, file := domain.Find(s.domain)
	bound, err := domain.Open(ctx, pool, files, file)
	if err != nil {
		return httpapi.Config{}, err //nolint:wrapcheck // the domain's own words
	}
	embedder, err := provider.NewEmbedder(&s.embedder)
	if err != nil {
		return httpapi.Config{}, fmt.Errorf("choose an embedder: %w", err)
	}
	searcher := recall.New(bound, embedder)
	searcher.Follow(pool, s.embedder.Earlier)
	config := httpapi.Config{
		Pool: pool, Listener: pg.NewListener(pool.Config().ConnConfig, logger), Domain: bound, Rows: crud.New(bound, searcher),
		Memory: memory.New(bound, s.windows), Search: searcher, Limits: s.limits, Origins: s.origins, Logger: logger, Version: version(),
	}
	if s.open {
		if config.OpenUser, err = ensureOpenUser(ctx, pool); err != nil {
			return httpapi.Config{}, err
		}
		logger.WarnContext(ctx, "authentication is off", slog.String("user", openUser), slog.String("addr", s.addr))
	}

	return config, nil
}

func ensureOpenUser(ctx context.Context, pool *pgxpool.Pool) (uuid.UUID, error) {
	id, err := db.New().UserEnsure(ctx, pool, openUser)
	if err != nil {
		return uuid.Nil, fmt.Errorf("make user: %w", err)
	}

	return id, nil
}

// serve answers on addr until ctx is over. What is being answered then may finish.
func serve(ctx context.Context, addr string, config httpapi.Config) error {
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("listen on ALFRED_ADDR: %w", err)
	}
	group, ctx := errgroup.WithContext(ctx)
	config.Stopping = ctx.Done()
	server := &http.Server{
		Handler: httpapi.New(config), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		ErrorLog: slog.NewLogLogger(config.Logger.Handler(), slog.LevelWarn),
	}
	group.Go(func() error { return config.Listener.Run(ctx) })
	group.Go(func() error {
		<-ctx.Done()
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
		defer cancel()

		return server.Shutdown(grace)
	})
	config.Logger.InfoContext(ctx, "serving", slog.String("addr", listener.Addr().String()))
	group.Go(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve: %w", err)
		}

		return nil
	})

	return group.Wait() //nolint:wrapcheck // wrapped where they arise
}

// version is the commit that the program was built from, or what the module says.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			return setting.Value
		}
	}

	return info.Main.Version
}

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"alfred/crud"
	"alfred/db"
	"alfred/domain"
	"alfred/httpapi"
	"alfred/llm/lexical"
	"alfred/memory"
	"alfred/pg"
	"alfred/recall"
)

type serveCommand struct {
	database

	Addr     string `default:"127.0.0.1:8080" env:"ALFRED_ADDR"   help:"Where to listen."`
	Auth     string `default:"on"             enum:"on,off"       env:"ALFRED_AUTH" help:"off: every request is the user demo; on loopback only."`
	Domain   string `default:"kitchen"        env:"ALFRED_DOMAIN" help:"Name of a domain that comes with the program, or a file."`
	MaxConns int32  `default:"16"             help:"Connections to the database at most."`
}

// openUser is whom requests act for when authentication is off.
const openUser = "demo"

// shutdownGrace is how long open requests may take to end. Streams are cut: their
// clients resume elsewhere.
const shutdownGrace = 5 * time.Second

var errOpenToTheWorld = errors.New("ALFRED_AUTH=off is only for a loopback address: set ALFRED_ADDR to 127.0.0.1:8080, or leave ALFRED_AUTH on")

// Run serves until ctx is over.
func (c *serveCommand) Run(ctx context.Context, console *console) error {
	logger := slog.New(slog.NewJSONHandler(console.errs, nil))
	if c.Auth == "off" && !loopback(c.Addr) {
		return errOpenToTheWorld
	}
	pool, err := pg.Open(ctx, pg.Config{URL: c.URL, AppName: "alfred-api", MaxConns: c.MaxConns})
	if err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	defer pool.Close()
	if err := pg.CheckSchema(ctx, pool, logger); err != nil {
		return fmt.Errorf("check the schema: %w", err)
	}
	config, err := c.config(ctx, pool, logger)
	if err != nil {
		return err
	}

	return c.serve(ctx, config)
}

func (c *serveCommand) config(ctx context.Context, pool *pgxpool.Pool, logger *slog.Logger) (httpapi.Config, error) {
	fsys, path := domain.Find(c.Domain)
	d, err := domain.Open(ctx, pool, fsys, path)
	if err != nil {
		return httpapi.Config{}, fmt.Errorf("open the domain %s: %w", c.Domain, err)
	}
	config := httpapi.Config{
		Pool: pool, Listener: pg.NewListener(pool.Config().ConnConfig, logger), Domain: d.Name, Logger: logger,
		Rows: crud.New(d, recall.New(d, lexical.Embedder{})), Memory: memory.New(d, memory.DefaultConfig()),
	}
	if c.Auth == "off" {
		if config.OpenUser, err = ensureOpenUser(ctx, pool); err != nil {
			return httpapi.Config{}, err
		}
		logger.WarnContext(ctx, "authentication is off", slog.String("user", openUser), slog.String("addr", c.Addr))
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

func (c *serveCommand) serve(ctx context.Context, config httpapi.Config) error {
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", c.Addr)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	group, ctx := errgroup.WithContext(ctx)
	server := &http.Server{
		Handler: httpapi.New(config), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		// Streams end with the process, so that shutting down does not wait for them.
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	group.Go(func() error { return config.Listener.Run(ctx) })
	group.Go(func() error {
		<-ctx.Done()
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
		defer cancel()

		return server.Shutdown(grace) //nolint:contextcheck // ctx is over, the grace is not
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

func loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)

	return ip != nil && ip.IsLoopback()
}

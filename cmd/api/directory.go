package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.opentelemetry.io/otel/attribute"
	"golang.org/x/sync/errgroup"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
	"alfred/db"
	"alfred/internal/auth"
	"alfred/internal/directory"
	"alfred/internal/httpapi"
	"alfred/internal/pg"
	"alfred/internal/router"
	"alfred/internal/telemetry"
)

// placed is a user and the database that serves them.
type placed struct {
	id    uuid.UUID
	pool  *pgxpool.Pool
	known *directory.Directory // nil where there is one database
	at    directory.Database
}

// withUser works for a user, made if missing: in the database that there is, or in the one that the directory says.
func withUser(ctx context.Context, e settings.Env, name string, work func(placed) error) error {
	known, err := program.OpenDirectory(ctx, e)
	if err != nil {
		return err
	}
	var user directory.User // placed nowhere
	if known != nil {
		defer known.Close()
		if user, err = known.Place(ctx, name); err != nil {
			return err
		}
	}

	return program.InDatabase(ctx, e, "alfred api", user.Database, func(pool *pgxpool.Pool) error {
		id := user.ID
		if known == nil {
			id, err = db.New().UserEnsure(ctx, pool, name)
		} else {
			err = db.New().UserPlaceMake(ctx, pool, &db.UserPlaceMakeParams{ID: id, Name: name})
		}
		if err != nil {
			return fmt.Errorf("make user: %w", err)
		}

		return work(placed{id: id, pool: pool, known: known, at: user.Database})
	})
}

// everywhere works on each database, also if others fail.
func everywhere(ctx context.Context, e settings.Env, work func(*pgxpool.Pool) error) error {
	listed, err := databases(ctx, e)
	failed := []error{err}
	for _, database := range listed {
		failed = append(failed, program.InDatabase(ctx, e, "alfred api", database.Database, work))
	}

	return errors.Join(failed...)
}

// theOnly stands for the database that there is where there is no directory.
var theOnly directory.Listed

// databases lists those of the directory, or the only one that there is.
func databases(ctx context.Context, e settings.Env) ([]directory.Listed, error) {
	known, err := program.OpenDirectory(ctx, e)
	if err != nil {
		return nil, err
	}
	if known == nil {
		return []directory.Listed{theOnly}, nil
	}
	defer known.Close()

	return known.Databases(ctx)
}

// places makes the API of each database.
type places struct {
	settings  *settings.Settings
	conns     int32 // of each
	telemetry *telemetry.Telemetry
	tokens    *auth.Tokens
	logger    *slog.Logger

	mu      sync.Mutex
	closing []func()
}

// open connects to a database and checks that it is one that this program can serve.
func (p *places) open(ctx context.Context, url string, logger *slog.Logger, labels ...attribute.KeyValue) (httpapi.Config, error) {
	pool, err := pg.Open(ctx, pg.Config{URL: url, AppName: "alfred api", MaxConns: p.conns})
	if err != nil {
		return httpapi.Config{}, err
	}
	config, err := p.configure(ctx, pool, logger, labels)
	if err != nil {
		pool.Close()

		return config, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closing = append(p.closing, pool.Close)

	return config, nil
}

func (p *places) configure(ctx context.Context, pool *pgxpool.Pool, logger *slog.Logger, labels []attribute.KeyValue) (config httpapi.Config, err error) {
	if err := pg.CheckSchema(ctx, pool, logger); err != nil {
		return config, err
	}
	if config, err = configure(ctx, p.settings, pool, logger); err != nil {
		return config, err
	}
	if err := program.CheckProven(ctx, pool, p.settings.Domain); err != nil {
		return config, err
	}
	if config.RiverUI, err = httpapi.RiverUI(ctx, pool, logger); err != nil {
		return config, err
	}
	config.Telemetry, config.Tokens = p.telemetry, p.tokens

	return config, httpapi.ObserveRows(p.telemetry.Metrics, pool, logger, labels...)
}

func (p *places) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, closed := range p.closing {
		closed()
	}
}

// serveOne serves the one database there is.
func (p *places) serveOne(ctx context.Context) error {
	config, err := p.open(ctx, p.settings.DatabaseURL, p.logger)
	if err != nil {
		return err
	}
	if p.settings.Open {
		if config.OpenUser, err = db.New().UserEnsure(ctx, config.Pool, openUser); err != nil {
			return fmt.Errorf("make user: %w", err)
		}
	}

	return serve(ctx, p.settings.Addr, p.logger, func(ctx context.Context, group *errgroup.Group) (http.Handler, error) {
		return p.start(ctx, group, config), nil
	})
}

// start makes the handler, which ends its streams when ctx is over. Once the domain was tried anew, another takes its place; what is
// being answered then goes on.
func (p *places) start(ctx context.Context, group *errgroup.Group, config httpapi.Config) http.Handler {
	config.Stopping = ctx.Done()
	group.Go(func() error { return config.Listener.Run(ctx) })
	var current atomic.Pointer[http.Handler]
	current.Store(new(httpapi.New(config)))
	group.Go(func() error {
		program.FollowDomain(ctx, config.Pool, p.settings.Domain, config.Logger, func(ctx context.Context) error {
			newer, err := configure(ctx, p.settings, config.Pool, config.Logger)
			if err != nil {
				return err
			}
			config.Domain, config.Rows, config.Preview, config.Search = newer.Domain, newer.Rows, newer.Preview, newer.Search
			current.Store(new(httpapi.New(config)))

			return nil
		})

		return nil
	})

	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*current.Load()).ServeHTTP(w, r) })
}

// serveMany serves the databases of the directory, each opened when it is first needed, or as soon as it answers.
func (p *places) serveMany(ctx context.Context) error {
	known, err := directory.Open(ctx, p.settings.Directory)
	if err != nil {
		return err
	}
	defer known.Close()
	databases, err := known.Databases(ctx)
	if err != nil {
		return err
	}
	users := directory.NewMap(known, p.logger)

	return serve(ctx, p.settings.Addr, p.logger, func(serving context.Context, group *errgroup.Group) (http.Handler, error) {
		routed := router.New(router.Config{
			Users: users, Tokens: p.tokens, Logger: p.logger,
			Open: func(_ context.Context, database directory.Database) (router.API, error) {
				return p.place(serving, group, users, database)
			},
		})
		routed.Warm(ctx, databases)

		return routed, nil
	})
}

func (p *places) place(ctx context.Context, group *errgroup.Group, users *directory.Map, database directory.Database) (router.API, error) {
	config, err := p.open(ctx, database.URL, p.logger.With(slog.String("database", database.Name)), attribute.String("database", database.Name))
	if err != nil {
		return router.API{}, err
	}
	config.UserOf = func(ctx context.Context, name string) (uuid.UUID, error) {
		user, err := users.Find(ctx, directory.Who{Name: name})

		return user.ID, err
	}

	return router.API{Handler: p.start(ctx, group, config), Pool: config.Pool}, nil
}

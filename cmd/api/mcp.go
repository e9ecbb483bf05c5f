package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sync/errgroup"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
	"alfred/internal/auth"
	"alfred/internal/directory"
	"alfred/internal/follow"
	"alfred/internal/mcpserver"
	"alfred/internal/pg"
)

type mcpCommand struct {
	Send bool             `help:"Also offer send_message; without it, all tools only read."`
	User program.UserName `default:"demo" min:"1" max:"200" help:"The user to act for; created if missing."`
}

// Help explains the purpose.
func (c *mcpCommand) Help() string {
	return "Serves the Model Context Protocol on standard input and output, for programs that start it themselves; api serve has the same at /mcp."
}

// Run serves until the client closes the input.
func (c *mcpCommand) Run(ctx context.Context, e settings.Env, console *program.Console) error {
	return c.serve(ctx, e, console, &mcp.StdioTransport{})
}

func (c *mcpCommand) serve(ctx context.Context, e settings.Env, console *program.Console, transport mcp.Transport) error {
	s, err := settings.Parse(e, settings.API)
	if err != nil {
		return err
	}

	return withUser(ctx, e, string(c.User), func(u placed) error {
		living, end := context.WithCancel(ctx)
		r := &resident{
			placed: u, name: string(c.User), env: e, settings: s, living: living,
			logger: slog.New(slog.NewJSONHandler(console.Errs, &slog.HandlerOptions{Level: slog.LevelWarn})),
		}
		defer r.places.Wait() //nolint:errcheck // each ends without an error when it is ended
		defer end()
		if err := r.settle(ctx, u.pool); err != nil {
			return err
		}
		server := mcpserver.New(r.here.Config).For(mcpserver.Caller{MaySend: c.Send, At: r.settled})
		if err := server.Run(ctx, transport); err != nil && ctx.Err() == nil {
			return fmt.Errorf("serve: %w", err)
		}

		return nil
	})
}

// resident serves one user for as long as a client keeps the process. Where a directory spreads users over several databases,
// it follows the user to theirs.
type resident struct {
	placed

	name     string
	env      settings.Env
	settings *settings.Settings
	logger   *slog.Logger
	living   context.Context //nolint:containedctx // of what outlives the call that opens it: a listener and a pool
	places   errgroup.Group

	mu   sync.Mutex
	here *mcpserver.Place
}

// settle makes the tools work on a database.
func (r *resident) settle(ctx context.Context, pool *pgxpool.Pool) error {
	config, err := configure(ctx, r.settings, pool, r.logger)
	if err != nil {
		return err
	}
	r.places.Go(func() error { return config.Listener.Run(r.living) })
	turns := &follow.Reader{Pool: pool, Listener: config.Listener, UserID: r.id}
	if r.known != nil { // a reader whose database does not serve the user any more, or does not answer, goes where they are
		turns.StillGood = func(ctx context.Context) error { return served(ctx, pool, r) }
		turns.Moved = func(ctx context.Context, _ error) (*follow.Reader, error) {
			here, err := r.settled(ctx)
			if err != nil {
				return nil, err
			}

			return here.Turns, nil
		}
		turns.Patience = answerPatience
	}
	r.pool, r.here = pool, &mcpserver.Place{Config: config.Tools(), Turns: turns}

	return nil
}

func served(ctx context.Context, pool *pgxpool.Pool, r *resident) error {
	ctx, cancel := context.WithTimeout(ctx, answerPatience) // one that fell silent leaves time to ask the directory
	defer cancel()

	return auth.CheckServed(ctx, pool, r.id)
}

// settled is the place of the user's database, if need be a new one.
func (r *resident) settled(ctx context.Context) (*mcpserver.Place, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known != nil {
		if err := r.arrive(ctx); err != nil {
			return nil, err
		}
	}

	return r.here, nil
}

const (
	// answerPatience is how long a database is waited for; it may be gone with the user elsewhere.
	answerPatience  = 5 * time.Second
	arrivalPatience = 20 * time.Second
	arrivalPause    = 100 * time.Millisecond
)

// arrive goes to the user's database if this one does not serve them any more, and waits while they are moved.
func (r *resident) arrive(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, arrivalPatience)
	defer cancel()
	for {
		bad := served(ctx, r.pool, r)
		if bad == nil {
			return nil
		}
		gone := errors.Is(bad, auth.ErrElsewhere)
		user, err := r.known.ByName(ctx, r.name)
		switch {
		case err != nil && gone:
			return err
		case err == nil && user.Database != r.at: // which this one may not know, if it is away
			if err := r.enter(user.Database); err != nil {
				return err
			}
		case !gone:
			return bad
		}
		if pg.Pause(ctx, arrivalPause) != nil {
			return fmt.Errorf("wait for the end of a move: %w", ctx.Err())
		}
	}
}

// enter opens a database, until the process ends.
func (r *resident) enter(database directory.Database) error {
	entered := make(chan error, 1)
	r.places.Go(func() error {
		entered <- program.InDatabase(r.living, r.env, "alfred api", database, func(pool *pgxpool.Pool) error {
			if err := r.settle(r.living, pool); err != nil {
				return err
			}
			r.at = database
			entered <- nil
			<-r.living.Done()

			return nil
		})

		return nil
	})

	return <-entered
}

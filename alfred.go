package alfred

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"alfred/db"
	"alfred/internal/follow"
	"alfred/internal/pg"
	"alfred/jobs"
)

const (
	// conns bounds the connections where the address does not.
	conns = 20

	// idleInTx ends the transactions of a stopped process, whose row locks would hide its jobs from recovery.
	idleInTx = 5 * time.Second

	// patience is how long a reader waits before it looks again.
	patience = 15 * time.Second

	// pause is how long what waits for a turn lets a database that is away come back before it looks again.
	pause = 500 * time.Millisecond
)

// Config is what a host program chooses.
type Config struct {
	// URL is the database's address, as in DATABASE_URL: direct, past any pooler that works by transactions. Its role owns
	// Alfred's schema. pool_max_conns in it bounds the connections, of which a worker needs 3; 20 otherwise.
	URL string
	// Logger is nil for [slog.Default].
	Logger *slog.Logger
	// Migrate brings Alfred's schema up to date first. Any number of programs may do so at once.
	Migrate bool
	// Worker works turns in this program; nil leaves them to others.
	Worker *Worker
}

// ErrClosed ends what waits for a turn when its assistant is closed.
var ErrClosed = errors.New("the assistant is closed")

// Assistant is an open database in which turns are worked on and followed. It is safe for concurrent use.
type Assistant struct {
	pool     *pgxpool.Pool
	listener *pg.Listener
	logger   *slog.Logger
	open     context.Context // until Close
	shut     func() error    // once
}

// Open connects, and starts what the configuration asks for. It refuses a schema that is not this program's, types that
// do not fit the tables, a provider without its key, and a worker that cannot start. Nothing ends by itself after that:
// what a database that is away interrupts is tried again until Close, and Logger told. ctx bounds Open alone. The caller
// closes the assistant.
func Open(ctx context.Context, config Config) (*Assistant, error) {
	pool, err := pg.Open(ctx, pg.Config{AppName: "alfred host", IdleInTxTimeout: idleInTx, MaxConns: maxConns(config.URL), URL: config.URL})
	if err != nil {
		return nil, err
	}
	logger := cmp.Or(config.Logger, slog.Default())
	stop, err := config.start(ctx, pool, logger)
	if err != nil {
		pool.Close()

		return nil, err
	}
	open, end := context.WithCancel(context.WithoutCancel(ctx))
	a := &Assistant{pool: pool, listener: pg.NewListener(pool.Config().ConnConfig, logger), logger: logger, open: open}
	var listening errgroup.Group
	listening.Go(func() error { return a.listener.Run(open) })
	a.shut = sync.OnceValue(func() error {
		end()
		defer pool.Close()

		return errors.Join(stop(), listening.Wait())
	})

	return a, nil
}

func maxConns(address string) int32 {
	if strings.Contains(address, "pool_max_conns") {
		return 0 // what it says
	}

	return conns
}

// start returns what stops the worker, if there is one.
func (c *Config) start(ctx context.Context, pool *pgxpool.Pool, logger *slog.Logger) (stop func() error, err error) {
	if c.Migrate {
		if err := pg.Migrate(ctx, pool, logger); err != nil {
			return nil, err
		}
	}
	if err := pg.CheckSchema(ctx, pool, logger); err != nil {
		return nil, err
	}
	if c.Worker == nil {
		return func() error { return nil }, nil
	}

	return c.Worker.start(ctx, pool, logger)
}

// Close ends what waits for turns, with [ErrClosed], stops the worker, which has its grace to finish its decisions, and
// ends the connections. While the database is away it takes some ten seconds longer, because a worker tries again to say
// what it has done. Calls after the first return what that one did.
func (a *Assistant) Close() error { return a.shut() }

// StartSession starts a conversation with the user of that name, who is made if missing, in the caller's transaction.
// Errors: [InvalidError].
func StartSession(ctx context.Context, tx pgx.Tx, user, title string) (uuid.UUID, error) {
	return jobs.StartSession(ctx, tx, user, title)
}

// Enqueue makes a message a turn of its session: the turn starts when the caller's transaction commits and does not exist
// if it rolls back. The session's row stays locked until then, so keep the transaction short; after an error it can
// only be rolled back. Errors: [ErrSessionNotFound], [ErrSessionArchived], [ErrQuestionClosed], [ErrLimit],
// [ErrMessageTooLarge], [TurnRunningError], [LimitError], [InvalidError].
func Enqueue(ctx context.Context, tx pgx.Tx, params EnqueueParams) (*Enqueued, error) {
	return jobs.EnqueueTurn(ctx, tx, params)
}

// Cancel ends a queued or running turn, in the caller's transaction. It returns false if the turn had already ended.
// Errors: [ErrTurnNotFound].
func Cancel(ctx context.Context, tx pgx.Tx, turnID uuid.UUID) (bool, error) {
	return jobs.CancelTurn(ctx, tx, turnID)
}

// Follow yields a turn's events in order as they are committed, from the first, until the turn has ended or ctx has; a
// database that is away delays them. An error is the last thing that it yields. Errors: [ErrTurnNotFound], [ErrClosed].
func (a *Assistant) Follow(ctx context.Context, turnID uuid.UUID) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		var last int32
		err := a.await(ctx, turnID, func(ctx context.Context, reader *follow.Reader) error {
			for events, err := range reader.Events(ctx, turnID, last, patience) {
				if err != nil {
					return err
				}
				for _, event := range events {
					last = event.Seq
					if !yield(event, nil) {
						return nil
					}
				}
			}

			return nil
		})
		if err != nil {
			yield(Event{}, err)
		}
	}
}

// Turn is the turn as it stands; without its database, an error. Errors: [ErrTurnNotFound], [ErrClosed].
func (a *Assistant) Turn(ctx context.Context, turnID uuid.UUID) (turn *Turn, err error) {
	err = a.read(ctx, turnID, func(ctx context.Context, reader *follow.Reader) error {
		turn, err = reader.Turn(ctx, turnID)

		return err
	})

	return turn, err
}

// Wait is Turn once it has ended. It waits for a database that is away, too.
func (a *Assistant) Wait(ctx context.Context, turnID uuid.UUID) (turn *Turn, err error) {
	err = a.await(ctx, turnID, func(ctx context.Context, reader *follow.Reader) error {
		if err := reader.Wait(ctx, turnID); err != nil {
			return err
		}
		turn, err = reader.Turn(ctx, turnID)

		return err
	})

	return turn, err
}

// await reads until work is done, however long the database is away meanwhile: a reader alone gives up after half a minute.
func (a *Assistant) await(ctx context.Context, turnID uuid.UUID, work func(context.Context, *follow.Reader) error) error {
	for {
		err := a.read(ctx, turnID, work)
		if !pg.IsTransient(err) || ctx.Err() != nil {
			return err
		}
		a.logger.WarnContext(ctx, "waiting for a turn again after the database was away", slog.Any("error", err))
		if pg.Pause(ctx, pause) != nil {
			return err
		}
	}
}

// read reads as the user whose turn it is, since a host program may read all of its users' turns, until Close.
func (a *Assistant) read(ctx context.Context, turnID uuid.UUID, work func(context.Context, *follow.Reader) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(a.open, func() { cancel(ErrClosed) })() //nolint:contextcheck // the assistant ends it too
	turn, err := db.New().TurnGet(ctx, a.pool, turnID)
	if err == nil {
		err = work(ctx, &follow.Reader{Pool: a.pool, Listener: a.listener, UserID: turn.UserID})
	}
	switch {
	case err != nil && a.open.Err() != nil:
		return ErrClosed
	case errors.Is(err, pgx.ErrNoRows):
		return ErrTurnNotFound
	case err != nil:
		return fmt.Errorf("read turn %s: %w", turnID, err)
	}

	return nil
}

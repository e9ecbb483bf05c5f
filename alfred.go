package alfred

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
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
	// conns is how many connections a database has open at most, unless pool_max_conns in its address says otherwise.
	conns = 20

	// idleInTx ends the transactions of a stopped process, whose row locks would hide its jobs from recovery.
	idleInTx = 5 * time.Second

	// patience is how long a reader waits before it looks again.
	patience = 15 * time.Second
)

// Config is what a host program chooses.
type Config struct {
	// URL is the database's address, as in DATABASE_URL: direct, past any pooler that works by transactions.
	URL string
	// Logger is nil for [slog.Default].
	Logger *slog.Logger
	// Migrate brings Alfred's schema up to date first. Any number of programs may do so at once.
	Migrate bool
	// Worker works turns in this program; nil leaves them to others.
	Worker *Worker
}

// Assistant is an open database in which turns are worked on and followed.
type Assistant struct {
	pool     *pgxpool.Pool
	logger   *slog.Logger
	listener *pg.Listener
	running  errgroup.Group // what runs until stop
	stop     func()
}

// Open connects, and starts what the configuration asks for. It refuses a schema that is not this program's, types that
// do not fit the tables, and a provider without its key. The caller closes the assistant.
func Open(ctx context.Context, config Config) (*Assistant, error) {
	pool, err := pg.Open(ctx, pg.Config{AppName: "alfred host", IdleInTxTimeout: idleInTx, MaxConns: conns, URL: config.URL})
	if err != nil {
		return nil, err
	}
	a := &Assistant{pool: pool, logger: cmp.Or(config.Logger, slog.Default())}
	a.listener = pg.NewListener(pool.Config().ConnConfig, a.logger)
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	a.stop = stop
	if err := a.start(ctx, running, &config); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	a.running.Go(func() error { return a.listener.Run(running) })

	return a, nil
}

// start does within ctx what Open answers for, and what goes on within running.
func (a *Assistant) start(ctx, running context.Context, config *Config) error {
	if config.Migrate {
		migrator, err := pg.NewMigrator(a.pool, a.logger)
		if err != nil {
			return err
		}
		if _, err := migrator.Up(ctx); err != nil {
			return err
		}
	}
	if err := pg.CheckSchema(ctx, a.pool, a.logger); err != nil || config.Worker == nil {
		return err
	}
	work, err := config.Worker.open(ctx, a)
	if err == nil {
		a.running.Go(func() error { return work(running) })
	}

	return err
}

// Close stops the worker, which has ten seconds to finish its decisions, and ends the connections.
func (a *Assistant) Close() error {
	a.stop()
	err := a.running.Wait()
	a.pool.Close()

	return err
}

// StartSession starts a conversation with the user of that name, who is made if missing, in the caller's transaction.
func StartSession(ctx context.Context, tx pgx.Tx, user, title string) (uuid.UUID, error) {
	id, err := db.New().SessionStart(ctx, tx, &db.SessionStartParams{UserName: user, Title: title})
	if err != nil {
		return uuid.Nil, fmt.Errorf("start a session of %s: %w", user, err)
	}

	return id, nil
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

// Follow yields a turn's events in order as they are committed, from the first, until the turn has ended or ctx has. An
// error is the last thing that it yields. Errors: [ErrTurnNotFound].
func (a *Assistant) Follow(ctx context.Context, turnID uuid.UUID) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		reader, err := a.reader(ctx, turnID)
		if err != nil {
			yield(Event{}, err)

			return
		}
		tail := reader.Tail(turnID, 0)
		defer tail.Close()
		for {
			events, err := tail.Next(ctx, patience)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(Event{}, err)

				return
			}
			for _, event := range events {
				if !yield(event, nil) {
					return
				}
			}
		}
	}
}

// Turn is the turn as it stands. Errors: [ErrTurnNotFound].
func (a *Assistant) Turn(ctx context.Context, turnID uuid.UUID) (*Turn, error) {
	reader, err := a.reader(ctx, turnID)
	if err != nil {
		return nil, err
	}

	return reader.Turn(ctx, turnID)
}

// Wait is Turn once it has ended.
func (a *Assistant) Wait(ctx context.Context, turnID uuid.UUID) (*Turn, error) {
	reader, err := a.reader(ctx, turnID)
	if err != nil {
		return nil, err
	}
	if err := reader.Wait(ctx, turnID); err != nil {
		return nil, err
	}

	return reader.Turn(ctx, turnID)
}

// reader reads as the user whose turn it is: a host program may read all of its users' turns.
func (a *Assistant) reader(ctx context.Context, turnID uuid.UUID) (*follow.Reader, error) {
	turn, err := db.New().TurnGet(ctx, a.pool, turnID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrTurnNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("look for the turn: %w", err)
	}

	return &follow.Reader{Pool: a.pool, Listener: a.listener, UserID: turn.UserID}, nil
}

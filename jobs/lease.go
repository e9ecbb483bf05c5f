package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/db"
	"alfred/internal/pg"
)

const (
	beatInterval = time.Second
	beatTimeout  = time.Second
	takeTimeout  = 10 * time.Second // for the first one: nothing runs yet, and a busy server may be slow to accept a connection

	// leaseMargin is how long a worker goes without a heartbeat before its lease counts as lost; others take over after 3 s.
	leaseMargin = 2 * time.Second

	cancelChannel = "alfred_cancel"
	reconnect     = 500 * time.Millisecond
)

// lease shows in two ways that this worker is alive: a row that it renews each second,
// which also reveals a stopped or disconnected host, and an advisory lock on a dedicated
// connection, which reveals a killed process at once. The same connection receives
// cancellations.
//
// The connection must be direct: a pooler in transaction mode preserves neither locks
// nor notifications, and would make every worker look dead.
type lease struct {
	runner *Runner

	// beats is a pool with one connection that renews the row: if it queued behind jobs for a shared connection, a busy
	// worker would look dead.
	beats *pgxpool.Pool

	// conn is its holder's: take's, then hold's, then release's.
	conn *pgx.Conn
}

// take connects, locks and writes the row.
func (l *lease) take(ctx context.Context) error {
	config := l.runner.Pool.Config()
	config.MaxConns, config.MinConns = 1, 0
	var err error
	if l.beats, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return fmt.Errorf("connect for the beat: %w", err)
	}
	err = l.connect(ctx)
	if err == nil {
		_, err = l.beat(ctx, takeTimeout)
	}
	if err != nil {
		l.beats.Close()
		l.hangUp(ctx)
	}

	return err
}

func (l *lease) connect(ctx context.Context) error {
	config := l.runner.Pool.Config().ConnConfig
	// Notice a lost host in seconds, not after TCP's two hours.
	pg.Set(config, "tcp_keepalives_idle", "2")
	pg.Set(config, "tcp_keepalives_interval", "1")
	pg.Set(config, "tcp_keepalives_count", "3")
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("connect for the lease: %w", err)
	}
	if _, err = conn.Exec(ctx, "LISTEN "+cancelChannel); err == nil {
		_, err = conn.Exec(ctx, `SELECT pg_advisory_lock(hashtextextended('alfred.worker:' || $1, 0))`, l.runner.id)
	}
	if err != nil {
		conn.Close(ctx) // it is unusable

		return fmt.Errorf("listen for cancelled turns and lock the lease: %w", err)
	}
	l.conn = conn

	return nil
}

// beat renews the row, and reports whether other workers live.
func (l *lease) beat(ctx context.Context, timeout time.Duration) (others bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	r := l.runner
	made, err := db.New().WorkerBeat(ctx, l.beats, &db.WorkerBeatParams{ID: r.id, Version: r.Version, Host: r.host, Domain: r.Domain.Name, HostTime: r.Wall()})
	if err != nil {
		return false, fmt.Errorf("renew the lease: %w", err)
	}
	r.clock.set(made.BeatAt)

	return made.Others, nil
}

// keep renews the row until ctx ends. Where that failed for too long, it stops this worker's runs once it can be renewed, if there are
// others, who will have taken them over. If there are none, what the models answer meanwhile is of use, and has been paid for.
func (l *lease) keep(ctx context.Context) {
	last, lost := time.Now(), false
	pg.Every(ctx, beatInterval, func(ctx context.Context) {
		others, err := l.beat(ctx, beatTimeout)
		switch {
		case err == nil && lost && others:
			l.runner.Logger.ErrorContext(ctx, "lease was lost, runs stopped")
			l.runner.runs.cancel(uuid.Nil, errLeaseLost)
			last, lost = time.Now(), false
		case err == nil:
			last, lost = time.Now(), false
		case ctx.Err() == nil && time.Since(last) > leaseMargin && !lost:
			l.runner.Logger.ErrorContext(ctx, "lease lost", slog.Any("error", err))
			lost = true
		}
	})
}

// hold waits on the connection for cancelled turns, and reconnects when it breaks.
func (l *lease) hold(ctx context.Context) {
	for {
		err := l.listen(ctx)
		if ctx.Err() != nil {
			return
		}
		l.runner.Logger.WarnContext(ctx, "lease connection lost", slog.Any("error", err))
		for l.connect(ctx) != nil {
			if pg.Pause(ctx, reconnect) != nil {
				return
			}
		}
	}
}

func (l *lease) listen(ctx context.Context) error {
	for {
		notification, err := l.conn.WaitForNotification(ctx)
		if err != nil {
			l.conn.Close(context.WithoutCancel(ctx)) // it is lost

			return fmt.Errorf("wait for cancelled turns: %w", err)
		}
		if turnID, err := uuid.Parse(notification.Payload); err == nil && turnID != uuid.Nil {
			l.runner.runs.cancel(turnID, errCancelled)
		}
	}
}

// release gives up the lease. The loops have ended. No job is left behind that nobody would recover: one that could not
// be handed back, or one that was fetched but did not arrive.
func (l *lease) release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	defer l.hangUp(ctx)
	defer l.beats.Close()
	err := pg.InTx(ctx, l.beats, func(tx pgx.Tx) error {
		q := db.New()
		if _, err := q.JobSupersede(ctx, tx, &db.JobSupersedeParams{Client: l.runner.id, Reason: "worker stopped"}); err != nil {
			return err
		}

		return q.WorkerDelete(ctx, tx, l.runner.id)
	})
	if err != nil {
		return fmt.Errorf("give up the lease: %w", err)
	}

	return nil
}

// hangUp ends the connection, and with it the lock.
func (l *lease) hangUp(ctx context.Context) {
	if l.conn != nil && !l.conn.IsClosed() {
		l.conn.Close(ctx) // it is not needed again
	}
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"alfred/internal/domain"
	"alfred/internal/engine"
	"alfred/internal/llm"
	"alfred/internal/llm/lexical"
	"alfred/internal/pg"
	"alfred/internal/prompt"
	"alfred/internal/recall"
	"alfred/jobs"
)

const (
	// workerConns is a worker's default number of connections.
	workerConns = 20

	patience = 2 * time.Minute
)

// rig is a worker and its clients in one process, with one metered pool.
type rig struct {
	pool    *pgxpool.Pool
	meter   *meter
	runner  *jobs.Runner
	kitchen *domain.Domain
}

// equipment is what a worker gets that is not as in `worker run` with its defaults.
type equipment struct {
	model    llm.Model
	embedder llm.Embedder // nil: the lexical one
	lasting  bool         // older turns are not compressed
}

// startRig starts a worker on the database. The caller stops it.
func startRig(ctx context.Context, address string, with equipment) (*rig, error) {
	r := &rig{meter: newMeter()}
	var err error
	if r.pool, err = openPool(ctx, address, workerConns, r.meter); err != nil {
		return nil, err
	}
	config, err := r.config(ctx, with)
	if err == nil {
		r.runner, err = jobs.NewRunner(config)
	}
	if err == nil {
		err = r.runner.Start(ctx)
	}
	if err != nil {
		r.pool.Close()

		return nil, fmt.Errorf("start a worker: %w", err)
	}

	return r, nil
}

// onRig gives work a worker on the database, and new sessions.
func onRig(ctx context.Context, address string, model llm.Model, sessions int, work func(r *rig, sessions []uuid.UUID) error) (err error) {
	r, err := startRig(ctx, address, equipment{model: model})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.stop(ctx)) }()
	made, err := newSessions(ctx, r.pool, sessions)
	if err != nil {
		return err
	}

	return work(r, made)
}

// config is that of `worker run` with its defaults, except for the equipment.
func (r *rig) config(ctx context.Context, with equipment) (jobs.Config, error) {
	var err error
	if r.kitchen, err = openKitchen(ctx, r.pool); err != nil {
		return jobs.Config{}, err
	}
	config := jobs.Config{
		Pool: r.pool, Domain: r.kitchen,
		Logger:              slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Models:              func(string) llm.Model { return with.model },
		RetentionDecayTurns: engine.RetentionDecay, Version: "bench",
	}
	windows := prompt.DefaultConfig()
	windows.CompressOlder = !with.lasting
	engine.Complete(&config, recall.New(r.kitchen, cmp.Or[llm.Embedder](with.embedder, lexical.Embedder{})), windows)

	return config, nil
}

func openKitchen(ctx context.Context, pool *pgxpool.Pool) (*domain.Domain, error) {
	files, file := domain.Find("kitchen")

	return domain.Open(ctx, pool, files, file)
}

// stop stops the worker and closes all connections, so that the server's statistics are complete.
func (r *rig) stop(ctx context.Context) error {
	err := r.runner.Stop(context.WithoutCancel(ctx))
	r.pool.Close()

	return err
}

// latency of a turn, from the commit that enqueues it; whole includes that commit.
type latency struct{ replied, summarized, whole time.Duration }

// play runs n turns in each session, one after the other, all sessions concurrently.
func (r *rig) play(ctx context.Context, sessions []uuid.UUID, n int) (*played, error) {
	p, lock, start := &played{}, sync.Mutex{}, time.Now()
	group, ctx := errgroup.WithContext(ctx)
	for _, session := range sessions {
		group.Go(func() error {
			for range n {
				took, err := r.turn(ctx, session, looking)
				if err != nil {
					return err
				}
				lock.Lock()
				p.replied, p.summarized, p.whole = append(p.replied, took.replied), append(p.summarized, took.summarized), append(p.whole, took.whole)
				lock.Unlock()
			}

			return nil
		})
	}
	err := group.Wait()
	p.elapsed = time.Since(start)

	return p, err
}

// played is what turns took, and what they and their background sent.
type played struct {
	replied, summarized, whole []time.Duration // of each turn, as in [latency]

	elapsed time.Duration
	sent    counts
	names   map[string]usage
}

// playCounted is play, followed by waiting until no job is left.
func (r *rig) playCounted(ctx context.Context, sessions []uuid.UUID, n int) (*played, error) {
	before, names := r.meter.counts(), r.meter.names()
	p, err := r.play(ctx, sessions, n)
	if err != nil {
		return nil, err
	}
	if err := r.settle(ctx); err != nil {
		return nil, err
	}
	p.sent, p.names = r.meter.counts().minus(before), r.meter.names()
	for name, used := range p.names {
		p.names[name] = usage{N: used.N - names[name].N, Took: used.Took - names[name].Took}
	}

	return p, nil
}

// looking is the message whose turn reads the recipes and writes one row.
const looking = "Look at my recipes and put one more thing on my shopping list."

// enqueue sends a message; done is watched from before its commit.
func (r *rig) enqueue(ctx context.Context, session uuid.UUID, message string) (turn uuid.UUID, done *milestones, err error) {
	err = pg.InTx(ctx, r.pool, func(tx pgx.Tx) error {
		made, err := jobs.EnqueueTurn(ctx, tx, jobs.EnqueueParams{SessionID: session, Message: message})
		if err == nil {
			turn, done = made.TurnID, r.meter.watch(made.TurnID)
		}

		return err
	})

	return turn, done, err
}

// turn runs one turn and waits until it is summarized.
func (r *rig) turn(ctx context.Context, session uuid.UUID, message string) (latency, error) {
	began := time.Now()
	turn, done, err := r.enqueue(ctx, session, message)
	if err != nil {
		return latency{}, err
	}
	var took latency
	start := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errSlow)
	defer cancel()
	for _, wait := range []struct {
		passed chan struct{}
		took   *time.Duration
	}{{done.replied, &took.replied}, {done.summarized, &took.summarized}} {
		select {
		case <-wait.passed:
			*wait.took = time.Since(start)
		case <-ctx.Done():
			return took, r.explain(context.WithoutCancel(ctx), turn, context.Cause(ctx))
		}
	}
	took.whole = time.Since(began)

	return took, nil
}

var errSlow = errors.New("a turn does not end: it failed, or the statements TurnReply and TurnSummarized are not what ends turns any more")

func (r *rig) explain(ctx context.Context, turn uuid.UUID, cause error) error {
	var status string
	err := r.pool.QueryRow(ctx, `SELECT concat_ws(' ', status, current_node, position, error_code, error_message) FROM turns WHERE id = $1`, turn).Scan(&status)

	return errors.Join(fmt.Errorf("turn %s (%s): %w", turn, status, cause), err)
}

// playOut is playCounted of turns that are not counted.
func (r *rig) playOut(ctx context.Context, sessions []uuid.UUID, n int) error {
	_, err := r.playCounted(ctx, sessions, n)

	return err
}

// live plays turns that are not counted. The tables are analyzed before the last ones, in which each connection plans anew.
func (r *rig) live(ctx context.Context, sessions []uuid.UUID, turns, last int) error {
	if turns > last {
		if err := r.playOut(ctx, sessions, turns-last); err != nil {
			return err
		}
		if err := analyze(ctx, r.pool); err != nil {
			return err
		}
	}

	return r.playOut(ctx, sessions, last)
}

// settle waits until no job is left, background ones included. It polls on its own connection, which the meter does not
// see.
func (r *rig) settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	config := r.pool.Config().ConnConfig
	config.Tracer = nil
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("wait for the background: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for left := true; left; time.Sleep(50 * time.Millisecond) {
		if err := conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM v_queue)`).Scan(&left); err != nil {
			return fmt.Errorf("wait for the background: %w", err)
		}
	}

	return nil
}

// openPool opens a pool like a worker's, with a tracer.
func openPool(ctx context.Context, address string, conns int32, tracer pgx.QueryTracer) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("parse the address: %w", err)
	}
	config.MaxConns = conns
	config.ConnConfig.Tracer = tracer
	config.ConnConfig.RuntimeParams["search_path"] = pg.SearchPath
	config.ConnConfig.RuntimeParams["application_name"] = "alfred bench"
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open pool: %w", err)
	}

	return pool, nil
}

// newSessions creates n sessions, each with its own user with the demo's rows.
func newSessions(ctx context.Context, pool *pgxpool.Pool, n int) ([]uuid.UUID, error) {
	sessions := make([]uuid.UUID, n)
	for i := range sessions {
		err := pool.QueryRow(ctx, `SELECT start_session($1)`, userPrefix+uuid.NewString()).Scan(&sessions[i])
		if err == nil {
			_, err = pool.Exec(ctx, `SELECT kitchen.seed_demo(user_id) FROM sessions WHERE id = $1`, sessions[i])
		}
		if err != nil {
			return nil, fmt.Errorf("make a session: %w", err)
		}
	}

	return sessions, nil
}

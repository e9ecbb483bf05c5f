package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/client"
	"alfred/internal/httpapi"
	"alfred/internal/llm"
	"alfred/internal/pg"
)

// wording is how long the model takes from the call to its first text, and from there to its last. Streamed pieces are
// deleted when the reply is complete.
const wording = 200 * time.Millisecond

// firstTurns is how many turns the waits are measured over.
const firstTurns = 60

// first are the waits that a user notices.
type first struct {
	Fetched []time.Duration // from the commit of the message to the first node's start, by the database's clock
	Started []time.Duration // to its request to the model, its load included
	Shown   []time.Duration // from the model's first text to the client's
}

// timed is the benchmark's model, which records when it is first called in a turn and when it begins to word the reply.
type timed struct {
	answers

	mu           sync.Mutex
	asked, spoke time.Time
}

// Generate implements llm.Model.
func (m *timed) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	if req.Node == "understand" {
		m.note(&m.asked)
	}
	if req.Node == "reply" && req.OnDelta != nil {
		time.Sleep(wording) // no model returns its first text at once
		m.note(&m.spoke)
		req.OnDelta("You ")
		time.Sleep(wording)
	}

	return m.answers.Generate(ctx, req)
}

func (m *timed) note(at *time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	*at = time.Now()
}

// measureFirst runs turns on an idle machine, each followed by a client over HTTP.
func measureFirst(ctx context.Context, address string) (*first, error) {
	f, model := &first{}, &timed{}

	return f, onRig(ctx, address, model, 1, func(r *rig, sessions []uuid.UUID) error {
		api, stop, err := serve(ctx, r.pool, sessions[0])
		if err != nil {
			return err
		}
		defer stop()
		if err := r.playOut(ctx, sessions, warmUp); err != nil {
			return err
		}
		for range firstTurns {
			if err := f.turn(ctx, r, model, sessions[0], api); err != nil {
				return err
			}
			if err := r.settle(ctx); err != nil {
				return err
			}
		}

		return nil
	})
}

// serve runs the API as it runs beside a worker, for the session's user.
func serve(ctx context.Context, pool *pgxpool.Pool, session uuid.UUID) (*client.ClientWithResponses, func(), error) {
	var user uuid.UUID
	if err := pool.QueryRow(ctx, `SELECT user_id FROM sessions WHERE id = $1`, session).Scan(&user); err != nil {
		return nil, nil, fmt.Errorf("read the session: %w", err)
	}
	logger := slog.New(slog.DiscardHandler)
	config := pool.Config().ConnConfig
	config.Tracer = nil
	listener := pg.NewListener(config, logger)
	listening, end := context.WithCancel(ctx)
	var wait sync.WaitGroup
	wait.Go(func() { _ = listener.Run(listening) }) // ends with its context
	server := httptest.NewServer(httpapi.New(httpapi.Config{Pool: pool, Listener: listener, OpenUser: user, Logger: logger, Version: "bench"}))
	api, err := client.New(server.URL, "")

	return api, func() {
		server.CloseClientConnections()
		server.Close()
		end()
		wait.Wait()
	}, err
}

func (f *first) turn(ctx context.Context, rig *rig, model *timed, session uuid.UUID, api *client.ClientWithResponses) error {
	turn, done, err := rig.enqueue(ctx, session, looking)
	if err != nil {
		return err
	}
	committed := time.Now()
	shown, err := follow(ctx, api, turn)
	if err != nil {
		return err
	}
	<-done.summarized
	model.mu.Lock()
	f.Started, f.Shown = append(f.Started, model.asked.Sub(committed)), append(f.Shown, shown.Sub(model.spoke))
	model.mu.Unlock()
	var fetched time.Time
	err = rig.pool.QueryRow(ctx, `SELECT min(attempted_at) FROM river_job WHERE args @> jsonb_build_object('turn_id', $1::text)`, turn).Scan(&fetched)
	if err != nil {
		return fmt.Errorf("read the turn's first job: %w", err)
	}
	f.Fetched = append(f.Fetched, fetched.Sub(committed))

	return nil
}

// follow reads the turn's events until its end, like a page, and returns when the reply's first words came.
func follow(ctx context.Context, api *client.ClientWithResponses, turn uuid.UUID) (shown time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for event, err := range api.FollowTurn(ctx, turn.String(), "") {
		if err != nil {
			return shown, fmt.Errorf("follow: %w", err)
		}
		if event.Type == "reply.delta" && shown.IsZero() {
			shown = time.Now()
		}
	}
	if shown.IsZero() {
		return shown, fmt.Errorf("turn %s ended without a streamed reply", turn)
	}

	return shown, nil
}

package jobs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/pg"
)

const (
	deltaInterval = 120 * time.Millisecond
	deltaSize     = 256 // bytes
	deltaTimeout  = 2 * time.Second
)

// stream writes a reply to the turn's events while it is being made. It is for
// the eye only: what the turn commits is the reply, and a piece that cannot be
// written is lost.
type stream struct {
	pool     pg.Beginner
	notifier *pg.Notifier
	turnID   uuid.UUID
	position int
	attempt  int             // above 1 readers are told to forget what came before
	ctx      context.Context //nolint:containedctx // of one run; deltas come by callback and by timer

	mu     sync.Mutex
	buffer strings.Builder
	timer  *time.Timer
	begun  bool
	lost   error // the first failure; nothing is written after it
}

// add takes the next piece. It blocks while pieces are written.
func (s *stream) add(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buffer.WriteString(text)
	if s.buffer.Len() >= deltaSize {
		s.flush()

		return
	}
	if s.timer == nil {
		s.timer = time.AfterFunc(deltaInterval, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.flush()
		})
	}
}

// close writes what is left. No piece is written after it returns.
func (s *stream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flush()
}

// flush needs the lock.
func (s *stream) flush() {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	text := s.buffer.String()
	s.buffer.Reset()
	if text == "" || s.lost != nil || s.ctx.Err() != nil {
		return
	}
	var all events
	if !s.begun && s.attempt > 1 {
		all.add("reply.reset", map[string]any{"attempt": s.attempt})
	}
	all.add("reply.delta", map[string]any{"text": text, "attempt": s.attempt})
	ctx, cancel := context.WithTimeout(s.ctx, deltaTimeout)
	defer cancel()
	if s.lost = pg.InTx(ctx, s.pool, func(tx pgx.Tx) error { return s.write(ctx, tx, all) }); s.lost == nil {
		s.begun = true
		s.notifier.Notify(s.turnID)
	}
}

func (s *stream) write(ctx context.Context, tx pgx.Tx, all events) error {
	if err := lazily(ctx, tx); err != nil {
		return err
	}
	if _, err := db.New().TurnHold(ctx, tx, &db.TurnHoldParams{ID: s.turnID, Position: int32(s.position)}); err != nil {
		if errors.Is(err, pgx.ErrNoRows) {
			return errStale
		}

		return fmt.Errorf("hold turn: %w", err)
	}

	return all.append(ctx, tx, s.turnID)
}

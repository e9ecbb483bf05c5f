package jobs

import (
	"context"
	"strings"
	"sync"
	"time"
)

const (
	deltaInterval = 120 * time.Millisecond
	firstDelta    = 4 * time.Millisecond // the first words are sent after a short batching delay
	deltaSize     = 256                  // bytes
	deltaTimeout  = 2 * time.Second
	maxWord       = 128 // longest partial word held back, in bytes; no identifier is longer
)

// stream writes a reply to the turn's events as it is generated. It is for display only: the turn commits the whole
// reply, and a piece that cannot be written is dropped.
type stream struct {
	of      *state
	attempt int // above 1, readers are told to discard what came before
	ctx     context.Context

	mu     sync.Mutex
	buffer strings.Builder // whole words, and the one being written
	timer  *time.Timer
	begun  bool
	lost   error // the first failure; nothing is written after it
}

// stream begins a reply; again: readers may have seen another one, which they discard.
func (s *state) stream(ctx context.Context, again bool) *stream {
	attempt := s.d.attempt + s.d.snoozes
	if again {
		attempt++
	}

	return &stream{of: s, attempt: attempt, ctx: ctx}
}

// add appends the next piece. It blocks while pieces are written.
func (s *stream) add(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buffer.WriteString(text)
	if s.buffer.Len() >= deltaSize {
		s.flush(false)

		return
	}
	if s.timer == nil {
		interval := deltaInterval
		if !s.begun {
			interval = firstDelta
		}
		s.timer = time.AfterFunc(interval, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.flush(false)
		})
	}
}

// close writes what is left, but nothing of an answer that arrived in one piece: the committed reply follows. Nothing
// is written after close returns.
func (s *stream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.begun {
		s.buffer.Reset()
	}
	s.flush(true)
}

// flush requires the lock. Before the end it holds back the last word: half an identifier does not look like one.
func (s *stream) flush(end bool) {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	text := s.buffer.String()
	s.buffer.Reset()
	if at := strings.LastIndexAny(text, " \n\t"); !end && len(text)-at <= maxWord {
		s.buffer.WriteString(text[at+1:])
		text = text[:at+1]
	}
	if text == "" || s.lost != nil || s.ctx.Err() != nil {
		return
	}
	if text, _, s.lost = s.of.guard.Reply(s.ctx, text); s.lost != nil {
		return
	}
	var all events
	if !s.begun && s.attempt > 1 {
		all.add("reply.reset", map[string]any{"attempt": s.attempt})
	}
	all.add("reply.delta", map[string]any{"text": text, "attempt": s.attempt})
	ctx, cancel := context.WithTimeout(s.ctx, deltaTimeout)
	defer cancel()
	s.lost = s.of.runner.publish(ctx, s.of.d, all)
	s.begun = s.begun || s.lost == nil
}

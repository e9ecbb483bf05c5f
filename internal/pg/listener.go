package pg

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
)

const (
	// pollInterval is how often subscribers look without a signal, because notifications can be lost.
	pollInterval = time.Second

	// reconnectPause is the pause between attempts to listen again.
	reconnectPause = 500 * time.Millisecond
)

// Listener receives notifications about turns' new events on one connection per process and distributes them in memory.
// Signals carry no data: a subscriber reads the rows after the last one it has seen.
type Listener struct {
	config      *pgx.ConnConfig
	logger      *slog.Logger
	mu          sync.Mutex
	subscribers map[*subscriber]struct{}
}

// subscriber waits for turns, or for all turns of some sessions.
type subscriber struct {
	signal   chan struct{}
	topics   []uuid.UUID
	sessions bool // the topics are sessions
}

// NewListener returns a listener that connects with a copy of config. The address must be direct: a pooler in
// transaction mode does not pass notifications on.
func NewListener(config *pgx.ConnConfig, logger *slog.Logger) *Listener {
	return &Listener{config: config.Copy(), logger: logger, subscribers: map[*subscriber]struct{}{}}
}

// Run listens until ctx ends, then returns nil. It reconnects if the connection is lost. Subscribers are also signalled
// every second, whether or not it listens.
func (l *Listener) Run(ctx context.Context) error {
	var polling sync.WaitGroup
	polling.Go(func() { Every(ctx, pollInterval, func(context.Context) { l.signalAll() }) })
	for ctx.Err() == nil {
		if err := l.listen(ctx); ctx.Err() == nil {
			l.logger.WarnContext(ctx, "listening again after a lost connection", slog.Any("error", err))
			_ = Pause(ctx, reconnectPause)
		}
	}
	polling.Wait()

	return nil
}

// Subscribe returns a channel that is signalled whenever one of the turns may have new events, and at least once a
// second. Pending signals coalesce. Call stop when done; the channel is never closed.
func (l *Listener) Subscribe(turnIDs ...uuid.UUID) (signal <-chan struct{}, stop func()) {
	return l.subscribe(turnIDs, false)
}

// SubscribeSessions is [Listener.Subscribe] for all turns of sessions.
func (l *Listener) SubscribeSessions(sessionIDs ...uuid.UUID) (signal <-chan struct{}, stop func()) {
	return l.subscribe(sessionIDs, true)
}

func (l *Listener) subscribe(topics []uuid.UUID, sessions bool) (signal <-chan struct{}, stop func()) {
	s := &subscriber{signal: make(chan struct{}, 1), topics: slices.Clone(topics), sessions: sessions}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.subscribers[s] = struct{}{}

	return s.signal, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.subscribers, s)
	}
}

func (l *Listener) listen(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, l.config)
	if err != nil {
		return fmt.Errorf("connect to listen: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))

	if _, err := conn.Exec(ctx, "LISTEN "+Channel); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	l.signalAll() // whatever happened while nobody listened
	for {
		notification, err := conn.WaitForNotification(ctx)
		if err != nil {
			return fmt.Errorf("wait for notification: %w", err)
		}
		turns := turnIDs(notification.Payload)
		if sessions := l.signal(turns); sessions {
			if err := l.signalSessions(ctx, conn, turns); err != nil {
				return err
			}
		}
	}
}

func (l *Listener) signalAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for s := range l.subscribers {
		s.wake()
	}
}

// turnIDs parses a payload. Anything but an id was not sent by us and is ignored.
func turnIDs(payload string) []uuid.UUID {
	var turns []uuid.UUID
	for text := range strings.SplitSeq(payload, ",") {
		if id, err := uuid.Parse(text); err == nil {
			turns = append(turns, id)
		}
	}

	return turns
}

// signal wakes those who have one of the turns or sessions among their topics, and reports whether anybody waits for a
// session.
func (l *Listener) signal(ids []uuid.UUID) (sessions bool) {
	wanted := make(map[uuid.UUID]bool, len(ids))
	for _, id := range ids {
		wanted[id] = true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for s := range l.subscribers {
		sessions = sessions || s.sessions
		if slices.ContainsFunc(s.topics, func(id uuid.UUID) bool { return wanted[id] }) {
			s.wake()
		}
	}

	return sessions
}

// signalSessions looks up the turns' sessions. Payloads omit them, because their writers know only the turn; one query
// for all is cheaper than one per stream.
func (l *Listener) signalSessions(ctx context.Context, conn *pgx.Conn, turns []uuid.UUID) error {
	sessions, err := db.New().TurnListSessions(ctx, conn, turns)
	if err != nil {
		return fmt.Errorf("look for the sessions of turns: %w", err)
	}
	l.signal(sessions)

	return nil
}

func (s *subscriber) wake() {
	select {
	case s.signal <- struct{}{}:
	default:
	}
}

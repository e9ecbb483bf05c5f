package pg

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// Channel is where a process announces turns with new events; the payload is turn ids joined by commas.
	Channel = "alfred_events"

	// notifyInterval is the minimum time between two notifications of a process. A notification takes a lock that
	// prevents group commit for everybody, so they must be rare, and never inside a decision's commit.
	notifyInterval = 50 * time.Millisecond

	// notifyMaxIDs keeps a payload within Postgres's 8000 bytes: 216 ids of 36 characters and their commas.
	notifyMaxIDs = 216

	// notifyRetry is the pause after a failed notification; listeners poll meanwhile.
	notifyRetry = time.Second

	flushTimeout = time.Second
)

// Executor runs one statement: a pool or a connection.
type Executor interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// Notifier tells other processes which turns have new events, after the commits that wrote them. Many turns and calls
// are coalesced into one notification. Losing one is harmless, because listeners poll every second.
type Notifier struct {
	executor Executor
	mu       sync.Mutex
	pending  map[uuid.UUID]struct{}
	wake     chan struct{}
}

// NewNotifier returns a notifier that sends through executor while Run runs.
func NewNotifier(executor Executor) *Notifier {
	return &Notifier{executor: executor, pending: map[uuid.UUID]struct{}{}, wake: make(chan struct{}, 1)}
}

// Notify records that a turn has new events. It never blocks; call it after the commit.
func (n *Notifier) Notify(turnID uuid.UUID) {
	n.mu.Lock()
	n.pending[turnID] = struct{}{}
	n.mu.Unlock()
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// Run sends until ctx ends, then sends what is left and returns nil. Failed notifications are retried.
func (n *Notifier) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			continue
		case <-n.wake:
		}
		rest := notifyInterval
		if err := n.flush(ctx); err != nil {
			rest = notifyRetry
		}
		_ = Pause(ctx, rest)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
	defer cancel()

	return n.flush(ctx)
}

// flush sends what is pending. If some cannot be sent, all of it stays pending: to be told twice does no harm.
func (n *Notifier) flush(ctx context.Context) error {
	n.mu.Lock()
	batch := slices.Collect(maps.Keys(n.pending))
	clear(n.pending)
	n.mu.Unlock()
	for some := range slices.Chunk(batch, notifyMaxIDs) {
		if _, err := n.executor.Exec(ctx, `SELECT pg_notify($1, $2)`, Channel, payload(some)); err != nil {
			for _, id := range batch {
				n.Notify(id)
			}

			return fmt.Errorf("notify about %d turns: %w", len(batch), err)
		}
	}

	return nil
}

func payload(ids []uuid.UUID) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}

	return strings.Join(texts, ",")
}

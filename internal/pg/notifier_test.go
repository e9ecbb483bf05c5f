package pg_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"alfred/internal/dbtest"
	"alfred/internal/pg"
)

// soon is less than the second after which a subscriber is signalled anyway.
const soon = 800 * time.Millisecond

// start runs work until the test ends, and requires that it then returns without an error.
func start(t *testing.T, work func(ctx context.Context) error) {
	t.Helper()

	ctx, cancel := context.WithCancel(context.Background())
	var group errgroup.Group
	group.Go(func() error { return work(ctx) })
	t.Cleanup(func() {
		cancel()
		require.NoError(t, group.Wait())
	})
}

func signalled(signal <-chan struct{}, within time.Duration) bool {
	select {
	case <-signal:
		return true
	case <-time.After(within):
		return false
	}
}

func setupListener(t *testing.T) (*pgxpool.Pool, *pg.Listener) {
	t.Helper()

	pool := dbtest.Pool(t)
	listener := pg.NewListener(pool.Config().ConnConfig, discard())
	ready, stop := listener.Subscribe(uuid.New())
	defer stop()
	start(t, listener.Run)
	require.True(t, signalled(ready, dbtest.Patience), "connecting signals everybody")

	return pool, listener
}

func TestListenerHearsNotifier(t *testing.T) {
	t.Parallel()

	pool, listener := setupListener(t)
	notifier := pg.NewNotifier(pool)
	start(t, notifier.Run)

	var session, mine uuid.UUID
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT s, enqueue_turn(s, 'hello') FROM start_session() AS s`).Scan(&session, &mine))
	// Every subscriber is signalled each second, so begin right after a tick.
	tick, stopTick := listener.Subscribe(uuid.New())
	defer stopTick()
	require.True(t, signalled(tick, dbtest.Patience))
	own, stopOwn := listener.Subscribe(mine)
	defer stopOwn()
	all, stopAll := listener.SubscribeSessions(session)
	defer stopAll()
	other, stopOther := listener.Subscribe(uuid.New())
	defer stopOther()
	elsewhere, stopElsewhere := listener.SubscribeSessions(uuid.New())
	defer stopElsewhere()

	notifier.Notify(mine)
	require.True(t, signalled(own, soon))
	require.True(t, signalled(all, soon))
	require.False(t, signalled(other, 50*time.Millisecond))
	require.False(t, signalled(elsewhere, 0))
}

func TestListenerTicksWithoutNotifications(t *testing.T) {
	t.Parallel()

	_, listener := setupListener(t)
	signal, stop := listener.Subscribe(uuid.New())
	defer stop()
	require.True(t, signalled(signal, dbtest.Patience))
	require.True(t, signalled(signal, dbtest.Patience))
}

func TestListenerConnectsAgain(t *testing.T) {
	t.Parallel()

	pool, listener := setupListener(t)
	_, err := pool.Exec(t.Context(), `
		SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE datname = current_database() AND query = 'LISTEN alfred_events'`)
	require.NoError(t, err)

	require.Eventually(t, func() bool {
		var listening int
		require.NoError(t, pool.QueryRow(t.Context(), `
			SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query = 'LISTEN alfred_events'`).Scan(&listening))

		return listening == 1
	}, dbtest.Patience, 20*time.Millisecond)

	signal, stop := listener.Subscribe(uuid.New())
	defer stop()
	require.True(t, signalled(signal, dbtest.Patience))
}

// recorder counts statements and can refuse them.
type recorder struct {
	fail     chan error
	payloads chan string
}

func (r *recorder) Exec(_ context.Context, _ string, args ...any) (pgconn.CommandTag, error) {
	select {
	case err := <-r.fail:
		return pgconn.CommandTag{}, err
	default:
	}
	payload, _ := args[1].(string)
	r.payloads <- payload

	return pgconn.CommandTag{}, nil
}

func TestNotifierCoalesces(t *testing.T) {
	t.Parallel()

	r := &recorder{fail: make(chan error, 1), payloads: make(chan string, 1000)}
	notifier := pg.NewNotifier(r)
	ids := make([]uuid.UUID, 10)
	for i := range ids {
		ids[i] = uuid.New()
	}
	for range 100 {
		for _, id := range ids {
			notifier.Notify(id)
		}
	}
	start(t, notifier.Run)
	require.Len(t, <-r.payloads, 10*37-1, "ten turns, once each, in one notification")
	require.False(t, signalledText(r.payloads, 60*time.Millisecond))
}

func TestNotifierKeepsPayloadsWithinLimit(t *testing.T) {
	t.Parallel()

	r := &recorder{fail: make(chan error, 1), payloads: make(chan string, 1000)}
	notifier := pg.NewNotifier(r)
	for range 500 {
		notifier.Notify(uuid.New())
	}
	start(t, notifier.Run)
	var total int
	for range 3 {
		text := <-r.payloads
		require.Less(t, len(text), 8000)
		total += (len(text) + 1) / 37
	}
	require.Equal(t, 500, total)
}

func TestNotifierTriesAgain(t *testing.T) {
	t.Parallel()

	r := &recorder{fail: make(chan error, 1), payloads: make(chan string, 1)}
	r.fail <- errWork
	notifier := pg.NewNotifier(r)
	id := uuid.New()
	notifier.Notify(id)
	start(t, notifier.Run)
	require.Equal(t, id.String(), <-r.payloads)
}

func signalledText(texts <-chan string, within time.Duration) bool {
	select {
	case <-texts:
		return true
	case <-time.After(within):
		return false
	}
}

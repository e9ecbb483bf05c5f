package dbtest

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"alfred/internal/pg"
)

// Patience is how long a test waits for what must happen, on the slowest machine with everything else at once. Only a
// test that fails waits that long.
const Patience = 5 * time.Minute

const (
	// poolConns bounds one test's pool: packages tested in parallel share the server's connections.
	poolConns = 6

	// sharedConns bounds the tests of one package that run in transactions concurrently.
	sharedConns = 15
)

// suite is what the tests of one binary share, created on first use.
type suite struct {
	mu     sync.Mutex
	pool   *pgxpool.Pool
	server *server
}

var theSuite suite

// Main is a package's TestMain: it runs the tests, closes what they shared, drops their databases, and fails if
// goroutines are left.
func Main(m *testing.M, ends ...func()) {
	code := m.Run()
	for _, end := range ends {
		end()
	}
	theSuite.close()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// Pool returns a pool on a freshly migrated database for this test alone.
func Pool(t testing.TB) *pgxpool.Pool {
	t.Helper()

	pool, err := pg.Open(t.Context(), pg.Config{AppName: "dbtest", MaxConns: poolConns, URL: URL(t)})
	require.NoError(t, err)
	t.Cleanup(pool.Close)

	return pool
}

// Tx returns a transaction on a migrated database, rolled back when the test ends. now() is frozen in it, and a failed
// statement aborts it: wrap an expected failure in tx.Begin. The database is shared: a test that alters its tables, or
// references one with a foreign key, must use [OwnTx]; its lock would wait for tests that in turn wait for a
// connection.
func Tx(t testing.TB) pgx.Tx {
	t.Helper()

	pool, err := theSuite.sharedPool()
	require.NoError(t, err)

	return begin(t, pool)
}

// OwnTx is [Tx] on a database for this test alone.
func OwnTx(t testing.TB) pgx.Tx {
	t.Helper()

	return begin(t, Pool(t))
}

func begin(t testing.TB, pool *pgxpool.Pool) pgx.Tx {
	t.Helper()

	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), Patience)
		defer cancel()
		_ = tx.Rollback(ctx) // an error means that the connection, and with it the transaction, is gone
	})

	return tx
}

// URL returns the address of a freshly migrated database for this test alone, for tests that start real processes.
func URL(t testing.TB) string {
	t.Helper()

	return copyOf(t, func(s *server) string { return s.template })
}

// EmptyURL returns the address of a database without migrations, for tests of the migrator itself.
func EmptyURL(t testing.TB) string {
	t.Helper()

	return copyOf(t, func(*server) string { return "template0" })
}

func copyOf(t testing.TB, template func(*server) string) string {
	t.Helper()

	server, err := theSuite.get()
	require.NoError(t, err)
	name, url, err := server.Create(t.Context(), template(server))
	require.NoError(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("database kept: %s", url)

			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), Patience)
		defer cancel()
		require.NoError(t, server.Drop(ctx, name))
	})

	return url
}

// Whole marks a long test: one that runs whole programs, plays many turns, or walks over everything. `make test` skips
// it; `make test/full`, which continuous integration runs, does not.
func Whole(t testing.TB) {
	t.Helper()

	if testing.Short() {
		t.Skip("not with -short: make test/full")
	}
}

// ExampleURL returns the address of a freshly migrated database for a runnable example, which has no testing.TB, and a
// function that drops it. It panics without a server.
func ExampleURL() (url string, drop func()) {
	ctx := context.Background()
	server, err := theSuite.get()
	if err != nil {
		panic(err)
	}
	name, url, err := server.Create(ctx, server.template)
	if err != nil {
		panic(err)
	}

	return url, func() { _ = server.Drop(ctx, name) } // the next run sweeps up what remains
}

// close drops what is left of this run. Nobody could act on an error; the next run sweeps up what remains.
func (s *suite) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()

	if s.pool != nil {
		s.pool.Close()
		_ = s.server.Drop(ctx, s.pool.Config().ConnConfig.Database)
	}
	if s.server != nil {
		s.server.Close()
	}
}

// get connects once. After a failure, the next test tries again and fails with the same message.
func (s *suite) get() (*server, error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.connected()
}

// connected requires the lock.
func (s *suite) connected() (*server, error) {
	if s.server != nil {
		return s.server, nil
	}
	ctx := context.Background()
	address, err := serverURL(ctx)
	if err != nil {
		return nil, err
	}
	s.server, err = connect(ctx, address)

	return s.server, err
}

// sharedPool is on the database in which the tests using Tx run.
func (s *suite) sharedPool() (*pgxpool.Pool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pool != nil {
		return s.pool, nil
	}
	server, err := s.connected()
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	_, url, err := server.Create(ctx, server.template)
	if err != nil {
		return nil, err
	}
	s.pool, err = pg.Open(ctx, pg.Config{AppName: "dbtest", MaxConns: sharedConns, URL: url})

	return s.pool, err
}

// Server returns the address of the server's own database, for tests of code that creates databases.
func Server(t testing.TB) string {
	t.Helper()

	server, err := theSuite.get()
	require.NoError(t, err)

	return server.Address(server.Admin.Config().ConnConfig.Database)
}

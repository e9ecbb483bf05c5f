package dbtest

import (
	"context"
	"fmt"
	"os"
	"slices"
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

// What the tests of one binary share is made on first use. A failure is every test's, with the same message.
var (
	theServer = sync.OnceValues(func() (*server, error) {
		ctx := context.Background()
		address, err := serverURL(ctx)
		if err != nil {
			return nil, err
		}
		s, err := connect(ctx, address)
		if err == nil {
			closing = append(closing, s.Close)
		}

		return s, err
	})
	// sharedPool is on the database in which the tests using [Tx] run.
	sharedPool = sync.OnceValues(func() (*pgxpool.Pool, error) {
		s, err := theServer()
		if err != nil {
			return nil, err
		}
		ctx := context.Background()
		name, url, err := s.Create(ctx, s.template)
		if err != nil {
			return nil, err
		}
		pool, err := pg.Open(ctx, pg.Config{AppName: "dbtest", MaxConns: sharedConns, URL: url})
		if err == nil {
			closing = append(closing, func() {
				ctx, cancel := context.WithTimeout(ctx, Patience)
				defer cancel()
				pool.Close()
				_ = s.Drop(ctx, name) // the next run sweeps up what remains
			})
		}

		return pool, err
	})
	// closing closes both, once the tests are over: the last first.
	closing []func()
)

// Main is a package's TestMain: it runs the tests, closes what they shared, drops their databases, and fails if
// goroutines are left.
func Main(m *testing.M, ends ...func()) {
	code := m.Run()
	for _, end := range ends {
		end()
	}
	for _, end := range slices.Backward(closing) {
		end()
	}
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

	pool, err := sharedPool()
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

	server, err := theServer()
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
	server, err := theServer()
	if err != nil {
		panic(err)
	}
	name, url, err := server.Create(ctx, server.template)
	if err != nil {
		panic(err)
	}

	return url, func() { _ = server.Drop(ctx, name) } // the next run sweeps up what remains
}

// Server returns the address of the server's own database, for tests of code that creates databases.
func Server(t testing.TB) string {
	t.Helper()

	server, err := theServer()
	require.NoError(t, err)

	return server.Address(server.Admin.Config().ConnConfig.Database)
}

package chaos_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/pg"
)

// TestMain runs the tests or, if a test has re-executed this binary, a worker with failpoints.
func TestMain(m *testing.M) {
	if os.Getenv(envFailpoints) != "" {
		os.Exit(failpointWorker())
	}
	code := m.Run()
	theWorkshop.close()
	if path := os.Getenv("CHAOS_REPORT"); code == 0 && path != "" {
		if err := theReports.write(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// workshop is what the tests share: the programs, and a server with a migrated database that theirs are copies of.
type workshop struct {
	once sync.Once
	err  error

	dir      string // contains everything
	keep     atomic.Bool
	programs string
	server   *server // stopped
	places   chan struct{}
}

// Most tests wait more than they work. In the long form, which measures, each has the machine for itself.
var theWorkshop = workshop{places: make(chan struct{}, max(1, 2-rounds()))}

// lab is a test's own server, which may be killed, and the programs.
type lab struct {
	dir      string // contains the server, and the logs
	programs string
	server   *server
	count    atomic.Int64 // of databases
}

// openLab waits until there is room for the test.
func openLab(t *testing.T) *lab {
	t.Helper()
	dbtest.Whole(t)

	theWorkshop.places <- struct{}{}
	t.Cleanup(func() { <-theWorkshop.places })
	address := dbtest.URL(t) // outside Once: it may end the test
	theWorkshop.once.Do(func() { theWorkshop.err = theWorkshop.open(t.Context(), address) })
	if errors.Is(theWorkshop.err, errNoServer) {
		t.Skip(theWorkshop.err)
	}
	require.NoError(t, theWorkshop.err)

	l := &lab{dir: theWorkshop.dirOf(t), programs: theWorkshop.programs}
	require.NoError(t, os.Mkdir(l.dir, 0o755)) // the server's user needs access
	var err error
	l.server, err = newServer(t.Context(), l.dir)
	require.NoError(t, err)
	t.Cleanup(func() { l.close(t) })

	return l
}

func (l *lab) close(t *testing.T) {
	t.Helper()

	_ = l.server.crash() // it may be down already
	if !t.Failed() {
		require.NoError(t, os.RemoveAll(l.dir))

		return
	}
	theWorkshop.keep.Store(true)
	_ = os.RemoveAll(l.server.data)
	t.Logf("the processes' logs are in %s; what they warned of, by how often:\n%s", l.dir, l.complaints())
}

var errNoServer = errors.New("the test database's server programs are not on this machine")

func (w *workshop) open(ctx context.Context, address string) error {
	var err error
	if w.dir, err = os.MkdirTemp("", "alfred-chaos-"); err != nil {
		return err
	}
	if err := os.Chmod(w.dir, 0o755); err != nil { // the server's user needs access
		return err
	}
	w.programs = filepath.Join(w.dir, "bin")
	build := exec.CommandContext(ctx, "go", "build", "-ldflags=-s -w", "-o", w.programs+"/", "alfred/cmd/worker", "alfred/cmd/api")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w: %s", err, out)
	}
	if w.server, err = makeServer(ctx, w.dir, address); err != nil {
		return err
	}
	if err := w.server.sql(ctx, `CREATE DATABASE template`); err != nil {
		return err
	}
	migrate := exec.CommandContext(ctx, filepath.Join(w.programs, "worker"), "migrate", "up")
	migrate.Env = append(os.Environ(), "DATABASE_URL="+w.server.url("template"))
	if out, err := migrate.CombinedOutput(); err != nil {
		return fmt.Errorf("migrate: %w: %s", err, out)
	}

	return w.server.run(ctx, "pg_ctl", "--pgdata", w.server.data, "--mode", "fast", "--wait", "stop")
}

// dirOf is where a test and its subtests keep their files.
func (w *workshop) dirOf(t *testing.T) string {
	t.Helper()
	name, _, _ := strings.Cut(t.Name(), "/")

	return filepath.Join(w.dir, name)
}

func (w *workshop) close() {
	if w.keep.Load() {
		_ = os.RemoveAll(w.server.data)
		_ = os.RemoveAll(w.programs)
	} else if w.dir != "" {
		_ = os.RemoveAll(w.dir)
	}
}

// database creates a migrated database and returns its address and a pool.
func (l *lab) database(t *testing.T) (string, *pgxpool.Pool) {
	t.Helper()

	name := "chaos_" + strconv.FormatInt(l.count.Add(1), 10)
	require.NoError(t, l.server.sql(t.Context(), `CREATE DATABASE `+name+` TEMPLATE template`))
	// The test's own connections must survive idle_session_timeout, which closes those of the programs.
	pool, err := pg.Open(t.Context(), pg.Config{AppName: "chaos", MaxConns: 16, URL: l.server.url(name) + "&idle_session_timeout=0"})
	require.NoError(t, err)
	t.Cleanup(pool.Close)

	return l.server.url(name), pool
}

// server is a Postgres that writes to disk and may be killed.
type server struct {
	bin, data string
	port      int
	settings  string              // in addition to the usual ones, as arguments: -c name=value
	owner     *syscall.Credential // root may not run a server
}

// newServer starts a copy of the workshop's server, with its migrated database.
func newServer(ctx context.Context, dir string) (*server, error) {
	s := *theWorkshop.server
	s.data = filepath.Join(dir, "data")
	if out, err := exec.CommandContext(ctx, "cp", "-a", theWorkshop.server.data, s.data).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("copy the server: %w: %s", err, out)
	}
	var err error
	if s.port, err = freePort(ctx); err != nil {
		return nil, err
	}

	return &s, s.start(ctx)
}

// makeServer uses the programs of the server at address, which has everything required.
func makeServer(ctx context.Context, dir, address string) (*server, error) {
	s := &server{data: filepath.Join(dir, "data")}
	if err := s.find(ctx, address); err != nil {
		return nil, err
	}
	if err := os.Mkdir(s.data, 0o700); err != nil {
		return nil, err
	}
	if err := s.chooseOwner(); err != nil {
		return nil, err
	}
	var err error
	if s.port, err = freePort(ctx); err != nil {
		return nil, err
	}
	if err := s.run(ctx, "initdb", "--pgdata", s.data, "--username", "alfred", "--auth", "trust", "--encoding", "UTF8", "--locale", "C.UTF-8"); err != nil {
		return nil, err
	}

	return s, s.start(ctx)
}

// freePort returns a port for a program that is killed and restarted. The system assigns ports above 32768 to anybody:
// one of those could be taken while the program is down.
func freePort(ctx context.Context) (int, error) {
	const low, high = 20000, 32000
	for range 100 {
		port := low + rand.IntN(high-low)
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			return port, listener.Close()
		}
	}

	return 0, errors.New("no port is free")
}

func (s *server) find(ctx context.Context, address string) error {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if err := conn.QueryRow(ctx, `SELECT setting FROM pg_config() WHERE name = 'BINDIR'`).Scan(&s.bin); err != nil {
		return fmt.Errorf("%w: %w", errNoServer, err)
	}
	if _, err := os.Stat(filepath.Join(s.bin, "initdb")); err != nil {
		return fmt.Errorf("%w: %w", errNoServer, err)
	}

	return nil
}

func (s *server) chooseOwner() error {
	if os.Getuid() != 0 {
		return nil
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		return fmt.Errorf("%w: %w", errNoServer, err)
	}
	uid, _ := strconv.Atoi(account.Uid)
	gid, _ := strconv.Atoi(account.Gid)
	s.owner = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}

	return os.Chown(s.data, uid, gid)
}

// run runs one of the server's programs. Its output goes to a file, because pg_ctl's child keeps it open.
func (s *server) run(ctx context.Context, program string, args ...string) error {
	log, err := os.CreateTemp(filepath.Dir(s.data), program+"-*.log")
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	command := exec.CommandContext(ctx, filepath.Join(s.bin, program), args...)
	command.Dir, command.Stdout, command.Stderr = "/", log, log
	command.SysProcAttr = &syscall.SysProcAttr{Credential: s.owner}
	if err := command.Run(); err != nil {
		text, _ := os.ReadFile(log.Name())

		return fmt.Errorf("%s: %w: %s", program, err, text)
	}

	return nil
}

func (s *server) start(ctx context.Context) error {
	return s.run(ctx, "pg_ctl", "--pgdata", s.data, "--log", filepath.Join(s.data, "server.log"), "--wait", "--timeout", "600", "--options",
		fmt.Sprintf("-c listen_addresses=127.0.0.1 -c port=%d -c unix_socket_directories='%s' -c max_connections=400 -c wal_level=logical -c shared_buffers=128MB -c deadlock_timeout=200ms %s", s.port, s.data, s.settings),
		"start")
}

// crash kills the server: nothing is flushed.
func (s *server) crash() error {
	ctx, cancel := context.WithTimeout(context.Background(), dbtest.Patience)
	defer cancel()

	return s.run(ctx, "pg_ctl", "--pgdata", s.data, "--mode", "immediate", "--wait", "stop")
}

func (s *server) url(database string) string {
	return fmt.Sprintf("postgres://alfred@127.0.0.1:%d/%s?sslmode=disable", s.port, database)
}

func (s *server) sql(ctx context.Context, statement string) error {
	conn, err := pgx.Connect(ctx, s.url("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, statement)

	return err
}

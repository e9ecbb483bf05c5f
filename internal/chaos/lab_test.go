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
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

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
	theLab.close()
	if path := os.Getenv("CHAOS_REPORT"); code == 0 && path != "" {
		if err := theReports.write(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// lab is what the tests share: a server that may be killed, and the programs. Tests run sequentially, because each
// needs the whole machine.
type lab struct {
	once sync.Once
	err  error

	dir      string // contains everything
	keep     bool   // a test has failed: keep the logs
	programs string
	server   *server
	count    atomic.Int64 // of databases
}

var theLab lab

// openLab starts the server on first use.
func openLab(t *testing.T) *lab {
	t.Helper()
	dbtest.Whole(t)

	address := dbtest.URL(t) // outside Once: it may end the test
	theLab.once.Do(func() { theLab.err = theLab.open(t.Context(), address) })
	if errors.Is(theLab.err, errNoServer) {
		t.Skip(theLab.err)
	}
	require.NoError(t, theLab.err)
	t.Cleanup(func() {
		if t.Failed() {
			theLab.keep = true
			t.Logf("the processes' logs are in %s; what they warned of, by how often:\n%s", theLab.dir, theLab.complaints())
		}
	})

	return &theLab
}

var errNoServer = errors.New("the test database's server programs are not on this machine")

func (l *lab) open(ctx context.Context, address string) error {
	var err error
	if l.dir, err = os.MkdirTemp("", "alfred-chaos-"); err != nil {
		return err
	}
	if err := os.Chmod(l.dir, 0o755); err != nil { // the server's user needs access
		return err
	}
	l.programs = filepath.Join(l.dir, "bin")
	build := exec.CommandContext(ctx, "go", "build", "-o", l.programs+"/", "alfred/cmd/worker", "alfred/cmd/api")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w: %s", err, out)
	}
	if l.server, err = newServer(ctx, l.dir, address); err != nil {
		return err
	}

	return l.migrate(ctx)
}

// migrate creates the database that the others are copies of.
func (l *lab) migrate(ctx context.Context) error {
	if err := l.server.sql(ctx, `CREATE DATABASE template`); err != nil {
		return err
	}
	migrate := exec.CommandContext(ctx, filepath.Join(l.programs, "worker"), "migrate", "up")
	migrate.Env = append(os.Environ(), "DATABASE_URL="+l.server.url("template"))
	if out, err := migrate.CombinedOutput(); err != nil {
		return fmt.Errorf("migrate: %w: %s", err, out)
	}

	return nil
}

func (l *lab) close() {
	if l.server != nil {
		_ = l.server.crash()
	}
	if l.keep {
		_ = os.RemoveAll(l.server.data)
		_ = os.RemoveAll(l.programs)
	} else if l.dir != "" {
		_ = os.RemoveAll(l.dir)
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

// newServer uses the programs of the server at address, which has everything required.
func newServer(ctx context.Context, dir, address string) (*server, error) {
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
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
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

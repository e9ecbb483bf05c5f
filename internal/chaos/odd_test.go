package chaos_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/pg"
)

// oddity is what is unusual about a database.
type oddity struct {
	name string
	// set are settings of the database.
	set []string
	// prepare changes the zoo's address before its programs start.
	prepare func(t *testing.T, z *zoo)
	// midway happens in the middle of the conversations.
	midway func(t *testing.T, z *zoo)
	// lockless: session locks have no effect, so two workers may build the same index concurrently and Postgres ends
	// one with a deadlock; the next sweep finds it built.
	lockless bool
	// unshipped: vectors may be lost, since their commits wait for neither disk nor standby. A starting worker makes them again.
	unshipped bool
	// turns is how many of the conversation's turns are played; 0 is all.
	turns int
	// alike names those of which the short form tries one, any of them.
	alike string
	says  string
}

func oddities() []oddity {
	return []oddity{
		{name: "default isolation `serializable`", set: []string{"default_transaction_isolation = 'serializable'"}, alike: "isolation", says: "succeed: Alfred's own connections read committed"},
		{name: "default isolation `read uncommitted`", set: []string{"default_transaction_isolation = 'read uncommitted'"}, alike: "isolation", says: "succeed: the same"},
		{name: "default isolation `repeatable read`", set: []string{"default_transaction_isolation = 'repeatable read'"}, alike: "isolation", says: "succeed: the same"},
		{name: "`statement_timeout` 1 s, `lock_timeout` 200 ms", set: []string{"statement_timeout = '1s'", "lock_timeout = '200ms'"}, says: "succeed; statements that took too long are retried"},
		{
			name: "`idle_session_timeout` 1 s, `idle_in_transaction_session_timeout` 1 s",
			set:  []string{"idle_session_timeout = '1s'", "idle_in_transaction_session_timeout = '1s'"}, says: "succeed; connections are reopened",
		},
		{
			name: "`DateStyle`, `IntervalStyle`, `TimeZone`, `bytea_output`, `standard_conforming_strings`, `extra_float_digits` with unusual values",
			set: []string{
				"DateStyle = 'SQL, DMY'", "IntervalStyle = 'sql_standard'", "TimeZone = 'Asia/Kathmandu'", "bytea_output = 'escape'",
				"standard_conforming_strings = off", "extra_float_digits = -3",
			},
			says: "succeed",
		},
		{name: "read-only for 3 s", midway: readOnlyForAWhile, says: "wait, then succeed; the API answers 503 meanwhile"},
		{name: "a role with a connection limit below the pools'", prepare: fewConnections("CONNECTION LIMIT 14", ""), alike: "limit", says: "wait for a connection, then succeed"},
		{name: "a database with a connection limit below the pools'", prepare: fewConnections("", "CONNECTION LIMIT 24"), alike: "limit", says: "wait for a connection, then succeed"},
		{name: "pgbouncer 1.18, session mode", prepare: bouncing("session"), says: "succeed without any settings"},
		{name: "pgbouncer 1.18, transaction mode", prepare: bouncing("transaction"), lockless: true, says: "succeed, with the settings in docs/operations.md; polling replaces notifications, within a second"},
		{name: "a dump, restored elsewhere while turns ran", midway: restoredDump, turns: 3, says: "succeed: running turns resume; a model is told once that rows it saw before have changed"},
		{name: "a synchronous standby, promoted while turns ran", prepare: pairOfServers, midway: promoted, unshipped: true, says: "wait, then succeed; nothing is lost but vectors, which a sweep makes again"},
	}
}

// K11: whatever is odd about a database, turns succeed or wait.
func TestK11OddDatabases(t *testing.T) { //nolint:tparallel // its subtests share a server
	t.Parallel()
	l := openLab(t)
	calm := openZoo(t, l, 1)
	want := calm.undisturbed()
	for _, odd := range oneOfAlike(oddities()) { //nolint:paralleltest // as above
		t.Run(odd.name, func(t *testing.T) {
			z := newZoo(t, l, 1)
			z.plain, z.workers = true, z.workers[:2]
			for _, setting := range odd.set {
				z.alterDatabase(setting)
			}
			if odd.turns > 0 {
				z.turns = odd.turns
			}
			if odd.prepare != nil {
				odd.prepare(t, z)
			}
			z.revive()
			z.awaitAPI()
			sessions, posting, errs := z.talk(6)
			if odd.midway != nil {
				z.awaitDecisions(sessions, 30)
				odd.midway(t, z)
			}
			z.await("everything to be sent", waited(posting))
			awaitQuietWhile(t, z.pool, z.revive, sessions...)
			for _, err := range errs {
				require.NoError(t, err)
			}
			var failed int
			require.NoError(t, z.pool.QueryRow(t.Context(), `SELECT count(*) FROM turns WHERE status <> 'succeeded'`).Scan(&failed))
			require.Zero(t, failed)
			if odd.unshipped {
				z.awaitVectors()
			}
			for _, session := range sessions {
				if odd.turns == 0 {
					requireSame(t, want, state(t, z.pool, session), odd.name)
				}
			}
			if odd.lockless {
				requireInOrder(t, z.pool)
			} else {
				requireClean(t, z.pool)
			}
			report("odd", fmt.Sprintf("| %s | %d | %s |", odd.name, len(sessions)*z.turns, odd.says))
		})
	}
}

// oneOfAlike is all in the long form. The short form has one of those that are alike.
func oneOfAlike(all []oddity) []oddity {
	if rounds() > 0 {
		return all
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	had := map[string]bool{}

	return slices.DeleteFunc(all, func(odd oddity) bool {
		again := had[odd.alike]
		had[odd.alike] = odd.alike != ""

		return again
	})
}

// alterDatabase sets a setting of the zoo's database for new connections.
func (z *zoo) alterDatabase(setting string) {
	z.t.Helper()

	require.NoError(z.t, z.l.server.sql(z.t.Context(), "ALTER DATABASE "+z.databaseName()+" SET "+setting))
}

func (z *zoo) databaseName() string {
	z.t.Helper()

	address, err := url.Parse(z.url)
	require.NoError(z.t, err)

	return strings.TrimPrefix(address.Path, "/")
}

func readOnlyForAWhile(t *testing.T, z *zoo) {
	t.Helper()

	readOnly := func(is string) {
		z.alterDatabase("default_transaction_read_only = " + is)
		require.NoError(t, z.l.server.sql(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname LIKE 'chaos%'`))
		z.pool.Reset()
	}
	readOnly("on")
	time.Sleep(3 * time.Second) // for as long as the database is read-only
	readOnly("off")
}

// fewConnections gives the programs an unprivileged role and fewer connections than they want, by a limit of the role
// or of the database. The latter includes the test's own connections.
func fewConnections(ofRole, ofDatabase string) func(*testing.T, *zoo) {
	return func(t *testing.T, z *zoo) {
		t.Helper()

		role := "few_" + strings.ReplaceAll(uuid.NewString(), "-", "")
		_, err := z.pool.Exec(t.Context(), `CREATE ROLE `+role+` LOGIN `+ofRole+`; GRANT alfred, alfred_tenant TO `+role)
		require.NoError(t, err)
		if ofDatabase != "" {
			require.NoError(t, z.l.server.sql(t.Context(), "ALTER DATABASE "+z.databaseName()+" "+ofDatabase))
		}
		z.url = strings.Replace(z.url, "alfred@", role+"@", 1)
	}
}

// bouncing puts a pgbouncer in front of the server.
func bouncing(mode string) func(*testing.T, *zoo) {
	return func(t *testing.T, z *zoo) {
		t.Helper()

		program, err := exec.LookPath("pgbouncer")
		if err != nil {
			program = "/usr/sbin/pgbouncer"
		}
		if _, err := os.Stat(program); err != nil {
			t.Skip("there is no pgbouncer here")
		}
		port, err := freePort(t.Context())
		require.NoError(t, err)
		address, err := url.Parse(z.url)
		require.NoError(t, err)
		address.Host = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		if mode == "transaction" { // as in docs/operations.md
			z.alterDatabase("search_path = alfred, public")
			query := address.Query()
			query.Set("default_query_exec_mode", "cache_describe")
			address.RawQuery = query.Encode()
		}
		path := filepath.Join(z.l.dir, "pgbouncer-"+mode+".ini")
		require.NoError(t, os.WriteFile(path, fmt.Appendf(nil, `[databases]
* = host=127.0.0.1 port=%d user=alfred
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = %s
default_pool_size = 60
`, z.l.server.port, port, mode), 0o644))
		args := []string{path}
		if os.Getuid() == 0 {
			args = []string{"-u", "postgres", path}
		}
		spawn(t, nil, program, args...)
		z.url = address.String()
		require.Eventually(t, func() bool {
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address.Host)
			if err == nil {
				_ = conn.Close()
			}

			return err == nil
		}, dbtest.Patience, 10*time.Millisecond, "pgbouncer listens")
	}
}

// restoredDump moves everything to another database with a dump.
func restoredDump(t *testing.T, z *zoo) {
	t.Helper()

	for _, p := range append(z.workers, z.api) {
		p.kill()
	}
	s, name := z.l.server, "chaos_restored_"+strconv.FormatInt(z.l.count.Add(1), 10)
	require.NoError(t, s.sql(t.Context(), `CREATE DATABASE `+name))
	file := filepath.Join(s.data, name+".dump") // where the server's user may write
	require.NoError(t, s.run(t.Context(), "pg_dump", "--format", "custom", "--file", file, "--dbname", z.url))
	require.NoError(t, s.run(t.Context(), "pg_restore", "--exit-on-error", "--dbname", s.url(name), file))
	z.moveTo(s.url(name))
	z.revive()
}

// moveTo makes the programs and the test use another address.
func (z *zoo) moveTo(address string) {
	z.t.Helper()

	pool, err := pg.Open(z.t.Context(), pg.Config{AppName: "chaos", MaxConns: 16, URL: address})
	require.NoError(z.t, err)
	z.t.Cleanup(pool.Close)
	z.url, z.pool = address, pool
}

// pairOfServers gives the zoo its own server with a synchronous standby.
func pairOfServers(t *testing.T, z *zoo) {
	t.Helper()

	primary := extraServer(t, z.l)
	pair := &lab{dir: z.l.dir, programs: z.l.programs, server: primary}
	require.NoError(t, primary.sql(t.Context(), `CREATE DATABASE chaos_pair TEMPLATE template`))

	standby := *primary
	standby.data = filepath.Join(filepath.Dir(primary.data), "standby")
	require.NoError(t, os.Mkdir(standby.data, 0o700))
	require.NoError(t, standby.chooseOwner())
	port, err := freePort(t.Context())
	require.NoError(t, err)
	standby.port = port
	require.NoError(t, standby.run(t.Context(), "pg_basebackup", "--pgdata", standby.data, "--host", "127.0.0.1", "--port", strconv.Itoa(primary.port),
		"--username", "alfred", "--checkpoint", "fast", "--write-recovery-conf"))
	require.NoError(t, standby.start(t.Context()))
	t.Cleanup(func() { _ = standby.crash() })
	require.NoError(t, primary.sql(t.Context(), `ALTER SYSTEM SET synchronous_standby_names = '*'`))
	require.NoError(t, primary.sql(t.Context(), `SELECT pg_reload_conf()`))
	z.l, z.standby = pair, &standby
	z.moveTo(fmt.Sprintf("postgres://alfred@127.0.0.1:%d,127.0.0.1:%d/chaos_pair?sslmode=disable&target_session_attrs=read-write&connect_timeout=2", primary.port, standby.port))
}

// awaitVectors restarts the workers and waits until each turn has its vector.
func (z *zoo) awaitVectors() {
	z.t.Helper()

	for _, worker := range z.workers {
		worker.kill()
	}
	z.await("a vector for each turn", func() bool { return eachHasVector(z.t, z.pool) })
}

func eachHasVector(t *testing.T, pool *pgxpool.Pool) bool {
	t.Helper()

	var missing int
	err := pool.QueryRow(t.Context(), `SELECT count(*) FROM turns AS t
		WHERE NOT EXISTS (SELECT FROM embeddings AS e WHERE e.owner_kind = 'turn' AND e.owner_id = t.id::text)`).Scan(&missing)

	return err == nil && missing == 0
}

// promoted kills the primary and promotes its standby.
func promoted(t *testing.T, z *zoo) {
	t.Helper()

	require.NoError(t, z.l.server.crash())
	ctx, cancel := context.WithTimeout(t.Context(), dbtest.Patience)
	defer cancel()
	require.NoError(t, z.standby.run(ctx, "pg_ctl", "--pgdata", z.standby.data, "--wait", "promote"))
	z.pool.Reset()
}

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"alfred/internal/pg"
	"alfred/internal/scratch"
)

// server is the server of the measured database, seen from another one, so that what is asked here is not counted.
type server struct {
	*scratch.Server

	database string // the measured one
}

func openServer(ctx context.Context, address string) (*server, error) {
	opened, err := scratch.Open(ctx, address, "alfred_bench_")
	if err != nil {
		return nil, err
	}

	return &server{Server: opened}, nil
}

func (s *server) close(ctx context.Context) error {
	defer s.Close()

	return s.drop(context.WithoutCancel(ctx))
}

func (s *server) drop(ctx context.Context) error {
	if s.database == "" {
		return nil
	}

	return s.Drop(ctx, s.database)
}

// empty measures a new database from here on, in place of the one before.
func (s *server) empty(ctx context.Context) (address string, err error) {
	if err := s.drop(ctx); err != nil {
		return "", err
	}
	s.database, address, err = s.Create(ctx, "template0")

	return address, err
}

// migrated is empty with our tables.
func (s *server) migrated(ctx context.Context) (string, error) {
	own, err := s.empty(ctx)
	if err != nil {
		return "", err
	}

	return own, scratch.Migrate(ctx, own, nil)
}

// commits is how many transactions the database has committed, read-only ones included. Backends report at their end at
// the latest, so all connections must be closed.
func (s *server) commits(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		var n, busy int
		err := s.Admin.QueryRow(ctx, `SELECT d.xact_commit, (SELECT count(*) FROM pg_stat_activity AS a WHERE a.datname = d.datname AND a.backend_type = 'client backend')
			FROM pg_stat_database AS d WHERE d.datname = $1`, s.database).Scan(&n, &busy)
		if err != nil {
			return 0, fmt.Errorf("read pg_stat_database: %w", err)
		}
		if busy == 0 {
			return n, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// checkpoint prevents a checkpoint within the next minutes.
func (s *server) checkpoint(ctx context.Context) error {
	_, err := s.Admin.Exec(ctx, `CHECKPOINT`)

	return err
}

// reading is what has been used up to a moment.
type reading struct {
	position string // end of the WAL
	cpu      cpu
}

func (s *server) read(ctx context.Context) (r reading, err error) {
	if err = s.Admin.QueryRow(ctx, `SELECT pg_current_wal_insert_lsn()::text`).Scan(&r.position); err == nil {
		r.cpu, err = s.cpu(ctx)
	}

	return r, err
}

// wal is what was written between two positions, in bytes, by all databases of the server.
type wal struct {
	Bytes  int
	Images int            // part of Bytes: full-page images, the first time after a checkpoint
	Tables map[string]int // the rest by table, indexes separately: "turns", "turns (btree)"; nil without pg_walinspect

	Rows, Commits int // rows of tables, not of the catalog or TOAST, and transactions that wrote; 0 without pg_walinspect
}

// walBetween inspects the WAL from the measured database itself, which must have been counted before. Without
// pg_walinspect it returns only the total.
func (s *server) walBetween(ctx context.Context, address, from, to string) (wal, error) {
	var w wal
	if err := s.Admin.QueryRow(ctx, `SELECT ($2::pg_lsn - $1::pg_lsn)::bigint`, from, to).Scan(&w.Bytes); err != nil {
		return w, fmt.Errorf("measure the WAL: %w", err)
	}
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return w, fmt.Errorf("connect: %w", err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, `CREATE EXTENSION IF NOT EXISTS pg_walinspect`); err != nil {
		return w, nil // the server does not have it
	}
	rows, _ := conn.Query(ctx, walByTable, from, to)
	var (
		table                          string
		size, images, written, commits int
	)
	w.Tables = map[string]int{}
	_, err = pgx.ForEachRow(rows, []any{&table, &size, &images, &written, &commits}, func() error {
		w.Tables[table] += size
		w.Images, w.Rows, w.Commits = w.Images+images, w.Rows+written, w.Commits+commits

		return nil
	})
	if err != nil {
		return w, fmt.Errorf("look into the WAL: %w", err)
	}

	return w, nil
}

// walByTable attributes a record to the relation of its first block: an index to its table, a TOAST table to its owner,
// a partition to its parent.
const walByTable = `
	WITH records AS (
		SELECT (regexp_match(block_ref, 'rel \d+/(\d+)/(\d+)'))[1]::oid AS db, (regexp_match(block_ref, 'rel \d+/(\d+)/(\d+)'))[2]::oid AS node,
			resource_manager, record_type, record_length - fpi_length AS size, fpi_length AS image
		FROM pg_get_wal_records_info($1::pg_lsn, $2::pg_lsn)
	), relations AS (
		SELECT c.relfilenode AS node, c.relkind = 'r' AND c.oid >= 16384 AS holds_rows, coalesce(am.amname, '') AS method, coalesce(parent.inhparent, owner.oid)::regclass::text AS name
		FROM pg_class AS c
		LEFT JOIN pg_index AS i ON i.indexrelid = c.oid
		LEFT JOIN pg_am AS am ON am.oid = c.relam AND c.relkind = 'i'
		LEFT JOIN pg_class AS toasted ON toasted.reltoastrelid = coalesce(i.indrelid, c.oid)
		JOIN pg_class AS owner ON owner.oid = coalesce(toasted.oid, i.indrelid, c.oid)
		LEFT JOIN pg_inherits AS parent ON parent.inhrelid = owner.oid
	)
	SELECT CASE WHEN r.node IS NULL THEN 'transactions' WHEN r.db <> (SELECT oid FROM pg_database WHERE datname = current_database()) THEN 'other databases'
			ELSE coalesce(replace(t.name, 'alfred.', '') || CASE t.method WHEN '' THEN '' ELSE ' (' || t.method || ')' END, 'other') END,
		sum(r.size)::bigint, sum(r.image)::bigint,
		count(*) FILTER (WHERE t.holds_rows AND r.resource_manager IN ('Heap', 'Heap2') AND r.record_type ~ '^(INSERT|MULTI_INSERT|UPDATE|HOT_UPDATE|DELETE)'),
		count(*) FILTER (WHERE r.resource_manager = 'Transaction' AND r.record_type ~ '^COMMIT')
	FROM records AS r LEFT JOIN relations AS t ON t.node = r.node
	GROUP BY 1`

// facts are what a reader needs to compare.
type facts struct {
	At, Go, Machine                               string
	Version, Fsync, SyncCommit, Buffers, WalLevel string // of Postgres
}

func (s *server) facts(ctx context.Context) (facts, error) {
	f := facts{At: time.Now().UTC().Format(toTheMinute), Go: runtime.Version(), Machine: machine()}
	err := s.Admin.QueryRow(ctx, `SELECT current_setting('server_version'), current_setting('fsync'), current_setting('synchronous_commit'),
		current_setting('shared_buffers'), current_setting('wal_level')`).Scan(&f.Version, &f.Fsync, &f.SyncCommit, &f.Buffers, &f.WalLevel)
	if err != nil {
		return f, fmt.Errorf("read the server's settings: %w", err)
	}

	return f, nil
}

// ticksPerSecond is the unit of processor time in /proc.
const ticksPerSecond = 100

// cpu is processor time used so far.
type cpu struct {
	Own    time.Duration // this process: the worker, River and the clients
	Server time.Duration // the backends of the measured database; 0 if /proc does not show it
}

func (c cpu) minus(o cpu) cpu { return cpu{c.Own - o.Own, c.Server - o.Server} }

func (c cpu) plus(o cpu) cpu { return cpu{c.Own + o.Own, c.Server + o.Server} }

// cpu totals the time used. Backends that have ended are not included.
func (s *server) cpu(ctx context.Context) (cpu, error) {
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		return cpu{}, fmt.Errorf("read own processor time: %w", err)
	}
	spent := cpu{Own: time.Duration(own.Utime.Nano() + own.Stime.Nano())}
	pids, err := pg.Collect(ctx, s.Admin, pgx.RowTo[int], "list backends", `SELECT pid FROM pg_stat_activity WHERE datname = $1`, s.database)
	if err != nil {
		return cpu{}, err
	}
	for _, pid := range pids {
		spent.Server += spentBy(pid)
	}

	return spent, nil
}

// spentBy is a process's user and system time, fields 14 and 15 of its stat; the name before them may contain spaces.
func spentBy(pid int) time.Duration {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat") //nolint:gosec // a number from Postgres
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const user, system = 11, 12
	if len(fields) <= system {
		return 0
	}
	u, _ := strconv.Atoi(fields[user])
	k, _ := strconv.Atoi(fields[system])

	return time.Duration(u+k) * time.Second / ticksPerSecond
}

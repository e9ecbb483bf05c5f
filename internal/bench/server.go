package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// server is a connection to another database of the same server, so that what it
// asks is not counted.
type server struct{ conn *pgx.Conn }

func openServer(ctx context.Context, address string) (*server, error) {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return &server{conn: conn}, nil
}

func (s *server) close(ctx context.Context) { s.conn.Close(context.WithoutCancel(ctx)) }

// commits is how many transactions the database has committed, read-only ones too.
// Backends report at their end at the latest, so all connections must be closed.
func (s *server) commits(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		var n, busy int
		err := s.conn.QueryRow(ctx, `SELECT d.xact_commit, (SELECT count(*) FROM pg_stat_activity AS a WHERE a.datname = d.datname AND a.backend_type = 'client backend')
			FROM pg_stat_database AS d WHERE d.datname = $1`, database).Scan(&n, &busy)
		if err != nil {
			return 0, fmt.Errorf("read pg_stat_database: %w", err)
		}
		if busy == 0 {
			return n, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// checkpoint makes the next minutes free of one.
func (s *server) checkpoint(ctx context.Context) error {
	_, err := s.conn.Exec(ctx, `CHECKPOINT`)

	return err
}

// position is where the WAL ends now.
func (s *server) position(ctx context.Context) (string, error) {
	var lsn string
	err := s.conn.QueryRow(ctx, `SELECT pg_current_wal_insert_lsn()::text`).Scan(&lsn)

	return lsn, err
}

// wal is what was written between two positions, in bytes. All databases of the
// server write into it.
type wal struct {
	Bytes  int
	Images int            // of Bytes: pages logged whole, the first time after a checkpoint
	Kinds  map[string]int // the rest by kind: Heap, Btree, Gin ...; nil without pg_walinspect
}

// walBetween looks into the WAL from the measured database itself, which must have
// been counted before. Where pg_walinspect is missing, the sum is all there is.
func (s *server) walBetween(ctx context.Context, address, from, to string) (wal, error) {
	var w wal
	if err := s.conn.QueryRow(ctx, `SELECT ($2::pg_lsn - $1::pg_lsn)::bigint`, from, to).Scan(&w.Bytes); err != nil {
		return w, fmt.Errorf("measure the WAL: %w", err)
	}
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return w, fmt.Errorf("connect: %w", err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, `CREATE EXTENSION IF NOT EXISTS pg_walinspect`); err != nil {
		return w, nil //nolint:nilerr // the server does not have it
	}
	rows, err := conn.Query(ctx, `SELECT "resource_manager/record_type", record_size::bigint, fpi_size::bigint
		FROM pg_get_wal_stats($1::pg_lsn, $2::pg_lsn) WHERE count > 0`, from, to)
	if err != nil {
		return w, fmt.Errorf("look into the WAL: %w", err)
	}
	var (
		kind         string
		size, images int
	)
	w.Kinds = map[string]int{}
	_, err = pgx.ForEachRow(rows, []any{&kind, &size, &images}, func() error {
		w.Kinds[kind] += size
		w.Images += images

		return nil
	})
	if err != nil {
		return w, fmt.Errorf("look into the WAL: %w", err)
	}

	return w, nil
}

// facts are what a reader needs to compare.
type facts struct{ Version, Fsync, SyncCommit, Buffers, WalLevel string }

func (s *server) facts(ctx context.Context) (facts, error) {
	var f facts
	err := s.conn.QueryRow(ctx, `SELECT current_setting('server_version'), current_setting('fsync'), current_setting('synchronous_commit'),
		current_setting('shared_buffers'), current_setting('wal_level')`).Scan(&f.Version, &f.Fsync, &f.SyncCommit, &f.Buffers, &f.WalLevel)
	if err != nil {
		return f, fmt.Errorf("read the server's settings: %w", err)
	}

	return f, nil
}

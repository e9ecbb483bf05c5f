package mover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/internal/pg"
)

// changes follows what is written for the user at the source. It keeps which rows, not what: they are read again once
// nobody writes any more. The slot is a temporary one, which ends with its connection: a mover that dies leaves none.
type changes struct {
	conn   *pgconn.PgConn
	tables map[string]*table // by name without quotes
	// relations are what the stream has named.
	relations map[uint32]relation
	ended     chan struct{}
	stopped   context.CancelFunc

	mu     sync.Mutex
	err    error                          // why it ended
	marks  map[string]chan struct{}       // who waits for which mark
	rows   map[string]map[string]struct{} // keys by table
	joined map[string]string              // what changed has returned, until there are more
	count  int
	// lost: what changed is more than is kept, or is not known by rows.
	lost bool
}

// relation is a table as the stream sends its rows.
type relation struct {
	table   *table
	columns []string
}

const (
	markPrefix = "alfred.move"
	// keptChanges bounds the memory: beyond, all rows are read again.
	keptChanges = 100_000
)

// follow makes the slot and reads from then on. Making it waits for the transactions that are open at the source.
func follow(ctx context.Context, source *pgxpool.Pool, name string, tables []table) (*changes, error) {
	conn, err := replicating(ctx, source)
	if err != nil {
		return nil, err
	}
	c := &changes{
		conn: conn, ended: make(chan struct{}), tables: map[string]*table{}, relations: map[uint32]relation{},
		marks: map[string]chan struct{}{}, rows: map[string]map[string]struct{}{}, joined: map[string]string{},
	}
	for i := range tables {
		c.tables[unquoted(tables[i].name)] = &tables[i]
	}
	if err := c.start(ctx, name); err != nil {
		_ = conn.Close(context.WithoutCancel(ctx)) // the error says more

		return nil, err
	}
	reading, stopped := context.WithCancel(context.WithoutCancel(ctx))
	c.stopped = stopped
	go c.read(reading)

	return c, nil
}

// replicating opens a connection of the kind that slots are read on.
func replicating(ctx context.Context, source *pgxpool.Pool) (*pgconn.PgConn, error) {
	config := source.Config().ConnConfig.Config.Copy()
	config.RuntimeParams["replication"] = "database"
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connect for replication: %w", err)
	}

	return conn, nil
}

// start begins the stream.
func (c *changes) start(ctx context.Context, name string) error {
	if _, err := c.conn.Exec(ctx, `CREATE_REPLICATION_SLOT `+name+` TEMPORARY LOGICAL pgoutput NOEXPORT_SNAPSHOT`).ReadAll(); err != nil {
		return fmt.Errorf("make the replication slot: %w", err)
	}
	c.conn.Frontend().SendQuery(&pgproto3.Query{String: `START_REPLICATION SLOT ` + name + ` LOGICAL 0/0 (proto_version '1', messages 'true', publication_names '` + name + `')`})
	if err := c.conn.Frontend().Flush(); err != nil {
		return fmt.Errorf("start replication: %w", err)
	}
	for {
		message, err := c.conn.ReceiveMessage(ctx)
		if err != nil {
			return fmt.Errorf("start replication: %w", err)
		}
		switch message := message.(type) {
		case *pgproto3.CopyBothResponse:
			return nil
		case *pgproto3.ErrorResponse:
			return fmt.Errorf("start replication: %w", pgconn.ErrorResponseToPgError(message))
		}
	}
}

// stop ends the stream, and with it the slot; again, it does nothing. What was read stays.
func (c *changes) stop(ctx context.Context) {
	c.stopped()
	<-c.ended
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), retreatTimeout)
	defer cancel()
	_ = c.conn.Close(ctx) // the server ends the slot when it notices
}

func (c *changes) read(ctx context.Context) {
	defer close(c.ended)
	for {
		message, err := c.conn.ReceiveMessage(ctx)
		if err == nil {
			switch message := message.(type) {
			case *pgproto3.CopyData:
				err = c.take(message.Data)
			case *pgproto3.ErrorResponse:
				err = pgconn.ErrorResponseToPgError(message)
			case *pgproto3.CopyDone:
				err = errors.New("the server ended the stream")
			}
		}
		if err != nil {
			c.mu.Lock()
			c.err = fmt.Errorf("follow the source: %w", err)
			c.mu.Unlock()

			return
		}
	}
}

// Messages of the stream itself: of changes, and a sign of life, which is answered with how far all is read.
const (
	streamData  = 'w'
	streamAlive = 'k'
	dataHeader  = 1 + 8 + 8 + 8
)

func (c *changes) take(data []byte) error {
	switch {
	case len(data) > dataHeader && data[0] == streamData:
		return c.note(data[dataHeader:])
	case len(data) >= 9 && data[0] == streamAlive:
		answer := []byte{'r'}
		for range 3 { // received, kept, applied
			answer = append(answer, data[1:9]...)
		}
		answer = append(answer, make([]byte, 8+1)...)
		c.conn.Frontend().Send(&pgproto3.CopyData{Data: answer})

		return c.conn.Frontend().Flush()
	}

	return nil
}

// note keeps which rows a change is about.
func (c *changes) note(data []byte) error {
	p := &parser{rest: data[1:]}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch data[0] {
	case kindRelation:
		id, name, columns := p.relation()
		if t := c.tables[name]; t != nil { // partitions are made known too, and not named again
			c.relations[id] = relation{t, columns}
		}
	case kindInsert, kindUpdate, kindDelete:
		for of := c.relations[p.long()]; len(p.rest) > 0; {
			p.byte() // the row as it is, or what identified it before
			c.keep(of, p.tuple())
		}
	case kindTruncate:
		c.lost = true
	case kindMessage:
		if prefix, content := p.message(); prefix == markPrefix && c.marks[content] != nil {
			close(c.marks[content])
			delete(c.marks, content)
		}
	}

	return p.err
}

// keep notes a row by its key, as JSON.
func (c *changes) keep(of relation, values []*string) {
	key := map[string]string{}
	for i, column := range of.columns {
		if i < len(values) && values[i] != nil && of.table.keyed(column) {
			key[column] = *values[i]
		}
	}
	encoded, err := json.Marshal(key)
	if err != nil || of.table == nil || len(key) < len(of.table.key) || c.count >= keptChanges {
		c.lost = true

		return
	}
	rows := c.rows[of.table.name]
	if rows == nil {
		rows = map[string]struct{}{}
		c.rows[of.table.name] = rows
	}
	if _, known := rows[string(encoded)]; !known {
		rows[string(encoded)] = struct{}{}
		delete(c.joined, of.table.name)
		c.count++
	}
}

// catchUp waits until everything has been read that was committed before it was called.
func (c *changes) catchUp(ctx context.Context, source *pgxpool.Pool) error {
	mark, reached := uuid.NewString(), make(chan struct{})
	c.mu.Lock()
	c.marks[mark] = reached
	c.mu.Unlock()
	err := pg.InTx(ctx, source, func(tx pgx.Tx) error {
		// What is not on disk is not sent, and a commit that waits for the disk takes those before it along.
		_, err := tx.Exec(ctx, `SELECT set_config('synchronous_commit', 'local', true), pg_logical_emit_message(true, $1, $2)`, markPrefix, mark)

		return err
	})
	if err != nil {
		return fmt.Errorf("mark the end of the changes: %w", err)
	}
	select {
	case <-reached:
		return nil
	case <-c.ended:
		return c.err
	case <-ctx.Done():
		return fmt.Errorf("read the changes: %w", ctx.Err())
	}
}

// incomplete reports whether rows may have changed that are not among those kept.
func (c *changes) incomplete() bool {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.lost
}

// changed are the keys of a table's rows that were written, as a JSON array; empty if there are none.
func (c *changes) changed(t *table) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.joined[t.name] == "" && len(c.rows[t.name]) > 0 {
		c.joined[t.name] = "[" + strings.Join(slices.Sorted(maps.Keys(c.rows[t.name])), ",") + "]"
	}

	return c.joined[t.name]
}

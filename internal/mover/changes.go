package mover

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// changes is what is written for the user at the source. It keeps which rows, not what: they are read again once nobody
// writes any more. The slot is a temporary one, which ends with its connection: a mover that dies leaves none.
type changes struct {
	conn   *pgx.Conn
	slot   string            // and publication
	tables map[string]*table // by name without quotes
	// relations are what the messages have named.
	relations map[uint32]relation
	rows      map[*table]map[string]struct{} // keys as JSON
	count     int
	// lost: what changed is more than is kept, or is not known by rows.
	lost bool
}

// relation is a table as the messages give its rows.
type relation struct {
	table   *table
	columns []string
}

// keptChanges bounds the memory: beyond, all rows are read again.
const keptChanges = 100_000

// follow makes the slot, which waits for the transactions that are open at the source.
func follow(ctx context.Context, source *pgxpool.Pool, name string, tables []table) (*changes, error) {
	conn, err := pgx.ConnectConfig(ctx, source.Config().ConnConfig)
	if err != nil {
		return nil, fmt.Errorf("connect to follow the source: %w", err)
	}
	c := &changes{conn: conn, slot: name, tables: map[string]*table{}, relations: map[uint32]relation{}, rows: map[*table]map[string]struct{}{}}
	for i := range tables {
		c.tables[strings.ReplaceAll(tables[i].name, `"`, "")] = &tables[i]
	}
	if err := exec(ctx, conn, "make the replication slot", `SELECT pg_create_logical_replication_slot($1, 'pgoutput', true)`, name); err != nil {
		c.stop(ctx)

		return nil, err
	}

	return c, nil
}

// stop ends the slot with its connection; again, it does nothing.
func (c *changes) stop(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), retreatTimeout)
	defer cancel()
	_ = c.conn.Close(ctx) // the server ends the slot when it notices
}

// read notes everything that was committed before it was called. The server keeps its log until then.
func (c *changes) read(ctx context.Context) error {
	// What is not on disk is not read, and a commit that waits for the disk takes those before it along.
	if _, err := c.conn.Exec(ctx, `BEGIN; SET LOCAL synchronous_commit = local; SELECT pg_logical_emit_message(true, 'alfred.move', ''); COMMIT`); err != nil {
		return fmt.Errorf("mark the end of the changes: %w", err)
	}
	rows, _ := c.conn.Query(ctx, `SELECT data FROM pg_logical_slot_get_binary_changes($1::text::name, NULL, NULL, 'proto_version', '1', 'publication_names', $1::text)`, c.slot) // a failed query shows when its rows are read
	var message []byte
	if _, err := pgx.ForEachRow(rows, []any{&message}, func() error { return c.note(message) }); err != nil {
		return fmt.Errorf("follow the source: %w", err)
	}

	return nil
}

// note keeps which rows a change is about.
func (c *changes) note(data []byte) error {
	p := &parser{rest: data[1:]}
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
	}

	return p.err
}

// keep notes a row by its key, as JSON.
func (c *changes) keep(of relation, values []*string) {
	key := map[string]string{}
	for i, column := range of.columns {
		keyed := slices.ContainsFunc(of.table.key, func(k keyColumn) bool { return k.Name == column })
		if keyed && i < len(values) && values[i] != nil {
			key[column] = *values[i]
		}
	}
	encoded, err := json.Marshal(key)
	if err != nil || of.table == nil || len(key) < len(of.table.key) || c.count >= keptChanges {
		c.lost = true

		return
	}
	rows := c.rows[of.table]
	if rows == nil {
		rows = map[string]struct{}{}
		c.rows[of.table] = rows
	}
	if _, known := rows[string(encoded)]; !known {
		rows[string(encoded)] = struct{}{}
		c.count++
	}
}

// noteInTables notes in each table which of its rows have changed.
func (c *changes) noteInTables() {
	for t, keys := range c.rows {
		t.changed = "[" + strings.Join(slices.Sorted(maps.Keys(keys)), ",") + "]"
	}
}

package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/internal/pg"
)

// change is one row that a transaction wrote, with its values as text.
type change struct {
	Xid     int64
	Table   string // with its schema; of a partition, the parent's
	Op      string // INSERT, UPDATE, DELETE
	Columns []string
	Keys    []string // columns of the primary key, or of the unique key that may contain nulls
	Old     []*string
	New     []*string
	Lazy    bool // the transaction did not wait for the disk
}

// recorderSQL creates the log and the trigger that fills it. The log is written only while recording, never while
// measuring. The trigger's name puts it behind a table's own, which decide whether the commit waits.
const recorderSQL = `
CREATE SCHEMA bench;
CREATE TABLE bench.changes (
	n bigint GENERATED ALWAYS AS IDENTITY, xid bigint, relation text, op text, columns text[], keys text[],
	old text[], new text[], lazy boolean);
CREATE FUNCTION bench.record() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public AS $$
DECLARE
	o text[];
	n text[];
BEGIN
	IF TG_OP <> 'INSERT' THEN EXECUTE TG_ARGV[3] USING OLD INTO o; END IF;
	IF TG_OP <> 'DELETE' THEN EXECUTE TG_ARGV[3] USING NEW INTO n; END IF;
	INSERT INTO bench.changes (xid, relation, op, columns, keys, old, new, lazy)
	VALUES (pg_current_xact_id()::text::bigint, TG_ARGV[0], TG_OP, TG_ARGV[1]::text[], TG_ARGV[2]::text[], o, n,
		current_setting('synchronous_commit') = 'off');
	RETURN NULL;
END
$$;
DO $$
DECLARE t record;
BEGIN
	FOR t IN
		SELECT c.oid, format('%I.%I', s.nspname, c.relname) AS name,
			(SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute AS a
			 WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '') AS columns,
			(SELECT array_agg(a.attname::text) FROM pg_index AS i JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey)
			 WHERE i.indrelid = c.oid AND (i.indisprimary OR i.indnullsnotdistinct)) AS keys
		FROM pg_class AS c JOIN pg_namespace AS s ON s.oid = c.relnamespace
		WHERE s.nspname IN ('alfred', 'kitchen') AND c.relkind IN ('r', 'p') AND NOT c.relispartition
		  AND c.relname <> 'workers' AND c.relname !~ 'migration' AND (c.relname !~ '^river_' OR c.relname = 'river_job')
	LOOP
		EXECUTE format('CREATE TRIGGER record_for_bench AFTER INSERT OR UPDATE OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION bench.record(%L, %L, %L, %L)',
			t.name, t.name, t.columns, t.keys,
			(SELECT format('SELECT ARRAY[%s]', string_agg(format('($1).%I::text', x), ', ')) FROM unnest(t.columns) AS x));
	END LOOP;
END
$$`

const unrecorderSQL = `
DO $$
DECLARE t regclass;
BEGIN
	FOR t IN SELECT tgrelid::regclass FROM pg_trigger WHERE tgname = 'record_for_bench' AND tgparentid = 0 LOOP
		EXECUTE format('DROP TRIGGER record_for_bench ON %s', t);
	END LOOP;
END
$$;
DROP SCHEMA bench CASCADE`

// recorded returns what turns wrote, in order.
func recorded(ctx context.Context, pool *pgxpool.Pool, turns func() error) ([]change, error) {
	if _, err := pool.Exec(ctx, recorderSQL); err != nil {
		return nil, fmt.Errorf("install the recorder: %w", err)
	}
	if err := turns(); err != nil {
		return nil, err
	}
	changes, err := pg.Collect(ctx, pool, pgx.RowToStructByPos[change], "read the record", `SELECT xid, relation, op, columns, keys, old, new, lazy FROM bench.changes ORDER BY n`)
	if err != nil {
		return nil, err
	}
	if _, err := pool.Exec(ctx, unrecorderSQL); err != nil {
		return nil, fmt.Errorf("remove the recorder: %w", err)
	}

	return changes, nil
}

// transactions groups changes by transaction, in the order of their first change.
func transactions(changes []change) [][]change {
	var grouped [][]change
	place := map[int64]int{}
	for _, c := range changes {
		i, known := place[c.Xid]
		if !known {
			i = len(grouped)
			place[c.Xid] = i
			grouped = append(grouped, nil)
		}
		grouped[i] = append(grouped[i], c)
	}

	return grouped
}

// value is a column's value in Old or New, nil if the operation has none.
func (c *change) value(values []*string, column string) *string {
	for i, name := range c.Columns {
		if name == column && values != nil {
			return values[i]
		}
	}

	return nil
}

// key names the row: its table and primary key.
func (c *change) key() string {
	values := c.New
	if values == nil {
		values = c.Old
	}
	parts := []string{c.Table}
	for _, k := range c.Keys {
		if v := c.value(values, k); v != nil {
			parts = append(parts, *v)
		}
	}

	return strings.Join(parts, " ")
}

package mover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"alfred/internal/pg"
)

// offline says what can be done where the source cannot be followed.
func offline(format string, args ...any) error {
	return refused(format+": move this user with --off, which copies while nothing is served", args...)
}

// checkOnline looks whether the source can be followed while it serves. Errors: [*RefusedError].
func (u *move) checkOnline(ctx context.Context) error {
	if u.Off {
		return nil
	}
	for _, look := range []func(context.Context) error{u.checkServer, u.checkConnection, u.identify, u.checkPublication} {
		if err := look(ctx); err != nil {
			return err
		}
	}

	return nil
}

// checkServer: a slot can be had. One that keeps nothing is made at once, which the real one is not.
func (u *move) checkServer(ctx context.Context) error {
	conn, err := u.source.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("connect to %s: %w", u.Source.Name, err)
	}
	defer conn.Release()
	var level string
	var senders bool
	if err := conn.QueryRow(ctx, `SELECT current_setting('wal_level'), current_setting('max_wal_senders')::integer > (SELECT count(*) FROM pg_stat_replication)`).Scan(&level, &senders); err != nil {
		return fmt.Errorf("ask %s for its settings: %w", u.Source.Name, err)
	}
	if level != "logical" {
		return offline("the server of %s has wal_level = %s, and only one with logical can be followed", u.Source.Name, level)
	}
	if !senders {
		return offline("the server of %s has no free connection for replication (max_wal_senders)", u.Source.Name)
	}
	look := u.publication() + "_look"
	_, err = conn.Exec(ctx, `SELECT pg_create_physical_replication_slot($1, false, true)`, look)
	switch {
	case pg.Code(err) == pgerrcode.InsufficientPrivilege:
		return offline("the role of the address of %s has not the attribute REPLICATION", u.Source.Name)
	case pg.Code(err) == pgerrcode.ConfigurationLimitExceeded:
		return offline("the server of %s has no free replication slot (max_replication_slots)", u.Source.Name)
	case err != nil:
		return offline("the server of %s makes no replication slot (%s)", u.Source.Name, detail(err))
	}
	if _, err := conn.Exec(ctx, `SELECT pg_drop_replication_slot($1)`, look); err != nil {
		return errors.Join(fmt.Errorf("drop the slot that was made for a look: %w", err), conn.Conn().Close(ctx)) // which drops it
	}

	return nil
}

// checkConnection: every connection to the address is one with the server, as a slot needs, and as those of a pooler, which takes none
// for replication, are not.
func (u *move) checkConnection(ctx context.Context) error {
	config := u.source.Config().ConnConfig.Config.Copy()
	config.RuntimeParams["replication"] = "database"
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err == nil {
		_, err = conn.Exec(ctx, `IDENTIFY_SYSTEM`).ReadAll()
		err = errors.Join(err, conn.Close(ctx))
	}
	if err != nil {
		return offline("the address of %s takes no connection for replication, as that of a pooler does not (%s)", u.Source.Name, detail(err))
	}

	return nil
}

// identitySQL reads whether a table is unlogged, whether other tables inherit from it, whether column $2 is in the replica identity
// of each of its partitions, and the columns of a key that is.
const identitySQL = `
	WITH parts AS (
	    SELECT c.oid, c.relreplident FROM pg_class AS c WHERE c.oid = $1::regclass AND c.relkind = 'r'
	    UNION SELECT c.oid, c.relreplident FROM pg_partition_tree($1::regclass) AS p JOIN pg_class AS c ON c.oid = p.relid WHERE p.isleaf),
	told AS (
	    SELECT p.oid, coalesce(array_agg(a.attname::text) FILTER (WHERE a.attname IS NOT NULL), '{}') AS names
	    FROM parts AS p
	    LEFT JOIN pg_attribute AS a ON a.attrelid = p.oid AND a.attnum > 0 AND NOT a.attisdropped AND (p.relreplident = 'f' OR EXISTS (
	        SELECT FROM pg_index AS i WHERE i.indrelid = p.oid AND a.attnum = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1])
	          AND (p.relreplident = 'd' AND i.indisprimary OR p.relreplident = 'i' AND i.indisreplident)))
	    GROUP BY p.oid),
	keys AS (
	    SELECT i.indexrelid, i.indisreplident, i.indisprimary, i.indnkeyatts, array_agg(a.attname::text) AS names,
	           jsonb_agg(jsonb_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod))) AS key
	    FROM pg_index AS i JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1])
	    WHERE i.indrelid = $1::regclass AND i.indisunique AND i.indisvalid AND i.indimmediate AND i.indpred IS NULL AND i.indexprs IS NULL
	    GROUP BY i.indexrelid, i.indisreplident, i.indisprimary, i.indnkeyatts)
	SELECT c.relpersistence = 'u', c.relkind = 'r' AND EXISTS (SELECT FROM pg_inherits AS h WHERE h.inhparent = c.oid),
	       NOT EXISTS (SELECT FROM told WHERE $2 <> ALL (told.names)),
	       coalesce((SELECT k.key FROM keys AS k WHERE NOT EXISTS (SELECT FROM told WHERE NOT k.names <@ told.names)
	                 ORDER BY k.indisreplident DESC, k.indisprimary DESC, k.indnkeyatts LIMIT 1), '[]')
	FROM pg_class AS c WHERE c.oid = $1::regclass`

// identify finds the columns by which changed rows are told apart. The owner's column must be among them: otherwise Postgres would
// refuse everybody's updates of the published table.
func (u *move) identify(ctx context.Context) error {
	batch := &pgx.Batch{}
	for i := range u.tables {
		t := &u.tables[i]
		batch.Queue(identitySQL, t.name, t.owner).QueryRow(t.identify)
	}
	err := u.source.SendBatch(ctx, batch).Close()
	if _, ok := errors.AsType[*RefusedError](err); err != nil && !ok {
		err = fmt.Errorf("read how rows are told apart: %w", err)
	}

	return err
}

func (t *table) identify(row pgx.Row) error {
	var (
		unlogged, inherited, owned bool
		key                        []byte
	)
	if err := row.Scan(&unlogged, &inherited, &owned, &key); err != nil {
		return err
	}
	if err := json.Unmarshal(key, &t.key); err != nil {
		return fmt.Errorf("read the key of %s: %w", t.name, err)
	}
	switch {
	case unlogged:
		return offline("%s is an unlogged table, which is not replicated", t.name)
	case inherited:
		return offline("%s has tables that inherit from it, whose rows the filter of a publication does not see as its own", t.name)
	case !owned || len(t.key) == 0:
		return offline("the replica identity of %s lacks the owner's column %s, so Postgres would refuse everybody's updates while the table is published (ALTER TABLE ... REPLICA IDENTITY USING INDEX, with a unique index that has this column, mends it)", t.name, t.owner)
	}

	return nil
}

// checkPublication: Postgres takes it. It is made, and rolled back.
func (u *move) checkPublication(ctx context.Context) error {
	tx, err := u.source.Begin(ctx)
	if err != nil {
		return fmt.Errorf("look whether %s can be published: %w", u.Source.Name, err)
	}
	err = u.createPublication(ctx, tx)
	switch pg.Code(err) {
	case "", pgerrcode.LockNotAvailable:
	case pgerrcode.DuplicateObject:
		err = nil // a mover that died has left it
	default:
		err = offline("%s does not take the publication (%s)", u.Source.Name, detail(err))
	}

	return errors.Join(err, tx.Rollback(context.WithoutCancel(ctx)))
}

// publication is the name of publication and slot.
func (u *move) publication() string {
	return "alfred_move_" + strings.ReplaceAll(u.User.ID.String(), "-", "")
}

// createPublication publishes the user's rows.
func (u *move) createPublication(ctx context.Context, tx pgx.Tx) error {
	published := make([]string, len(u.tables))
	for i, t := range u.tables {
		published[i] = t.name + " WHERE (" + t.owned + ")"
	}
	if err := exec(ctx, tx, "bound the wait for tables", `SET LOCAL lock_timeout = '5s'`); err != nil {
		return err
	}

	return exec(ctx, tx, "publish the user's rows", `CREATE PUBLICATION `+u.publication()+` FOR TABLE `+strings.Join(published, ", ")+` WITH (publish_via_partition_root = true)`)
}

// checkKeys: no row of the user has a key that another user's row has at the target, where keys have no user, unless it can
// get a new one.
func (u *move) checkKeys(ctx context.Context) error {
	some := map[string]bool{} // keys of the type are taken
	for _, t := range ofDomain(u.tables) {
		taken, err := u.takenKeys(ctx, u.source, u.target, &t, "")
		some[t.entity.Type] = len(taken) > 0
		switch of := t.entity.Key.FK; {
		case err != nil:
		case u.NewKeys && of != nil && of.Entity != nil && (len(taken) > 0 || some[of.Entity.Type]):
			err = refused("rows of %s have the keys of what they refer to, others' rows have some of these at %s, and --new-keys cannot follow there: move this user to a database that has none of these keys, such as a new one", t.name, u.Target.Name)
		case u.NewKeys && len(taken) > 0:
			_, err = u.sequenceOf(ctx, u.target, &t, taken)
		case len(taken) > 0:
			err = u.keyTaken(&t, taken[0])
		}
		if err != nil {
			return err
		}
	}

	return nil
}

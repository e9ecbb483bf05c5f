package mover

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/db"
	"alfred/internal/domain"
	"alfred/internal/pg"
)

// table is a table with rows of the user.
type table struct {
	name    string // with its schema, as format('%I.%I') has it
	rows    string // a condition over x: the user's
	columns string // of a row as it is stored: generated ones make themselves
	sent    string // the same as the source sends them: columns, unless [move.renumber] has changed that
	owner   string // its column that says whose a row is
	owned   string // the condition of rows by that column alone, without an alias
	entity  *domain.Entity
	refers  []string // to these tables
	key     []keyColumn
	changed string // keys of the rows that were written since all were copied, as a JSON array; empty if there are none
}

// keyColumn is one of those by which the source tells a table's rows apart.
type keyColumn struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// ofDomain are the tables of the domain among those of the engine.
func ofDomain(tables []table) []table {
	return slices.DeleteFunc(slices.Clone(tables), func(t table) bool { return t.entity == nil })
}

// list finds the tables that hold rows of a user, those that others refer to first: the engine's by the catalog, so that
// none can be forgotten, the domain's by its declaration. Errors: [*RefusedError].
func (m *Mover) list(ctx context.Context, pool *pgxpool.Pool, database string, user uuid.UUID) ([]table, error) {
	bound, err := m.bind(ctx, pool, database)
	if err != nil {
		return nil, err
	}
	var tables []table
	err = pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		if tables, err = engineTables(ctx, tx, user); err != nil {
			return err
		}
		more, err := domainTables(ctx, tx, bound, user)
		if err != nil {
			return err
		}
		tables, err = inOrder(ctx, tx, append(tables, more...))

		return err
	})
	for i := range tables {
		tables[i].sent = tables[i].columns
	}

	return tables, err
}

// engineTablesSQL: what always belongs to a session or turn is found by that, because keys have the user last.
const engineTablesSQL = `
	SELECT format('%I.%I', n.nspname, c.relname),
	       CASE WHEN c.relname = 'users' THEN 'x.id = %[1]s'
	            WHEN c.relname NOT IN ('sessions', 'turns') AND 'session_id' = ANY (a.certain) THEN 'x.session_id IN (SELECT s.id FROM alfred.sessions AS s WHERE s.user_id = %[1]s) AND x.user_id = %[1]s'
	            WHEN c.relname <> 'turns' AND 'turn_id' = ANY (a.certain) THEN 'x.turn_id IN (SELECT t.id FROM alfred.turns AS t WHERE t.user_id = %[1]s) AND x.user_id = %[1]s'
	            ELSE 'x.user_id = %[1]s' END,
	       a.stored
	FROM pg_class AS c
	JOIN pg_namespace AS n ON n.oid = c.relnamespace
	CROSS JOIN LATERAL (
	    SELECT array_agg(a.attname::text) AS names, array_agg(a.attname::text) FILTER (WHERE a.attnotnull) AS certain,
	           string_agg(quote_ident(a.attname), ', ' ORDER BY a.attname) FILTER (WHERE a.attgenerated = '') AS stored
	    FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS a
	WHERE n.nspname = 'alfred' AND c.relkind IN ('r', 'p') AND NOT c.relispartition
	  AND (c.relname = 'users' OR 'user_id' = ANY (a.names) AND c.relname <> 'user_places')`

// users is the one engine table whose rows are not found by user_id.
const users = "alfred.users"

func engineTables(ctx context.Context, tx pgx.Tx, user uuid.UUID) ([]table, error) {
	type row struct{ Name, Rows, Columns string }
	found, err := pg.Collect(ctx, tx, pgx.RowToStructByPos[row], "list the engine's tables", engineTablesSQL)
	id := "'" + user.String() + "'::uuid"
	tables := make([]table, len(found))
	for i, r := range found {
		t := table{name: r.Name, rows: fmt.Sprintf(r.Rows, id), columns: r.Columns, owner: "user_id"}
		if r.Name == users {
			t.owner = "id"
		}
		t.owned = t.owner + " = " + id
		tables[i] = t
	}

	return tables, err
}

// domainTables are those of the declaration. The owner's column need not hold the user's id: its default says whose a row is.
func domainTables(ctx context.Context, tx pgx.Tx, bound *domain.Domain, user uuid.UUID) ([]table, error) {
	var tables []table
	for _, entity := range bound.Entities {
		if entity.Reference {
			continue
		}
		name := entity.SQL()
		if entity.Viewed || entity.Owner == nil || entity.Owner.Default == "" {
			return nil, refused("rows of %s are reached through a view, so where they are stored nobody has said: users of this domain cannot be moved, not even with --off", name)
		}
		var owner string
		err := pg.AsTenant(ctx, tx, user, func(tx pgx.Tx) error {
			return tx.QueryRow(ctx, `SELECT coalesce((`+entity.Owner.Default+`)::text, '')`).Scan(&owner)
		})
		if err != nil {
			return nil, fmt.Errorf("ask %s whose rows these are: %w", name, err)
		}
		owned := quoted(entity.Owner.Name) + " = " + pg.Literal(owner) + "::" + entity.Owner.Type
		t := table{entity: entity, rows: "x." + owned, owner: entity.Owner.Name, owned: owned}
		err = tx.QueryRow(ctx, storedSQL, name).Scan(&t.name, &t.columns)
		if err != nil {
			return nil, fmt.Errorf("read the columns of %s: %w", name, err)
		}
		tables = append(tables, t)
	}

	return tables, nil
}

// storedSQL is a table's name, and its columns but for generated ones, which make themselves.
const storedSQL = `SELECT format('%I.%I', n.nspname, c.relname), (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attname)
	FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '')
	FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = $1::regclass`

// reference is a foreign key. Condition joins its rows, o, with those that they refer to, x.
type reference struct{ From, To, Condition string }

// foreignKeys are those between tables; partitions have those of their table.
func foreignKeys(ctx context.Context, tx db.DBTX) ([]reference, error) {
	return pg.Collect(ctx, tx, pgx.RowToStructByPos[reference], "read foreign keys", `
		SELECT format('%I.%I', n.nspname, c.relname), format('%I.%I', m.nspname, r.relname), p.condition
		FROM pg_constraint AS k
		JOIN pg_class AS c ON c.oid = k.conrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
		JOIN pg_class AS r ON r.oid = k.confrelid JOIN pg_namespace AS m ON m.oid = r.relnamespace
		CROSS JOIN LATERAL (
		    SELECT string_agg(format('o.%I = x.%I', a.attname, b.attname), ' AND ') AS condition
		    FROM unnest(k.conkey, k.confkey) AS pair (a, b)
		    JOIN pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = pair.a
		    JOIN pg_attribute AS b ON b.attrelid = k.confrelid AND b.attnum = pair.b) AS p
		WHERE k.contype = 'f' AND k.conparentid = 0 AND NOT c.relispartition`)
}

// inOrder sorts tables so that each comes after those that it refers to.
func inOrder(ctx context.Context, tx pgx.Tx, tables []table) ([]table, error) {
	references, err := foreignKeys(ctx, tx)
	if err != nil {
		return nil, err
	}
	refers := map[string][]string{}
	for _, r := range references {
		refers[r.From] = append(refers[r.From], r.To)
	}
	ordered := make([]table, 0, len(tables))
	for len(tables) > 0 {
		free := slices.IndexFunc(tables, func(t table) bool {
			return !slices.ContainsFunc(tables, func(other table) bool {
				return other.name != t.name && slices.Contains(refers[t.name], other.name)
			})
		})
		if free < 0 {
			return nil, refused("these tables refer to each other in a circle: %s", strings.Join(names(tables), ", "))
		}
		tables[free].refers = refers[tables[free].name]
		ordered = append(ordered, tables[free])
		tables = slices.Delete(tables, free, free+1)
	}

	return ordered, nil
}

// quoted is a name as SQL, with its schema before it if that is given.
func quoted(name ...string) string { return pgx.Identifier(name).Sanitize() }

func names(tables []table) []string {
	all := make([]string, len(tables))
	for i, t := range tables {
		all[i] = t.name
	}

	return all
}

// exec runs a statement; what says what it is for.
func exec(ctx context.Context, tx db.DBTX, what, sql string, args ...any) error {
	if _, err := tx.Exec(ctx, sql, args...); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}

	return nil
}

package domain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// DB is what Bind needs from a connection; *pgx.Conn, *pgxpool.Pool and pgx.Tx implement it. Nothing is written:
// everything happens in a transaction that is rolled back.
type DB interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}

// catalog is what Postgres knows about the tables of one schema, or of several.
type catalog struct {
	tenantRole bool     // the role alfred_tenant exists
	deferred   bool     // something is checked only at the end of a transaction
	settles    bool     // the schema has a function that runs deferred triggers
	extensions []string // schemas of extensions, other than public
	closed     *string  // a schema of Alfred's own extensions that the tenant may not use
	schemas    Schemas
	attributes map[origin]string // names of the columns behind views
	tables     []*catalogTable
}

type catalogTable struct {
	Name         string // its own or, where two of the schemas have one of that name, with its schema's before it
	Schema       string
	Relation     string // its own name
	Beyond       bool   // no view may show it: it is in another schema, or in that by which people sign in, and only says who they are
	Comment      string
	RLS          bool
	Policies     int // those that apply to alfred_tenant
	TenantUsage  bool
	TenantSelect bool
	TenantDelete bool
	UndoDelete   bool // alfred_undo may delete rows
	OID          uint32
	View         bool
	nested       bool   // a view over a view
	Barrier      bool   // a security_barrier view
	Owner        string // the role, as SQL
	Triggers     bool
	Defers       bool              // triggers may run at the end of a transaction
	Reacts       bool              // triggers run after its rows change
	Heirs        bool              // its rows may be those of tables that inherit from it
	numbers      map[string]int    // of the columns
	from         map[string]origin // a view's column -> its table's
	bases        map[uint32]bool   // the tables that a view's columns come from
	columns      []*Column
	primary      []string // the primary key or, of a table without one, the first columns that are unique and never null
	uniques      [][]string
	foreignKeys  []catalogFK
	// insertable and updatable are the columns that alfred_tenant may write.
	insertable []string
	updatable  []string
}

type catalogFK struct {
	Columns  []string
	Table    string // one of the catalog's, or one of another schema, with that before it
	Targets  []string
	OnDelete string // "" of one that Postgres does not know: a name or a declaration says where the column points
}

// holds reports whether the foreign key is this column alone.
func (fk catalogFK) holds(column string) bool { return slices.Equal(fk.Columns, []string{column}) }

func (c *catalog) table(name string) *catalogTable {
	return find(c.tables, func(t *catalogTable) bool { return t.Name == name })
}

func (c *catalog) byOID(oid uint32) *catalogTable {
	return find(c.tables, func(t *catalogTable) bool { return t.OID == oid })
}

// sql is the table with its schema, as SQL.
func (t *catalogTable) sql() string { return quote(t.Schema, t.Relation) }

func (t *catalogTable) column(name string) *Column {
	return find(t.columns, func(c *Column) bool { return c.Name == name })
}

func (t *catalogTable) lacks(columns []string) bool {
	return slices.ContainsFunc(columns, func(name string) bool { return t.column(name) == nil })
}

// mayBeNull reports whether some of the columns may be null.
func (t *catalogTable) mayBeNull(columns []string) bool {
	return slices.ContainsFunc(columns, func(name string) bool { return t.column(name).Nullable })
}

// placeInKey is a column's position in the primary key; columns outside the key come last.
func (t *catalogTable) placeInKey(column string) int {
	if n := slices.Index(t.primary, column); n >= 0 {
		return n
	}

	return len(t.primary)
}

// holdsIdentifiers reports whether the column holds identifiers of rows.
func (t *catalogTable) holdsIdentifiers(c *Column) bool {
	return c.Kind == KindUUID || c.Elem == KindUUID || t.references(c)
}

// references reports whether the column is part of a foreign key.
func (t *catalogTable) references(c *Column) bool {
	return slices.ContainsFunc(t.foreignKeys, func(fk catalogFK) bool { return slices.Contains(fk.Columns, c.Name) })
}

// leadsTo reports whether a foreign key references the table.
func (fk catalogFK) leadsTo(t *catalogTable) bool { return fk.Table == t.Name }

// keys are the sets of columns that are unique, the primary key first.
func (t *catalogTable) keys() [][]string { return append([][]string{t.primary}, t.uniques...) }

// plainKey reports whether one column of a kind that keys may have is the primary key.
func (t *catalogTable) plainKey() bool { return len(t.primary) == 1 && keyKind(t.column(t.primary[0])) }

// word is what its name says that a row is, for comparisons.
func (t *catalogTable) word() string { return Fold(snake(t.Name)) }

// unique reports whether these columns alone identify a row.
func (t *catalogTable) unique(columns ...string) bool {
	return slices.ContainsFunc(t.keys(), func(set []string) bool {
		return len(set) == len(columns) && len(set) > 0 && len(without(set, columns)) == 0
	})
}

// errTorn says that a table was altered between two of the queries: what they found does not fit together.
var errTorn = errors.New("a table is being altered")

// readCatalog reads what the catalog knows about schemas, in a fixed number of queries, plus some for nested views, and about the table
// of another schema in which accounts are.
func readCatalog(ctx context.Context, tx pgx.Tx, schemas Schemas, accounts string) (*catalog, error) {
	cat, err := readOnce(ctx, tx, schemas, accounts)
	for again := 0; errors.Is(err, errTorn) && again < 3; again++ {
		cat, err = readOnce(ctx, tx, schemas, accounts)
	}
	if err != nil {
		return nil, fmt.Errorf("read catalog: %w", err)
	}

	return cat, nil
}

func readOnce(ctx context.Context, tx pgx.Tx, schemas Schemas, accounts string) (*catalog, error) {
	cat := &catalog{schemas: schemas, attributes: map[origin]string{}}
	if err := tx.QueryRow(ctx, factsSQL, schemas[0]).Scan(&cat.tenantRole, &cat.deferred, &cat.settles, &cat.extensions, &cat.closed); err != nil {
		return nil, err
	}
	if err := cat.readTables(ctx, tx, accounts); err != nil {
		return nil, err
	}
	for _, read := range []func(context.Context, pgx.Tx) error{cat.readColumns, cat.readViews, cat.readConstraints, cat.readFilled} {
		if err := read(ctx, tx); err != nil {
			return nil, err
		}
	}
	cat.leadToStandIns()

	return cat, nil
}

func (c *catalog) readTables(ctx context.Context, tx pgx.Tx, accounts string) (err error) {
	c.tables, err = collect(ctx, tx, pgx.RowToAddrOfStructByPos[catalogTable], "tables", tablesSQL, []string(c.schemas), accounts)
	for _, t := range c.tables {
		t.numbers, t.from, t.bases = map[string]int{}, map[string]origin{}, map[uint32]bool{}
		if other := c.table(t.Name); other != t {
			return fmt.Errorf("tables %s and %s would both be called %s", other.whole(), t.whole(), t.Name)
		}
		t.Beyond = t.Beyond || c.signsIn(t.Schema)
	}

	return err
}

// collect returns the rows of a query; what names it in an error.
func collect[T any](ctx context.Context, tx pgx.Tx, row pgx.RowToFunc[T], what, sql string, args ...any) ([]T, error) {
	rows, _ := tx.Query(ctx, sql, args...) // a failed query shows when its rows are collected
	found, err := pgx.CollectRows(rows, row)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}

	return found, nil
}

// eachRow runs a query and calls read for each row, once it is scanned into the given variables.
func eachRow(ctx context.Context, tx pgx.Tx, what, sql string, args, into []any, read func() error) error {
	rows, _ := tx.Query(ctx, sql, args...) // a failed query shows when its rows are read
	if _, err := pgx.ForEachRow(rows, into, read); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}

	return nil
}

func (c *catalog) readColumns(ctx context.Context, tx pgx.Tx) error {
	var (
		relation       uint32
		base, elem     string
		number         int
		plain          string
		nameable       bool
		insert, update bool
		rules          []string // of a domain type
		col            Column
	)
	into := []any{
		&relation, &col.Name, &col.Type, &col.FullType, &base, &col.Nullable, &col.filled, &col.HasDefault, &col.Generated, &col.Comment, &col.Enum, &elem, &number,
		&plain, &nameable, &insert, &update, &col.given, &col.SetBack, &col.Default, &col.Derived, &rules, &col.Plain,
	}

	return eachRow(ctx, tx, "columns", columnsSQL, []any{c.oids()}, into, func() error {
		t, column := c.byOID(relation), col
		if t == nil {
			return nil
		}
		column.Kind, column.Elem = kindOf(base, elem, len(col.Enum) > 0)
		column.takeForm(base, elem)
		column.zoned = base == "timestamp with time zone"
		column.Enum, column.Native = slices.Clone(col.Enum), len(col.Enum) > 0
		ownName := column.Kind == KindArray && !strings.HasSuffix(column.Type, "[]") // which says nothing of the elements' type
		if t.View && !nameable || ownName {
			column.readAs(plain)
		}
		if base == "bpchar" {
			column.cast = "text" // the blanks that fill it up mean nothing, and a key is written without them elsewhere
		}
		t.columns = append(t.columns, &column)
		t.numbers[column.Name] = number
		if insert {
			t.insertable = append(t.insertable, column.Name)
		}
		if update {
			t.updatable = append(t.updatable, column.Name)
		}
		for _, rule := range rules {
			t.addCheck([]string{column.Name}, typeValue.ReplaceAllLiteralString(rule, quotedName(column.Name)))
		}

		return nil
	})
}

// readAs converts a column whose type the tenant may not name: an enum is read as text, a domain type as its base type.
func (c *Column) readAs(plain string) {
	switch {
	case c.Kind == KindArray && len(c.Enum) > 0:
		plain = "text[]"
	case len(c.Enum) > 0:
		plain = "text"
	}
	c.Type, c.FullType, c.cast, c.Native = plain, plain, plain, false
}

const withoutZone = "timestamp without time zone"

// lacksZone reports whether the column holds times that do not say where.
func (c *Column) lacksZone() bool { return c.Type == withoutZone }

var kinds = map[string]Kind{
	"boolean": KindBool, "date": KindDate, "json": KindJSON, "jsonb": KindJSON,
	"smallint": KindNumber, "integer": KindNumber, "bigint": KindNumber, "numeric": KindNumber,
	"real": KindNumber, "double precision": KindNumber,
	"text": KindText, "character varying": KindText, "bpchar": KindText, "citext": KindText, "name": KindText,
	"time without time zone": KindTime, "time with time zone": KindTime, "interval": KindTime,
	"timestamp without time zone": KindTimestamp, "timestamp with time zone": KindTimestamp,
	"uuid": KindUUID,
}

// kindOf returns the kind of a type, and of its elements if it is an array, by the names that format_type returns.
// Unknown types are KindVector: kept from models.
func kindOf(base, elem string, enum bool) (Kind, Kind) {
	if elem != "" {
		inner, _ := kindOf(elem, "", enum)
		if inner == KindVector {
			return KindVector, ""
		}

		return KindArray, inner
	}
	if kind, ok := kinds[base]; ok {
		return kind, ""
	}
	if enum || forms[base].words != "" {
		return KindText, ""
	}

	return KindVector, ""
}

// form is how the values of a type are written that are texts which Postgres checks.
type form struct {
	words string
	holds string // of a range: the type of what it holds
}

var forms = map[string]form{
	`"bit"`: {words: "bits (0101)"}, "bit varying": {words: "bits (0101)"}, "money": {words: "amount of money (12.50)"},
	"inet": {words: "network address (192.168.1.10)"}, "cidr": {words: "network (192.168.1.0/24)"},
	"macaddr": {words: "hardware address (08:00:2b:01:02:03)"}, "macaddr8": {words: "hardware address (08:00:2b:ff:fe:01:02:03)"},
	"int4range": {numbers, "integer"}, "int8range": {numbers, "bigint"}, "numrange": {numbers, "numeric"},
	"daterange": {dates, "date"}, "tsrange": {times, withoutZone}, "tstzrange": {times, "timestamp with time zone"},
	"int4multirange": {several + numbers, "integer"}, "int8multirange": {several + numbers, "bigint"}, "nummultirange": {several + numbers, "numeric"},
	"datemultirange": {several + dates, "date"}, "tsmultirange": {several + times, withoutZone},
	"tstzmultirange": {several + times, "timestamp with time zone"},
}

const (
	numbers = "range of numbers ([1,5): from 1 to before 5)"
	dates   = "range of dates ([2026-01-01,2026-02-01): its end excluded)"
	times   = "range of times ([2026-01-31 18:00,2026-01-31 20:00): its end excluded)"
	several = "several in braces, each a "
)

// takeForm sets how a column's values, or the elements of its lists, are written.
func (c *Column) takeForm(base, elem string) {
	f := forms[cmp.Or(elem, base)]
	c.Form, c.Holds = f.words, f.holds
}

// whole reports whether a column holds whole numbers.
func (c *Column) whole() bool {
	return slices.Contains([]string{"smallint", "integer", "bigint"}, c.Type)
}

func keyKind(c *Column) bool {
	switch c.Kind {
	case KindUUID:
		return true
	case KindNumber:
		return c.whole()
	case KindText:
		return c.FreeText()
	default:
		return false
	}
}

package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"alfred/internal/pg"
)

// statement is one write with precomputed values.
type statement struct {
	sql  string
	args []any
}

// bareTx is one transaction of the floor.
type bareTx struct {
	lazy       bool
	statements []statement
}

// floor writes what a recorded turn wrote, under keys of its own.
type floor struct {
	changes []change
	// keys are the row ids that must be unique to each copy.
	keys []string
}

// userPrefix begins the names of this program's users; a UUID follows.
const userPrefix = "bench "

var uuidForm = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-([0-9a-f])[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$`)

func newFloor(changes []change) *floor {
	f := &floor{changes: changes}
	for i := range changes {
		c := &changes[i]
		for _, values := range [][]*string{c.Old, c.New} {
			for _, column := range []string{"id", "name"} {
				f.addKey(c.value(values, column))
			}
		}
	}

	return f
}

// addKey adds an id, or the name of one of this program's users, which contains one.
func (f *floor) addKey(value *string) {
	if value == nil {
		return
	}
	if key := strings.TrimPrefix(*value, userPrefix); uuidForm.MatchString(key) && !slices.Contains(f.keys, key) {
		f.keys = append(f.keys, key)
	}
}

// copies makes n copies: it inserts the rows that a turn finds and changes, and returns the transactions that will
// write the rest.
func (f *floor) copies(ctx context.Context, pool *pgxpool.Pool, n int) ([][]bareTx, error) {
	all := make([][]bareTx, n)
	err := pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SET LOCAL session_replication_role = replica`); err != nil { // no foreign key checks: any order will do
			return fmt.Errorf("prepare the floor: %w", err)
		}
		for i := range all {
			changes, err := f.copy(ctx, tx)
			if err != nil {
				return err
			}
			if err := tx.SendBatch(ctx, batchOf(found(changes))).Close(); err != nil {
				return fmt.Errorf("insert what the turn finds: %w", err)
			}
			all[i] = bare(changes)
		}

		return nil
	})

	return all, err
}

func batchOf(statements []statement) *pgx.Batch {
	batch := &pgx.Batch{}
	for _, s := range statements {
		batch.Queue(s.sql, s.args...)
	}

	return batch
}

// copy replaces every key by a new one of the same version, wherever it occurs.
func (f *floor) copy(ctx context.Context, tx pgx.Tx) ([]change, error) {
	var pairs []string
	for _, key := range f.keys {
		fresh := uuid.New()
		if uuidForm.FindStringSubmatch(key)[1] == "7" {
			fresh = uuid.Must(uuid.NewV7())
		}
		pairs = append(pairs, key, fresh.String())
	}
	replacer := strings.NewReplacer(pairs...)
	jobs := map[string]string{}
	changes := slices.Clone(f.changes)
	for i := range changes {
		c := &changes[i]
		for _, values := range []*[]*string{&c.Old, &c.New} {
			*values = replaced(*values, replacer)
			if err := renumber(ctx, tx, c, *values, jobs); err != nil {
				return nil, err
			}
		}
	}

	return changes, nil
}

func replaced(values []*string, replacer *strings.Replacer) []*string {
	fresh := slices.Clone(values)
	for i, v := range fresh {
		if v != nil {
			text := replacer.Replace(*v)
			fresh[i] = &text
		}
	}

	return fresh
}

// renumber gives a job its own number.
func renumber(ctx context.Context, tx pgx.Tx, c *change, values []*string, jobs map[string]string) error {
	if c.Table != "alfred.river_job" || values == nil {
		return nil
	}
	at := slices.Index(c.Columns, "id")
	old := *values[at]
	if jobs[old] == "" {
		var id int64
		if err := tx.QueryRow(ctx, `SELECT nextval(pg_get_serial_sequence('alfred.river_job', 'id'))`).Scan(&id); err != nil {
			return fmt.Errorf("number a job: %w", err)
		}
		jobs[old] = strconv.FormatInt(id, 10)
	}
	fresh := jobs[old]
	values[at] = &fresh

	return nil
}

// found returns inserts for the rows that the turn did not create itself, as they were before it.
func found(changes []change) []statement {
	var (
		statements []statement
		seen       = map[string]bool{}
	)
	for i := range changes {
		c := changes[i]
		key := c.key()
		if !seen[key] && c.Op != "INSERT" {
			c.New = c.Old
			statements = append(statements, insert([]change{c}))
		}
		seen[key] = true
	}

	return statements
}

// bare returns the transactions. Adjacent inserts into one table are combined.
func bare(changes []change) []bareTx {
	var all []bareTx
	for _, tx := range transactions(changes) {
		b := bareTx{lazy: tx[0].Lazy}
		for len(tx) > 0 {
			n := 1
			for n < len(tx) && tx[0].Op == "INSERT" && tx[n].Op == "INSERT" && tx[n].Table == tx[0].Table {
				n++
			}
			b.statements = append(b.statements, write(tx[:n]))
			tx = tx[n:]
		}
		all = append(all, b)
	}

	return all
}

func write(changes []change) statement {
	switch changes[0].Op {
	case "INSERT":
		return insert(changes)
	case "UPDATE":
		return update(&changes[0])
	default:
		s := statement{}
		s.sql = "DELETE FROM " + changes[0].Table + " WHERE " + s.where(&changes[0])

		return s
	}
}

func insert(changes []change) statement {
	s := statement{}
	var rows []string
	for _, c := range changes {
		var places []string
		for _, v := range c.New {
			places = append(places, s.place(v))
		}
		rows = append(rows, "("+strings.Join(places, ", ")+")")
	}
	s.sql = "INSERT INTO " + changes[0].Table + " (" + quoted(changes[0].Columns) + ") OVERRIDING SYSTEM VALUE VALUES " + strings.Join(rows, ", ")

	return s
}

// update sets the columns that changed.
func update(c *change) statement {
	s := statement{}
	var sets []string
	for i, column := range c.Columns {
		if (c.Old[i] == nil) != (c.New[i] == nil) || c.Old[i] != nil && *c.Old[i] != *c.New[i] {
			sets = append(sets, quoted([]string{column})+" = "+s.place(c.New[i]))
		}
	}
	if len(sets) == 0 {
		sets = []string{quoted(c.Keys[:1]) + " = " + quoted(c.Keys[:1])}
	}
	s.sql = "UPDATE " + c.Table + " SET " + strings.Join(sets, ", ") + " WHERE " + s.where(c)

	return s
}

func (s *statement) where(c *change) string {
	var parts []string
	for _, k := range c.Keys {
		parts = append(parts, quoted([]string{k})+" = "+s.place(c.value(c.Old, k)))
	}

	return strings.Join(parts, " AND ")
}

// place adds an argument. Text is sent as text whatever the column's type; the server parses it.
func (s *statement) place(v *string) string {
	if v == nil {
		s.args = append(s.args, nil)
	} else {
		s.args = append(s.args, *v)
	}

	return "$" + strconv.Itoa(len(s.args))
}

func quoted(names []string) string {
	q := make([]string, len(names))
	for i, name := range names {
		q[i] = pgx.Identifier{name}.Sanitize()
	}

	return strings.Join(q, ", ")
}

// writeCopies lets each client write its share of the copies, all at once, and returns how long each copy took.
// Pipelined, a transaction is one round trip; otherwise each statement is one.
func writeCopies(ctx context.Context, pool *pgxpool.Pool, copies [][]bareTx, clients int, pipelined bool) ([]time.Duration, error) {
	took := make([]time.Duration, len(copies))
	group, ctx := errgroup.WithContext(ctx)
	for client := range clients {
		group.Go(func() (err error) {
			for i := client; i < len(copies) && err == nil; i += clients {
				start := time.Now()
				err = runAll(ctx, pool, copies[i], pipelined)
				took[i] = time.Since(start)
			}

			return err
		})
	}

	return took, group.Wait()
}

func runAll(ctx context.Context, pool *pgxpool.Pool, transactions []bareTx, pipelined bool) error {
	for _, tx := range transactions {
		if err := tx.run(ctx, pool, pipelined); err != nil {
			return fmt.Errorf("write the floor: %w", err)
		}
	}

	return nil
}

func (b *bareTx) run(ctx context.Context, pool *pgxpool.Pool, pipelined bool) error {
	statements := b.statements
	if b.lazy {
		statements = append([]statement{{sql: `SET LOCAL synchronous_commit = off`}}, statements...)
	}
	if !pipelined {
		return pg.InTx(ctx, pool, func(tx pgx.Tx) error {
			for _, s := range statements {
				if _, err := tx.Exec(ctx, s.sql, s.args...); err != nil {
					return fmt.Errorf("%s: %w", s.sql, err)
				}
			}

			return nil
		})
	}
	statements = slices.Concat([]statement{{sql: "begin"}}, statements, []statement{{sql: "commit"}})

	return pool.SendBatch(ctx, batchOf(statements)).Close()
}

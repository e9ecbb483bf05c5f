package eval

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/internal/domain"
	"alfred/internal/pg"
)

//go:embed watch.sql
var watchSQL string

// watch records every row written in the domain's tables, whoever writes it: a tool, an operation, a trigger or a
// cascade. This works because a scratch database's tables may get triggers.
type watch struct {
	pool   *pgxpool.Pool
	asUser pg.Run // runs reads as the user
	bound  *domain.Domain
	// own are the keys of the rows that the user has seen so far, by relation.
	own map[string]map[string]bool
}

// write is one row written.
type write struct {
	Relation string          `json:"relation"` // with its schema
	Op       string          `json:"op"`       // insert, update or delete
	Old      json.RawMessage `json:"old,omitempty"`
	New      json.RawMessage `json:"new,omitempty"`
}

func startWatch(ctx context.Context, pool *pgxpool.Pool, bound *domain.Domain, asUser pg.Run) (*watch, error) {
	if _, err := pool.Exec(ctx, watchSQL); err != nil {
		return nil, fmt.Errorf("watch the tables: %w", err)
	}
	w := &watch{pool: pool, asUser: asUser, bound: bound}
	var err error
	w.own, err = w.keys(ctx)

	return w, err
}

// mark is the position in the record after everything written so far.
func (w *watch) mark(ctx context.Context) (at int64, err error) {
	if err = w.pool.QueryRow(ctx, `SELECT coalesce(max(id), 0) FROM alfred_watch.writes`).Scan(&at); err != nil {
		err = fmt.Errorf("read what was written: %w", err)
	}

	return at, err
}

// writesSince returns what was written after a mark.
func (w *watch) writesSince(ctx context.Context, mark int64) ([]write, error) {
	return pg.Collect(ctx, w.pool, pgx.RowToStructByPos[write], "read what was written", `SELECT relation, op, old, new FROM alfred_watch.writes WHERE id > $1 ORDER BY id`, mark)
}

// tables returns the names of the tables written to, without their schema.
func tables(writes []write) []string {
	names := map[string]bool{}
	for _, one := range writes {
		_, name, _ := strings.Cut(one.Relation, ".")
		names[name] = true
	}

	return slices.Sorted(maps.Keys(names))
}

// rowsOfOthers returns the written rows of types with an owner that the user saw neither before nor afterwards.
func (w *watch) rowsOfOthers(ctx context.Context, writes []write) ([]write, error) {
	now, err := w.keys(ctx)
	if err != nil {
		return nil, err
	}
	var strays []write
	for _, one := range writes {
		entity := w.entity(one.Relation)
		if entity == nil {
			continue
		}
		before, after := keyOf(one.Old, entity.Key.Name), keyOf(one.New, entity.Key.Name)
		if slices.ContainsFunc([]string{before, after}, func(key string) bool { return key != "" && !w.own[one.Relation][key] && !now[one.Relation][key] }) {
			strays = append(strays, one)
		}
	}
	for relation, keys := range now {
		maps.Copy(w.own[relation], keys)
	}

	return strays, nil
}

// entity is the type with an owner whose rows a relation holds.
func (w *watch) entity(relation string) *domain.Entity {
	for _, e := range w.bound.Entities {
		if strings.Join(e.Stored, ".") == relation && !e.Reference {
			return e
		}
	}

	return nil
}

// keys returns those of the rows that the user sees, by relation.
func (w *watch) keys(ctx context.Context) (map[string]map[string]bool, error) {
	own := map[string]map[string]bool{}
	err := w.asUser(ctx, func(tx pgx.Tx) error {
		for _, e := range w.bound.Entities {
			if e.Reference {
				continue
			}
			keys, err := pg.Collect(ctx, tx, pgx.RowTo[string], "read the keys of "+e.Table, "SELECT "+pgx.Identifier{e.Key.Name}.Sanitize()+"::text FROM "+e.SQL())
			if err != nil {
				return err
			}
			own[strings.Join(e.Stored, ".")] = setOf(keys)
		}

		return nil
	})

	return own, err
}

func setOf(list []string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, one := range list {
		set[one] = true
	}

	return set
}

// keyOf returns a column of a row as text; "" if it has none.
func keyOf(row json.RawMessage, column string) string {
	var values map[string]json.RawMessage
	if len(row) == 0 || json.Unmarshal(row, &values) != nil {
		return ""
	}
	var text string
	if json.Unmarshal(values[column], &text) == nil {
		return text
	}

	return string(values[column])
}

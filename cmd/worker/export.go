package main

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/internal/domain"
	"alfred/internal/pg"
)

// engineTables are the engine's tables in an export, each with what its rows are read from, "" for the table itself, and how
// they belong to a set of sessions. River's job rows add nothing, embeddings and lists of words can be recomputed, and calls
// hold their requests whole.
var engineTables = []struct{ name, from, of string }{
	{"sessions", "", "x.id IN (%s)"},
	{"turns", "", ofSession},
	{"node_runs", "", ofTurn},
	{"turn_steps", "", ofTurn},
	{"turn_step_results", "", ofTurn},
	{"row_changes", "", ofTurn},
	{"entity_refs", "", ofSession},
	{"ref_counters", "", ofSession},
	{"entity_events", "", ofSession},
	{"artifacts", "", ofSession},
	{"decisions", "", ofSession},
	{"constraints", "", ofSession},
	{"questions", "", ofSession},
	{"turn_summaries", "", ofSession},
	{"history_summaries", "", ofSession},
	{"turn_events", "", ofTurn},
	{"llm_calls", "v_llm_calls", ofSession},
	{"feedback", "", ofSession},
	{"context_items", "", "x.llm_call_id IN (SELECT c.id FROM llm_calls AS c WHERE c.session_id IN (%s))"},
}

const (
	ofSession = "x.session_id IN (%s)"
	ofTurn    = "x.turn_id IN (SELECT t.id FROM turns AS t WHERE t.session_id IN (%s))"
)

// export writes one JSON object of tables, each a list of rows, row by row: a user's model calls exceed what fits into
// memory or into one Postgres value.
type export struct {
	ctx    context.Context
	tx     pgx.Tx
	out    io.Writer
	before string // the next table; "" for the first one
	err    error  // the first one
}

// engine writes the engine's rows of the sessions selected by a query with one argument.
func (x *export) engine(sessions string, argument uuid.UUID) {
	for _, table := range engineTables {
		x.table(x.tx, table.name, `SELECT to_jsonb(x)::text FROM `+cmp.Or(table.from, table.name)+` AS x WHERE `+fmt.Sprintf(table.of, sessions), argument)
	}
}

// domain writes a user's domain rows, as visible under row-level security.
func (x *export) domain(d *domain.Domain, user uuid.UUID) {
	for _, entity := range d.Entities {
		if x.err != nil || entity.Reference {
			continue
		}
		x.err = pg.AsTenant(x.ctx, x.tx, user, func(tx pgx.Tx) error {
			x.table(tx, d.Schema+"."+entity.Table, `SELECT to_jsonb(x.*)::text FROM `+entity.SQL()+` AS x`)

			return x.err
		})
	}
}

// table writes one table: name and query are ours, or the catalog's.
func (x *export) table(tx pgx.Tx, name, query string, arguments ...any) {
	if x.err != nil {
		return
	}
	x.print(cmp.Or(x.before, "{\n"), fmt.Sprintf("%q: [", name))
	x.before = ",\n"
	// A failed query surfaces when its rows are read.
	rows, _ := tx.Query(x.ctx, query, arguments...)
	before, row := "\n  ", ""
	_, err := pgx.ForEachRow(rows, []any{&row}, func() error {
		x.print(before, row)
		before = ",\n  "

		return x.err
	})
	if err != nil {
		x.err = fmt.Errorf("export %s: %w", name, err)
	}
	x.print("]")
}

func (x *export) print(texts ...string) {
	for _, text := range texts {
		if x.err == nil {
			_, x.err = io.WriteString(x.out, text)
		}
	}
}

func (x *export) end() error {
	x.print("\n}\n")

	return x.err
}

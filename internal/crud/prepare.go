package crud

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"alfred/internal/pg"
	"alfred/internal/recall"
	"alfred/internal/vocab"
	"alfred/registry"
)

// search is one search by meaning: recall's of the past, or a read's of a table.
type search struct {
	tool, table, text string
	most              int // rows or hits that are needed, 0 for all
}

// Asker says on whose behalf a decision searches.
type Asker struct {
	Scope registry.Scope
	// ShownFrom is the first turn of the session that the prompt shows: later turns need not be recalled.
	ShownFrom int
}

// Searches reports whether calls search by meaning, so that [Tools.Prepare] waits for an embedder.
func Searches(calls []vocab.Call) bool { return len(searches(calls)) > 0 }

// searches returns the searches of calls. A faulty call has none; Execute reports what is wrong with it.
func searches(calls []vocab.Call) []search {
	var list []search
	for _, call := range calls {
		switch call.Tool {
		case vocab.ToolRecall:
			var args recallArgs
			if parse(call, &args) == nil && strings.TrimSpace(args.Query) != "" {
				list = append(list, args.search())
			}
		case vocab.ToolRead:
			var args readArgs
			if parse(call, &args) == nil {
				list = append(list, args.searches()...)
			}
		}
	}

	return list
}

// Prepare embeds what the calls search for, and searches: the writing transaction then waits for neither. It checks and
// changes nothing; filters are applied by that transaction. A failing embedder is not an error: the search degrades and
// says so.
func (t *Tools) Prepare(ctx context.Context, beginner pg.Beginner, asker Asker, calls []vocab.Call) (Prepared, error) {
	prepared := Prepared{calls: calls, hits: map[search][]recall.Hit{}, orders: map[search][]string{}}
	wanted := searches(calls)
	if len(wanted) == 0 {
		return prepared, nil
	}
	var err error
	if prepared.vectors, err = t.search.EmbedTexts(ctx, each(wanted, func(one search) string { return one.text })); err != nil {
		return Prepared{}, err
	}
	err = pg.InTx(ctx, beginner, func(tx pgx.Tx) error {
		return pg.AsTenant(ctx, tx, asker.Scope.UserID, func(tenant pgx.Tx) error {
			for _, one := range wanted {
				if err := t.searchFor(ctx, tenant, &asker, one, &prepared); err != nil {
					return err
				}
			}

			return nil
		})
	})

	return prepared, err
}

func (t *Tools) searchFor(ctx context.Context, tx pgx.Tx, asker *Asker, one search, into *Prepared) (err error) {
	if one.tool == vocab.ToolRecall {
		into.hits[one], err = t.search.Search(ctx, tx, &recall.Query{
			UserID: asker.Scope.UserID, ExceptTurn: asker.Scope.TurnID, Session: asker.Scope.SessionID, ShownFrom: asker.ShownFrom,
			Text: one.text, Vectors: into.vectors, Limit: one.most,
		})

		return err
	}
	if e := t.domain.Entity(one.table); e != nil && !e.Semantic.IsZero() {
		into.orders[one], err = t.search.Order(ctx, tx, e, one.text, &into.vectors, one.most)
	}

	return err
}

package crud

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"alfred/internal/domain"
	"alfred/internal/pg"
	"alfred/internal/recall"
	"alfred/internal/vocab"
	"alfred/registry"
)

// found is what the searches of a decision's calls found, before the transaction that runs the calls.
type found struct {
	hits   map[recallKey][]recall.Hit
	orders map[orderKey][]string // row keys, best first
}

type recallKey struct {
	query string
	limit int
}

type orderKey struct {
	entity, text string
	most         int // 0: all
}

// Asker says on whose behalf a decision searches.
type Asker struct {
	Scope registry.Scope
	// ShownFrom is the first turn of the session that the prompt shows: later turns need not be recalled.
	ShownFrom int
}

// Prepare embeds every text that the calls search for and searches, so that the transaction that writes waits for
// neither an embedder nor a search. It checks and changes nothing; filters are applied by that transaction. A failing
// embedder is not an error: the search degrades and says so.
func (t *Tools) Prepare(ctx context.Context, beginner pg.Beginner, asker Asker, calls []Call) (Prepared, error) {
	prepared := Prepared{calls: calls, found: found{hits: map[recallKey][]recall.Hit{}, orders: map[orderKey][]string{}}}
	var texts []string
	for _, call := range calls {
		texts = append(texts, searchTexts(call)...)
	}
	if len(texts) == 0 {
		return prepared, nil
	}
	var err error
	if prepared.vectors, err = t.search.EmbedTexts(ctx, texts); err != nil {
		return Prepared{}, err
	}
	err = pg.InTx(ctx, beginner, func(tx pgx.Tx) error {
		return pg.AsTenant(ctx, tx, asker.Scope.UserID, func(tenant pgx.Tx) error {
			for _, call := range calls {
				if err := t.searchFor(ctx, tenant, &asker, call, &prepared); err != nil {
					return err
				}
			}

			return nil
		})
	})

	return prepared, err
}

// searchFor searches for one call. A faulty call is reported when it is executed.
func (t *Tools) searchFor(ctx context.Context, tx pgx.Tx, asker *Asker, call Call, into *Prepared) error {
	switch call.Tool {
	case vocab.ToolRecall:
		var args recallArgs
		if bad := parse(call, &args); bad != nil || strings.TrimSpace(args.Query) == "" {
			return nil //nolint:nilerr // the call itself reports it
		}
		key := recallKey{args.Query, args.limit()}
		hits, err := t.search.Search(ctx, tx, &recall.Query{
			UserID: asker.Scope.UserID, ExceptTurn: asker.Scope.TurnID, Session: asker.Scope.SessionID, ShownFrom: asker.ShownFrom,
			Text: key.query, Vectors: into.vectors, Limit: key.limit,
		})
		into.found.hits[key] = hits

		return err
	case vocab.ToolRead:
		return t.searchRows(ctx, tx, call, into)
	}

	return nil
}

func (t *Tools) searchRows(ctx context.Context, tx pgx.Tx, call Call, into *Prepared) error {
	var args readArgs
	if bad := parse(call, &args); bad != nil {
		return nil //nolint:nilerr // the call itself reports it
	}
	var e *domain.Entity
	if e = t.domain.Entity(args.Table); e == nil || e.Semantic.IsZero() {
		return nil
	}
	for _, text := range searchTexts(call) {
		keys, err := t.search.Order(ctx, tx, e, text, &into.vectors, args.ordered())
		if err != nil {
			return err
		}
		into.found.orders[orderKey{e.Type, text, args.ordered()}] = keys
	}

	return nil
}

// limit bounds how many hits a recall returns.
func (a *recallArgs) limit() int {
	if a.Limit == nil {
		return defaultHits
	}

	return max(1, min(maxHits, *a.Limit))
}

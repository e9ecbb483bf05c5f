package crud

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/internal/domain"
	"alfred/internal/recall"
	"alfred/registry"
)

const (
	defaultHits = 8
	maxHits     = 20
	maxHitText  = 600
)

// recallOp is recall: a search of past turns and the user's rows.
type recallOp struct {
	args recallArgs
	hits []recall.Hit
}

func (d *decision) newRecall(s *step) (operation, *Error) {
	op := &recallOp{}
	if err := parse(s.call, &op.args); err != nil {
		return nil, err
	}
	if strings.TrimSpace(op.args.Query) == "" {
		return nil, fail(CodeBadArgument, "recall needs a query.")
	}
	if op.args.Limit < 0 || op.args.Limit > maxHits {
		return nil, fail(CodeBadArgument, "limit is 1 to %d.", maxHits)
	}

	return op, nil
}

// run uses what was found before this transaction began.
func (op *recallOp) run(_ context.Context, d *decision, _ pgx.Tx) error {
	hits, searched := d.prepared.hits[op.args.search()]
	if !searched {
		return errors.New("recall: not searched for before")
	}
	op.hits = hits

	return nil
}

// record lists the hits in order, best first. Rows get refs; turns are identified by number, except those of other
// conversations.
func (op *recallOp) record(ctx context.Context, d *decision, tx pgx.Tx) (Result, error) {
	rows, err := op.rows(ctx, d, tx)
	if err != nil {
		return Result{}, err
	}
	var result Result
	for _, hit := range op.hits {
		if hit.Kind == recall.KindTurn {
			result.rows = append(result.rows, turnRow(d.scope.SessionID, hit))

			continue
		}
		row, found := rows[rowKey{hit.Kind, hit.ID}]
		if !found {
			continue // deleted since it was embedded
		}
		result.rows = append(result.rows, row)
		if ref, ok := row[d.tools.domain.ByType(hit.Kind).Key.Name].(string); ok {
			result.Refs = append(result.Refs, ref)
		}
	}
	result.Notice = d.prepared.vectors.Notice
	result.RowCount = len(result.rows)

	return result, nil
}

// rows reads the rows among the hits, one statement per type, and replaces keys by refs.
func (op *recallOp) rows(ctx context.Context, d *decision, tx pgx.Tx) (map[rowKey]map[string]any, error) {
	keys := map[*domain.Entity][]string{}
	for _, hit := range op.hits {
		if e := d.tools.domain.ByType(hit.Kind); e != nil {
			keys[e] = append(keys[e], hit.ID)
		}
	}
	found, err := readAs(ctx, tx, d.scope.UserID, keys, func(tenant pgx.Tx, e *domain.Entity) (*loaded, error) {
		return byKeys(ctx, tenant, e, ofSet(e, setSummary, nil), keys[e])
	})
	if err != nil {
		return nil, err
	}
	var results []registry.Result
	for _, e := range d.tools.domain.Entities {
		if found[e] != nil {
			results = append(results, found[e].after(registry.ActionRead))
		}
	}
	translated, err := d.translate(ctx, tx, results...)
	if err != nil {
		return nil, err
	}
	rows := map[rowKey]map[string]any{}
	for i, result := range results {
		for n, shown := range translated[i].Rows {
			shown["type"] = result.Entity.Type
			shown["ref"] = shown[result.Entity.Key.Name]
			shown["label"] = translated[i].Entries[n].Label // each row has its own key
			rows[rowKey{result.Entity.Type, keyText(result.Rows[n], result.Entity)}] = shown
		}
	}

	return rows, nil
}

func turnRow(session uuid.UUID, hit recall.Hit) map[string]any {
	row := map[string]any{"type": recall.KindTurn, "message": hitText(hit.Message), "reply": hitText(hit.Reply)}
	for name, text := range map[string]string{"summary": hit.Summary, "before": hit.Before, "after": hit.After} {
		if text != "" {
			row[name] = hitText(text)
		}
	}
	if hit.SessionID == session {
		row["turn"] = hit.Turn
	} else {
		row["date"] = hit.Day.Format(time.DateOnly)
	}

	return row
}

// hitText is a past turn's text without what has lost its meaning: mention tokens and ids.
func hitText(text string) string {
	text = registry.Scrub(withoutTokens(text))
	if short := cut(text, maxHitText); short != text {
		return short + "…"
	}

	return text
}

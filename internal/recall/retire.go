package recall

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/db"
)

// retiredAtOnce is how many vectors one statement deletes.
const retiredAtOnce = 5000

// others are the earlier models that still have embeddings.
func (x *Index) others(ctx context.Context, conn db.DBTX) ([]*db.EmbeddingOthersRow, error) {
	own := modelOf(x.searcher.embedder)
	others, err := x.q.EmbeddingOthers(ctx, conn, &db.EmbeddingOthersParams{Model: own.Model, Dimensions: own.Dimensions})
	if err != nil {
		return nil, fmt.Errorf("list earlier models: %w", err)
	}

	return others, nil
}

// retire deletes the embeddings of earlier models, except models with an embedding from the last hour:
// another process is still configured with them. Once none are left, this process stops checking.
func (x *Index) retire(ctx context.Context, conn *pgxpool.Conn) error {
	if x.retired {
		return nil
	}
	own := modelOf(x.searcher.embedder)
	if err := x.q.EmbeddingForget(ctx, conn, &db.EmbeddingForgetParams{Model: own.Model, Dimensions: own.Dimensions}); err != nil {
		return fmt.Errorf("forget models without vectors: %w", err)
	}
	others, err := x.others(ctx, conn)
	if err != nil {
		return err
	}
	for _, other := range others {
		if other.Used {
			continue
		}
		if err := x.retireModel(ctx, conn, other); err != nil {
			return err
		}
	}
	x.retired = len(others) == 0

	return nil
}

// retireModel stops a model from serving, and deletes its vectors once none of its indexes is left to drop: a graph is
// repaired at each vector that vacuum takes out of it.
func (x *Index) retireModel(ctx context.Context, conn *pgxpool.Conn, m *db.EmbeddingOthersRow) error {
	if err := x.q.EmbeddingIncomplete(ctx, conn, &db.EmbeddingIncompleteParams{Model: m.Model, Dimensions: m.Dimensions}); err != nil {
		return fmt.Errorf("have %s serve no longer: %w", m.Model, err)
	}
	due, err := x.due(ctx, conn)
	if err != nil || slices.ContainsFunc(due, func(d *db.EmbeddingIndexesDueRow) bool { return !d.Wanted }) {
		return err
	}
	for deleted := int64(1); deleted > 0; {
		deleted, err = x.q.EmbeddingRetire(ctx, conn, &db.EmbeddingRetireParams{Model: m.Model, Dimensions: m.Dimensions, Lim: retiredAtOnce})
		if err != nil {
			return fmt.Errorf("delete the vectors of %s: %w", m.Model, err)
		}
	}

	return nil
}

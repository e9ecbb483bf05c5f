package recall

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/db"
)

// retiredAtOnce is how many vectors one statement deletes.
const retiredAtOnce = 5000

// others are the earlier models that still have embeddings.
func (x *Index) others(ctx context.Context, conn db.DBTX) ([]*db.EmbeddingOthersRow, error) {
	own := modelOf(x.searcher.embedder)
	others, err := x.q.EmbeddingOthers(ctx, conn, &db.EmbeddingOthersParams{Model: own.Model, Dimensions: int32(own.Dimensions)})
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
	others, err := x.others(ctx, conn)
	if err != nil {
		return err
	}
	for _, other := range others {
		if other.Used {
			continue
		}
		if err := x.q.EmbeddingIncomplete(ctx, conn, &db.EmbeddingIncompleteParams{Model: other.Model, Dimensions: other.Dimensions}); err != nil {
			return fmt.Errorf("have %s serve no longer: %w", other.Model, err)
		}
		for deleted := int64(1); deleted > 0; {
			deleted, err = x.q.EmbeddingRetire(ctx, conn, &db.EmbeddingRetireParams{Model: other.Model, Dimensions: other.Dimensions, Lim: retiredAtOnce})
			if err != nil {
				return fmt.Errorf("delete the vectors of %s: %w", other.Model, err)
			}
		}
	}
	x.retired = len(others) == 0

	return nil
}

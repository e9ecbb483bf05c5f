package recall

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"alfred/db"
)

// Progress is how far the configured model is.
type Progress struct {
	Model      string
	Dimensions int
	Vectors    int      // that it has
	Texts      int      // rows and turns to have one; those without a word never do
	Complete   bool     // its index stands
	Serves     string   // the model that is searched now
	Others     []string // models of before that still have vectors
}

// Progress counts, which takes a while on a large database.
func (x *Index) Progress(ctx context.Context) (*Progress, error) {
	serves, err := x.searcher.serves(ctx)
	if err != nil {
		return nil, err
	}
	own := modelOf(x.searcher.embedder)
	p := &Progress{Model: own.Model, Dimensions: own.Dimensions, Serves: serves.Model(), Complete: x.searcher.serving.complete()}
	counted, err := x.q.EmbeddingCount(ctx, x.pool, &db.EmbeddingCountParams{Model: own.Model, Dimensions: int32(own.Dimensions)})
	if err != nil {
		return nil, fmt.Errorf("count vectors: %w", err)
	}
	others, err := x.others(ctx, x.pool)
	if err != nil {
		return nil, err
	}
	for _, other := range others {
		p.Others = append(p.Others, other.Model)
	}
	p.Vectors, p.Texts = int(counted.Vectors), int(counted.Turns)
	for _, e := range x.searcher.domain.Entities {
		if !searched(e) {
			continue
		}
		var rows int
		sql := `SELECT count(*) FROM ` + pgx.Identifier{x.searcher.domain.Schema, e.Table}.Sanitize()
		if err := x.pool.QueryRow(ctx, sql).Scan(&rows); err != nil {
			return nil, fmt.Errorf("count %s: %w", e.Table, err)
		}
		p.Texts += rows
	}

	return p, nil
}

package recall

import (
	"context"
	"fmt"

	"alfred/db"
)

// Progress is how far embedding with the configured model has got.
type Progress struct {
	Model    string
	Vectors  int      // that exist
	Texts    int      // rows and turns to embed; texts without words never have an embedding
	Complete bool     // all have been embedded
	Serves   string   // the model currently searched
	Others   []string // earlier models that still have embeddings
}

// Progress counts, which takes a while in a large database.
func (x *Index) Progress(ctx context.Context) (*Progress, error) {
	serves, err := x.searcher.serves(ctx)
	if err != nil {
		return nil, err
	}
	own := modelOf(x.searcher.embedder)
	p := &Progress{Model: own.Model, Serves: serves.Model(), Complete: x.searcher.serving.complete()}
	counted, err := x.q.EmbeddingCount(ctx, x.pool, &db.EmbeddingCountParams{Model: own.Model, Dimensions: own.Dimensions})
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
	for _, e := range x.searcher.searched() {
		var rows int
		if err := x.pool.QueryRow(ctx, `SELECT count(*) FROM `+e.SQL()).Scan(&rows); err != nil {
			return nil, fmt.Errorf("count %s: %w", e.Table, err)
		}
		p.Texts += rows
	}

	return p, nil
}

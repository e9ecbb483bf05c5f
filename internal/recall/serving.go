package recall

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/db"
	"alfred/internal/llm"
)

// lookInterval is how often a searcher with an incomplete model checks again.
const lookInterval = 15 * time.Second

// Earlier opens the embedder of a model with stored embeddings. An error means that those can no longer be searched.
type Earlier func(model string, dimensions int) (llm.Embedder, error)

// serving decides which embedder's vectors are searched. A model is complete once a sweep has found all texts embedded.
// The configured one serves if it is complete or no other is; until then, the newest complete one does.
type serving struct {
	pool    *pgxpool.Pool
	earlier Earlier

	mu      sync.Mutex
	looked  time.Time
	settled bool // the configured model is complete; final
	now     llm.Embedder
}

// Follow makes the searcher use an earlier model's embeddings until the configured one's are complete. Without it, the
// configured model always serves.
func (s *Searcher) Follow(pool *pgxpool.Pool, earlier Earlier) {
	s.serving.pool, s.serving.earlier = pool, earlier
}

// serves returns the embedder whose vectors are currently searched.
func (s *Searcher) serves(ctx context.Context) (llm.Embedder, error) {
	v := &s.serving
	if v.pool == nil {
		return s.embedder, nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.settled || time.Since(v.looked) < lookInterval {
		return v.now, nil
	}
	complete, err := db.New().EmbeddingModels(ctx, v.pool)
	if err != nil {
		return nil, fmt.Errorf("list complete models: %w", err)
	}
	v.now, v.looked = s.embedder, time.Now()
	v.settled = slices.ContainsFunc(complete, func(m *db.EmbeddingModelsRow) bool { return model{m.Model, m.Dimensions} == modelOf(s.embedder) })
	if v.settled {
		return v.now, nil
	}
	for _, m := range complete { // newest first
		if earlier, err := v.earlier(m.Model, int(m.Dimensions)); err == nil {
			v.now = earlier

			break
		}
	}

	return v.now, nil
}

func (v *serving) complete() bool {
	v.mu.Lock()
	defer v.mu.Unlock()

	return v.settled
}

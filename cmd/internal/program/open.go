package program

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/cmd/internal/settings"
	"alfred/domain"
	"alfred/llm/provider"
	"alfred/recall"
)

// OpenDomain binds the domain of that name or path to the database.
func OpenDomain(ctx context.Context, pool *pgxpool.Pool, nameOrPath string) (*domain.Domain, error) {
	files, file := domain.Find(nameOrPath)

	return domain.Open(ctx, pool, files, file)
}

// OpenSearch makes the searcher of the settings, which follows the vectors that the
// database has while a change of the embedder is under way.
func OpenSearch(s *settings.Settings, pool *pgxpool.Pool, bound *domain.Domain) (*recall.Searcher, error) {
	embedder, err := provider.NewEmbedder(&s.Embedder)
	if err != nil {
		return nil, fmt.Errorf("choose an embedder: %w", err)
	}
	searcher := recall.New(bound, embedder)
	searcher.Follow(pool, s.Embedder.Earlier)

	return searcher, nil
}

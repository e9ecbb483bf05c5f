package program

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/cmd/internal/settings"
	"alfred/internal/directory"
	"alfred/internal/domain"
	"alfred/internal/engine"
	"alfred/internal/llm/provider"
	"alfred/internal/recall"
)

// OpenDomain binds the domain with that name or path to the database.
func OpenDomain(ctx context.Context, pool *pgxpool.Pool, nameOrPath string) (*domain.Domain, error) {
	files, file := domain.Find(nameOrPath)

	return domain.Open(ctx, pool, files, file)
}

// Proven refuses a domain of which nobody knows whether it keeps users apart, and says what to run.
func Proven(ctx context.Context, pool *pgxpool.Pool, nameOrPath string) error {
	files, file := domain.Find(nameOrPath)
	err := engine.Proven(ctx, pool, files, file)
	if errors.Is(err, engine.ErrUnproven) {
		return fmt.Errorf("%w %s", err, nameOrPath)
	}

	return err
}

// OpenSearch opens the configured searcher. While the embedder is being changed, it uses whichever embeddings the
// database has.
func OpenSearch(s *settings.Settings, pool *pgxpool.Pool, bound *domain.Domain) (*recall.Searcher, error) {
	embedder, err := provider.NewEmbedder(&s.Embedder)
	if err != nil {
		return nil, fmt.Errorf("choose an embedder: %w", err)
	}
	searcher := recall.New(bound, embedder)
	searcher.Follow(pool, s.Embedder.Earlier)

	return searcher, nil
}

// OpenDirectory connects to the directory of users, and is nil where ALFRED_DIRECTORY_URL names none. The caller closes
// it.
func OpenDirectory(ctx context.Context, e settings.Env) (*directory.Directory, error) {
	url, err := settings.Directory(e)
	if err != nil || url == "" {
		return nil, err
	}

	return directory.Open(ctx, url)
}

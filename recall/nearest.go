package recall

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"alfred/db"
)

// ExactUpTo is how many vectors of a user and model are compared one by one, which takes a tenth of a second at most.
// Above, the HNSW index of the model answers: faster, but it loses some of what other vectors crowd out, the more the
// smaller the user's part of the index is (docs/recall.md).
const ExactUpTo = 100_000

// nearest is the query for the vectors nearest to a text, with their distance.
type nearest func(a *args, q *Query, vector string) string

// plan chooses how vectors are compared, by how many the user has. A generic plan
// would choose once for all users, hence the setting.
func (s *Searcher) plan(ctx context.Context, tx pgx.Tx, q *Query) (nearest, error) {
	settings := `SELECT set_config('plan_cache_mode', 'force_custom_plan', true)`
	if q.Vectors.Of(q.Text) == nil {
		return nil, nil //nolint:nilnil // nothing to compare
	}
	many, err := db.New().EmbeddingBeyond(ctx, tx, &db.EmbeddingBeyondParams{UserID: q.UserID, Model: q.Vectors.Model, Number: s.exactUpTo})
	if err != nil {
		return nil, fmt.Errorf("count vectors: %w", err)
	}
	choice := exactNearest
	if many {
		choice = indexedNearest
		// The scan goes on until enough rows have passed the filter by user.
		settings += `, set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.ef_search', '200', true),
			set_config('hnsw.max_scan_tuples', '100000', true)`
	}
	if _, err := tx.Exec(ctx, settings); err != nil {
		return nil, fmt.Errorf("set the planner: %w", err)
	}

	return choice, nil
}

// exactNearest compares with every vector of the user. Its distance is not the
// expression of the index, so that the planner cannot choose that.
func exactNearest(a *args, q *Query, vector string) string {
	return fmt.Sprintf(`
		SELECT v.owner_kind, v.owner_id, v.embedding <=> %s::text::vector AS distance FROM alfred.embeddings AS v
		WHERE v.user_id = %s AND v.model = %s AND v.dimensions = %s::int
		ORDER BY distance LIMIT %d`, a.add(vector), a.add(q.UserID), a.add(q.Vectors.Model), a.add(q.Vectors.Dimensions), perList)
}

// indexedNearest goes through the HNSW index of the model, whose scan gives
// approximate order; the caller sorts again.
func indexedNearest(a *args, q *Query, vector string) string {
	return fmt.Sprintf(`
		SELECT v.owner_kind, v.owner_id, v.embedding::vector(%[1]d) <=> %[2]s::text::vector(%[1]d) AS distance
		FROM alfred.embeddings AS v WHERE v.user_id = %[3]s AND v.model = %[4]s AND v.dimensions = %[1]d
		ORDER BY v.embedding::vector(%[1]d) <=> %[2]s::text::vector(%[1]d) LIMIT %[5]d`,
		q.Vectors.Dimensions, a.add(vector), a.add(q.UserID), a.add(q.Vectors.Model), perList)
}

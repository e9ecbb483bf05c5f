package recall

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/llm"
)

// sweepLock is the key of the sweeping process's advisory lock, from "recall".
const sweepLock = 0x726563616c6c

// buildMemory is the memory limit for building an index: a graph that does not fit is built many times slower.
const buildMemory = "256MB"

// graph is an index's density. With pgvector's defaults m = 16 and ef_construction = 64, one in twenty of the nearest
// among a hundred thousand clustered vectors is never found, however long a search takes. With these values, one in a
// hundred is missed at half the search effort; docs/recall.md has the numbers. Building takes longer.
const graph = "m = 24, ef_construction = 200"

// model names an embedder in the comment on its index.
type model struct {
	Model      string `json:"model"`
	Dimensions int    `json:"dimensions"`
}

func modelOf(embedder llm.Embedder) model {
	return model{Model: embedder.Model(), Dimensions: embedder.Dimensions()}
}

// indexName is short and safe whatever the model's name.
func (m model) indexName() string {
	sum := sha256.Sum256([]byte(m.Model))

	return fmt.Sprintf("embeddings_hnsw_%s_%d", hex.EncodeToString(sum[:4]), m.Dimensions)
}

// ensureIndex creates a model's index unless it exists. It is created once all texts are embedded: that is faster than
// growing it, and its existence marks the model as complete. Only this process waits for it. It reports whether the
// index already existed.
func ensureIndex(ctx context.Context, conn *pgxpool.Conn, m model) (bool, error) {
	name := pgx.Identifier{m.indexName()}.Sanitize()
	var valid bool
	err := conn.QueryRow(ctx, `SELECT indisvalid AND obj_description(indexrelid, 'pg_class') IS NOT NULL FROM pg_index WHERE indexrelid = to_regclass('alfred.' || $1)`, name).Scan(&valid)
	switch {
	case err == nil && valid:
		return true, nil
	case err == nil: // an interrupted build
		if _, err := conn.Exec(ctx, `DROP INDEX CONCURRENTLY alfred.`+name); err != nil {
			return false, fmt.Errorf("drop the unfinished index of %s: %w", m.Model, err)
		}
	case !errors.Is(err, pgx.ErrNoRows):
		return false, fmt.Errorf("look for the index of %s: %w", m.Model, err)
	}

	return false, buildIndex(ctx, conn, name, m)
}

func buildIndex(ctx context.Context, conn *pgxpool.Conn, name string, m model) error {
	comment, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("name the index of %s: %w", m.Model, err)
	}
	for _, sql := range []string{
		`SELECT set_config('maintenance_work_mem', '` + buildMemory + `', false)
		 WHERE pg_size_bytes(current_setting('maintenance_work_mem')) < pg_size_bytes('` + buildMemory + `')`,
		fmt.Sprintf(`CREATE INDEX CONCURRENTLY %s ON alfred.embeddings USING hnsw ((embedding::vector(%d)) vector_cosine_ops) WITH (`+graph+`) WHERE model = %s AND dimensions = %d`,
			name, m.Dimensions, literal(m.Model), m.Dimensions),
		`COMMENT ON INDEX alfred.` + name + ` IS ` + literal(string(comment)),
		`RESET maintenance_work_mem`,
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("make the index of %s: %w", m.Model, err)
		}
	}

	return nil
}

package recall_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/llm/lexical"
	"alfred/internal/recall"
	"alfred/internal/testfactory"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

const demoUser = "01900000-0000-7000-8000-000000000001"

// counting counts the texts that it embeds.
type counting struct {
	lexical.Embedder
	texts atomic.Int64
}

func (c *counting) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	c.texts.Add(int64(len(texts)))

	return c.Embedder.Embed(ctx, texts)
}

func setup(t *testing.T) (*pgxpool.Pool, *counting, *recall.Index) {
	t.Helper()

	pool := dbtest.Pool(t)
	kit := testfactory.Kitchen(t)
	embedder := &counting{}

	return pool, embedder, recall.NewIndex(recall.New(kit, embedder), pool)
}

func TestNothingIsEmbeddedTwice(t *testing.T) {
	t.Parallel()

	pool, embedder, index := setup(t)
	require.NoError(t, index.Sweep(t.Context()))
	first := embedder.texts.Load()
	require.Greater(t, first, int64(100), "recipes and ingredients")
	require.NoError(t, index.Sweep(t.Context()))
	require.Equal(t, first, embedder.texts.Load())

	_, err := pool.Exec(t.Context(), `UPDATE kitchen.recipes SET description = 'Changed by another program' WHERE name = 'Pad See Ew'`)
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), `UPDATE kitchen.recipes SET instructions = '{}'`)
	require.NoError(t, err)
	require.NoError(t, index.Sweep(t.Context()))
	require.Equal(t, first+1, embedder.texts.Load(), "only the text that changed")
}

func TestEmbedTurn(t *testing.T) {
	t.Parallel()

	pool, embedder, index := setup(t)
	session, turn, recipe := uuid.New(), uuid.Must(uuid.NewV7()), "01900000-0000-7000-8000-000000000101"
	_, err := pool.Exec(t.Context(), `INSERT INTO sessions (id, user_id) VALUES ($1, $2)`, session, demoUser)
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), `INSERT INTO turns (id, session_id, user_id, number, message, mode, status, reply, replied_at, finished_at)
		VALUES ($1, $2, $3, 1, 'save it', 'plan', 'succeeded', 'Saved.', now(), now())`, turn, session, demoUser)
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), `INSERT INTO entity_refs (session_id, ref, entity_type, entity_id, state, action, label, turn_created, turn_last_ref)
		VALUES ($1, 'recipe_1', 'recipe', $2, 'stored', 'updated', 'Butter Chicken', 1, 1)`, session, recipe)
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), `INSERT INTO entity_events (session_id, ref, turn_number, action, actor, data) VALUES ($1, 'recipe_1', 1, 'updated', 'assistant', '{}')`, session)
	require.NoError(t, err)

	require.NoError(t, index.EmbedTurn(t.Context(), turn))
	require.Equal(t, int64(2), embedder.texts.Load(), "the row and the turn")
	require.NoError(t, index.EmbedTurn(t.Context(), turn))
	require.Equal(t, int64(2), embedder.texts.Load())

	_, err = pool.Exec(t.Context(), `DELETE FROM kitchen.recipes WHERE id = $1`, recipe)
	require.NoError(t, err)
	require.NoError(t, index.EmbedTurn(t.Context(), turn))
	var left int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM embeddings WHERE owner_id = $1`, recipe).Scan(&left))
	require.Zero(t, left)
}

package recall_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/recall"
)

// fill stores vectors for a user, ten of each, which share one node of an index.
func fill(t *testing.T, pool *pgxpool.Pool, user string, n int) {
	t.Helper()

	exec(t, pool, `INSERT INTO embeddings (owner_kind, owner_id, model, user_id, dimensions, content_hash, embedding)
		SELECT 'recipe', gen_random_uuid()::text, 'short', $1::uuid, 16, '\x00', (SELECT array_agg(sin((n / 10) * d * 1.7 + d)) FROM generate_series(1, 16) AS d)::vector
		FROM generate_series(1, $2::int) AS n`, user, n)
}

// vectorIndexes are the owners of the vector indexes; one of all users' vectors has none.
func vectorIndexes(t *testing.T, pool *pgxpool.Pool) []string {
	t.Helper()

	rows, err := pool.Query(t.Context(), `SELECT coalesce(substring(i.indexdef FROM 'user_id = ''([^'']+)'''), 'all') FROM pg_indexes AS i
		WHERE i.tablename = 'embeddings' AND i.indexdef LIKE '%USING hnsw%' ORDER BY 1`)
	require.NoError(t, err)
	owners, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)

	return owners
}

const hnsw = "embeddings_of_%"

func TestPlanByCount(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	pool := dbtest.Pool(t)
	searcher := recall.New(kitchen(t, pool), newShort())
	searcher.CompareUpTo(5_000)
	index := recall.NewIndex(searcher, pool)
	other := stranger(t, pool)
	fill(t, pool, other, 5_500)
	fill(t, pool, demoUser, 2000)
	exec(t, pool, `ANALYZE embeddings`)
	hits, scans := search(t, pool, searcher, other, "poached eggs in spiced tomato sauce", hnsw)
	require.NotEmpty(t, hits)
	require.Zero(t, scans, "there is no index yet")

	require.NoError(t, index.Sweep(t.Context()))
	require.Equal(t, []string{other}, vectorIndexes(t, pool), "what others store costs no index")
	exec(t, pool, `ANALYZE embeddings`)
	hits, scans = search(t, pool, searcher, demoUser, "poached eggs in spiced tomato sauce", hnsw)
	require.NotEmpty(t, hits)
	require.Zero(t, scans, "few vectors are compared one by one, however many others have")

	var recipe string
	require.NoError(t, pool.QueryRow(t.Context(), `INSERT INTO kitchen.recipes (user_id, name) VALUES ($1, 'Lemon Curd') RETURNING id::text`, other).Scan(&recipe))
	require.NoError(t, index.EmbedRows(t.Context(), uuid.Nil, "recipe", []string{recipe}))
	hits, scans = search(t, pool, searcher, other, "lemn crd", hnsw)
	require.Positive(t, scans)
	require.Equal(t, recipe, hits[0].ID, "what was written since the index was made is in it")
	require.Len(t, hits, 20)
}

func TestIndexesFollowTheirUsers(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	searcher := recall.New(kitchen(t, pool), newShort())
	searcher.CompareUpTo(1000)
	index := recall.NewIndex(searcher, pool)
	large, erased := stranger(t, pool), stranger(t, pool)
	fill(t, pool, large, 1001)
	fill(t, pool, erased, 1001)
	fill(t, pool, demoUser, 900)
	require.NoError(t, index.Sweep(t.Context()))
	require.ElementsMatch(t, []string{large, erased}, vectorIndexes(t, pool))
	var surplus int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM embedding_indexes_due(1000, 1) WHERE stands AND NOT wanted`).Scan(&surplus))
	require.Equal(t, 1, surplus, "there are no more than so many")

	exec(t, pool, `DELETE FROM embeddings WHERE ctid = ANY (ARRAY(SELECT ctid FROM embeddings WHERE user_id = $1 LIMIT 400))`, large)
	exec(t, pool, `DELETE FROM users WHERE id = $1`, erased)
	require.NoError(t, index.Sweep(t.Context()))
	require.Equal(t, []string{large}, vectorIndexes(t, pool), "one around the limit keeps theirs")
	exec(t, pool, `DELETE FROM embeddings WHERE ctid = ANY (ARRAY(SELECT ctid FROM embeddings WHERE user_id = $1 LIMIT 200))`, large)
	require.NoError(t, index.Sweep(t.Context()))
	require.Empty(t, vectorIndexes(t, pool))
}

// A build that was interrupted leaves an index that holds nothing, and that Postgres maintains.
func TestInterruptedBuildIsMadeAnew(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	searcher := recall.New(kitchen(t, pool), newShort())
	searcher.CompareUpTo(1000)
	fill(t, pool, demoUser, 1200)
	var name string
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT embedding_index($1, 'short', 16)`, demoUser).Scan(&name))
	_, err := pool.Exec(t.Context(), fmt.Sprintf(`CREATE INDEX CONCURRENTLY %s ON embeddings ((1 / (dimensions - 16)))`, name))
	require.ErrorContains(t, err, "division by zero")
	exec(t, pool, `UPDATE pg_index SET indisready = false WHERE indexrelid = $1::text::regclass`, name) // or nothing could be stored
	hits, _ := search(t, pool, searcher, demoUser, "poached eggs in spiced tomato sauce", hnsw)
	require.NotEmpty(t, hits, "until it is whole all are compared")

	require.NoError(t, recall.NewIndex(searcher, pool).Sweep(t.Context()))
	require.Equal(t, []string{demoUser}, vectorIndexes(t, pool))
	var valid bool
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT indisvalid FROM pg_index WHERE indexrelid = $1::text::regclass`, name).Scan(&valid))
	require.True(t, valid)
}

func TestIndexOfAllIsReplaced(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	searcher := recall.New(kitchen(t, pool), newShort())
	searcher.CompareUpTo(1000)
	fill(t, pool, demoUser, 1200)
	exec(t, pool, `CREATE INDEX embeddings_hnsw_f9b0078b_16 ON embeddings USING hnsw ((embedding::vector(16)) vector_cosine_ops) WHERE model = 'short' AND dimensions = 16`)
	require.Equal(t, []string{"all"}, vectorIndexes(t, pool))
	require.NoError(t, recall.NewIndex(searcher, pool).Sweep(t.Context()))
	require.Equal(t, []string{demoUser}, vectorIndexes(t, pool))
}

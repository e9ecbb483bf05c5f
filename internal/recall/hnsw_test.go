package recall_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/recall"
	"alfred/internal/testfactory"
)

// fill stores vectors for a user, ten of each, which share one node of an index.
func fill(t *testing.T, pool *pgxpool.Pool, user string, n int) {
	t.Helper()

	exec(t, pool, `INSERT INTO embeddings (owner_kind, owner_id, model, user_id, dimensions, content_hash, embedding)
		SELECT 'recipe', gen_random_uuid()::text, 'short', $1::uuid, 16, '\x00', (SELECT array_agg(sin((n / 10) * d * 1.7 + d)) FROM generate_series(1, 16) AS d)::vector
		FROM generate_series(1, $2::int) AS n`, user, n)
}

// vectorIndexes returns the owners of the vector indexes, "all" for one of all users' vectors.
func vectorIndexes(t *testing.T, pool *pgxpool.Pool) []string {
	t.Helper()

	rows, err := pool.Query(t.Context(), `SELECT coalesce(substring(i.indexdef FROM 'user_id = ''([^'']+)'''), 'all') FROM pg_indexes AS i
		WHERE i.tablename = 'embeddings' AND i.indexdef LIKE '%USING hnsw%' ORDER BY 1`)
	require.NoError(t, err)
	owners, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)

	return owners
}

func sweepAndTend(t *testing.T, index *recall.Index) {
	t.Helper()

	require.NoError(t, index.Sweep(t.Context()))
	require.NoError(t, index.Maintain(t.Context()))
}

const hnsw = "embeddings_of_%"

func TestPlanByCount(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	pool := dbtest.Pool(t)
	searcher := recall.New(testfactory.Kitchen(t), newShort())
	searcher.CompareUpTo(5_000)
	index := recall.NewIndex(searcher, pool)
	other := stranger(t, pool)
	fill(t, pool, other, 5_500)
	fill(t, pool, demoUser, 2000)
	exec(t, pool, `ANALYZE embeddings`)
	hits, scans := search(t, pool, searcher, other, "poached eggs in spiced tomato sauce", hnsw)
	require.NotEmpty(t, hits)
	require.Zero(t, scans, "there is no index yet")

	sweepAndTend(t, index)
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
	dbtest.Whole(t)

	pool := dbtest.Pool(t)
	searcher := recall.New(testfactory.Kitchen(t), newShort())
	searcher.CompareUpTo(1000)
	index := recall.NewIndex(searcher, pool)
	large, erased := stranger(t, pool), stranger(t, pool)
	fill(t, pool, large, 1001)
	fill(t, pool, erased, 1001)
	fill(t, pool, demoUser, 900)
	sweepAndTend(t, index)
	require.ElementsMatch(t, []string{large, erased}, vectorIndexes(t, pool))
	var surplus int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM embedding_indexes_due(1000, 1) WHERE stands AND NOT wanted`).Scan(&surplus))
	require.Equal(t, 1, surplus, "there are no more than so many")
	more := stranger(t, pool)
	fill(t, pool, more, 1990)
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM embedding_indexes_due(1000, 2)`).Scan(&surplus))
	require.Zero(t, surplus, "one that stands gives way to none with less than twice as many vectors")
	fill(t, pool, more, 20)
	var owner string
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT user_id::text FROM embedding_indexes_due(1000, 2) WHERE wanted`).Scan(&owner))
	require.Equal(t, more, owner, "who has most gets one")
	exec(t, pool, `DELETE FROM users WHERE id = $1`, more)

	exec(t, pool, `DELETE FROM embeddings WHERE ctid = ANY (ARRAY(SELECT ctid FROM embeddings WHERE user_id = $1 LIMIT 400))`, large)
	exec(t, pool, `DELETE FROM users WHERE id = $1`, erased)
	sweepAndTend(t, index)
	require.Equal(t, []string{large}, vectorIndexes(t, pool), "one around the limit keeps theirs")
	exec(t, pool, `DELETE FROM embeddings WHERE ctid = ANY (ARRAY(SELECT ctid FROM embeddings WHERE user_id = $1 LIMIT 200))`, large)
	sweepAndTend(t, index)
	require.Empty(t, vectorIndexes(t, pool))
}

// A build that was interrupted leaves an index that holds nothing, and that Postgres maintains.
func TestInterruptedBuildIsMadeAnew(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	pool := dbtest.Pool(t)
	searcher := recall.New(testfactory.Kitchen(t), newShort())
	searcher.CompareUpTo(1000)
	fill(t, pool, demoUser, 1200)
	var name string
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT embedding_index($1, 'short', 16)`, demoUser).Scan(&name))
	_, err := pool.Exec(t.Context(), fmt.Sprintf(`CREATE INDEX CONCURRENTLY %s ON embeddings ((1 / (dimensions - 16)))`, name))
	require.ErrorContains(t, err, "division by zero")
	exec(t, pool, `UPDATE pg_index SET indisready = false WHERE indexrelid = $1::text::regclass`, name) // or nothing could be stored
	hits, _ := search(t, pool, searcher, demoUser, "poached eggs in spiced tomato sauce", hnsw)
	require.NotEmpty(t, hits, "until it is whole all are compared")

	sweepAndTend(t, recall.NewIndex(searcher, pool))
	require.Equal(t, []string{demoUser}, vectorIndexes(t, pool))
	var valid bool
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT indisvalid FROM pg_index WHERE indexrelid = $1::text::regclass`, name).Scan(&valid))
	require.True(t, valid)
}

func TestIndexOfAllIsReplaced(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	pool := dbtest.Pool(t)
	searcher := recall.New(testfactory.Kitchen(t), newShort())
	searcher.CompareUpTo(1000)
	fill(t, pool, demoUser, 1200)
	exec(t, pool, `CREATE INDEX embeddings_hnsw_f9b0078b_16 ON embeddings USING hnsw ((embedding::vector(16)) vector_cosine_ops) WHERE model = 'short' AND dimensions = 16`)
	require.Equal(t, []string{"all"}, vectorIndexes(t, pool))
	sweepAndTend(t, recall.NewIndex(searcher, pool))
	require.Equal(t, []string{demoUser}, vectorIndexes(t, pool))
}

func TestAnIndexThatCannotBeMadeHindersNoOther(t *testing.T) {
	t.Parallel()

	pool := single(t, dbtest.Pool(t))
	searcher := recall.New(testfactory.Kitchen(t), newShort())
	searcher.CompareUpTo(1000)
	users := []string{stranger(t, pool), stranger(t, pool)}
	for _, user := range users {
		fill(t, pool, user, 1001)
	}
	exec(t, pool, `INSERT INTO embedded_models (model, dimensions) VALUES ('short', 16)`)
	var name, user, before, after string
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT name, user_id::text, current_setting('maintenance_work_mem') FROM embedding_indexes_due(1000, 2) LIMIT 1`).Scan(&name, &user, &before))
	exec(t, pool, `CREATE TABLE `+name+` ()`)

	require.ErrorContains(t, recall.NewIndex(searcher, pool).Maintain(t.Context()), user)
	made := vectorIndexes(t, pool)
	require.Len(t, made, 1)
	require.NotEqual(t, user, made[0])
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT current_setting('maintenance_work_mem')`).Scan(&after))
	require.Equal(t, before, after, "others use the connection after it")
}

// single is a pool of one connection to the same database.
func single(t *testing.T, pool *pgxpool.Pool) *pgxpool.Pool {
	t.Helper()

	config := pool.Config()
	config.MaxConns, config.MinConns = 1, 0
	one, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(one.Close)

	return one
}

// Indexes wait for dumps and moves; what other programs write is found meanwhile.
func TestTendingHindersNoSweep(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	pool := dbtest.Pool(t)
	searcher := recall.New(testfactory.Kitchen(t), newShort())
	searcher.CompareUpTo(1000)
	index := recall.NewIndex(searcher, pool)
	fill(t, pool, demoUser, 1200)
	require.NoError(t, index.Sweep(t.Context()))
	writer, err := pool.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = writer.Rollback(t.Context()) }()
	_, err = writer.Exec(t.Context(), `INSERT INTO users (id, name) VALUES (gen_random_uuid(), 'written by whom every index waits for')`)
	require.NoError(t, err)
	_, err = writer.Exec(t.Context(), `DELETE FROM embeddings WHERE false`)
	require.NoError(t, err)

	tended := make(chan error, 1)
	go func() { tended <- index.Maintain(t.Context()) }()
	require.Eventually(t, func() bool {
		var waiting bool
		err := pool.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_stat_progress_create_index WHERE datname = current_database() AND phase LIKE 'waiting%')`).Scan(&waiting)

		return err == nil && waiting
	}, dbtest.Patience, 50*time.Millisecond)
	var recipe string
	require.NoError(t, pool.QueryRow(t.Context(), `INSERT INTO kitchen.recipes (user_id, name) VALUES ($1, 'Lemon Curd') RETURNING id::text`, demoUser).Scan(&recipe))
	require.NoError(t, index.Sweep(t.Context()))
	var embedded int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM embeddings WHERE owner_id = $1`, recipe).Scan(&embedded))
	require.Equal(t, 1, embedded)
	require.NoError(t, index.Maintain(t.Context()), "only one tends")
	require.NoError(t, writer.Rollback(t.Context()))
	require.NoError(t, <-tended)
	require.Equal(t, []string{demoUser}, vectorIndexes(t, pool))
}

func TestAnEarlierModelsIndexesGoBeforeItsVectors(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	pool := dbtest.Pool(t)
	kit := testfactory.Kitchen(t)
	before := recall.New(kit, newShort())
	before.CompareUpTo(1000)
	fill(t, pool, demoUser, 1200)
	sweepAndTend(t, recall.NewIndex(before, pool))
	exec(t, pool, `UPDATE embeddings SET created_at = created_at - interval '2 hours'`)

	after := recall.New(kit, &short{model: "long", dims: 32})
	after.CompareUpTo(1000)
	index := recall.NewIndex(after, pool)
	left := func() (n int) {
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM embeddings WHERE model = 'short'`).Scan(&n))

		return n
	}
	require.NoError(t, index.Sweep(t.Context()))
	require.NoError(t, index.Sweep(t.Context()))
	require.Positive(t, left())
	require.NoError(t, index.Maintain(t.Context()))
	require.Empty(t, vectorIndexes(t, pool))
	require.Positive(t, left())
	require.NoError(t, index.Sweep(t.Context()))
	require.Zero(t, left())
}

// A worker of the version before deletes the vectors of an earlier model, but not its row.
func TestAModelWithoutVectorsIsNotComplete(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	complete := func() (models string) {
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT coalesce(string_agg(model, ' '), '') FROM embedding_models()`).Scan(&models))

		return models
	}
	exec(t, pool, `INSERT INTO embedded_models (model, dimensions) VALUES ('early', 16)`)
	require.Equal(t, "early", complete(), "nothing is to embed")
	index := recall.NewIndex(recall.New(testfactory.Kitchen(t), newShort()), pool)
	require.NoError(t, index.Sweep(t.Context()))
	require.Equal(t, "short", complete())
	require.NoError(t, index.Sweep(t.Context()))
	var rows int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM embedded_models`).Scan(&rows))
	require.Equal(t, 1, rows, "so that it is not complete with its first vector if it comes back")
}

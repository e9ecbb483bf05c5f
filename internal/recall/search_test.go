package recall_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/llm"
	"alfred/internal/llm/lexical"
	"alfred/internal/pg"
	"alfred/internal/recall"
	"alfred/internal/testfactory"
)

// short makes vectors of 16 dimensions, so that many are quick to index.
type short struct {
	lexical.Embedder

	model string
	dims  int
	spoil func(text string, vector []float32) []float32
}

func (s *short) Dimensions() int { return s.dims }

func (s *short) Model() string { return s.model }

func (s *short) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := s.Embedder.Embed(ctx, texts)
	for i := range vectors {
		vectors[i] = vectors[i][:s.dims]
		if vectors[i][0]++; s.spoil != nil {
			vectors[i] = s.spoil(texts[i], vectors[i])
		}
	}

	return vectors, err
}

func newShort() *short { return &short{model: "short", dims: 16} }

// search searches as the user, and counts the index scans.
func search(t *testing.T, pool *pgxpool.Pool, searcher *recall.Searcher, user, text, index string) ([]recall.Hit, int) {
	t.Helper()

	vectors, err := searcher.EmbedTexts(t.Context(), []string{text})
	require.NoError(t, err)
	var (
		hits  []recall.Hit
		scans int
	)
	require.NoError(t, pg.InReadTx(t.Context(), pool, func(tx pgx.Tx) error {
		err := pg.AsTenant(t.Context(), tx, uuid.MustParse(user), func(tx pgx.Tx) error {
			var err error
			hits, err = searcher.Search(t.Context(), tx, &recall.Query{UserID: uuid.MustParse(user), Text: text, Vectors: vectors, Limit: 20})

			return err
		})
		if err != nil {
			return err
		}

		return tx.QueryRow(t.Context(), `SELECT coalesce(sum(pg_stat_get_xact_numscans(c.oid)), 0) FROM pg_class AS c WHERE c.relname LIKE $1`, index).Scan(&scans)
	}))

	return hits, scans
}

func exec(t *testing.T, pool *pgxpool.Pool, sql string, args ...any) {
	t.Helper()

	_, err := pool.Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}

// talk gives the user past turns with summaries.
func talk(t *testing.T, pool *pgxpool.Pool, user string, turns int, message string) {
	t.Helper()

	session := uuid.New()
	exec(t, pool, `INSERT INTO sessions (id, user_id) VALUES ($1, $2)`, session, user)
	exec(t, pool, `INSERT INTO turns (session_id, user_id, number, message, mode, status, reply, replied_at, finished_at, summarized_at)
		SELECT $1, $2, n, format($4, n), 'plan', 'succeeded', 'Answer ' || n, now(), now(), now() FROM generate_series(1, $3::int) AS n`, session, user, turns, message)
	exec(t, pool, `SELECT turn_summary_write_facts(id) FROM turns WHERE session_id = $1`, session)
}

func stranger(t *testing.T, pool *pgxpool.Pool) string {
	t.Helper()

	id := uuid.NewString()
	exec(t, pool, `INSERT INTO users (id, name) VALUES ($1, $2)`, id, "stranger "+id)

	return id
}

// Scanning all rows of a user with a long history would make every question slow.
func TestWordsGoThroughIndexes(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	pool := dbtest.Pool(t)
	searcher := recall.New(testfactory.Kitchen(t), lexical.Embedder{})
	other := stranger(t, pool)
	talk(t, pool, demoUser, 3000, "what about dish number %s")
	talk(t, pool, demoUser, 1, "grandmother puts nutmeg in the mash")
	talk(t, pool, other, 1, "grandmother puts nutmeg in everything")
	exec(t, pool, `INSERT INTO kitchen.recipes (user_id, name) SELECT $1, 'Dish ' || md5(n::text) FROM generate_series(1, 20000) AS n`, demoUser)
	exec(t, pool, `INSERT INTO kitchen.recipes (user_id, name) VALUES ($1, 'Zanzibar Pizza')`, other)
	exec(t, pool, `VACUUM ANALYZE turn_summaries, turns, kitchen.recipes`)

	hits, scans := search(t, pool, searcher, demoUser, "what did grandmother put into it, nutmeg?", "turn_summaries_search_idx")
	require.Equal(t, "grandmother puts nutmeg in the mash", hits[0].Message)
	require.Positive(t, scans)
	for _, hit := range hits {
		require.NotContains(t, hit.Message, "everything", "another user's")
	}
	hits, scans = search(t, pool, searcher, demoUser, "did we cook that shakshouka?", "recipes_name_trgm")
	require.Equal(t, "recipe", hits[0].Kind)
	require.Equal(t, "01900000-0000-7000-8000-000000000103", hits[0].ID, "a name is found however it is spelt")
	require.Positive(t, scans)
	hits, _ = search(t, pool, searcher, demoUser, "zanzibar pizza", "")
	for _, hit := range hits {
		require.NotEqual(t, "recipe", hit.Kind, "another user's")
	}
}

func TestReplyIsSearched(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	talk(t, pool, demoUser, 3, "hello %s")
	exec(t, pool, `UPDATE turns SET reply = 'The secret word is xylophone.' WHERE number = 2`)
	exec(t, pool, `UPDATE turn_summaries SET response_summary = 'told a secret' WHERE turn_number = 2`)
	hits, _ := search(t, pool, recall.New(testfactory.Kitchen(t), brokenEmbedder{}), demoUser, "xylophone", "")
	require.Len(t, hits, 1)
	require.Equal(t, 2, hits[0].Turn)
	require.Equal(t, "told a secret", hits[0].Summary)
}

// The answer must identify which of two conversations it is about: number and time are the turn's.
func TestNeighbours(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	talk(t, pool, demoUser, 3, "topic %s")
	exec(t, pool, `UPDATE turn_summaries SET response_summary = 'sum ' || turn_number`)
	exec(t, pool, `UPDATE turns SET message = 'lemon curd' WHERE number = 2`)
	exec(t, pool, `UPDATE turn_summaries SET user_message = 'lemon curd' WHERE turn_number = 2`)
	hits, _ := search(t, pool, recall.New(testfactory.Kitchen(t), brokenEmbedder{}), demoUser, "lemon curd", "")
	require.Equal(t, []string{"sum 1", "sum 2", "sum 3"}, []string{hits[0].Before, hits[0].Summary, hits[0].After})
}

type brokenEmbedder struct{ lexical.Embedder }

func (brokenEmbedder) Embed(context.Context, []string) ([][]float32, error) {
	return nil, errors.New("no answer")
}

func spoilt(how func([]float32) []float32) func(string, []float32) []float32 {
	return func(text string, vector []float32) []float32 {
		if strings.Contains(text, "Shakshuka") {
			return how(vector)
		}

		return vector
	}
}

func TestUnusableVectorsAreRefused(t *testing.T) {
	t.Parallel()

	for name, how := range map[string]func([]float32) []float32{
		"DimensionsChanged": func(v []float32) []float32 { return v[:8] },
		"Infinite":          func(v []float32) []float32 { v[0] = float32(math.Inf(1)); return v },
		"NaN":               func(v []float32) []float32 { v[0] = float32(math.NaN()); return v },
		"Zero":              func(v []float32) []float32 { return make([]float32, len(v)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			pool := dbtest.Pool(t)
			embedder := newShort()
			embedder.spoil = spoilt(how)
			searcher := recall.New(testfactory.Kitchen(t), embedder)
			err := recall.NewIndex(searcher, pool).Sweep(t.Context())
			require.ErrorIs(t, err, recall.ErrVector)
			require.ErrorContains(t, err, "short gave")
			var with, without int
			require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(e.owner_id), count(*) FILTER (WHERE e.owner_id IS NULL)
				FROM kitchen.recipes AS r LEFT JOIN embeddings AS e ON e.owner_id = r.id::text`).Scan(&with, &without))
			require.Positive(t, with, "the others have theirs")
			require.Equal(t, 1, without)

			vectors, err := searcher.EmbedTexts(t.Context(), []string{"Shakshuka"})
			require.NoError(t, err)
			require.NotEmpty(t, vectors.Notice)
			require.Empty(t, vectors.Literal("Shakshuka"))
		})
	}
}

func TestModelChange(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	kit := testfactory.Kitchen(t)
	require.NoError(t, recall.NewIndex(recall.New(kit, lexical.Embedder{}), pool).Sweep(t.Context()))

	fresh := newShort()
	earlier := func(model string, dimensions int) (llm.Embedder, error) {
		require.Equal(t, "lexical-2 256", fmt.Sprint(model, " ", dimensions))

		return lexical.Embedder{}, nil
	}
	searcher := recall.New(kit, fresh)
	searcher.Follow(pool, earlier)
	model := func(s *recall.Searcher) string {
		vectors, err := s.EmbedTexts(t.Context(), []string{"eggs"})
		require.NoError(t, err)

		return vectors.Model
	}
	require.Equal(t, "lexical-2", model(searcher), "nothing has vectors of the new model yet")

	var recipe string
	require.NoError(t, pool.QueryRow(t.Context(), `INSERT INTO kitchen.recipes (user_id, name) VALUES ($1, 'Lemon Curd') RETURNING id::text`, demoUser).Scan(&recipe))
	index := recall.NewIndex(searcher, pool)
	require.NoError(t, index.EmbedRows(t.Context(), uuid.Nil, "recipe", []string{recipe}))
	count := func() (n int) {
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM embeddings WHERE owner_id = $1`, recipe).Scan(&n))

		return n
	}
	require.Equal(t, 2, count(), "what is written meanwhile is found by the model that serves, too")

	require.NoError(t, index.Sweep(t.Context()))
	after := recall.New(kit, fresh)
	after.Follow(pool, earlier)
	require.Equal(t, "short", model(after))

	models := func() (list []string) {
		rows, err := pool.Query(t.Context(), `SELECT DISTINCT model FROM embeddings UNION ALL SELECT 'whole: ' || model FROM embedding_models() ORDER BY 1`)
		require.NoError(t, err)
		list, err = pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)

		return list
	}
	require.NoError(t, index.Sweep(t.Context()))
	require.Equal(t, []string{"lexical-2", "short", "whole: lexical-2", "whole: short"}, models(), "a process may still be using it")
	exec(t, pool, `UPDATE embeddings SET created_at = created_at - interval '2 hours' WHERE model = 'lexical-2'`)
	progress, err := index.Progress(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"lexical-2"}, progress.Others)
	require.NoError(t, index.Sweep(t.Context()))
	require.Equal(t, []string{"short", "whole: short"}, models(), "nobody needs the others any more")

	alien := recall.New(kit, &short{model: "third", dims: 16})
	alien.Follow(pool, func(string, int) (llm.Embedder, error) { return nil, errors.New("no key") })
	require.Equal(t, "third", model(alien), "vectors that nobody can compare with do not serve")
}

// A model whose vectors have a new length is a different model, although its name is the same.
func TestDimensionsChange(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	kit := testfactory.Kitchen(t)
	require.NoError(t, recall.NewIndex(recall.New(kit, newShort()), pool).Sweep(t.Context()))
	longer := &short{model: "short", dims: 32}
	require.NoError(t, recall.NewIndex(recall.New(kit, longer), pool).Sweep(t.Context()))
	var left int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM embeddings WHERE dimensions = 16`).Scan(&left))
	require.Zero(t, left)
}

func TestSweepsAtOnce(t *testing.T) {
	t.Parallel()

	pool, embedder, index := setup(t)
	errs := make(chan error, 3)
	for range cap(errs) {
		go func() { errs <- index.Sweep(t.Context()) }()
	}
	for range cap(errs) {
		if err := <-errs; !errors.Is(err, recall.ErrSweeping) {
			require.NoError(t, err)
		}
	}
	require.NoError(t, index.Sweep(t.Context()))
	var stored int64
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM embeddings`).Scan(&stored))
	require.Equal(t, stored, embedder.texts.Load(), "nothing is embedded twice")
}

func TestSweepTakesAllTurns(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	pool, _, index := setup(t)
	talk(t, pool, demoUser, 1200, "turn %s")
	require.NoError(t, index.Sweep(t.Context()))
	var turns int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM embeddings WHERE owner_kind = 'turn'`).Scan(&turns))
	require.Equal(t, 1200, turns)
}

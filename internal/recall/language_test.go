package recall_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/llm/lexical"
	"alfred/internal/pg"
	"alfred/internal/recall"
	"alfred/internal/testfactory"
)

func TestWordsAreFoundByTheStemsOfTheDatabasesLanguage(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	kitchen := testfactory.Kitchen(t)
	index := recall.NewIndex(recall.New(kitchen, lexical.Embedder{}), pool)
	user := stranger(t, pool)
	exec(t, pool, `INSERT INTO kitchen.recipes (user_id, name) VALUES ($1, 'Ensalada de cebollas')`, user)
	said(t, pool, user, "reservé una habitación en Cádiz", "los pagos de marzo")
	require.NoError(t, index.Sweep(t.Context()))
	words := recall.New(kitchen, brokenEmbedder{})
	asked := recall.Query{UserID: uuid.MustParse(user), Text: "¿qué habitaciones reservamos?", Limit: 5, Kinds: []string{recall.KindTurn}}
	numbers, _ := found(t, pool, words, asked)
	require.Empty(t, numbers, "no English stem is common to them")

	exec(t, pool, `SELECT recall_language('spanish')`)
	numbers, _ = found(t, pool, words, asked)
	require.Equal(t, []int{1}, numbers)
	require.NoError(t, index.Sweep(t.Context()))
	require.Contains(t, listed(t, pool, user), "habit")
	var texts int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM embeddings WHERE owner_kind = 'recipe' AND search @@ to_tsquery('spanish', 'cebolla & ensalada')`).Scan(&texts))
	require.Equal(t, 1, texts)
}

func TestALanguageOfAnotherParserIsRefused(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	exec(t, pool, `CREATE TEXT SEARCH PARSER alfred.pieces (START = prsd_start, GETTOKEN = prsd_nexttoken, END = prsd_end, LEXTYPES = prsd_lextype)`)
	exec(t, pool, `CREATE TEXT SEARCH CONFIGURATION alfred.pieces (PARSER = alfred.pieces)`)
	_, err := pool.Exec(t.Context(), `SELECT recall_language('alfred.pieces')`)
	require.Equal(t, "0A000", pg.Code(err), "%v", err)
	_, err = pool.Exec(t.Context(), `SELECT recall_language('klingon')`)
	require.ErrorContains(t, err, `text search configuration "klingon" does not exist`)
}

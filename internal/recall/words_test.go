package recall_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/llm/lexical"
	"alfred/internal/pg"
	"alfred/internal/recall"
	"alfred/internal/testfactory"
)

func listed(t *testing.T, pool *pgxpool.Pool, user string) []string {
	t.Helper()

	rows, err := pool.Query(t.Context(), `SELECT word FROM user_words WHERE user_id = $1 ORDER BY word`, user)
	require.NoError(t, err)
	words, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)

	return words
}

func turnOf(t *testing.T, pool *pgxpool.Pool, session uuid.UUID, number int) (turn uuid.UUID) {
	t.Helper()
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT id FROM turns WHERE session_id = $1 AND number = $2`, session, number).Scan(&turn))

	return turn
}

func TestWordsAreListed(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	index := recall.NewIndex(recall.New(testfactory.Kitchen(t), lexical.Embedder{}), pool)
	user := stranger(t, pool)
	session := said(t, pool, user, "lemon curd for 12 of us", "a fig tart")
	require.NoError(t, index.EmbedTurn(t.Context(), turnOf(t, pool, session, 1)))
	require.Equal(t, []string{"curd", "lemon", "note"}, listed(t, pool, user), "with the vector, neither numbers nor what is too short")
	exec(t, pool, `DELETE FROM user_words WHERE user_id = $1`, user) // as before there were lists
	require.NoError(t, index.Sweep(t.Context()))
	require.Equal(t, []string{"", "curd", "fig", "lemon", "note", "tart"}, listed(t, pool, user))

	other := said(t, pool, user, "curd and rhubarb")
	require.NoError(t, index.EmbedTurn(t.Context(), turnOf(t, pool, other, 1)))
	require.Equal(t, []string{"", "curd", "fig", "lemon", "note", "rhubarb", "tart"}, listed(t, pool, user))
	require.Empty(t, listed(t, pool, stranger(t, pool)))
}

func TestForgottenWordsAreNotListed(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	index := recall.NewIndex(recall.New(testfactory.Kitchen(t), lexical.Embedder{}), pool)
	user := stranger(t, pool)
	forgotten := said(t, pool, user, "lemon curd")
	said(t, pool, user, "curd and rhubarb")
	require.NoError(t, index.Sweep(t.Context()))
	exec(t, pool, `SELECT forget_session($1)`, forgotten)
	require.Empty(t, listed(t, pool, user))
	require.NoError(t, index.Sweep(t.Context()))
	require.Equal(t, []string{"", "curd", "note", "rhubarb"}, listed(t, pool, user))
}

// Neither embedding nor a sweep waits for somebody who forgets a conversation.
func TestWordsOfAConversationThatIsBeingForgottenAreLeftOut(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	index := recall.NewIndex(recall.New(testfactory.Kitchen(t), lexical.Embedder{}), pool)
	user := stranger(t, pool)
	session := said(t, pool, user, "lemon curd")
	said(t, pool, user, "rhubarb")
	require.NoError(t, pg.InTx(t.Context(), pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), `SELECT FROM sessions WHERE id = $1 FOR UPDATE`, session); err != nil {
			return err
		}
		require.NoError(t, index.EmbedTurn(t.Context(), turnOf(t, pool, session, 1)))
		require.Empty(t, listed(t, pool, user))
		require.NoError(t, index.Sweep(t.Context()))
		require.Equal(t, []string{"", "note", "rhubarb"}, listed(t, pool, user))

		return nil
	}))
}

func TestWordsThatLookAlike(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	user := stranger(t, pool)
	exec(t, pool, `INSERT INTO user_words (user_id, word) SELECT $1, unnest(ARRAY['', 'casserol', 'chicken', 'cassett', 'neighbour', 'pancak', 'Zürich', 'élan'])`, user)
	for meant, forms := range map[string][]string{
		"cassreol": {"casserol"}, // and not cassett, which shares as many letters, but is shorter
		"cassero":  {"casserol", "cassett"},
		"acsserol": {"casserol"},
		"hicken":   {"chicken"},
		"pancaek":  {"pancak"},
		"éaln":     {},
		"éland":    {"élan"},
		"tell":     {},
		`a\'%_(`:   {},
	} {
		rows, err := pool.Query(t.Context(), `SELECT form FROM user_words_like($1, $2) ORDER BY form`, user, meant)
		require.NoError(t, err)
		found, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		require.ElementsMatch(t, forms, found, meant)
	}
}

package recall_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

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

// said gives the user one session with these messages, each answered by "Noted <n>.", and returns it.
func said(t *testing.T, pool *pgxpool.Pool, user string, messages ...string) uuid.UUID {
	t.Helper()

	session := uuid.New()
	exec(t, pool, `INSERT INTO sessions (id, user_id, last_turn) VALUES ($1, $2, $3)`, session, user, len(messages))
	exec(t, pool, `INSERT INTO turns (session_id, user_id, number, message, mode, status, reply, replied_at, finished_at, summarized_at)
		SELECT $1, $2, n, m, 'plan', 'succeeded', 'Noted ' || n || '.', now(), now(), now() FROM unnest($3::text[]) WITH ORDINALITY AS t (m, n)`, session, user, messages)
	exec(t, pool, `SELECT turn_summary_write_facts(id) FROM turns WHERE session_id = $1`, session)

	return session
}

// found searches as the user and returns the numbers of the turns found.
func found(t *testing.T, pool *pgxpool.Pool, searcher *recall.Searcher, q recall.Query) (numbers []int, hits []recall.Hit) {
	t.Helper()

	vectors, err := searcher.EmbedTexts(t.Context(), []string{q.Text})
	require.NoError(t, err)
	q.Vectors = vectors
	require.NoError(t, pg.InReadTx(t.Context(), pool, func(tx pgx.Tx) error {
		return pg.AsTenant(t.Context(), tx, q.UserID, func(tx pgx.Tx) error {
			var err error
			hits, err = searcher.Search(t.Context(), tx, &q)

			return err
		})
	}))
	for _, hit := range hits {
		numbers = append(numbers, hit.Turn)
	}

	return numbers, hits
}

func TestRareWordsCountMore(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	user := stranger(t, pool)
	var messages []string
	for n := range 30 {
		messages = append(messages, fmt.Sprintf("we cook soup and cook dinner and plan soup, round %d", n))
	}
	messages = append(messages, "the saffron is in the blue tin")
	said(t, pool, user, messages...)
	numbers, _ := found(t, pool, recall.New(testfactory.Kitchen(t), brokenEmbedder{}), recall.Query{
		UserID: uuid.MustParse(user), Text: "did we plan to cook dinner soup with saffron?", Limit: 5, Kinds: []string{recall.KindTurn},
	})
	require.Equal(t, 31, numbers[0], "one word that nobody else said beats four that all said")
}

func TestNeighboursLendTheirScore(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	user := stranger(t, pool)
	said(t, pool, user, "my wedding is in June", "hm", "nice weather", "what about the menu for that trip", "hm hm", "well well",
		"the wedding needs flowers, a cake and a band", "the menu is fish", "so be it")
	numbers, _ := found(t, pool, recall.New(testfactory.Kitchen(t), brokenEmbedder{}), recall.Query{
		UserID: uuid.MustParse(user), Text: "wedding menu", Limit: 2, Kinds: []string{recall.KindTurn},
	})
	require.ElementsMatch(t, []int{7, 8}, numbers, "what stands beside the wedding's turn is the menu that is meant")
}

func TestOnlyNeighboursOfTheSameConversationLend(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	user := stranger(t, pool)
	apart := said(t, pool, user, "the menu is fish", "hm", "my wedding")
	said(t, pool, user, "hm", "my wedding")
	said(t, pool, user, "my wedding", "hm")
	beside := said(t, pool, user, "hm", "the menu is meat", "my wedding")
	_, hits := found(t, pool, recall.New(testfactory.Kitchen(t), brokenEmbedder{}), recall.Query{
		UserID: uuid.MustParse(user), Text: "wedding menu", Limit: 20, Kinds: []string{recall.KindTurn},
	})
	scores := map[uuid.UUID]float64{}
	for _, hit := range hits {
		if hit.Turn < 3 && hit.Message != "my wedding" {
			scores[hit.SessionID] = hit.Score
		}
	}
	require.Len(t, scores, 2)
	require.Positive(t, scores[apart])
	require.Greater(t, scores[beside], scores[apart]+0.1, "turns 1 and 3 are not beside each other, nor are turns 1 and 2 of two conversations")
}

func TestDayInQuestionCounts(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	user := stranger(t, pool)
	session := said(t, pool, user, "dinner was fine", "dinner was great", "dinner was bad", "dinner was cold")
	exec(t, pool, `UPDATE turns SET created_at = '2023-07-01'::timestamptz + number * interval '10 days' WHERE session_id = $1`, session)
	numbers, _ := found(t, pool, recall.New(testfactory.Kitchen(t), brokenEmbedder{}), recall.Query{
		UserID: uuid.MustParse(user), Text: "how was dinner on 21 July 2023?", Limit: 4, Kinds: []string{recall.KindTurn},
	})
	require.Equal(t, 2, numbers[0])
}

// A day is the user's: in Auckland it begins half a day before it does in UTC.
func TestDayInQuestionIsTheUsers(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	user := stranger(t, pool)
	exec(t, pool, `UPDATE users SET timezone = 'Pacific/Auckland' WHERE id = $1`, user)
	session := said(t, pool, user, "dinner was fine", "dinner was great")
	exec(t, pool, `UPDATE turns SET created_at = CASE number WHEN 1 THEN '2023-07-20 20:00Z'::timestamptz ELSE '2023-07-22 20:00Z' END WHERE session_id = $1`, session)
	numbers, hits := found(t, pool, recall.New(testfactory.Kitchen(t), brokenEmbedder{}), recall.Query{
		UserID: uuid.MustParse(user), Text: "how was dinner on 21 July 2023?", Limit: 4, Kinds: []string{recall.KindTurn},
	})
	require.Equal(t, 1, numbers[0])
	require.Equal(t, time.Date(2023, 7, 21, 0, 0, 0, 0, time.UTC), hits[0].Day)
}

func TestMisspeltWord(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	user := stranger(t, pool)
	var messages []string
	for n := range 40 {
		messages = append(messages, fmt.Sprintf("my neighbour puts salt into the soup number %d", n))
	}
	said(t, pool, user, append(messages, "my neighbour puts salt into the casserole")...)
	searcher := recall.New(testfactory.Kitchen(t), lexical.Embedder{})
	require.NoError(t, recall.NewIndex(searcher, pool).Sweep(t.Context()))
	mended := func(searcher *recall.Searcher, question string) []int {
		numbers, _ := found(t, pool, searcher, recall.Query{UserID: uuid.MustParse(user), Text: question, Limit: 5, Kinds: []string{recall.KindTurn}})

		return numbers
	}
	const question = "what does my neighbour put into the cassreole?"
	require.Equal(t, 41, mended(searcher, question)[0], "from all words")
	require.Empty(t, mended(recall.New(testfactory.Kitchen(t), brokenEmbedder{}), "cassreole"), "nothing is guessed without a vector")
	exec(t, pool, `DELETE FROM user_words WHERE user_id = $1`, user)
	require.Equal(t, 41, mended(searcher, question)[0], "from the nearest turns")
}

// A vector alone scores little: where enough turns contain the words, only their vectors are compared.
func TestVectorsAreComparedWhereTheyMatter(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	pool := dbtest.Pool(t)
	user := stranger(t, pool)
	said(t, pool, user, append(slices.Repeat([]string{"nice weather"}, 900), slices.Repeat([]string{"lemon curd"}, 100)...)...)
	searcher := recall.New(testfactory.Kitchen(t), lexical.Embedder{})
	require.NoError(t, recall.NewIndex(searcher, pool).Sweep(t.Context()))
	exec(t, pool, `VACUUM ANALYZE turn_summaries, turns, embeddings`)
	compared := func(text string) (rows int) {
		vectors, err := searcher.EmbedTexts(t.Context(), []string{text})
		require.NoError(t, err)
		const read = `SELECT pg_stat_get_xact_tuples_returned('embeddings'::regclass) + pg_stat_get_xact_tuples_fetched('embeddings'::regclass)`
		require.NoError(t, pg.InReadTx(t.Context(), pool, func(tx pgx.Tx) error {
			var before int // what the connection has read before, and not reported yet
			if err := tx.QueryRow(t.Context(), read).Scan(&before); err != nil {
				return err
			}
			err := pg.AsTenant(t.Context(), tx, uuid.MustParse(user), func(tx pgx.Tx) error {
				hits, err := searcher.Search(t.Context(), tx, &recall.Query{UserID: uuid.MustParse(user), Text: text, Vectors: vectors, Limit: 10})
				require.Equal(t, "lemon curd", hits[0].Message)

				return err
			})
			if err != nil {
				return err
			}

			err = tx.QueryRow(t.Context(), read).Scan(&rows)
			rows -= before

			return err
		}))

		return rows
	}
	require.Less(t, compared("lemon curd"), 500)
	require.Less(t, compared("lemno crud"), 500, "words that nobody said are taken for listed ones")
	exec(t, pool, `DELETE FROM user_words WHERE user_id = $1 AND word = ''`, user)
	require.Greater(t, compared("lemno crud"), 999, "while not all are listed, they are guessed from the nearest turns")
}

// V20: what the prompt already shows is not recalled, and repetitions are dropped.
func TestOnlyWhatIsNotInViewOnce(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	user := stranger(t, pool)
	session := said(t, pool, user, "lemon curd please", "Lemon  curd please", "another lemon curd please", "lemon tart", "lemon pie", "lemon ice")
	exec(t, pool, `UPDATE turns SET reply = 'Here is the lemon curd.' WHERE session_id = $1 AND number <= 3`, session)
	searcher := recall.New(testfactory.Kitchen(t), brokenEmbedder{})
	numbers, hits := found(t, pool, searcher, recall.Query{
		UserID: uuid.MustParse(user), Session: session, ShownFrom: 5, Text: "lemon curd", Limit: 10, Kinds: []string{recall.KindTurn},
	})
	require.Len(t, numbers, 3)
	require.Subset(t, []int{1, 2, 3, 4}, numbers, "5 and 6 stand in view")
	replies := 0
	for _, hit := range hits {
		if hit.Reply == "Here is the lemon curd." {
			replies++
		}
	}
	require.Equal(t, 1, replies)
	numbers, _ = found(t, pool, searcher, recall.Query{UserID: uuid.MustParse(user), Text: "lemon ice", Limit: 3, Kinds: []string{recall.KindTurn}})
	require.Equal(t, 6, numbers[0], "whoever asks from elsewhere sees all")
}

func TestKinds(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	said(t, pool, demoUser, "shakshuka again?")
	searcher := recall.New(testfactory.Kitchen(t), lexical.Embedder{})
	require.NoError(t, recall.NewIndex(searcher, pool).Sweep(t.Context()))
	for _, kind := range []string{recall.KindTurn, "recipe"} {
		_, hits := found(t, pool, searcher, recall.Query{UserID: uuid.MustParse(demoUser), Text: "shakshuka", Limit: 5, Kinds: []string{kind}})
		require.NotEmpty(t, hits)
		for _, hit := range hits {
			require.Equal(t, kind, hit.Kind)
		}
	}
}

// A question may contain anything: quotes, full-text operators, only stop words.
func TestHostileQuestions(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	user := stranger(t, pool)
	said(t, pool, user, `it's "quoted" \ and & | ! <-> (`)
	for _, text := range []string{`it's "quoted" \`, `' OR 1=1 --`, `& | ! ( ) <-> :*`, `the of and`, "a\tb\nc", "日本語", `\\''"":A`} {
		found(t, pool, recall.New(testfactory.Kitchen(t), lexical.Embedder{}), recall.Query{UserID: uuid.MustParse(user), Text: text, Limit: 5})
	}
}

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
	"alfred/internal/domain"
	"alfred/internal/pg"
	"alfred/internal/recall"
	"alfred/internal/testfactory"
)

const harbour = `
CREATE SCHEMA harbour;
CREATE TABLE harbour.members (id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE harbour.trips (id integer PRIMARY KEY, member_id integer NOT NULL REFERENCES harbour.members, title text NOT NULL, story text);
INSERT INTO harbour.members VALUES (1, 'Ada'), (2, 'Eve');
INSERT INTO harbour.trips VALUES (1, 1, 'Calm crossing', 'Seals on the sandbank'), (2, 2, 'Rough crossing', 'Thunder before the lighthouse')`

const eve = "0190a000-0000-7000-8000-00000000000e"

// views is the harbour's domain, accessed through views that show each user only their own rows or all rows to everybody who has an
// account, and none without a user.
func views(t *testing.T, pool *pgxpool.Pool, everybody bool) *domain.Domain {
	t.Helper()

	exec(t, pool, harbour)
	d := testfactory.ViewsOf(t, pool, domain.InitSource{Schemas: domain.Schemas{"harbour"}, Accounts: "members", Everybody: everybody}).Domain
	exec(t, pool, `INSERT INTO users (id, name) VALUES ('`+eve+`', 'Eve')`)
	exec(t, pool, `INSERT INTO harbour_alfred.alfred_accounts VALUES ('`+demoUser+`', 1), ('`+eve+`', 2)`)
	exec(t, pool, `INSERT INTO sessions (user_id) VALUES ('`+demoUser+`'), ('`+eve+`')`)

	return d
}

// ranked returns the keys of a user's trips ranked by a question.
func ranked(t *testing.T, pool *pgxpool.Pool, searcher *recall.Searcher, d *domain.Domain, user, question string) (keys []string) {
	t.Helper()

	vectors, err := searcher.EmbedTexts(t.Context(), []string{question})
	require.NoError(t, err)
	require.NoError(t, pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		return pg.AsTenant(t.Context(), tx, uuid.MustParse(user), func(tx pgx.Tx) (err error) {
			keys, err = searcher.Order(t.Context(), tx, d.ByType("trip"), question, &vectors, 0)

			return err
		})
	}))

	return keys
}

// rowsFound returns the rows that a user finds, as type and key.
func rowsFound(t *testing.T, pool *pgxpool.Pool, searcher *recall.Searcher, user, question string) (rows []string) {
	t.Helper()

	_, hits := found(t, pool, searcher, recall.Query{UserID: uuid.MustParse(user), Text: question, Limit: 5})
	for _, hit := range hits {
		rows = append(rows, hit.Kind+" "+hit.ID)
	}

	return rows
}

// V39: rows behind views have embeddings for each user who sees them, and what another program writes is embedded
// within seconds.
func TestV39RowsBehindViews(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	d := views(t, pool, false)
	embedder := &counting{}
	searcher := recall.New(d, embedder)
	index := recall.NewIndex(searcher, pool)
	require.NoError(t, index.SweepChanged(t.Context()))
	require.NoError(t, index.Sweep(t.Context()))
	require.Equal(t, []string{"1"}, ranked(t, pool, searcher, d, demoUser, "seals"))
	require.Equal(t, []string{"2"}, ranked(t, pool, searcher, d, eve, "thunder"))

	other, err := pool.Acquire(t.Context())
	require.NoError(t, err)
	defer other.Release()
	_, err = other.Exec(t.Context(), `INSERT INTO harbour.trips VALUES (3, 2, 'Fog', 'Nothing was seen')`)
	require.NoError(t, err)
	_, err = other.Exec(t.Context(), `SELECT pg_stat_force_next_flush()`)
	require.NoError(t, err)
	before := embedder.texts.Load()
	require.Eventually(t, func() bool {
		require.NoError(t, index.SweepChanged(t.Context()))

		return embedder.texts.Load() == before+1
	}, dbtest.Patience, 50*time.Millisecond)
	require.Equal(t, []string{"3", "2"}, ranked(t, pool, searcher, d, eve, "fog"))

	exec(t, pool, `UPDATE harbour.trips SET member_id = 1 WHERE id = 3`)
	user := uuid.MustParse(eve)
	require.NoError(t, index.EmbedRows(t.Context(), user, "trip", []string{"2", "3"}))
	require.Equal(t, []string{"2"}, ranked(t, pool, searcher, d, eve, "fog"), "she does not see it any more")
}

// What all users have has one vector for all of them, made through whoever has an account.
func TestVectorsOfWhatEverybodyHasAreShared(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	d := views(t, pool, true)
	exec(t, pool, `INSERT INTO users (id, name) VALUES ('01800000-0000-7000-8000-000000000000', 'first, without an account')`)
	embedder := &counting{}
	searcher := recall.New(d, embedder)
	index := recall.NewIndex(searcher, pool)
	for range 2 {
		require.NoError(t, index.Sweep(t.Context()))
		require.Equal(t, int64(2), embedder.texts.Load())
	}
	require.Equal(t, []string{"trip 1"}, rowsFound(t, pool, searcher, eve, "seals"))
	require.Equal(t, []string{"trip 2"}, rowsFound(t, pool, searcher, eve, "thundering lighthuose"), "misspelt")
	require.Equal(t, []string{"1", "2"}, ranked(t, pool, searcher, d, demoUser, "seals"))
	require.Equal(t, []string{"2", "1"}, ranked(t, pool, searcher, d, eve, "thunder"))

	exec(t, pool, `DELETE FROM harbour.trips WHERE id = 1`)
	require.NoError(t, index.EmbedRows(t.Context(), uuid.MustParse(eve), "trip", []string{"1", "2"}))
	require.Empty(t, rowsFound(t, pool, searcher, eve, "seals"))
}

// Who has rows may be declared anew: then earlier vectors show nothing to whom it no longer belongs, and a sweep makes what is missing.
func TestVectorsFollowTheDeclaration(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	views(t, pool, true)
	for n, all := range []bool{true, false, true, false} {
		d := testfactory.ViewsOf(t, pool, domain.InitSource{Schemas: domain.Schemas{"harbour"}, Accounts: "members", Everybody: all}).Domain
		exec(t, pool, `UPDATE harbour.trips SET member_id = $1, story = $2 WHERE id = 1`, 1+n/2, fmt.Sprintf("Whales and gulls, %d", n))
		searcher := recall.New(d, &counting{})
		require.NoError(t, recall.NewIndex(searcher, pool).Sweep(t.Context()))
		for user, owns := range map[string]bool{demoUser: n < 2, eve: n >= 2} {
			var found []string
			whole := []string{}
			if all || owns {
				found, whole = []string{"trip 1"}, []string{"1"}
			}
			if all || user == eve {
				whole = append(whole, "2")
			}
			require.Equal(t, found, rowsFound(t, pool, searcher, user, "whales"))
			require.Equal(t, whole, ranked(t, pool, searcher, d, user, "whales"))
		}
	}
}

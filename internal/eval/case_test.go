package eval_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/dbtest"
	"alfred/internal/domain"
	"alfred/internal/eval"
	"alfred/internal/pg"
	"alfred/internal/testfactory"
	"alfred/jobs"
)

// hold holds a conversation with the offline model in a regular database.
func hold(t *testing.T, pool *pgxpool.Pool, messages ...string) (session uuid.UUID, bound *domain.Domain) {
	t.Helper()
	bound = testfactory.Kitchen(t)
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT start_session('ada')`).Scan(&session))
	_, err := pool.Exec(t.Context(), `SELECT kitchen.seed_demo(user_id) FROM sessions WHERE id = $1`, session)
	require.NoError(t, err)
	config, _, err := lab(t).Worker(t.Context(), pool, bound, "offline")
	require.NoError(t, err)
	runner, err := jobs.NewRunner(config)
	require.NoError(t, err)
	require.NoError(t, runner.Start(t.Context()))
	for _, message := range messages {
		require.NoError(t, pg.InTx(t.Context(), pool, func(tx pgx.Tx) error {
			_, err := jobs.EnqueueTurn(t.Context(), tx, jobs.EnqueueParams{SessionID: session, Message: message})

			return err
		}))
		awaitRest(t, pool, session)
	}
	ctx, cancel := context.WithTimeout(context.Background(), dbtest.Patience)
	defer cancel()
	require.NoError(t, runner.Stop(ctx))

	return session, bound
}

// awaitRest waits until a session has no more work, background work included: a fork also copies turns that are not
// compressed yet.
func awaitRest(t *testing.T, pool *pgxpool.Pool, session uuid.UUID) {
	t.Helper()
	require.Eventually(t, func() bool {
		var over bool
		err := pool.QueryRow(t.Context(), `SELECT bool_and(summarized_at IS NOT NULL) AND NOT EXISTS (SELECT FROM river_job WHERE finalized_at IS NULL)
			FROM turns WHERE session_id = $1`, session).Scan(&over)

		return err == nil && over
	}, dbtest.Patience, 20*time.Millisecond)
}

// A conversation becomes a case that begins with the rows from before its first message and that the same model passes.
// Corrected, it fails.
func TestACaseFromASession(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)
	pool := dbtest.Pool(t)
	session, bound := hold(t, pool, "Show my recipes", "Delete the shakshuka", "Add 12 eggs to the fridge", "Set the milk to 2 litres", "Delete everything in the freezer", "yes")
	src := &eval.Source{Pool: pool, Bound: bound, Domain: "kitchen"}
	suite, notes, err := eval.FromSession(t.Context(), src, session)
	require.NoError(t, err)
	require.Empty(t, notes)
	var b strings.Builder
	require.NoError(t, suite.YAML(&b))
	require.NotContains(t, b.String(), "user_id", "the owner's column fills itself")
	again, err := eval.Parse([]byte(b.String()), os.DirFS("."))
	require.NoError(t, err, b.String())
	again.Cases[0].Turns[0].Expect.SQL = []eval.Query{
		{SQL: "SELECT string_agg(name, ', ' ORDER BY name) FROM recipes", Is: "Butter Chicken, Pad See Ew, Shakshuka Classic"},
		{SQL: "SELECT count(*), count(*) FILTER (WHERE ingredient_id IS NOT NULL) FROM recipe_ingredients", Rows: [][]any{{37, 37}}},
		{SQL: "SELECT quantity, unit FROM inventory WHERE name = 'Milk'", Rows: [][]any{{1, "l"}}},
		{SQL: "SELECT count(*) FROM inventory", Is: 12},
	}
	report := run(t, lab(t), again)
	require.Empty(t, report.Verdict(1), text(t, report))

	none := []string{}
	again.Cases[0].Turns[1].Expect.Writes = &none
	report = run(t, lab(t), again)
	require.Contains(t, text(t, report), "turn 2: tables written: want none, got recipe_ingredients, recipes")

	_, _, err = eval.FromSession(t.Context(), src, uuid.New())
	require.ErrorIs(t, err, eval.ErrNoTurns)
}

// A case can be read again whatever letters its conversation is written in, and while its last turn still runs.
func TestACaseFromAnySession(t *testing.T) {
	t.Parallel()
	pool := dbtest.Pool(t)
	var session uuid.UUID
	require.NoError(t, pg.InTx(t.Context(), pool, func(tx pgx.Tx) error {
		session = testfactory.Session(t, tx, testfactory.User(t, tx, "UTC"))
		testfactory.Turn(t, tx, session, testfactory.TurnOpts{Number: 1, Message: "冷蔵庫に何がありますか"})
		testfactory.Turn(t, tx, session, testfactory.TurnOpts{Number: 2, Message: "ありがとう", Status: db.TurnStatusRunning})

		return nil
	}))
	suite, _, err := eval.FromSession(t.Context(), &eval.Source{Pool: pool, Bound: testfactory.Kitchen(t), Domain: "kitchen"}, session)
	require.NoError(t, err)
	var b strings.Builder
	require.NoError(t, suite.YAML(&b))
	_, err = eval.Parse([]byte(b.String()), os.DirFS("."))
	require.NoError(t, err, b.String())
}

// Rows of a table without a key, which only pairs others, belong to a case like any others.
func TestACaseWithPairs(t *testing.T) {
	t.Parallel()
	pool := dbtest.Pool(t)
	_, err := pool.Exec(t.Context(), testfactory.Forum+`
		CREATE TABLE forum.channel_users (channel_id integer NOT NULL REFERENCES forum.channels, user_id integer NOT NULL REFERENCES forum.users);
		INSERT INTO forum.channel_users VALUES (1, 1), (2, 1), (1, 2)`)
	require.NoError(t, err)
	forum := testfactory.Views(t, pool, "forum")
	require.NotNil(t, forum.ByTable("channel_users"), forum.Text)
	var session uuid.UUID
	require.NoError(t, pg.InTx(t.Context(), pool, func(tx pgx.Tx) error {
		user := testfactory.User(t, tx, "UTC")
		session = testfactory.Session(t, tx, user)
		testfactory.Turn(t, tx, session, testfactory.TurnOpts{Number: 1})
		_, err := tx.Exec(t.Context(), `INSERT INTO forum_alfred.alfred_accounts VALUES ($1, 1)`, user)

		return err
	}))
	suite, _, err := eval.FromSession(t.Context(), &eval.Source{Pool: pool, Bound: forum.Domain, Domain: "/srv/alfred/forum.yaml", Viewed: true}, session)
	require.NoError(t, err)
	require.Equal(t, "forum.yaml", suite.Domain, "which a suite has beside it")
	require.Regexp(t, `(?s)"channel_id": 1,\s+"user_id": 1.*"channel_id": 2,\s+"user_id": 1`, suite.Cases[0].Seed)
	require.NotRegexp(t, `"channel_id": 1,\s+"user_id": 2`, suite.Cases[0].Seed)
}

// A case expects what its check finds: the tables behind views, which may have other names than these.
func TestACaseNamesTheTablesBehindViews(t *testing.T) {
	t.Parallel()
	pool := dbtest.Pool(t)
	_, err := pool.Exec(t.Context(), testfactory.Works)
	require.NoError(t, err)
	works := testfactory.Views(t, pool, "Sales,Production,Person", testfactory.WorksReview)
	var session uuid.UUID
	require.NoError(t, pg.InTx(t.Context(), pool, func(tx pgx.Tx) error {
		user := testfactory.User(t, tx, "UTC")
		session = testfactory.Session(t, tx, user)
		turn := testfactory.Turn(t, tx, session, testfactory.TurnOpts{Number: 1})
		_, err := tx.Exec(t.Context(), `INSERT INTO row_changes (turn_id, user_id, seq, step, call, entity_type, entity_id, action, before)
			SELECT $1, $2, n, 1, 1, kind, '1', 'updated', '{"body": "was"}' FROM unnest(ARRAY['note', 'production_note', 'order']) WITH ORDINALITY AS t (kind, n)`, turn.ID, user)
		require.NoError(t, err)
		_, err = tx.Exec(t.Context(), `INSERT INTO "Sales_alfred".alfred_accounts VALUES ($1, 1)`, user)

		return err
	}))
	suite, _, err := eval.FromSession(t.Context(), &eval.Source{Pool: pool, Bound: works.Domain, Domain: "works.yaml", Viewed: true}, session)
	require.NoError(t, err)
	require.Equal(t, &[]string{"Note", "Order"}, suite.Cases[0].Turns[0].Expect.Writes)
}

// What seeds and other programs write has triggers that find their tables by name, as in the owner's own programs.
func TestSeedsFindTheOwnersTables(t *testing.T) {
	t.Parallel()
	pool := dbtest.Pool(t)
	_, err := pool.Exec(t.Context(), testfactory.Works)
	require.NoError(t, err)
	works := testfactory.Views(t, pool, "Sales,Production,Person")
	suite, err := eval.Parse([]byte(`
suite: works
domain: works.yaml
schema: [works.sql]
seed: INSERT INTO alfred_accounts VALUES (current_setting('alfred.user_id')::uuid, 1)
cases:
  - case: notes
    seed: INSERT INTO "Production"."Note" VALUES (9, 1, 'stable', 1)
    turns:
      - before: INSERT INTO "Production"."Note" VALUES (10, 1, 'fast', 1)
        say: Show my production notes
        expect: {reply: {has: [stable, fast]}}
    expect: {sql: [{sql: 'SELECT count(*) FROM "Production"."Count"', is: 2, as: owner}]}
`), fstest.MapFS{"works.sql": {Data: []byte(testfactory.Works)}, "works.yaml": {Data: []byte(works.Text)}})
	require.NoError(t, err)
	report := run(t, lab(t), suite)
	require.Empty(t, report.Verdict(1), text(t, report))
}

// Whose rows a case is made of the views say: of the account that is called like the user, of everybody, or of nobody.
func TestACaseOfAnyAccount(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		user   string
		from   domain.InitSource
		review []string
		has    []string
		lacks  []string
	}{
		"called alike": {"Ada", domain.InitSource{Schemas: []string{"forum"}}, []string{`accounts: "users"`, `accounts: "users", login: "name"`}, []string{`alfred_accounts" (alfred_user, account) VALUES (current_setting('alfred.user_id')::uuid, '1')`, "hello", "today"}, []string{`"hi"`}},
		"nobody":       {"Tom", domain.InitSource{Schemas: []string{"forum"}}, nil, nil, []string{"alfred_accounts", "hello"}},
		"everybody":    {"Tom", domain.InitSource{Schemas: []string{"forum"}, Everybody: true}, nil, []string{"hello", `"hi"`, "today"}, []string{"alfred_accounts"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := dbtest.Pool(t)
			_, err := pool.Exec(t.Context(), testfactory.Forum+`ALTER TABLE forum.users ADD UNIQUE (name)`)
			require.NoError(t, err)
			forum := testfactory.ViewsOf(t, pool, c.from, strings.NewReplacer(c.review...))
			var session uuid.UUID
			require.NoError(t, pg.InTx(t.Context(), pool, func(tx pgx.Tx) error {
				user := testfactory.User(t, tx, "UTC")
				session = testfactory.Session(t, tx, user)
				testfactory.Turn(t, tx, session, testfactory.TurnOpts{Number: 1})
				_, err := tx.Exec(t.Context(), `UPDATE users SET name = $2 WHERE id = $1`, user, c.user)

				return err
			}))
			suite, _, err := eval.FromSession(t.Context(), &eval.Source{Pool: pool, Bound: forum.Domain, Domain: "forum.yaml", Viewed: true}, session)
			require.NoError(t, err)
			for _, has := range c.has {
				require.Contains(t, suite.Cases[0].Seed, has)
			}
			for _, lacks := range c.lacks {
				require.NotContains(t, suite.Cases[0].Seed, lacks)
			}
		})
	}
}

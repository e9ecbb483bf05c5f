package crud_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/dbtest"
	"alfred/internal/pg"
	"alfred/internal/vocab"
)

// stews are recipes of the demo user with embeddings; those with 77 servings are the farthest from any query.
func (b *bundle) stews(n int) {
	b.exec(`INSERT INTO kitchen.recipes (user_id, name, servings) SELECT $1, 'Stew ' || n, CASE WHEN n % 10000 = 0 THEN 77 ELSE 4 END FROM generate_series(1, $2::int) AS n`, demoUser, n)
	b.exec(`INSERT INTO embeddings (owner_kind, owner_id, model, user_id, dimensions, content_hash, embedding)
		SELECT 'recipe', r.id::text, 'lexical-2', r.user_id, 256, '\x00', (CASE WHEN r.servings = 77 THEN q.away ELSE q.near END)
		FROM kitchen.recipes AS r
		CROSS JOIN (SELECT array_fill(-1, ARRAY[256])::vector AS away, array_fill(1, ARRAY[256])::vector AS near) AS q
		WHERE r.name LIKE 'Stew %'`)
}

// An index that finds the nearest rows first and filters afterwards would find none of these.
func TestFilterIsNotStarved(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	b := setup(t)
	b.stews(30000)
	rows := b.rows(b.ok("read", vocab.ToolRead, `{"table": "recipes", "limit": 3, "filters": [
		{"field": "_semantic", "op": "similar", "value": "poached eggs in spiced tomato sauce"}, {"field": "servings", "op": "=", "value": 77}]}`))
	require.Len(t, rows, 3)
	for _, row := range rows {
		require.InDelta(t, 77, row["servings"], 0)
	}
}

// A search without other filters reads only its best rows. It counts all, and finds others in place of those deleted
// since they were ranked.
func TestASearchByItselfReadsTheBest(t *testing.T) {
	t.Parallel()

	b := searchable(t)
	b.stews(2000)
	read := func() []map[string]any {
		outcome := b.ok("read", vocab.ToolRead, `{"table": "recipes", "limit": 5, "filters": [{"field": "_semantic", "op": "similar", "value": "poached eggs in spiced tomato sauce"}]}`)
		require.Equal(t, query[int](b, `SELECT count(*)::int FROM kitchen.recipes WHERE user_id = $1`, demoUser), outcome.RowCount)

		return b.rows(outcome)
	}
	rows := read()
	require.Len(t, rows, 5)
	require.Equal(t, "Shakshuka Classic", rows[0]["name"])
	b.exec(`DELETE FROM kitchen.recipes WHERE name LIKE 'Stew %' AND name !~ '^Stew .$'`)
	require.Len(t, read(), 5)
}

// V27: the transaction that writes compares no vectors; the ranking was computed before it, in one pass.
func TestSemanticReadSearchesBeforeTheTransaction(t *testing.T) {
	t.Parallel()

	b := searchable(t)
	b.stews(2000)
	read := call(vocab.ToolRead, `{"table": "recipes", "filters": [{"field": "_semantic", "op": "similar", "value": "poached eggs in spiced tomato sauce"}]}`)
	past := call(vocab.ToolRecall, `{"query": "poached eggs in spiced tomato sauce"}`)
	visited := func() int {
		return query[int](b, `SELECT sum(pg_stat_get_xact_numscans(c.oid) + pg_stat_get_xact_tuples_returned(c.oid))::int FROM pg_class AS c
			WHERE c.oid IN (SELECT 'embeddings'::regclass UNION SELECT indexrelid FROM pg_index WHERE indrelid = 'embeddings'::regclass)`)
	}
	before := visited()
	prepared, err := b.tools.Prepare(t.Context(), b.tx, b.asker(), []vocab.Call{read, past})
	require.NoError(t, err)
	searched := visited()
	require.Greater(t, searched, before)
	require.Less(t, searched-before, 100000, "not each row's vector for each row")
	outcome, err := b.tools.Execute(t.Context(), b.tx, b.at(), crud.Bounds{StepType: "read"}, prepared)
	require.NoError(t, err)
	require.False(t, outcome.Failed(), fmt.Sprint(outcome))
	require.Equal(t, searched, visited())
	require.Equal(t, "Shakshuka Classic", b.rows(outcome.Results[0])[0]["name"])
}

func TestTwoSemanticFiltersAreRefused(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.refused("read", vocab.ToolRead, `{"table": "recipes", "filters": [
		{"field": "_semantic", "op": "similar", "value": "soup"}, {"field": "_semantic", "op": "similar", "value": "cake"}]}`, crud.CodeBadFilter)
}

// A large canonical table's trigram index finds names like the written one.
func TestNamesAreMatchedByTheIndex(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	config, err := pgx.ParseConfig(dbtest.URL(t))
	require.NoError(t, err)
	config.RuntimeParams["search_path"] = pg.SearchPath
	conn, err := pgx.ConnectConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	for _, sql := range []string{
		`INSERT INTO kitchen.ingredients (name, category, family) SELECT 'thing ' || md5(n::text), 'pantry', 'thing' FROM generate_series(1, 20000) AS n`,
		`VACUUM ANALYZE kitchen.ingredients`, // the planner avoids an index with many pending entries
	} {
		_, err := conn.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)
	b := setupIn(t, tx, uuid.MustParse(demoUser))
	scans := func() int {
		return query[int](b, `SELECT pg_stat_get_xact_numscans('kitchen.ingredients_name_trgm'::regclass)::int`)
	}
	before := scans()
	rows := b.rows(b.ok("write", vocab.ToolCreate, `{"table": "shopping_list", "data": [{"name": "frozen broccoli"}, {"name": "Ripe tomatoes"}, {"name": "something else"}]}`))
	require.Greater(t, scans(), before)
	require.NotNil(t, rows[0]["ingredient_id"])
	require.NotNil(t, rows[1]["ingredient_id"])
	require.Nil(t, rows[2]["ingredient_id"])
}

package crud_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/crud"
)

// An index that is asked for the nearest rows first and filtered afterwards finds none of these.
func TestFilterIsNotStarved(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.exec(`INSERT INTO kitchen.recipes (user_id, name, servings) SELECT $1, 'Stew ' || n, CASE WHEN n % 10000 = 0 THEN 77 ELSE 4 END FROM generate_series(1, 30000) AS n`, demoUser)
	b.exec(`INSERT INTO embeddings (owner_kind, owner_id, model, user_id, dimensions, content_hash, embedding)
		SELECT 'recipe', r.id::text, 'lexical-2', r.user_id, 256, '\x00',
		       -- Those that pass are the farthest from whatever is asked for.
		       (CASE WHEN r.servings = 77 THEN q.away ELSE q.near END)
		FROM kitchen.recipes AS r
		CROSS JOIN (SELECT array_fill(-1, ARRAY[256])::vector AS away, array_fill(1, ARRAY[256])::vector AS near) AS q
		WHERE r.name LIKE 'Stew %'`)
	rows := b.rows(b.ok("read", crud.ToolRead, `{"table": "recipes", "limit": 3, "filters": [
		{"field": "_semantic", "op": "similar", "value": "poached eggs in spiced tomato sauce"}, {"field": "servings", "op": "=", "value": 77}]}`))
	require.Len(t, rows, 3)
	for _, row := range rows {
		require.InDelta(t, 77, row["servings"], 0)
	}
}

package pg_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/pg"
)

// The view shows a call's whole request however it is stored: as before there were parts, or in parts of its user's and
// of everybody's. Another user sees none of it, and a request that has lost a part is shown as lost.
func TestRequestsAreWhole(t *testing.T) {
	t.Parallel()
	tx := dbtest.OwnTx(t)
	exec := func(sql string, args ...any) {
		_, err := tx.Exec(t.Context(), sql, args...)
		require.NoError(t, err, sql)
	}
	exec(`SET LOCAL search_path = alfred, public`)
	exec(`SELECT start_session('ada'), start_session('bob')`)
	exec(`CREATE TEMPORARY TABLE texts (hash uuid, text text) ON COMMIT DROP`)
	exec(`INSERT INTO texts SELECT md5(x)::uuid, x FROM (VALUES ('"be brief"'), ('a \n question')) AS v (x)`)
	exec(`INSERT INTO prompt_parts_shared SELECT hash, uuid_v7_month(uuid_v7()), text FROM texts WHERE text LIKE '%brief%'`)
	exec(`INSERT INTO prompt_parts SELECT s.id, s.user_id, t.hash, uuid_v7_month(uuid_v7()), t.text FROM texts AS t, sessions AS s JOIN users AS u ON u.id = s.user_id WHERE text LIKE 'a %' AND u.name = 'ada'`)
	exec(`INSERT INTO llm_calls (session_id, node, call, provider, model, response, request, outline, parts)
		SELECT s.id, u.name, n, 'p', 'm', '{}', request, outline, parts
		FROM sessions AS s JOIN users AS u ON u.id = s.user_id, (VALUES
			(1, jsonb '{"system": "before"}', NULL, NULL),
			(2, NULL, E'{"system":\n,"messages":[{"content":"\n!"}],"more":"\n"}', (SELECT array_agg(hash ORDER BY text) || array_agg(hash) FILTER (WHERE text LIKE 'a %') FROM texts)),
			(3, NULL, '{"system":"short"}', '{}')) AS v (n, request, outline, parts)`)
	savepoint, err := tx.Begin(t.Context())
	require.NoError(t, err)
	_, err = savepoint.Exec(t.Context(), `INSERT INTO llm_calls (session_id, node, provider, model, response) SELECT id, 'n', 'p', 'm', '{}' FROM sessions LIMIT 1`)
	require.ErrorContains(t, err, "llm_calls_asked")
	require.NoError(t, savepoint.Rollback(t.Context()))
	requests := func(tx pgx.Tx) map[string]string {
		rows, err := tx.Query(t.Context(), `SELECT node || ' ' || call, coalesce(request::text, 'lost') FROM v_llm_calls`)
		require.NoError(t, err)
		found := map[string]string{}
		var name, request string
		_, err = pgx.ForEachRow(rows, []any{&name, &request}, func() error {
			found[name] = request

			return nil
		})
		require.NoError(t, err)

		return found
	}
	ada := map[string]string{
		"ada 1": `{"system": "before"}`, "ada 3": `{"system": "short"}`,
		"ada 2": `{"more": "a \n question", "system": "be brief", "messages": [{"content": "a \n question!"}]}`,
	}
	bob := map[string]string{"bob 1": `{"system": "before"}`, "bob 2": "lost", "bob 3": `{"system": "short"}`}
	for name, want := range map[string]map[string]string{"ada": ada, "bob": bob} {
		var user uuid.UUID
		require.NoError(t, tx.QueryRow(t.Context(), `SELECT id FROM users WHERE name = $1`, name).Scan(&user))
		require.NoError(t, pg.AsTenant(t.Context(), tx, user, func(tx pgx.Tx) error {
			require.Equal(t, want, requests(tx))

			return nil
		}))
	}
}

package e2e_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/llm/offline"
)

// K01: renaming a column while the worker runs affects only turns that need it; the worker notices and names it.
func TestK01ColumnRenamedUnderARunningWorker(t *testing.T) {
	t.Parallel()

	h := openHouse(t, fixtures{model: offline.New})
	c := h.resident("ada").talk()
	c.say("What recipes do I have?")
	alter := func(sql string) {
		_, err := h.pool.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	alter(`ALTER TABLE kitchen.recipes RENAME COLUMN cuisine TO kitchen`)
	require.Equal(t, "succeeded", c.say("Add milk to the shopping list").Status)
	c.fact("milk", `SELECT lower(name) FROM kitchen.shopping_list WHERE user_id = $2 AND name ILIKE 'milk'`)
	require.Equal(t, "succeeded", c.say("How many things are in the fridge?").Status)
	c.say("Show me all recipes")
	c.fact("schema_changed", `SELECT r.error_code FROM turn_step_results AS r JOIN turns AS t ON t.id = r.turn_id
		WHERE t.session_id = $1 AND r.error_code IS NOT NULL AND r.error_message LIKE '%recipes.cuisine is gone%' LIMIT 1`)
	require.Eventually(t, func() bool {
		return c.one(`SELECT array_to_string(differences, ', ') FROM workers LIMIT 1`) == "recipes.cuisine is gone"
	}, dbtest.Patience, 100*time.Millisecond)
	require.Eventually(t, func() bool {
		response, err := h.client.Get(h.url + "/readyz")
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())

		return response.StatusCode == http.StatusServiceUnavailable
	}, dbtest.Patience, 100*time.Millisecond)
	alter(`ALTER TABLE kitchen.recipes RENAME COLUMN kitchen TO cuisine`)
	require.Eventually(t, func() bool {
		return c.one(`SELECT array_to_string(differences, ', ') FROM workers LIMIT 1`) == ""
	}, dbtest.Patience, 100*time.Millisecond)
	require.Equal(t, "succeeded", c.say("Show me all recipes").Status)
}

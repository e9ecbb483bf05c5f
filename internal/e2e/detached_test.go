package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
	"alfred/internal/llm/script"
)

// K01: while the owner has detached the views to alter tables, turns that need them say so and others continue. Once
// the views are reattached everything works, and views that the tables no longer support are rejected by name.
func TestK01ViewsDetachedUnderARunningWorker(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)
	c := talkOver(t, shopTables)
	pool := c.pool
	d, decl := shopOf(t, pool)
	c.exec(`INSERT INTO retail_alfred.alfred_accounts VALUES ($1, 'yusuf_rossi_9620')`)
	read := func(tool string) string {
		return `
  - understand: {intent: read}
    think: {goal: g, decision: plan, steps: [{type: read, subdomain: orders, description: Read the orders}]}
    act: [{calls: [{tool: db_read, args: {table: orders}}` + tool + `]}, {calls: [{tool: blocked, args: {code: tool_failure, details: They cannot be read now., next: fail}}]}]
    reply: There.
    summarize: {response_summary: s}`
	}
	const complete = `, {tool: step_complete, args: {summary: read}}`
	model, err := script.Parse([]byte("turns:" + read(complete) + read("") + `
  - understand: {intent: chat}
    think: {goal: g, decision: plan, steps: []}
    reply: You are welcome.
    summarize: {response_summary: s}` + read(complete)))
	require.NoError(t, err)
	c.work(d, model)
	said := func(number string) string {
		return c.one(`SELECT r.error_code || ': ' || r.error_message FROM turn_step_results AS r JOIN turns AS t ON t.id = r.turn_id
			WHERE t.session_id = $1 AND t.number = ` + number + ` AND r.error_code IS NOT NULL LIMIT 1`)
	}
	c.asked("What did I order?")
	require.Empty(t, said("1"))

	require.NoError(t, domain.Detach(t.Context(), pool, decl))
	c.asked("And now?")
	require.Contains(t, said("2"), "schema_changed: ")
	require.Contains(t, said("2"), "orders is gone")
	c.asked("Thank you")
	c.fact("succeeded", `SELECT status::text FROM turns WHERE session_id = $1 AND number = 3`)

	sql, _, err := domain.Views(t.Context(), pool, decl)
	require.NoError(t, err)
	require.NoError(t, domain.Attach(t.Context(), pool, decl, sql))
	c.asked("And now?")
	require.Empty(t, said("4"))

	require.NoError(t, domain.Detach(t.Context(), pool, decl))
	_, err = pool.Exec(t.Context(), `ALTER TABLE retail.orders DROP COLUMN city CASCADE`)
	require.NoError(t, err)
	_, _, err = domain.Views(t.Context(), pool, decl)
	require.ErrorContains(t, err, "column city does not exist in orders", "what is declared and gone is named")
}

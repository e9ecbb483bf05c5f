package e2e_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
)

// Rows changed by a page are attributed to the user, and known to the next message.
func TestRowsChangedOnThePage(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: write, mentions: [{text: this, ref: recipe_1, resolution: exact}]}
    think: {goal: Plan it, decision: plan, steps: [{type: write, subdomain: meal_plans, description: Plan it, refs: [recipe_1]}]}
    act: {calls: [{tool: db_create, args: {table: meal_plans, data: {date: "2026-12-01", meal_type: dinner, recipe_id: recipe_1}}}, {tool: step_complete, args: {summary: planned}}]}
    reply: Planned.
  - understand: {intent: explore, mentions: [{text: it, ref: recipe_1, resolution: inferred}]}
    think: {goal: Say, decision: plan, steps: [{type: analyze, subdomain: recipes, description: For how many, refs: [recipe_1]}]}
    act: {calls: [{tool: step_complete, args: {summary: for six}}]}
    reply: For six.`+chat)
	var row struct {
		ID string `json:"id"`
	}
	data := func(id string) string { return "/v1/data/recipe" + id + "?session=" + c.session.String() }
	require.Equal(t, http.StatusCreated, c.call(http.MethodPost, data(""), map[string]any{"name": "Butter Paneer", "servings": 2}, &row))
	c.refs("recipe", "recipe_1 stored created:user Butter Paneer")
	c.fact("1", `SELECT turn_created FROM entity_refs WHERE session_id = $1`)
	c.fact("1 1", `SELECT concat_ws(' ', s.version, u.version) FROM sessions AS s JOIN users AS u ON u.id = s.user_id WHERE s.id = $1 AND u.id = $2`)

	c.say("Plan this for Tuesday")
	require.Contains(t, c.prompt(1, "act", 1), "| recipe_1 | Butter Paneer | recipe | servings:2 |", "the row is loaded as step 0")
	c.fact("created:user 1", `SELECT string_agg(action || ' ' || n, ', ' ORDER BY action) FROM (SELECT action, count(*) AS n FROM entity_events WHERE session_id = $1 AND ref = 'recipe_1' GROUP BY 1) AS x`)
	c.fact("Butter Paneer", `SELECT r.name FROM kitchen.meal_plans m JOIN kitchen.recipes r ON r.id = m.recipe_id WHERE m.user_id = $2`)

	require.Equal(t, http.StatusOK, c.call(http.MethodPatch, data("/"+row.ID), map[string]any{"servings": 6}, nil))
	c.refs("recipe", "recipe_1 stored updated:user Butter Paneer")
	c.say("For how many is it?")
	require.Contains(t, section(c.prompt(2, "act", 1), "## Active Entities (Full Data)"), "servings:6")

	require.Equal(t, http.StatusNoContent, c.call(http.MethodDelete, data("/"+row.ID), nil, nil))
	c.fact("deleted deleted:user hidden", `SELECT concat_ws(' ', state, action, tier) FROM v_entities WHERE session_id = $1 AND ref = 'recipe_1'`)
	c.say("ok")
	require.NotContains(t, section(c.prompt(3, "think", 1), "## Recent Context"), "recipe_1: Butter Paneer")
	require.NotContains(t, section(c.prompt(3, "understand", 1), "## All Known Entities"), "recipe_1: Butter Paneer")
}

// A pin survives everything that does not end it.
func TestPin(t *testing.T) {
	t.Parallel()
	c := converseApart(t, `
turns:
  - understand: {intent: read, quick: {entity_type: recipe, why: one}}
    act: {calls: [{tool: db_read, args: {table: recipes}}]}`+chat+chat+chat+chat+chat)
	c.say("List my recipes")
	require.Less(t, c.call(http.MethodPut, c.path("/entities/recipe_2/pin"), nil, nil), http.StatusMultipleChoices)
	for range 4 {
		c.say("and?")
	}
	c.fact("1", `SELECT version FROM sessions WHERE id = $1`)
	c.tier("retained", "recipe_2")
	require.Contains(t, section(c.prompt(5, "think", 1), "## Long Term Memory (retained from earlier)"), "recipe_2: Pad See Ew (recipe, turn 1) [read:summary] — *pinned*")
	require.Less(t, c.call(http.MethodDelete, c.path("/entities/recipe_2/pin"), nil, nil), http.StatusMultipleChoices)
	c.say("and?")
	require.NotContains(t, c.prompt(6, "think", 1), "recipe_2: ")
}

// A turn can be started from any SQL client, and exists once its transaction commits.
func TestEnqueueFromSQL(t *testing.T) {
	t.Parallel()
	c := converse(t, "turns:"+chat+chat)
	tx, err := c.pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `SELECT alfred.enqueue_turn($1, 'never sent')`, c.session)
	require.NoError(t, err)
	require.NoError(t, tx.Rollback(t.Context()))
	c.fact("0", `SELECT count(*) FROM turns WHERE session_id = $1`)

	made := &turn{}
	require.NoError(t, c.pool.QueryRow(t.Context(), `SELECT alfred.enqueue_turn($1, 'hello', 'key-1')`, c.session).Scan(&made.ID))
	var again uuid.UUID
	require.NoError(t, c.pool.QueryRow(t.Context(), `SELECT alfred.enqueue_turn($1, 'hello', 'key-1')`, c.session).Scan(&again))
	require.Equal(t, made.ID, again)
	require.Equal(t, "Sure.", c.end(made).Reply)
	c.fact("reply: Sure.", `SELECT kind || ': ' || text FROM v_timeline WHERE session_id = $1 AND kind = 'reply'`)
}

// A stopping worker hands its turn to the next, which does not buy the answer again.
func TestWorkerReplaced(t *testing.T) {
	t.Parallel()
	h := scripted(t, `
turns:
  - understand: {intent: write}
    think: {goal: Add milk, decision: plan, delay: 2s, steps: [{type: write, subdomain: shopping, description: Add milk}]}
    act: {delay: 300ms, calls: [{tool: db_create, args: {table: shopping_list, data: {name: milk}}}, {tool: step_complete, args: {summary: added}}]}
    reply: Added.
`)
	c := h.resident("ada").talk()
	made := c.enqueue(message{"message": "Add milk"})
	require.Eventually(t, func() bool { return c.one(`SELECT current_node FROM turns WHERE session_id = $1`) == "think" }, dbtest.Patience, 30*time.Millisecond)
	h.stopWorker()
	c.fact("running", `SELECT status FROM turns WHERE session_id = $1`)
	c.fact("0", `SELECT count(*) FROM workers`)
	h.startWorker()
	require.Equal(t, "succeeded", c.end(made).Status)
	c.fact("1", `SELECT count(*) FROM kitchen.shopping_list WHERE user_id = $2`)
	c.fact("act 1, reply 1, think 1, understand 1", `SELECT string_agg(node || ' ' || n, ', ' ORDER BY node) FROM (SELECT node, count(*) AS n FROM llm_calls WHERE session_id = $1 GROUP BY 1) AS x`)
}

// Forgetting a conversation leaves nothing of it, and keeps the kitchen's rows.
func TestForgetSession(t *testing.T) {
	t.Parallel()
	h := scripted(t, `
turns:`+draft(basil)+save)
	p := h.resident("ada")
	c := &talk{person: p}
	var made struct {
		ID uuid.UUID `json:"id"`
	}
	require.Equal(t, http.StatusCreated, p.call(http.MethodPost, "/v1/sessions", map[string]string{}, &made))
	c.session = made.ID
	c.say("Draft it")
	c.say("Save it")
	c.settle()
	require.Equal(t, http.StatusNoContent, c.call(http.MethodDelete, c.path(""), nil, nil))
	require.Equal(t, http.StatusNotFound, c.call(http.MethodGet, c.path(""), nil, nil))
	c.fact("4", recipes)
	rows, err := c.pool.Query(t.Context(), `SELECT c.relname::text FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'session_id'
		WHERE c.relnamespace = 'alfred'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition`)
	require.NoError(t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Greater(t, len(tables), 8)
	for _, table := range tables {
		c.fact("0", `SELECT count(*) FROM `+table+` WHERE session_id = $1`)
	}
}

// Y19: a conversation can be read in a terminal: names and words first, ids last, within a terminal's width.
func TestY19TalkForPeople(t *testing.T) {
	t.Parallel()
	c := converse(t, "\nturns:"+chat)
	c.say("Hello there,\n\n  Alfred")
	c.fact("user, title, number, status, message, reply, seconds, cost_usd, created_at, turn_id, session_id",
		`SELECT string_agg(attname, ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'v_talk'::regclass AND attnum > 0`)
	c.fact("Hello there, Alfred succeeded", `SELECT concat_ws(' ', message, status) FROM v_talk WHERE session_id = $1`)
	c.fact("true", `SELECT (v."user" = u.name AND v.seconds >= 0)::text FROM v_talk AS v JOIN users AS u ON u.id = $2 WHERE v.session_id = $1`)
	c.fact("true", `SELECT (length(concat_ws(' | ', "user", title, number, status, message, reply, seconds)) < 180)::text FROM v_talk WHERE session_id = $1`)
}

package prompt_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/dbtest"
	"alfred/internal/llm"
	"alfred/internal/prompt"
	"alfred/internal/testfactory"
	"alfred/internal/view"
	"alfred/nodes"
)

// longSession is a conversation of n turns, each with messages, a step, forty rows and a draft, and everything else
// that accumulates.
func longSession(t *testing.T, b *testBundle, n int) *db.Turns {
	t.Helper()
	b.exec(t, `INSERT INTO turns (session_id, user_id, number, message, mode, status, goal, reply, replied_at, summarized_at, started_at, finished_at)
		SELECT $1, $2, n, repeat('a long message ', 60), 'plan', 'succeeded', 'goal ' || n, repeat('a long reply ', 120), at, at, at, at
		FROM generate_series(1, $3::int) AS n, LATERAL (SELECT timestamptz '2026-01-13 12:00:00+00' + n * interval '1 minute' AS at) AS x`, b.session, b.user, n)
	b.exec(t, `UPDATE sessions SET last_turn = $2 WHERE id = $1`, b.session, n)
	b.exec(t, `INSERT INTO turn_steps (turn_id, step, step_type, subdomain, description, outcome, summary)
		SELECT id, 1, 'read', 'inventory', repeat('read ', 30), 'ok', repeat('found ', 40) FROM turns WHERE session_id = $1`, b.session)
	b.exec(t, `SELECT turn_summary_write_facts(id) FROM turns WHERE session_id = $1`, b.session)
	b.exec(t, `INSERT INTO entity_refs (session_id, ref, entity_type, entity_id, state, action, label, turn_created, turn_last_ref)
		SELECT $1, 'inv_' || (n * 40 + i), 'inv', md5('row' || (n * 40 + i))::uuid::text, 'stored', 'read', 'item ' || (n * 40 + i), n, n
		FROM generate_series(1, $2::int) AS n, LATERAL generate_series(1, CASE WHEN n > $2 - 3 THEN 40 ELSE 5 END) AS i`, b.session, n)
	b.exec(t, `INSERT INTO entity_refs (session_id, ref, entity_type, state, action, label, turn_created, turn_last_ref)
		SELECT $1, 'gen_recipe_' || n, 'recipe', 'pending', 'generated', repeat('draft ', 10) || n, n, n FROM generate_series(1, $2::int) AS n`, b.session, n)
	b.exec(t, `INSERT INTO artifacts (session_id, ref, version, content, turn_number, step)
		SELECT $1, 'gen_recipe_' || n, 1, jsonb_build_object('name', 'draft', 'instructions', jsonb_build_array(repeat('stir ', 200))), n, 1 FROM generate_series(1, $2::int) AS n`, b.session, n)
	b.exec(t, `INSERT INTO entity_refs (session_id, ref, entity_type, entity_id, state, action, label, turn_created, turn_last_ref, active_reason, excluded_reason)
		SELECT $1, 'task_' || n, 'task', md5('task' || n)::uuid::text, 'stored', 'read', 'task ' || n, n, n, CASE WHEN n % 2 = 0 THEN repeat('kept ', 20) END, CASE WHEN n % 2 = 1 THEN repeat('no ', 20) END
		FROM generate_series(1, $2::int) AS n`, b.session, n)
	b.exec(t, `INSERT INTO turn_step_results (turn_id, step, call, tool, entity_type, rows, row_count, refs)
		SELECT t.id, 1, 1, 'db_read', 'inv', (SELECT jsonb_agg(jsonb_build_object('id', 'inv_' || (t.number * 40 + i), 'name', 'item', 'notes', repeat('note ', 30))) FROM generate_series(1, 40) AS i),
			40, ARRAY(SELECT 'inv_' || (t.number * 40 + i) FROM generate_series(1, 40) AS i) FROM turns AS t WHERE t.session_id = $1 AND t.number > $2 - 3`, b.session, n)
	b.exec(t, `INSERT INTO constraints (user_id, session_id, text, kind, source_turn) SELECT $1, $2, repeat('hold ', 20) || n, 'other', n FROM generate_series(1, $3::int) AS n`, b.user, b.session, n)
	b.exec(t, `INSERT INTO decisions (session_id, turn_number, action, ref, reason, actor) SELECT $1, n, 'retain', 'task_' || n, repeat('why ', 20), 'assistant' FROM generate_series(1, $2::int) AS n`, b.session, n)

	turn := testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{Number: n + 1, Status: db.TurnStatusRunning})
	b.exec(t, `UPDATE turns SET started_at = '2027-01-01' WHERE id = $1`, turn.ID)
	turn, err := db.New().TurnGet(t.Context(), b.tx, turn.ID)
	require.NoError(t, err)
	testfactory.Step(t, b.tx, turn, testfactory.StepOpts{Type: db.StepTypeGenerate, Subdomain: "inventory"})

	return turn
}

func (b *testBundle) sizes(t *testing.T, turn *db.Turns) map[string]int {
	t.Helper()
	sizes := map[string]int{}
	for node, f := range map[string]nodes.Frame{
		"understand": b.understand(t, turn).Frame, "think": b.think(t, turn).Frame, "act": b.act(t, turn, 1).Frame, "reply": b.reply(t, turn).Frame,
	} {
		sizes[node] = llm.EstimateTokens(text(f))
	}

	return sizes
}

// Budgets bound a prompt's size, not the length of the conversation.
func TestPromptsStayFlat(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)
	short := setup(t)
	medium := short.sizes(t, longSession(t, short, 200))
	long := setup(t)
	turn := longSession(t, long, 300)
	sizes := long.sizes(t, turn)
	for node, size := range sizes {
		require.Less(t, size, medium[node]+medium[node]/50, node)
		require.Less(t, size, 45000, node)
	}
	think := text(long.think(t, turn).Frame)
	for _, cut := range []string{"of 150 shown)", "of the older turns; `recall` finds the others)", ", the newest)"} {
		require.Contains(t, think, cut, "what gave way is said")
	}
}

// Each section keeps within its budget.
func TestSectionsKeepTheirBudget(t *testing.T) {
	t.Parallel()
	b := setup(t)
	turn := longSession(t, b, 80)
	budget := prompt.DefaultConfig().Budget
	const slack = 150 // headings, and the note about the cut
	think, act := b.think(t, turn).Frame, b.act(t, turn, 1).Frame
	for _, c := range []struct {
		frame   nodes.Frame
		heading string
		most    prompt.Tokens
	}{
		{think, "## Recent Context (last 2 turns)", budget.Entities},
		{think, "## Long Term Memory (retained from earlier)", budget.Entities},
		{think, "## Excluded (user rejected)", budget.Entities},
		{think, "## Constraints", budget.Constraints},
		{think, "## Conversation", budget.Conversation + budget.Earlier},
		{think, "## What Happened", budget.Narrative + budget.Earlier},
		{act, "## Active Entities (Full Data)", budget.Rows},
		{act, "## Generated (NOT YET SAVED)", budget.Drafts + budget.Entities},
		{act, "## Schema", budget.Schema},
	} {
		require.LessOrEqual(t, llm.EstimateTokens(body(c.frame, c.heading)), int(c.most)+slack, c.heading)
		require.NotEmpty(t, body(c.frame, c.heading), c.heading)
	}
}

// All rows of a long list are available to an analysis, however small the budget; beyond that the prompt says how many
// it shows.
func TestShortRowsAreAllThere(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *prompt.Config) { c.Budget.Rows = 100 })
	turn := b.running(t, 1, "compare", db.StepTypeAnalyze)
	for i := range 250 {
		testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: fmt.Sprintf("inv_%d", i+1)})
	}
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Type: "inv", Rows: rows("inv", 250, "")})
	data := body(b.act(t, turn, 1).Frame, "## Active Entities (Full Data)")
	require.Equal(t, 200, strings.Count(data, "\n| inv_"))
	require.Contains(t, data, "(200 of 250 shown; only db_analyze covers the others)")
}

// A model that takes 8,192 tokens has room for 3,000 beside instructions and tools: the step's own rows give way, too, the newest
// last, and the prompt says how many it shows; message, step and columns stay.
func TestShortenedPromptIsShort(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *prompt.Config) { *c = c.Halved().Halved().Halved() })
	turn := b.running(t, 1, "compare them "+strings.Repeat("carefully ", 400)+"and say why", db.StepTypeAnalyze)
	refs := make([]string, 250)
	for i := range refs {
		refs[i] = fmt.Sprintf("inv_%d", i+1)
		testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: refs[i]})
	}
	b.exec(t, `UPDATE turn_steps SET refs = $2 WHERE turn_id = $1`, turn.ID, refs)
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Type: "inv", Rows: rows("inv", 250, `, "location": "`+strings.Repeat("long ", 20)+`"`)})
	frame := b.act(t, turn, 1).Frame
	require.Less(t, llm.EstimateTokens(nodes.RenderBlocks(frame.Blocks)), 4000)
	require.Contains(t, body(frame, "## Active Entities (Full Data)"), " of 250 shown; only db_analyze covers the others)")
	require.Greater(t, b.act(t, turn, 1).LeftOut, 100)
	require.Contains(t, nodes.RenderBlocks(frame.Blocks), "and say why")
	require.NotEmpty(t, body(frame, "## Schema"))
	require.Empty(t, b.act(t, turn, 1).Turn, "a step is offered its own tools alone")
}

// Over budget, the retention with the lowest confidence is dropped first.
func TestRetentionGivesWayByConfidence(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *prompt.Config) { c.Budget.Entities = 50 })
	for i, confidence := range []string{"0.9", "0.1", "NULL"} {
		ref := fmt.Sprintf("recipe_%d", i+1)
		testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: ref, Label: "Soup", Retained: "needed for the plan"})
		b.exec(t, `UPDATE entity_refs SET retain_confidence = `+confidence+` WHERE session_id = $1 AND ref = $2`, b.session, ref)
	}
	kept := body(b.think(t, b.running(t, 9, "hi", db.StepTypeRead)).Frame, "## Long Term Memory (retained from earlier)")
	require.NotContains(t, kept, "recipe_2")
	require.Contains(t, kept, "recipe_1")
	require.Contains(t, kept, "recipe_3")
	require.Contains(t, kept, "(2 of 3 shown)")
}

// More than ten refs in a row are one line, ten are not.
func TestManyRefsAreOneLine(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 22 {
		if n := i + 1; n != 11 {
			testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: fmt.Sprintf("inv_%d", n), Label: fmt.Sprintf("Item %d", n)})
		}
	}
	list := body(b.think(t, b.running(t, 2, "hi", db.StepTypeRead)).Frame, "## Recent Context (last 2 turns)")
	require.Contains(t, list, "- inv_10: Item 10 (inv) [read]\n- inv_12..inv_22: [11 inventory items] [read]")
}

// counted counts a transaction's round trips.
type counted struct {
	pgx.Tx
	n *int
}

func (c counted) Begin(ctx context.Context) (pgx.Tx, error) {
	tx, err := c.Tx.Begin(ctx)

	return counted{tx, c.n}, err
}

func (c counted) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	*c.n++

	return c.Tx.Exec(ctx, sql, args...)
}

func (c counted) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	*c.n++

	return c.Tx.Query(ctx, sql, args...)
}

func (c counted) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	*c.n++

	return c.Tx.QueryRow(ctx, sql, args...)
}

func (c counted) SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults {
	*c.n++

	return c.Tx.SendBatch(ctx, batch)
}

// A view costs three round trips, however much there is to show.
func TestRoundTripsOfAView(t *testing.T) {
	t.Parallel()
	b := setup(t)
	turn := longSession(t, b, 20)
	b.exec(t, `UPDATE entity_refs SET row_version = '1', entity_id = gen_random_uuid()::text WHERE session_id = $1 AND state = 'stored'`, b.session)
	n := 0
	v := b.view(t, counted{b.tx, &n}, turn)
	require.Equal(t, 3, n)
	_, err := view.Probe(t.Context(), counted{b.tx, &n}, v, false)
	require.NoError(t, err)
	require.Equal(t, 4, n)
}

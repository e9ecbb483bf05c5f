package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
)

// ids provides the parameters that facts may use: $1 is the session, $2 the user.
const ids = "WITH ids AS (SELECT $1::uuid, $2::uuid) SELECT (fact.x)::text FROM ("

// bg outlives the test, because common checks run after it.
func (c *talk) bg() context.Context { return context.WithoutCancel(c.t.Context()) }

// one returns a query's single text; "" for null and for no row. The query has the session as $1 and the user as $2.
func (c *talk) one(sql string) string {
	c.t.Helper()
	rows, err := c.pool.Query(c.bg(), ids+sql+") AS fact(x)", c.session, c.user)
	require.NoError(c.t, err)
	found, err := pgx.CollectRows(rows, pgx.RowTo[*string])
	require.NoError(c.t, err, sql)
	require.LessOrEqual(c.t, len(found), 1, sql)
	if len(found) == 0 || found[0] == nil {
		return ""
	}

	return *found[0]
}

// fact requires a query's result.
func (c *talk) fact(want, sql string) {
	c.t.Helper()
	require.Equal(c.t, want, c.one(sql), sql)
}

// exec changes the database like another program. $1 is the user.
func (c *talk) exec(sql string) {
	c.t.Helper()
	_, err := c.pool.Exec(c.bg(), sql, c.user)
	require.NoError(c.t, err)
}

// refs requires the session's refs of a type, in order: "recipe_1 stored read Butter Chicken".
func (c *talk) refs(entityType string, want ...string) {
	c.t.Helper()
	got := c.one(`SELECT string_agg(concat_ws(' ', ref, state, action, label), E'\n' ORDER BY ref LIKE 'gen%', number)
		FROM entity_refs WHERE session_id = $1 AND entity_type = '` + entityType + `'`)
	require.Equal(c.t, strings.Join(want, "\n"), got)
}

// tier requires the refs of one tier, in display order.
func (c *talk) tier(tier string, want ...string) {
	c.t.Helper()
	got := c.one(`SELECT string_agg(ref, ' ') FROM active_entities($1) WHERE tier = '` + tier + `'`)
	require.Equal(c.t, strings.Join(want, " "), got)
}

// prompt returns what a node was sent in a turn: all messages of its n-th call, from 1.
func (c *talk) prompt(number int, node string, n int) string {
	c.t.Helper()
	rows, err := c.pool.Query(c.bg(), `SELECT request FROM v_llm_calls AS l JOIN turns AS t ON t.id = l.turn_id
		WHERE l.session_id = $1 AND t.number = $2
		  AND (l.node = $3 OR EXISTS (SELECT FROM node_runs AS r WHERE r.turn_id = t.id AND r.node = $3 AND r.llm_call_id = l.id)) ORDER BY l.id`, c.session, number, node)
	require.NoError(c.t, err)
	requests, err := pgx.CollectRows(rows, pgx.RowTo[json.RawMessage])
	require.NoError(c.t, err)
	require.GreaterOrEqual(c.t, len(requests), n, "calls of %s in turn %d", node, number)
	var request struct {
		Messages []struct {
			Content string `json:"content"`
		} `json:"messages"`
	}
	require.NoError(c.t, json.Unmarshal(requests[n-1], &request))
	var text strings.Builder
	for _, m := range request.Messages {
		text.WriteString(m.Content + "\n")
	}

	return text.String()
}

// section returns the text below a heading of a prompt, up to the next one.
func section(prompt, heading string) string {
	_, rest, found := strings.Cut(prompt, "\n"+heading)
	if !found {
		return ""
	}
	end := regexp.MustCompile(`\n## |\n</`).FindStringIndex(rest)
	if end == nil {
		return rest
	}

	return rest[:end[0]]
}

// calls requires how often tools were called in a turn: "db_read 1, db_create 2".
func (c *talk) calls(number string, want string) {
	c.t.Helper()
	c.fact(want, `SELECT string_agg(tool || ' ' || n, ', ' ORDER BY first) FROM (
		SELECT r.tool, count(*) AS n, min(r.step * 100 + r.call) AS first FROM turn_step_results AS r JOIN turns AS t ON t.id = r.turn_id
		WHERE t.session_id = $1 AND t.number = `+number+` AND r.step > 0 GROUP BY r.tool) AS x`)
}

const uuidPattern = `'[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'`

// checkCommon checks what holds for every conversation, whatever was said.
func (c *talk) checkCommon() {
	c.t.Helper()
	c.settle()
	c.fact("0", `SELECT count(*) FROM v_llm_calls WHERE session_id = $1 AND request::text ~* `+uuidPattern)
	c.fact("0", `SELECT count(*) FROM turns WHERE session_id = $1 AND concat(reply, error_message) ~* `+uuidPattern)
	c.fact("0", `SELECT count(*) FROM turn_step_results AS r JOIN turns AS t ON t.id = r.turn_id
		WHERE t.session_id = $1 AND concat(r.rows, r.error_message) ~* `+uuidPattern)
	c.fact("0", `SELECT count(*) FROM entity_refs WHERE session_id = $1 AND label ~* `+uuidPattern)
	c.fact("true", `SELECT count(*) = coalesce(max(number), 0) AND coalesce(min(number), 1) = 1 FROM turns WHERE session_id = $1`)
	c.fact("0", `SELECT count(*) FROM turns WHERE session_id = $1 AND (status = 'succeeded' AND reply IS NULL OR status = 'failed' AND reply IS DISTINCT FROM error_message)`)
	c.fact("0", `SELECT count(*) FROM turns WHERE session_id = $1 AND status IN ('queued', 'running')`)
	c.fact("0", `SELECT count(*) FROM turns WHERE session_id = $1 AND status = 'succeeded' AND summarized_at IS NULL`)
	c.fact("0", `SELECT count(*) FROM (SELECT 1 FROM turn_events AS e JOIN turns AS t ON t.id = e.turn_id WHERE t.session_id = $1
		GROUP BY t.id HAVING count(*) FILTER (WHERE e.type IN ('turn.finished', 'turn.failed', 'turn.cancelled')) <> 1) AS x`)
	c.fact("0", `SELECT count(*) FROM (SELECT entity_type, entity_id FROM entity_refs WHERE session_id = $1 AND entity_id IS NOT NULL
		GROUP BY 1, 2 HAVING count(*) > 1) AS x`)
	c.fact("0", `SELECT count(*) FROM (SELECT 1 FROM questions WHERE session_id = $1 AND status = 'open' HAVING count(*) > 1) AS x`)
	c.fact("0", `SELECT count(*) FROM (SELECT n.turn_id FROM node_runs n JOIN turns t ON t.id = n.turn_id WHERE t.session_id = $1
		GROUP BY 1 HAVING count(*) <> max(n.position) OR min(n.position) <> 1) AS x`)
	c.fact("0", `SELECT count(*) FROM turns t WHERE t.session_id = $1 AND t.status = 'succeeded' AND NOT EXISTS (SELECT FROM turn_summaries s WHERE s.turn_id = t.id)`)
	c.fact("", `SELECT string_agg(DISTINCT l.node, ' ') FROM llm_calls l WHERE l.session_id = $1 AND NOT EXISTS (SELECT FROM context_items i WHERE i.llm_call_id = l.id)`)
	c.fact("0", `SELECT count(*) FROM turn_steps s JOIN turns t ON t.id = s.turn_id WHERE t.session_id = $1 AND s.outcome IS NULL`)
	c.checkPrompts()
}

// checkPrompts checks the form of every prompt in the conversation, and the consistency of those within a turn.
func (c *talk) checkPrompts() {
	c.t.Helper()
	rows, err := c.pool.Query(c.bg(), `SELECT t.number, l.node, l.request -> 'messages' -> 0 ->> 'content' FROM v_llm_calls l JOIN turns t ON t.id = l.turn_id
		WHERE l.session_id = $1 ORDER BY l.id`, c.session)
	require.NoError(c.t, err)
	type told struct{ conversation, narrative string }
	byTurn := map[int]told{}
	var number int
	var node, prompt string
	_, err = pgx.ForEachRow(rows, []any{&number, &node, &prompt}, func() error {
		what := fmt.Sprintf("%s of turn %d", node, number)
		checkFrame(c.t, what, prompt)
		checkRows(c.t, what, prompt)
		if node != "think" && node != "act" {
			return nil
		}
		require.Contains(c.t, prompt, "<entity_context>", what)
		now := told{section(prompt, "## Conversation\n"), section(prompt, "## What Happened\n")}
		before, seen := byTurn[number]
		if !seen {
			byTurn[number], before = now, now
		}
		require.Equal(c.t, before, now, "%s: all of a turn's plans and steps see the same past", what)

		return nil
	})
	require.NoError(c.t, err)
}

// checkRows requires that the data of an entity appears once.
func checkRows(t *testing.T, what, prompt string) {
	t.Helper()
	seen := map[string]bool{}
	for line := range strings.Lines(section(prompt, "## Active Entities (Full Data)")) {
		ref, _, isRow := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		if !isRow || ref == "ref" {
			continue
		}
		require.False(t, seen[ref], "%s: %s twice", what, ref)
		seen[ref] = true
	}
}

// settle waits until no job is left, background ones included.
func (c *talk) settle() {
	c.t.Helper()
	require.Eventually(c.t, func() bool { return c.one(`SELECT count(*) FROM v_queue WHERE session_id = $1`) == "0" }, dbtest.Patience, 30*time.Millisecond,
		"jobs are left")
}

// many is a list of n equal items in YAML, without its brackets.
func many(n int, item string) string {
	return strings.TrimSuffix(strings.Repeat(item+", ", n), ", ")
}

func splitList(text string) []string {
	if text == "" {
		return nil
	}

	return strings.Split(text, ", ")
}

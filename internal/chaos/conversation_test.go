package chaos_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
)

// turns of the test conversation. It contains each kind of effect: rows created in one decision and in two, a read, a
// draft, saving it with children, an update, a deletion.
var turns = []string{
	`
  - understand: {intent: write, constraints: [{text: no nuts this week, kind: exclude, value: nuts, scope: session}]DELAY}
    think: {goal: Fill the list, decision: planDELAY, steps: [{type: read, subdomain: inventory, description: Look at the pantry}, {type: write, subdomain: shopping, description: Add what is missing}]}
    act:
      - {calls: [{tool: db_read, args: {table: inventory}}, {tool: step_complete, args: {summary: seen}}]DELAY}
      - {calls: [{tool: db_create, args: {table: shopping_list, data: [{name: milk, quantity: 1, unit: l}, {name: basil}]}}]DELAY}
      - {calls: [{tool: db_create, args: {table: shopping_list, data: {name: rice}}}, {tool: step_complete, args: {summary: added}}]DELAY}
    reply: {text: "Milk, basil and rice are on your list, which is what was missing from the pantry."DELAY}
    summarize: {response_summary: added three, conversation_phase: executing, tone: collaborative, what_user_expressed: x, what_we_acknowledged: y, natural_next: zDELAY}`,
	`
  - understand: {intent: read, quick: {entity_type: shop, why: one table}DELAY}
    act: [{calls: [{tool: db_read, args: {table: shopping_list}}]DELAY}]`,
	`
  - understand: {intent: exploreDELAY}
    think: {goal: Draft it, decision: planDELAY, steps: [{type: generate, subdomain: recipes, description: Draft the recipe}]}
    act: [{calls: [{tool: generate, args: {creates: [{type: recipe, content: {name: Thai Basil Chicken, servings: 2, instructions: [Fry., Serve.], recipe_ingredients: [{name: chicken thighs, quantity: 400, unit: g}, {name: garlic, quantity: 3, unit: clove}]}}]}}, {tool: step_complete, args: {summary: drafted}}]DELAY}]
    reply: {text: Here is a draft.DELAY}
    summarize: {response_summary: drafted, conversation_phase: confirming, tone: collaborative, what_user_expressed: x, what_we_acknowledged: y, natural_next: zDELAY}`,
	`
  - understand: {intent: write, mentions: [{text: it, ref: gen_recipe_1, resolution: inferred}]DELAY}
    think: {goal: Save it, decision: planDELAY, steps: [{type: write, subdomain: recipes, description: Save the draft, refs: [gen_recipe_1]}, {type: write, subdomain: shopping, description: Tidy the list}]}
    act:
      - {calls: [{tool: db_create, args: {table: recipes, from_ref: gen_recipe_1}}, {tool: step_complete, args: {summary: saved}}]DELAY}
      - {calls: [{tool: db_update, args: {table: shopping_list, filters: [{field: name, op: "=", value: rice}], data: {quantity: 2, unit: kg}}}]DELAY}
      - {calls: [{tool: db_delete, args: {table: shopping_list, filters: [{field: name, op: "=", value: basil}]}}, {tool: step_complete, args: {summary: tidied}}]DELAY}
    reply: {text: "Saved, and your list is tidy."DELAY}
    summarize: {response_summary: saved, conversation_phase: executing, tone: collaborative, what_user_expressed: x, what_we_acknowledged: y, natural_next: zDELAY}`,
	`
  - understand: {intent: chatDELAY}
    think: {goal: talk, decision: planDELAY, steps: []}
    reply: {text: You are welcome.DELAY}
    summarize: {response_summary: thanks, conversation_phase: exploring, tone: collaborative, what_user_expressed: x, what_we_acknowledged: y, natural_next: zDELAY}`,
}

// writeScript writes the script of the given turns; every answer takes delay.
func writeScript(t *testing.T, delay time.Duration, which []string) string {
	t.Helper()

	wait := ""
	if delay > 0 {
		wait = ", delay: " + delay.String()
	}
	text := "turns:" + strings.ReplaceAll(strings.Join(which, ""), "DELAY", wait) + "\ncompress: {text: earlier turns}\n"
	path := filepath.Join(t.TempDir(), "script.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))

	return path
}

// newSession starts a conversation of a new user with the demo's rows.
func newSession(t *testing.T, pool *pgxpool.Pool) uuid.UUID {
	t.Helper()

	var session uuid.UUID
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT start_session($1)`, "chaos "+uuid.NewString()).Scan(&session))
	_, err := pool.Exec(t.Context(), `SELECT kitchen.seed_demo(user_id) FROM sessions WHERE id = $1`, session)
	require.NoError(t, err)

	return session
}

// say enqueues the n-th message of a session. It is idempotent.
func say(ctx context.Context, pool *pgxpool.Pool, session uuid.UUID, n int) error {
	_, err := pool.Exec(ctx, `SELECT enqueue_turn($1, $2, $2)`, session, fmt.Sprintf("message %d", n))

	return err
}

const unfinished = `
	SELECT (SELECT count(*) FROM turns WHERE session_id = ANY ($1) AND (finished_at IS NULL OR status = 'succeeded' AND summarized_at IS NULL))
	     + (SELECT count(*) FROM v_queue WHERE session_id = ANY ($1)),
	       (SELECT coalesce(sum(position), 0) FROM turns WHERE session_id = ANY ($1))`

// awaitQuiet waits until nothing is left to do for the sessions, as long as there is progress. The server may be down
// meanwhile.
func awaitQuiet(t *testing.T, pool *pgxpool.Pool, sessions ...uuid.UUID) {
	t.Helper()
	awaitQuietWhile(t, pool, func() {}, sessions...)
}

// awaitQuietWhile repeatedly calls meanwhile as it waits.
func awaitQuietWhile(t *testing.T, pool *pgxpool.Pool, meanwhile func(), sessions ...uuid.UUID) {
	t.Helper()

	seenLeft, seenDone, moved := 0, 0, time.Now()
	for {
		var left, done int
		err := pool.QueryRow(t.Context(), unfinished, sessions).Scan(&left, &done)
		if err == nil && left == 0 {
			return
		}
		if err == nil && (left != seenLeft || done != seenDone) {
			seenLeft, seenDone, moved = left, done, time.Now()
		}
		if time.Since(moved) > dbtest.Patience {
			require.FailNow(t, "work is left and stands still", "%d, %v\n%s", left, err, stuck(t, pool))
		}
		meanwhile()
		time.Sleep(10 * time.Millisecond)
	}
}

// stuck reports what did not end.
func stuck(t *testing.T, pool *pgxpool.Pool) string {
	t.Helper()

	var text string
	err := pool.QueryRow(t.Context(), `
		SELECT coalesce(string_agg(x, E'\n'), '') FROM (
			SELECT concat_ws(' ', 'turn', number, status, current_node, position, session_id) AS x FROM turns WHERE finished_at IS NULL OR status = 'succeeded' AND summarized_at IS NULL
			UNION ALL SELECT concat_ws(' ', 'job', job_id, kind, state, attempt, number, session_id) FROM v_queue
			UNION ALL SELECT concat_ws(' ', 'worker', id, clock_timestamp() - beat_at) FROM workers
		) AS y`).Scan(&text)
	if err != nil {
		return err.Error()
	}

	return text
}

package e2e_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"alfred/client"
	"alfred/internal/dbtest"
)

// Messages that arrive at once run one after the other, each after the previous one has finished.
func TestTwoMessagesAtOnce(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: write, delay: 100ms}
    think: {goal: Add milk, decision: plan, steps: [{type: write, subdomain: shopping, description: Add milk}]}
    act: {calls: [{tool: db_create, args: {table: shopping_list, data: {name: milk, quantity: 1, unit: l}}}, {tool: step_complete, args: {summary: added}}]}
    reply: Added.
  - understand: {intent: read, quick: {entity_type: shop, why: one}}
    act: {calls: [{tool: db_read, args: {table: shopping_list}}]}
  - understand: {intent: chat}
    think: {goal: talk, decision: plan, steps: []}
    reply: Sure.
`)
	first, second := c.enqueue(message{"message": "Add milk"}), c.enqueue(message{"message": "What's on the list?"})
	require.Equal(t, "running", first.Status)
	require.Equal(t, "queued", second.Status)
	var problem struct {
		Code   string `json:"code"`
		TurnID string `json:"turn_id"`
	}
	require.Equal(t, http.StatusConflict, c.call(http.MethodPost, c.path("/turns"), message{"message": "x", "if_busy": "reject"}, &problem))
	require.Equal(t, "turn_running", problem.Code)
	require.Contains(t, c.end(second).Reply, "milk (1 l)")
	c.fact("true", `SELECT a.summarized_at <= b.started_at FROM turns a JOIN turns b USING (session_id) WHERE a.session_id = $1 AND a.number = 1 AND b.number = 2`)
	c.say("ok")
}

// A message sent twice is one turn.
func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	c := converse(t, "turns:"+chat)
	var a, b turn
	require.Equal(t, http.StatusAccepted, c.call(http.MethodPost, c.path("/turns"), message{"message": "hi"}, &a, "Idempotency-Key", "k1"))
	require.Equal(t, http.StatusOK, c.call(http.MethodPost, c.path("/turns"), message{"message": "hi"}, &b, "Idempotency-Key", "k1"))
	require.Equal(t, a.ID, b.ID)
	c.end(&a)
	c.fact("1", `SELECT count(*) FROM turns WHERE session_id = $1`)
}

// A disconnecting client changes nothing; its stream can be resumed where it broke.
func TestStreamSurvivesDisconnect(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: explore}
    think: {goal: talk, decision: plan, delay: 200ms, steps: []}
    reply: A reply that is long enough to come in several pieces, one after the other.
`)
	made := c.enqueue(message{"message": "tell me"})
	way := roadTo(t, c.house)
	types := c.follow(way.URL, made, func(seen int) {
		if seen == 2 {
			way.CloseClientConnections()
		}
	})
	require.Equal(t, "turn.started", types[0])
	require.Contains(t, types, "reply")
	require.Equal(t, "turn.finished", types[len(types)-1])
	c.end(made)
}

// follow reads a turn's events to the end and returns their types.
func (c *talk) follow(url string, made *turn, seen func(n int)) []string {
	c.t.Helper()
	api, err := client.New(url, c.key)
	require.NoError(c.t, err)
	seq, types := 0, []string{}
	for event, err := range api.FollowTurn(c.t.Context(), made.ID.String(), "") {
		require.NoError(c.t, err)
		now, err := strconv.Atoi(event.ID)
		require.NoError(c.t, err)
		require.Greater(c.t, now, seq, "what was seen is not sent again")
		seq, types = now, append(types, event.Type)
		seen(len(types))
	}

	return types
}

// A cancelled turn makes no further changes, and the next one runs.
func TestCancel(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: write}
    think: {goal: Add milk, decision: plan, delay: 10s, steps: [{type: write, subdomain: shopping, description: Add milk}]}
  - understand: {intent: read}
    think: {goal: talk, decision: plan, steps: []}
    reply: Sure.
`)
	made := c.enqueue(message{"message": "Add milk"})
	require.Eventually(t, func() bool {
		return c.one(`SELECT current_node FROM turns WHERE session_id = $1 AND number = 1`) == "think"
	}, dbtest.Patience, 30*time.Millisecond)
	var cancelled struct {
		Cancelled bool `json:"cancelled"`
	}
	require.Equal(t, http.StatusOK, c.call(http.MethodPost, "/v1/turns/"+made.ID.String()+"/cancel", nil, &cancelled))
	require.True(t, cancelled.Cancelled)
	got := c.end(made)
	require.Equal(t, "cancelled", got.Status)
	require.Equal(t, "cancelled", got.Error.Code)
	c.say("hello?")
	require.Contains(t, c.prompt(2, "think", 1), "(cancelled)")
	c.fact("0", `SELECT count(*) FROM kitchen.shopping_list WHERE user_id = $2`)
	require.Equal(t, http.StatusOK, c.call(http.MethodPost, "/v1/turns/"+made.ID.String()+"/cancel", nil, &cancelled))
	require.False(t, cancelled.Cancelled)
}

// A busy model is asked again; one that fails permanently fails the turn, not the session.
func TestModelFailures(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: chat, error: {kind: rate_limit, retry_after: 100ms, times: 1}}
    think: {goal: talk, decision: plan, steps: [], error: {kind: overloaded, times: 1}}
    reply: Sure.
  - understand: {intent: chat}
    think: {decision: plan, error: {kind: auth}}
  - understand: {intent: chat}
    think: {decision: plan, error: {kind: context_overflow}}
  - understand: {intent: chat}
    think: {decision: plan, error: {kind: refusal}}
  - understand: {intent: write}
    think: {goal: Add milk, decision: plan, steps: [{type: write, subdomain: shopping, description: Add milk}]}
    act: {calls: [{tool: db_create, args: {table: shopping_list, data: {name: milk}}}, {tool: step_complete, args: {summary: added}}]}
    reply: {text: "", error: {kind: refusal}}
    summarize: {error: {kind: refusal}}
  - understand: {intent: chat}
`)
	require.Equal(t, "Sure.", c.say("hi").Reply)
	for _, code := range []string{"model_auth", "context_overflow", "model_refused"} {
		failed := c.fail("hi")
		require.Equal(t, code, failed.Error.Code)
		require.NotContains(t, failed.Error.Message, "script")
	}
	said := c.say("add milk")
	require.Contains(t, said.Reply, "milk", "a reply that the model refuses is made from the rows")
	c.fact("1", `SELECT count(*) FROM kitchen.shopping_list WHERE user_id = $2`)
	c.fact("none", `SELECT model FROM turn_summaries WHERE session_id = $1 AND turn_number = 5`)
	require.Equal(t, "script_exhausted", c.fail("hi").Error.Code)
	c.fact("2", `SELECT count(*) FROM llm_calls l JOIN turns t ON t.id = l.turn_id WHERE l.session_id = $1 AND t.number = 1 AND l.node IN ('understand', 'think') AND l.error_code IS NOT NULL`)
}

// A reply is told what ran, not what was planned.
func TestReplyTruthfulness(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: write}
    think: {goal: Save 4 recipes, decision: plan, steps: [{type: write, subdomain: recipes, description: Save 4 recipes}]}
    act: {calls: [{tool: step_complete, args: {summary: All 4 recipes were saved.}}]}
    reply: Nothing was saved.
  - understand: {intent: write}
    think: {goal: Buy milk, decision: plan, steps: [{type: write, subdomain: shopping, description: Look at the list}]}
    act: {calls: [{tool: db_create, args: {table: shopping_list, data: {name: milk}}}, {tool: step_complete, args: {summary: looked}}]}
    reply: Milk was added.`+draft(basil))
	said := c.say("Save the four recipes")
	require.Equal(t, "write empty", said.outcomes())
	require.Contains(t, c.prompt(1, "reply", 1), "Nothing was saved, changed or deleted in this turn.")
	c.say("Look at the list")
	require.Contains(t, c.prompt(2, "reply", 1), "Saved 1 shopping item")
	c.say("Draft a basil chicken")
	require.Contains(t, c.prompt(3, "reply", 1), "offer once to save")
	require.Contains(t, c.prompt(3, "reply", 1), "Not saved (drafts): Thai Basil Chicken (recipe)")
}

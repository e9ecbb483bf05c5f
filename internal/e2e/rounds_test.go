package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/domain"
	"alfred/internal/llm"
)

// severalCalls is a turn whose steps take several calls each: a read that looks twice and asks for a table's columns,
// and a write that is refused and repaired.
const severalCalls = `turns:
  - understand: {intent: write}
    think:
      goal: Look around, then change the fridge
      decision: plan
      steps:
        - {type: read, subdomain: recipes, description: Read a recipe and what is at home}
        - {type: write, subdomain: inventory, description: "Add leeks", needs: rows}
    act:
      - calls: [{tool: db_read, args: {table: recipes, filters: [{field: name, op: "=", value: Butter Chicken}], detail: full}}]
      - calls: [{tool: request_schema, args: {table: tasks}}]
      - calls: [{tool: db_read, args: {table: inventory, filters: []}}, {tool: db_read, args: {table: recipes, filters: []}}]
      - calls: [{tool: step_complete, args: {summary: Read what there is}}]
      - calls: [{tool: db_create, args: {table: inventory, rows: [{set: [{column: colour, value: green}]}]}}, {tool: step_complete, args: {summary: Added}}]
      - calls: [{tool: db_create, args: {table: inventory, rows: [{set: [{column: name, value: leeks}, {column: quantity, value: 2}, {column: unit, value: piece}]}]}}]
      - raw: Two leeks are there now.
        repairs: [{calls: [{tool: step_complete, args: {summary: Two leeks}}]}]
    reply: There are two leeks now.
`

// asked records the requests of act, and runs something before each is answered.
type asked struct {
	llm.Model

	mu       sync.Mutex
	requests []*llm.Request
	before   func()
	overflow bool // only a new prompt fits
}

func (a *asked) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	if req.Node == "act" {
		a.mu.Lock()
		a.requests = append(a.requests, req)
		a.mu.Unlock()
		if a.before != nil {
			a.before()
		}
		if a.overflow && slices.ContainsFunc(req.Messages, func(m llm.Message) bool { return m.Role == llm.RoleTool }) {
			return nil, &llm.Error{Kind: llm.KindContextOverflow, Provider: "script", Err: errors.New("too long")}
		}
	}

	return a.Model.Generate(ctx, req)
}

// minuteOfTurn is when a turn began, in which two that are compared differ.
var minuteOfTurn = regexp.MustCompile(`\d\d:\d\d UTC`)

// prompts are the requests of act, as a provider's cache sees them, without the minute.
func (a *asked) prompts(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, req := range a.requests {
		messages, err := json.Marshal(req.Messages)
		require.NoError(t, err)
		tools, err := json.Marshal(req.Tools)
		require.NoError(t, err)
		all = append(all, minuteOfTurn.ReplaceAllString(string(tools)+req.System+strings.TrimSuffix(string(messages), "]"), ""))
	}

	return all
}

// listen holds the turn of severalCalls.
func listen(t *testing.T, a *asked, before func(c *talk)) *asked {
	t.Helper()
	c := openHouse(t, fixtures{model: func(d *domain.Domain) llm.Model {
		a.Model = playing(t, severalCalls)(d)

		return a
	}}).resident("ada").talk()
	if before != nil {
		a.before = func() { before(c) }
	}
	got := c.say("What do I have for the butter chicken? And note two leeks")
	require.Equal(t, "read ok, write ok", got.outcomes())
	c.settle()
	a.before = nil

	return a
}

// Within a step, each prompt of Act is the previous one, its answer, and the results.
func TestActIsOneConversation(t *testing.T) {
	t.Parallel()
	a := listen(t, &asked{}, nil)
	prompts := a.prompts(t)
	require.Len(t, prompts, 8)
	for i, goesOn := range []bool{true, true, true, false, true, true, true} {
		require.Equal(t, goesOn, strings.HasPrefix(prompts[i+1], prompts[i]), "request %d", i+2)
	}
	said := func(i int) string { return a.requests[i].Messages[len(a.requests[i].Messages)-1].Content }
	require.Contains(t, said(1), "1 row: recipe_")
	require.Contains(t, said(1), "Butter Chicken")
	require.Contains(t, said(1), "Decisions left: 5 of 6")
	require.Contains(t, said(2), "tasks (task)")
	require.NotContains(t, said(2), "inventory (")
	require.NotContains(t, said(3), "### recipe_1\n", "what was told is not told again")
	require.NotContains(t, said(1)+said(3), "## This Turn", "nor are names beside their rows")
	require.Contains(t, a.requests[5].Messages[2].Content, "error ")
	require.Contains(t, said(5), "The step goes on.")
	require.Contains(t, said(6), "leeks")
	require.Contains(t, said(7), "That answer cannot be used")
	require.Len(t, a.requests[4].Messages, 1, "a step begins with a prompt by itself")
}

// Any worker writes the same prompt from rows, byte for byte: here the worker of each decision has to load what the
// previous one carried.
func TestConversationOfAStepIsRebuilt(t *testing.T) {
	t.Parallel()
	carried := listen(t, &asked{}, nil).prompts(t)
	loaded := listen(t, &asked{}, func(c *talk) {
		_, err := c.pool.Exec(c.bg(), `UPDATE sessions SET version = version + 1 WHERE id = $1`, c.session)
		require.NoError(c.t, err)
	}).prompts(t)
	require.Equal(t, carried, loaded)
}

// If only the conversation is too long for a model, a new prompt says the same, with all its rows.
func TestConversationThatDoesNotFit(t *testing.T) {
	t.Parallel()
	alone := 0
	for _, req := range listen(t, &asked{overflow: true}, nil).requests {
		if len(req.Messages) == 1 {
			alone++
		}
	}
	require.Equal(t, 7, alone, "each decision but a repair")
}

// Others' changes during a step are reported at the end of its conversation; if that is impossible, a new prompt
// replaces it.
func TestConversationOfAStepTellsOfOthers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change   string
		messages int
		says     string
	}{
		"Row": {`UPDATE kitchen.recipes SET cuisine = 'nordic' WHERE name = 'Butter Chicken' AND user_id = (SELECT user_id FROM sessions WHERE id = $1)`, 3, "nordic"},
		"Constraint": {`WITH added AS (INSERT INTO constraints (user_id, session_id, text, kind, value, scope, source_turn)
			SELECT user_id, id, 'no leeks', 'other', 'null', 'lasting', 1 FROM sessions WHERE id = $1)
			UPDATE sessions SET version = version + 1 WHERE id = $1`, 1, "no leeks"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := true
			a := listen(t, &asked{}, func(c *talk) {
				if !first {
					return
				}
				first = false
				_, err := c.pool.Exec(c.bg(), tt.change, c.session)
				require.NoError(c.t, err)
			})
			second := a.requests[1].Messages
			require.Len(t, second, tt.messages)
			require.Contains(t, second[tt.messages-1].Content, tt.says)
			require.Len(t, a.requests[2].Messages, tt.messages+2, "and the conversation goes on from there")
		})
	}
}

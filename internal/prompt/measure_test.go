package prompt_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/dbtest"
	"alfred/internal/llm"
	"alfred/internal/prompt"
	"alfred/internal/testfactory"
	"alfred/nodes"
)

var measure = flag.Bool("measure", false, "write docs/measurements.md and docs/prompt-tokens.svg")

// readSizes are how many rows the turns of the measured conversation read, cyclically.
var readSizes = []int{1, 40, 200, 3, 120, 1, 59, 12, 5, 80}

const measuredTurns = 200 // with -measure; half as many show the same

// sample is one prompt.
type sample struct {
	turn    int
	node    string
	tokens  int
	bytes   int
	same    int // length in bytes of the prefix shared with the node's previous prompt
	queries int
}

// measuring is a conversation that is measured as it proceeds.
type measuring struct {
	*testBundle
	t        *testing.T
	samples  []sample
	before   map[string]string
	said     int         // tokens of all messages, replies and results so far
	history  map[int]int // the same by turn: the minimum size of a prompt that contains everything
	overruns []string
}

// asked is a model that records the request and does not answer.
type asked struct{ req *llm.Request }

func (a *asked) Generate(_ context.Context, req *llm.Request) (*llm.Response, error) {
	if a.req == nil {
		a.req = req
	}

	return nil, &llm.Error{Kind: llm.KindAuth, Provider: "none", Err: errors.New("no model is asked")}
}

// whole is the prompt in the order in which providers cache it.
func whole(req *llm.Request) string {
	var b strings.Builder
	for _, tool := range req.Tools {
		b.WriteString(tool.Name + tool.Description + string(tool.Schema))
	}
	b.WriteString(req.System + string(req.Schema))
	for _, message := range req.Messages {
		b.WriteString(message.Content)
	}

	return b.String()
}

// prompt builds a node's input, asks and records the size.
func (m *measuring) prompt(turn int, node, key string, load func(tx pgx.Tx, model llm.Model) (nodes.Frame, error)) {
	m.t.Helper()
	model, queries := &asked{}, 0
	f, err := load(counted{m.tx, &queries}, model)
	require.NoError(m.t, err, node)
	require.NotNil(m.t, model.req, node)
	text := whole(model.req)
	m.samples = append(m.samples, sample{
		turn: turn, node: node, tokens: model.req.EstimateTokens(), bytes: len(text), same: common(text, m.before[key]), queries: queries,
	})
	m.before[key] = text
	m.checkBudgets(turn, node, f)
}

func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}

	return n
}

// checkBudgets records sections over budget. 200 short rows may exceed the row budget.
func (m *measuring) checkBudgets(turn int, node string, f nodes.Frame) {
	budget := prompt.DefaultConfig().Budget
	const slack = 150
	for heading, most := range map[string]prompt.Tokens{
		"## All Known Entities": 2*budget.Entities + budget.Drafts, "## Recent Context (last 2 turns)": budget.Entities,
		"## Long Term Memory (retained from earlier)": budget.Entities, "## Generated (NOT YET SAVED)": budget.Drafts + budget.Entities,
		"## Constraints": budget.Constraints, "## Conversation": budget.Conversation + budget.Earlier, "## Recent Conversation": budget.Conversation + budget.Earlier + budget.Entities,
		"## What Happened": budget.Narrative + 2*budget.Earlier, "## Active Entities (Full Data)": max(budget.Rows, 200*80), "## Schema": budget.Schema,
		"## Step Results": budget.Results, "## Execution Results": budget.Results + budget.Drafts, "## Snapshot": budget.Snapshot, "## User Profile": budget.Profile,
	} {
		if tokens := llm.EstimateTokens(body(f, heading)); tokens > int(most)+slack {
			m.overruns = append(m.overruns, fmt.Sprintf("turn %d %s %s: %d > %d", turn, node, heading, tokens, most))
		}
	}
}

// turn plays one turn: a message, a plan, a read, a reply, and everything it leaves.
func (m *measuring) turn(n int) {
	t, ctx := m.t, m.t.Context()
	t.Helper()
	message := fmt.Sprintf("message %d: %s", n, strings.Repeat("tell me what there is and what I could make of it; ", 1+n%5))
	turn := testfactory.Turn(t, m.tx, m.session, testfactory.TurnOpts{Number: n, Message: message, Status: db.TurnStatusRunning, Goal: fmt.Sprintf("Goal of turn %d", n)})
	m.prompt(n, "understand", "understand", func(tx pgx.Tx, model llm.Model) (nodes.Frame, error) {
		in := m.prompts.Understand(m.view(t, tx, turn))
		_, _ = nodes.Understand(ctx, model, in)

		return in.Frame, nil
	})
	testfactory.Run(t, m.tx, turn, 1, "understand", 0, `{"intent": "read", "curation_summary": "nothing changed"}`)
	m.prompt(n, "think", "think", func(tx pgx.Tx, model llm.Model) (nodes.Frame, error) {
		in := m.prompts.Think(m.view(t, tx, turn))
		_, _ = nodes.Think(ctx, model, in)

		return in.Frame, nil
	})
	testfactory.Step(t, m.tx, turn, testfactory.StepOpts{Subdomain: "inventory", Description: "Read what is at home"})
	act := func(tx pgx.Tx, model llm.Model) (nodes.Frame, error) {
		v := m.view(t, tx, turn)
		in, err := m.prompts.Act(v, v.Steps[0])
		_, _ = nodes.Act(ctx, model, in)

		return in.Frame, err
	}
	m.prompt(n, "act", "act", act)
	rows := m.read(n, turn)
	m.prompt(n, "act", "act", act)
	m.exec(t, `UPDATE turn_steps SET outcome = 'ok', summary = $2 WHERE turn_id = $1`, turn.ID, fmt.Sprintf("Found %d rows.", readSizes[n%len(readSizes)]))
	m.prompt(n, "reply", "reply", func(tx pgx.Tx, model llm.Model) (nodes.Frame, error) {
		in := m.prompts.Reply(m.view(t, tx, turn))
		_, _ = nodes.Reply(ctx, model, in)

		return in.Frame, nil
	})
	reply := fmt.Sprintf("reply %d: %s", n, strings.Repeat("there is this, and of that you could make something good. ", 1+n%9))
	m.exec(t, `UPDATE turns SET reply = $2 WHERE id = $1`, turn.ID, reply)
	turn.Reply = &reply
	m.prompt(n, "summarize", "summarize", func(tx pgx.Tx, model llm.Model) (nodes.Frame, error) {
		in := m.prompts.Summarize(m.view(t, tx, turn))
		_, _ = nodes.Summarize(ctx, model, in)

		return in.Frame, nil
	})
	m.exec(t, `UPDATE turns SET status = 'succeeded', replied_at = started_at, summarized_at = started_at, finished_at = started_at + interval '30 s' WHERE id = $1`, turn.ID)
	testfactory.Summary(t, m.tx, turn)
	m.compress(n)
	m.said += llm.EstimateTokens(message) + llm.EstimateTokens(reply) + llm.EstimateTokens(rows)
	m.history[n] = m.said
}

// read stores the turn's read, from a pantry of 600 rows, and updates the registry like code: touched refs, a draft
// saved two turns later, a retention that ends, a constraint that expires.
func (m *measuring) read(n int, turn *db.Turns) string {
	m.t.Helper()
	first, size := n*37%400, readSizes[n%len(readSizes)]
	rows := make([]map[string]any, size)
	for i := range rows {
		rows[i] = map[string]any{"id": fmt.Sprintf("inv_%d", first+i+1), "name": fmt.Sprintf("Thing %d", first+i+1), "quantity": i % 7, "unit": "piece", "location": "pantry"}
	}
	data, err := json.Marshal(rows)
	require.NoError(m.t, err)
	m.exec(m.t, `INSERT INTO entity_refs (session_id, ref, entity_type, entity_id, state, action, label, turn_created, turn_last_ref)
		SELECT $1, 'inv_' || i, 'inv', md5('row' || i)::uuid::text, 'stored', 'read', 'Thing ' || i, $2, $2 FROM generate_series($3::int + 1, $3::int + $4::int) AS i
		ON CONFLICT (session_id, ref, user_id) DO UPDATE SET turn_last_ref = excluded.turn_last_ref, active_reason = NULL`, m.session, n, first, size)
	m.exec(m.t, `INSERT INTO entity_events (session_id, ref, turn_number, action, actor, data)
		SELECT $1, 'inv_' || i, $2, 'read', 'assistant', '{}' FROM generate_series($3::int + 1, $3::int + $4::int) AS i`, m.session, n, first, size)
	testfactory.StepResult(m.t, m.tx, turn, testfactory.ResultOpts{Step: 1, Type: "inv", Params: `{"table": "inventory"}`, Rows: string(data)})
	if n%10 == 5 {
		ref := fmt.Sprintf("gen_recipe_%d", n)
		testfactory.Ref(m.t, m.tx, m.session, testfactory.RefOpts{Ref: ref, Label: "Draft", Created: n})
		testfactory.Artifact(m.t, m.tx, m.session, ref, `{"name": "Draft", "instructions": ["`+strings.Repeat("stir ", 100)+`"]}`)
		m.exec(m.t, `INSERT INTO constraints (user_id, session_id, text, kind, source_turn, expires_at) VALUES ($1, $2, 'no cod this week', 'exclude', $3, $4)`,
			m.user, m.session, n, testfactory.Epoch().Add(time.Duration(n+10)*time.Minute))
	}
	m.exec(m.t, `INSERT INTO decisions (session_id, turn_number, action, ref, reason, actor) VALUES ($1, $2, 'demote', $3, 'the topic has changed', 'assistant')`, m.session, n, fmt.Sprintf("inv_%d", first+1))
	if n%10 == 7 {
		m.exec(m.t, `UPDATE entity_refs SET state = 'promoted', action = 'created', entity_id = md5(ref)::uuid::text, turn_promoted = $2, turn_last_ref = $2 WHERE session_id = $1 AND state = 'pending'`, m.session, n)
		m.exec(m.t, `UPDATE entity_refs SET active_reason = NULL WHERE session_id = $1 AND turn_last_ref <= $2::int - 20`, m.session, n)
		m.exec(m.t, `UPDATE entity_refs SET active_reason = 'the plan needs it' WHERE session_id = $1 AND ref = $2`, m.session, fmt.Sprintf("inv_%d", first+1))
	}

	return string(data)
}

// compress stores the newest text for what left the windows, worded by code.
func (m *measuring) compress(n int) {
	m.t.Helper()
	const window, every = 3, 4
	if n <= window || (n-window)%every != 0 {
		return
	}
	in := m.testBundle.compress(m.t, n-window).Fallback
	for kind, text := range map[string]string{"conversation": in.Conversation, "narrative": in.Narrative} {
		m.exec(m.t, `INSERT INTO history_summaries (session_id, kind, from_turn, to_turn, text, model, prompt_version, created_at) VALUES ($1, $2, 1, $3, $4, 'none', '1', $5)`,
			m.session, kind, n-window, text, testfactory.Epoch())
	}
}

// A conversation of any length costs each node the same: once the windows and the text of older turns are full, prompts
// do not grow, no section exceeds its budget, and a prompt is a small part of everything said and read.
func TestLongConversationIsFlat(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)
	m := &measuring{testBundle: setup(t), t: t, before: map[string]string{}, history: map[int]int{}}
	require.NoError(t, db.New().LoadPlans(t.Context(), m.tx), "as a worker loads")
	turns := measuredTurns / 2
	if *measure {
		turns = measuredTurns
	}
	for n := 1; n <= turns; n++ {
		m.turn(n)
	}
	require.Empty(t, m.overruns)
	for _, node := range measuredNodes {
		mean, slope := m.trend(node)
		require.Less(t, slope*float64(turns)/mean, 0.05, "%s grows by %.2f tokens a turn over a mean of %.0f", node, slope, mean)
	}
	mean, _ := m.trend("act")
	require.Greater(t, m.history[turns], 10*int(mean))
	if *measure {
		m.write()
	}
}

package jobs_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/crud"
	"alfred/internal/dbtest"
	"alfred/internal/llm"
	"alfred/internal/llm/script"
	"alfred/internal/pg"
	"alfred/internal/prompt"
	"alfred/internal/testfactory"
	"alfred/internal/view"
	"alfred/internal/vocab"
	"alfred/jobs"
	"alfred/nodes"
	"alfred/registry"
)

// tick is how often a test looks whether what it waits for has happened.
const tick = 50 * time.Millisecond

// harness is a database, a session and the configuration of its workers.
type harness struct {
	t       *testing.T
	pool    *pgxpool.Pool
	session uuid.UUID
	config  jobs.Config
	tools   *fakeTools
	prompts *fakePrompts
	model   *countingModel
}

func setup(t *testing.T, yaml string) *harness {
	t.Helper()

	pool := dbtest.Pool(t)
	h := &harness{t: t, pool: pool, tools: &fakeTools{}}
	h.session = h.newSession()
	played, err := script.Parse([]byte(yaml))
	require.NoError(t, err)
	h.model = &countingModel{Model: played, calls: map[string]int{}}
	bound := testfactory.Kitchen(t)
	h.prompts = &fakePrompts{}
	h.config = jobs.Config{
		Pool: pool, Domain: bound, Windows: prompt.DefaultConfig().Windows, Prompts: h.prompts, Tools: h.tools, Index: noIndex{},
		Logger:              slog.New(slog.NewTextHandler(logWriter{t}, &slog.HandlerOptions{Level: slog.LevelInfo})),
		Models:              func(string) llm.Model { return h.model },
		RetentionDecayTurns: 20, Grace: 2 * time.Second, Version: "test", StrictGate: true, CompareCarried: true,
	}

	return h
}

func (h *harness) newSession() uuid.UUID {
	h.t.Helper()

	var session uuid.UUID
	require.NoError(h.t, h.pool.QueryRow(h.t.Context(), `SELECT start_session($1)`, uuid.NewString()).Scan(&session))

	return session
}

// start starts a worker that stops with the test.
func (h *harness) start() {
	h.t.Helper()
	h.startRunner()
}

func (h *harness) startRunner() *jobs.Runner {
	h.t.Helper()

	runner, err := jobs.NewRunner(h.config)
	require.NoError(h.t, err)
	require.NoError(h.t, runner.Start(h.t.Context()))
	h.t.Cleanup(func() { require.NoError(h.t, runner.Stop(context.Background())) })

	return runner
}

func (h *harness) enqueue(params jobs.EnqueueParams) *jobs.Enqueued {
	h.t.Helper()

	turn, err := h.tryEnqueue(params)
	require.NoError(h.t, err)

	return turn
}

func (h *harness) tryEnqueue(params jobs.EnqueueParams) (*jobs.Enqueued, error) {
	if params.SessionID == uuid.Nil {
		params.SessionID = h.session
	}
	if params.Message == "" {
		params.Message = "hello"
	}
	var turn *jobs.Enqueued
	err := pg.InTx(h.t.Context(), h.pool, func(tx pgx.Tx) error {
		var err error
		turn, err = jobs.EnqueueTurn(h.t.Context(), tx, params)

		return err
	})

	return turn, err
}

func (h *harness) cancel(turnID uuid.UUID) bool {
	h.t.Helper()

	var cancelled bool
	require.NoError(h.t, pg.InTx(h.t.Context(), h.pool, func(tx pgx.Tx) error {
		var err error
		cancelled, err = jobs.CancelTurn(h.t.Context(), tx, turnID)

		return err
	}))

	return cancelled
}

func (h *harness) turn(id uuid.UUID) *db.Turns {
	h.t.Helper()

	turn, err := db.New().TurnGet(h.t.Context(), h.pool, id)
	require.NoError(h.t, err)

	return turn
}

// ended waits until the turn is final.
func (h *harness) ended(id uuid.UUID) *db.Turns {
	h.t.Helper()

	var turn *db.Turns
	require.Eventually(h.t, func() bool {
		turn = h.turn(id)

		return turn.Status != db.TurnStatusQueued && turn.Status != db.TurnStatusRunning
	}, dbtest.Patience, 20*time.Millisecond)

	return turn
}

// summarized waits until the turn is completely over.
func (h *harness) summarized(id uuid.UUID) *db.Turns {
	h.t.Helper()

	require.Eventually(h.t, func() bool { return h.turn(id).SummarizedAt != nil }, dbtest.Patience, 20*time.Millisecond)

	return h.turn(id)
}

// column reads one column of a query as a list.
func column[T any](h *harness, sql string, args ...any) []T {
	h.t.Helper()

	rows, err := h.pool.Query(h.t.Context(), sql, args...)
	require.NoError(h.t, err)
	values, err := pgx.CollectRows(rows, pgx.RowTo[T])
	require.NoError(h.t, err)

	return values
}

func (h *harness) events(turnID uuid.UUID) []string {
	return column[string](h, `SELECT type FROM turn_events WHERE turn_id = $1 ORDER BY seq`, turnID)
}

func (h *harness) exec(sql string, args ...any) {
	h.t.Helper()

	_, err := h.pool.Exec(h.t.Context(), sql, args...)
	require.NoError(h.t, err)
}

// countingModel counts the calls of each node and can block them.
type countingModel struct {
	llm.Model

	mu    sync.Mutex
	calls map[string]int
	// before, if set, is called with each request.
	before func(ctx context.Context, req *llm.Request) error
}

func (m *countingModel) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	m.mu.Lock()
	m.calls[req.Node]++
	before := m.before
	m.mu.Unlock()
	if before != nil {
		if err := before(ctx, req); err != nil {
			return nil, err
		}
	}

	return m.Model.Generate(ctx, req)
}

func (m *countingModel) count(node string) int {
	m.mu.Lock()
	defer m.mu.Unlock()

	return m.calls[node]
}

// fakePrompts gives every node a prompt with only the message.
type fakePrompts struct {
	mu          sync.Mutex
	hasQuestion bool
	introduces  bool // what Act says beside its calls begins the reply
	refs        nodes.Refs
	panics      bool
	fallback    string      // added to the reply by code
	unsummed    atomic.Bool // summaries panic

	shown sync.Mutex
	held  []int // how many constraints each view had
}

func (m *fakePrompts) constraints() []int {
	m.shown.Lock()
	defer m.shown.Unlock()

	return slices.Clone(m.held)
}

func (m *fakePrompts) frame(v *view.View) nodes.Frame {
	m.shown.Lock()
	defer m.shown.Unlock()
	m.held = append(m.held, len(v.Constraints))

	return nodes.Frame{
		Persona: "You help.", Blocks: []nodes.Block{{Tag: "current_task", Sections: []nodes.Section{{Heading: "## Current Message", Body: v.Turn.Message}}}},
		Items: []nodes.Item{{Section: "Current Message", Turn: int(v.Turn.Number), Reason: "current", Tokens: 1}},
	}
}

func (m *fakePrompts) Need(string, *view.View) view.Need { return view.Need{Round: true} }

func (m *fakePrompts) Understand(v *view.View) nodes.UnderstandInput {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.panics {
		panic("boom")
	}

	return nodes.UnderstandInput{Frame: m.frame(v), Refs: m.refs, EntityTypes: []string{"recipe", "inv"}, HasQuestion: m.hasQuestion}
}

func (m *fakePrompts) Think(v *view.View) nodes.ThinkInput {
	return nodes.ThinkInput{Frame: m.frame(v), Refs: m.refs, Subdomains: []string{"recipes", "inventory"}, Subdomain: func(word string) string { return word }, MaxSteps: 8}
}

func (m *fakePrompts) Plan(v *view.View) nodes.ThinkInput { return m.Think(v) }

func (m *fakePrompts) Act(v *view.View, step *db.TurnSteps) (nodes.ActInput, error) {
	return nodes.ActInput{
		Frame: m.frame(v), StepType: string(step.StepType), SchemaRequestsLeft: 2, Introduces: m.introduces,
		Toolbox: nodes.Toolbox{Tables: []string{"recipes"}, Writable: map[string][]string{"db_create": {"recipes"}, "db_update": {"recipes"}, "db_delete": {"recipes"}}, EntityTypes: []string{"recipe"}},
	}, nil
}

func (m *fakePrompts) Bounds(v *view.View, step *db.TurnSteps) nodes.ActInput {
	in, _ := m.Act(v, step)

	return in
}

func (m *fakePrompts) Reply(v *view.View) nodes.ReplyInput {
	return nodes.ReplyInput{Frame: m.frame(v), Fallback: "reply from facts" + m.fallback, Drafts: func([]string) string { return "the drafts" }}
}

func (m *fakePrompts) QuickReply(*view.View) string { return "quick reply" }

func (m *fakePrompts) Summarize(v *view.View) nodes.SummarizeInput {
	if m.unsummed.Load() {
		panic("boom")
	}

	return nodes.SummarizeInput{Frame: m.frame(v), Fallback: nodes.SummarizeOutput{
		ResponseSummary: "summary from facts", ConversationPhase: "exploring", Tone: "collaborative",
	}}
}

func (m *fakePrompts) Compress(*view.View) nodes.CompressInput {
	return nodes.CompressInput{Frame: nodes.Frame{Persona: "You help."}, Fallback: nodes.CompressOutput{Conversation: "older turns", Narrative: "older turns"}}
}

// fakeTools writes one row to the table tool_marks per call, so that tests see what was committed.
type fakeTools struct {
	mu      sync.Mutex
	inputs  int
	prepare func(ctx context.Context) error
	undo    func(what crud.Undoing) crud.Outcome
	execute func(ctx context.Context, tx pgx.Tx, scope registry.Scope, calls []vocab.Call) (crud.Outcome, error)
}

func (f *fakeTools) Prepare(ctx context.Context, beginner pg.Beginner, asker crud.Asker, calls []vocab.Call) (crud.Prepared, error) {
	if f.prepare != nil {
		return crud.Prepared{}, f.prepare(ctx)
	}

	return (&crud.Tools{}).Prepare(ctx, beginner, asker, calls)
}

func (f *fakeTools) Execute(ctx context.Context, tx pgx.Tx, scope registry.Scope, _ crud.Bounds, prepared crud.Prepared) (crud.Outcome, error) {
	if f.execute != nil {
		return f.execute(ctx, tx, scope, prepared.Calls())
	}
	var outcome crud.Outcome
	for i, call := range prepared.Calls() {
		outcome.Results = append(outcome.Results, crud.Result{Call: i + 1, Tool: call.Tool, EntityType: "recipe", RowCount: 2, Told: "found 2 recipes"})
	}

	return outcome, nil
}

func (f *fakeTools) Lines(_ context.Context, _ pgx.Tx, _ registry.Scope, refs []string) (map[string]string, error) {
	lines := map[string]string{}
	for _, ref := range refs {
		lines[ref] = "The " + strings.ReplaceAll(ref, "_", " ")
	}

	return lines, nil
}

func (f *fakeTools) ExecuteApproved(context.Context, pgx.Tx, registry.Scope, []crud.ApprovedCall) (crud.Outcome, error) {
	return crud.Outcome{Results: []crud.Result{{Call: 1, Tool: vocab.ToolDelete, EntityType: "recipe", RowCount: 11}}}, nil
}

func (f *fakeTools) Undo(_ context.Context, _ pgx.Tx, _ registry.Scope, what crud.Undoing) (crud.Outcome, error) {
	if f.undo != nil {
		return f.undo(what), nil
	}

	return crud.Outcome{}, nil
}

func (f *fakeTools) ApplyInputs(context.Context, pgx.Tx, registry.Scope, string, json.RawMessage, json.RawMessage) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inputs++

	return nil
}

type noIndex struct{}

func (noIndex) EmbedTurn(context.Context, uuid.UUID) error { return nil }

type logWriter struct{ t *testing.T }

func (w logWriter) Write(p []byte) (int, error) {
	w.t.Log(string(p))

	return len(p), nil
}

// chat is a script of n turns without data.
func chat(n int) string {
	return "turns:\n" + strings.Repeat(`  - understand: {intent: chat, mentions: [], curation_summary: ""}
    think: {goal: "answer", decision: plan, steps: []}
    reply: "Hello, how can I help you with your kitchen today?"
    summarize: {response_summary: "greeted", conversation_phase: exploring, tone: collaborative, what_user_expressed: "", what_we_acknowledged: "", natural_next: ""}
`, n) + "compress: {text: earlier turns}\n"
}

// late sets up a conversation whose next turn, the 21st, is the script's.
func late(t *testing.T, turn string) *harness {
	t.Helper()

	h := setup(t, "turns: ["+strings.Repeat("{}, ", 20)+turn+"]")
	h.exec(`UPDATE sessions SET last_turn = 20 WHERE id = $1`, h.session)

	return h
}

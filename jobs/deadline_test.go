package jobs_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/dbtest"
	"alfred/internal/llm"
	"alfred/jobs"
)

// hang behaves like a server that never answers a node's requests.
func hang(node string, from int) func(context.Context, *llm.Request) error {
	return func(ctx context.Context, req *llm.Request) error {
		if req.Node != node || req.Ordinal < from {
			return nil
		}
		<-ctx.Done()

		return &llm.Error{Kind: llm.KindOverloaded, Provider: "script", Err: ctx.Err()}
	}
}

const oneRead = `turns:
  - understand: {intent: read}
    think: {goal: g, decision: plan, steps: [{type: read, subdomain: recipes, description: Read the recipes, refs: [], needs: rows}]}
    act: [{calls: [{tool: db_read, args: {table: recipes}}]}, {calls: [{tool: step_complete, args: {summary: read}}]}]
    reply: hello
    summarize: {response_summary: s}
  - understand: {intent: chat}
    think: {goal: g, decision: plan, steps: []}
    reply: hello
`

// K02: a model that hangs or requests long pauses blocked a conversation for 18 minutes.
func TestK02Deadline(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		before func(context.Context, *llm.Request) error
		says   string
	}{
		"Hangs": {hang("think", 1), "Nothing was saved or changed."},
		"AsksForPauses": {func(_ context.Context, req *llm.Request) error {
			if req.Node != "think" {
				return nil
			}

			return &llm.Error{Kind: llm.KindRateLimit, Provider: "script", RetryAfter: time.Minute}
		}, "Nothing was saved or changed."},
		"HangsLater": {hang("act", 2), "no answer within"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := setup(t, oneRead)
			h.config.Deadline, h.config.SlowAfter = 700*time.Millisecond, 50*time.Millisecond
			h.model.before = func(ctx context.Context, req *llm.Request) error {
				if req.Turn > 1 {
					return nil
				}

				return tt.before(ctx, req)
			}
			h.start()
			first, second := h.enqueue(jobs.EnqueueParams{}), h.enqueue(jobs.EnqueueParams{})
			turn := h.ended(first.TurnID)
			require.Equal(t, db.TurnStatusFailed, turn.Status)
			require.Equal(t, "timed_out", *turn.ErrorCode)
			require.Contains(t, *turn.ErrorMessage, tt.says)
			if name != "AsksForPauses" {
				require.Contains(t, h.events(turn.ID), "node.waiting", "the person is told before")
			}
			require.Equal(t, db.TurnStatusSucceeded, h.ended(second.TurnID).Status, "the messages behind it go on")
		})
	}

	t.Run("SaysWhatWasDone", func(t *testing.T) {
		t.Parallel()
		h := setup(t, oneRead)
		h.config.Deadline = 500 * time.Millisecond
		h.model.before = hang("act", 2)
		h.start()
		turn := h.enqueue(jobs.EnqueueParams{})
		h.exec(`INSERT INTO turn_step_results (turn_id, user_id, step, call, tool, entity_type, row_count)
			SELECT id, user_id, 1, 9, 'db_create', 'recipe', 2 FROM turns WHERE id = $1`, turn.TurnID)
		require.Contains(t, *h.ended(turn.TurnID).ErrorMessage, "it stays: saved 2 rows.")
	})

	t.Run("ReplyIsMadeFromFacts", func(t *testing.T) {
		t.Parallel()
		h := setup(t, chat(1))
		h.config.Deadline = 300 * time.Millisecond
		h.model.before = hang("reply", 1)
		h.prompts.fallback = " about recipe_1"
		h.exec(`INSERT INTO entity_refs (session_id, ref, entity_type, entity_id, state, action, label, turn_created, turn_last_ref)
			VALUES ($1, 'recipe_1', 'recipe', 'x', 'stored', 'read', 'Butter Chicken', 1, 1)`, h.session)
		h.start()
		turn := h.ended(h.enqueue(jobs.EnqueueParams{}).TurnID)
		require.Equal(t, db.TurnStatusSucceeded, turn.Status)
		require.Equal(t, "reply from facts about Butter Chicken", *turn.Reply)
	})
}

// Y14: a rejected answer counted as a good one, and a cancelled reply as a provider's failure that cost nothing.
func TestY14CallsSayHowTheyEnded(t *testing.T) {
	t.Parallel()

	t.Run("Rejected", func(t *testing.T) {
		t.Parallel()
		h := setup(t, `turns: [{understand: {raw: "Sure!", repairs: [{intent: chat}]}, think: {goal: g, decision: plan, steps: []}, reply: hello}]`)
		h.start()
		turn := h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
		require.Equal(t, []string{"rejected", "used"},
			column[string](h, `SELECT coalesce(error_code, 'used') FROM llm_calls WHERE turn_id = $1 AND node = 'understand' ORDER BY attempt`, turn.ID))
		require.Equal(t, []int64{1}, column[int64](h, `SELECT errors FROM v_llm_costs WHERE node = 'understand' AND session_id = $1`, h.session))
	})

	t.Run("Cancelled", func(t *testing.T) {
		t.Parallel()
		h := setup(t, chat(1))
		asked := make(chan struct{})
		h.config.Prices = llm.Prices{"m": {Input: 1_000_000, Output: 1_000_000}}
		h.config.Models = func(string) llm.Model { return &speaking{h.model, asked} }
		h.start()
		turn := h.enqueue(jobs.EnqueueParams{})
		<-asked
		require.True(t, h.cancel(turn.TurnID))
		require.Eventually(t, func() bool {
			return len(column[string](h, `SELECT id::text FROM llm_calls WHERE turn_id = $1 AND node = 'reply'`, turn.TurnID)) == 1
		}, dbtest.Patience, tick)
		require.Equal(t, []string{"cancelled true true"}, column[string](h,
			`SELECT error_code || ' ' || (input_tokens > 0 AND output_tokens = 3)::text || ' ' || (cost_usd > 0)::text FROM llm_calls WHERE turn_id = $1 AND node = 'reply'`, turn.TurnID))
	})
}

// speaking begins a reply and never ends it.
type speaking struct {
	llm.Model

	asked chan struct{}
}

func (s *speaking) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	if req.Node != "reply" {
		return s.Model.Generate(ctx, req)
	}
	req.OnDelta("Once upon ")
	close(s.asked)
	<-ctx.Done()

	return &llm.Response{Text: "Once upon ", Model: "m", Provider: "p"}, &llm.Error{Kind: llm.KindOverloaded, Provider: "p", Err: ctx.Err()}
}

// K07: NUL and half surrogates in any field failed the turn after three replays of the same answer.
func TestK07HostileCharactersEverywhere(t *testing.T) {
	t.Parallel()

	const bad = `a\\u0000b\\ud800c`
	h := setup(t, `turns:
  - understand: {raw: "{\"intent\": \"read\", \"curation_summary\": \"`+bad+`\", \"constraints\": [{\"text\": \"`+bad+`\", \"kind\": \"other\", \"scope\": \"session\", \"value\": {\"`+bad+`\": \"`+bad+`\"}}]}"}
    think: {raw: "{\"goal\": \"`+bad+`\", \"decision\": \"plan\", \"steps\": [{\"type\": \"read\", \"subdomain\": \"recipes\", \"description\": \"`+bad+`\"}]}"}
    act: [{calls: [{tool: db_read, raw: "{\"table\": \"recipes\", \"columns\": [\"`+bad+`\"]}"}]}, {calls: [{tool: step_complete, raw: "{\"summary\": \"`+bad+`\", \"conclusions\": \"`+bad+`\", \"note\": \"`+bad+`\"}"}]}]
    reply: "a\0b \xF0\x9F"
    summarize: {raw: "{\"response_summary\": \"`+bad+`\"}"}
`)
	h.start()
	turn := h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, db.TurnStatusSucceeded, turn.Status)
	require.Equal(t, "ab\uFFFDc", column[string](h, `SELECT text FROM constraints WHERE session_id = $1`, h.session)[0])
	require.Equal(t, "ab\uFFFDc", column[string](h, `SELECT description FROM turn_steps WHERE turn_id = $1`, turn.ID)[0])
	require.Equal(t, 1, h.model.count("think"))
	require.Zero(t, column[int64](h, `SELECT count(*) FROM llm_calls WHERE turn_id = $1 AND error_code IS NOT NULL`, turn.ID)[0])
}

// The deadline counts from the first attempt, whatever the decision waits for, and a node's own timeout stays.
func TestDeadlineSpansAttempts(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		fail    func(h *harness)
		timeout time.Duration
		status  db.TurnStatus
		says    string
	}{
		"Retries": {func(h *harness) {
			h.model.before = func(_ context.Context, req *llm.Request) error {
				if req.Node != "think" {
					return nil
				}

				return &llm.Error{Kind: llm.KindOverloaded, Provider: "script"}
			}
		}, 0, db.TurnStatusFailed, "no answer within 700ms"},
		"Search": {func(h *harness) {
			h.tools.prepare = func(ctx context.Context) error {
				<-ctx.Done()

				return ctx.Err()
			}
		}, 0, db.TurnStatusFailed, "no answer within 700ms"},
		"OneAttempt": {func(h *harness) {
			h.once("think", func(ctx context.Context) error {
				<-ctx.Done()

				return &llm.Error{Kind: llm.KindOverloaded, Provider: "script", Err: ctx.Err()}
			})
		}, 50 * time.Millisecond, db.TurnStatusSucceeded, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := setup(t, oneRead)
			h.config.Deadline = 700 * time.Millisecond
			if tt.timeout > 0 {
				h.config.Deadline, h.config.Timeouts = time.Minute, jobs.Timeouts{"think": tt.timeout}
			}
			tt.fail(h)
			h.start()
			turn := h.ended(h.enqueue(jobs.EnqueueParams{}).TurnID)
			require.Equal(t, tt.status, turn.Status)
			if tt.says != "" {
				require.Equal(t, "timed_out", *turn.ErrorCode)
				require.Contains(t, *turn.ErrorMessage, tt.says)
			}
		})
	}
}

// The user of a turn that ran out of time is told which steps were finished; turn_end adds the writes from their rows.
func TestOverdueNamesWhatWasFinished(t *testing.T) {
	t.Parallel()

	h := setup(t, oneRead)
	h.config.Deadline, h.config.CompareCarried = 700*time.Millisecond, false // these steps come from nowhere
	h.model.before = hang("act", 2)
	h.start()
	turn := h.enqueue(jobs.EnqueueParams{})
	h.await(`SELECT count(*) FROM turn_steps`)
	h.exec(`INSERT INTO entity_refs (session_id, ref, entity_type, entity_id, state, action, label, turn_created, turn_last_ref)
		VALUES ($1, 'recipe_1', 'recipe', 'x', 'stored', 'read', 'Butter Chicken', 1, 1)`, h.session)
	h.exec(`INSERT INTO turn_steps (turn_id, user_id, step, step_type, subdomain, description, needs, outcome)
		SELECT t.id, t.user_id, s.n, s.kind::step_type, 'recipes', s.told, 'refs', s.outcome::step_outcome FROM turns AS t,
		(VALUES (2, 'read', 'Read recipe_1 in full.', 'ok'), (3, 'write', 'Save the pie.', 'ok'), (4, 'read', 'Read the list.', 'empty'), (5, 'analyze', 'Compare them', 'ok')) AS s (n, kind, told, outcome)
		WHERE t.id = $1`, turn.TurnID)
	require.Contains(t, *h.ended(turn.TurnID).ErrorMessage, "Finished before that: Read Butter Chicken in full; Compare them.")
}

// If a summary's model never answers, only the wording is lost.
func TestSummaryOutOfTimeIsMadeFromFacts(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	h.config.Timeouts = jobs.Timeouts{"summarize": 50 * time.Millisecond}
	h.config.Models = func(string) llm.Model {
		return modelFunc(func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
			if req.Node == "summarize" {
				<-ctx.Done()

				return nil, ctx.Err()
			}

			return h.model.Generate(ctx, req)
		})
	}
	h.start()
	turn := h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, []string{"summary from facts none"}, column[string](h, `SELECT response_summary || ' ' || model FROM turn_summaries WHERE turn_id = $1`, turn.ID))
	require.Contains(t, h.jobs(), "summarize 4 completed 1")
}

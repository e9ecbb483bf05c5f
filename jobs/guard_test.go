package jobs_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/clean"
	"alfred/internal/dbtest"
	"alfred/internal/llm"
	"alfred/internal/telemetry"
	"alfred/internal/view"
	"alfred/jobs"
	"alfred/nodes"
)

const leaked = "01900000-0000-7000-8000-00000000000a"

// In strict mode, a prompt with an identifier is neither sent nor stored.
func TestStrictGateFailsTheTurn(t *testing.T) {
	t.Parallel()
	h := setup(t, chat(1))
	h.start()
	turn := h.ended(h.enqueue(jobs.EnqueueParams{Message: "what is " + leaked}).TurnID) // these prompts do not clean it

	require.Equal(t, db.TurnStatusFailed, turn.Status)
	require.Equal(t, "internal", *turn.ErrorCode)
	require.Zero(t, h.model.count("understand"))
	require.Equal(t, []int64{0}, column[int64](h, `SELECT count(*) FROM llm_calls`))
}

// In production, identifiers are removed from prompts and the reply, refs in it become labels, and removals are
// counted.
func TestGateCleansPromptsAndReplies(t *testing.T) {
	t.Parallel()
	h := setup(t, strings.ReplaceAll(chat(1), "Hello, how", "You are "+leaked+", recipe_1 is yours, how"))
	h.config.StrictGate = false
	h.exec(`INSERT INTO entity_refs (session_id, ref, entity_type, entity_id, state, action, label, turn_created, turn_last_ref)
		VALUES ($1, 'recipe_1', 'recipe', 'x', 'stored', 'read', 'Butter Chicken', 1, 1)`, h.session)
	open, err := telemetry.Open(t.Context(), telemetry.Config{Service: "alfred-worker"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, open.Close(context.Background())) })
	h.config.Metrics = open.Metrics
	h.start()
	turn := h.summarized(h.enqueue(jobs.EnqueueParams{Message: "what is " + leaked}).TurnID)

	require.Equal(t, "You are [id], Butter Chicken is yours, how can I help you with your kitchen today?", *turn.Reply)
	require.Equal(t, []int64{0}, column[int64](h, `SELECT count(*) FROM v_llm_calls WHERE request::text LIKE $1`, "%"+leaked+"%"))
	require.Equal(t, []int64{0}, column[int64](h, `SELECT count(*) FROM turn_events WHERE data::text LIKE $1`, "%"+leaked+"%"))
	require.Eventually(t, func() bool {
		page := httptest.NewRecorder()
		open.Handler().ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/metrics", nil))

		return strings.Contains(page.Body.String(), "alfred_gate_hits_total 5")
	}, dbtest.Patience, tick, "one in each of four prompts, one in the reply")
}

type leaky struct{ jobs.Prompts }

func (m leaky) Compress(v *view.View) nodes.CompressInput {
	in := m.Prompts.Compress(v)
	in.Blocks = append(in.Blocks, nodes.Block{Tag: "known", Sections: []nodes.Section{{Body: leaked}}})

	return in
}

// An alert is raised by the count alone, so it has those of compressions, too.
func TestGateCountsWhatCompressionsHold(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	h.config.StrictGate, h.config.Prompts = false, leaky{h.prompts}
	open, err := telemetry.Open(t.Context(), telemetry.Config{Service: "alfred-worker"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, open.Close(context.Background())) })
	h.config.Metrics = open.Metrics
	h.start()
	h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	h.exec(`SELECT job_insert('compress', jsonb_build_object('session_id', $1::uuid, 'from_turn', 1, 'to_turn', 1), 'background')`, h.session)
	h.await(`SELECT count(*) FROM history_summaries`)
	require.Eventually(t, func() bool {
		page := httptest.NewRecorder()
		open.Handler().ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/metrics", nil))

		return strings.Contains(page.Body.String(), "alfred_gate_hits_total 1")
	}, dbtest.Patience, tick)
}

// A repair quotes what the model wrote: identifiers in it are removed, but do not count as our leak.
func TestGateCleansRepairs(t *testing.T) {
	t.Parallel()
	h := setup(t, chat(1))
	var asked []string
	h.config.Models = func(string) llm.Model {
		return modelFunc(func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
			if req.Node != "understand" || req.Attempt > 1 {
				if req.Node == "understand" {
					asked = append(asked, req.Messages[len(req.Messages)-2].Content, req.Messages[len(req.Messages)-1].Content)
				}

				return h.model.Generate(ctx, req)
			}

			return &llm.Response{Text: `{"intent": "chat", "mentions": [{"text": "it", "ref": "` + leaked + `"}]}`, Provider: "test", Model: "test"}, nil
		})
	}
	h.start()
	require.Equal(t, db.TurnStatusSucceeded, h.ended(h.enqueue(jobs.EnqueueParams{}).TurnID).Status)
	require.Len(t, asked, 2)
	require.NotContains(t, strings.Join(asked, " "), leaked)
	require.Contains(t, asked[0], "[id]")
}

// A streamed reply is cleaned too: a word is shown once it is complete.
func TestGateCleansDeltas(t *testing.T) {
	t.Parallel()
	h := setup(t, chat(1))
	h.config.StrictGate = false
	var seen []string
	h.config.Models = func(node string) llm.Model {
		if node != "reply" {
			return h.model
		}

		return modelFunc(func(_ context.Context, req *llm.Request) (*llm.Response, error) {
			text := strings.Repeat("It is a long reply. ", 20) + leaked + " and more, and the end"
			at := strings.Index(text, "-7000")
			for _, piece := range []string{text[:at], text[at:]} {
				req.OnDelta(piece)
				time.Sleep(300 * time.Millisecond) // longer than pieces are batched
			}
			seen = column[string](h, `SELECT data ->> 'text' FROM turn_events WHERE type = 'reply.delta' ORDER BY seq`)

			return &llm.Response{Text: text, Provider: "test", Model: "test"}, nil
		})
	}
	h.start()
	turn := h.ended(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, db.TurnStatusSucceeded, turn.Status)
	_, found := clean.Redact(strings.Join(seen, ""))
	require.Zero(t, found)
	require.NotContains(t, strings.Join(seen, "|"), "01900000")
	require.Equal(t, strings.TrimSuffix(*turn.Reply, "end"), strings.Join(seen, ""), "all but the word that is being written")
}

// modelFunc adapts a function to a model.
type modelFunc func(context.Context, *llm.Request) (*llm.Response, error)

func (f modelFunc) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	return f(ctx, req)
}

package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/dbtest"
	"alfred/internal/llm"
	"alfred/internal/pg"
	"alfred/internal/view"
	"alfred/jobs"
	"alfred/nodes"
)

// limited enqueues under limits; it returns the limits' error, or nil.
func limited(h *harness, limits jobs.Limits, key string) *jobs.LimitError {
	h.t.Helper()

	_, err := h.tryEnqueue(jobs.EnqueueParams{Limits: limits, IdempotencyKey: key})
	if err == nil {
		return nil
	}
	exceeded, ok := errors.AsType[*jobs.LimitError](err)
	require.True(h.t, ok, err)

	return exceeded
}

func TestLimitsRefuseAMessage(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	require.Nil(t, limited(h, jobs.Limits{Turns: 2}, "a"))
	require.Nil(t, limited(h, jobs.Limits{Turns: 2}, "b"))
	require.Equal(t, "turns", limited(h, jobs.Limits{Turns: 2}, "c").What)
	require.Nil(t, limited(h, jobs.Limits{Turns: 2}, "b"), "a message that is known is no new one")
	require.Equal(t, int64(2), column[int64](h, `SELECT count(*) FROM turns WHERE session_id = $1`, h.session)[0], "a refused message leaves nothing")

	turn := column[[16]byte](h, `SELECT id FROM turns WHERE session_id = $1 ORDER BY number LIMIT 1`, h.session)[0]
	call := func(age string, tokens int, cost float64) {
		h.exec(`INSERT INTO llm_calls (id, session_id, turn_id, node, call, attempt, provider, model, request, response, input_tokens, output_tokens, cached_tokens, cost_usd, latency_ms)
			VALUES (uuid_v7(now() - $3::interval), $1, $2, 'think', 1, 1, 'x', 'x', '{}', '{}', $4, 10, 0, $5::float8, 1)`, h.session, turn, age, tokens, cost)
	}
	call("25 hours", 100000, 100)
	require.Nil(t, limited(h, jobs.Limits{Tokens: 100, CostUSD: 1}, ""), "yesterday's do not count")
	call("0 s", 90, 0.5)
	require.Equal(t, "tokens", limited(h, jobs.Limits{Tokens: 100}, "").What)
	require.Nil(t, limited(h, jobs.Limits{Tokens: 101, CostUSD: 0.51}, ""))
	require.Equal(t, "cost", limited(h, jobs.Limits{CostUSD: 0.5}, "").What)

	h.exec(`UPDATE turns SET status = 'cancelled', finished_at = now() WHERE session_id = $1`, h.session)
	h.session = column[uuid.UUID](h, `SELECT fork_session($1, 2)`, h.session)[0]
	require.Nil(t, limited(h, jobs.Limits{Turns: 5}, "d"), "turns are not used again by a fork")
	require.Equal(t, "turns", limited(h, jobs.Limits{Turns: 5}, "").What, "but those it goes on with are")

	h.session = h.newSession()
	require.Nil(t, limited(h, jobs.Limits{Turns: 1}, ""), "another user's turns do not count")
}

// A message enqueued by SQL is not limited; the worker checks it.
func TestLimitsStopATurnBeforeAnyCall(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(2))
	h.config.Limits = jobs.Limits{Turns: 1}
	first := h.enqueue(jobs.EnqueueParams{})
	second := h.enqueue(jobs.EnqueueParams{})
	h.start()
	require.Equal(t, db.TurnStatusSucceeded, h.ended(first.TurnID).Status)
	ended := h.ended(second.TurnID)
	require.Equal(t, db.TurnStatusFailed, ended.Status)
	require.Equal(t, "limit_exceeded", *ended.ErrorCode)
	require.Contains(t, *ended.ErrorMessage, "tomorrow")
	require.Equal(t, 1, h.model.count("understand"))
}

// Counting goes backwards from the newest turn: a conversation of years costs no more than one of today.
func TestUsageReadsTodayAlone(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	h.exec(`INSERT INTO turns (session_id, user_id, number, message, mode, status, created_at, reply, replied_at, finished_at, summarized_at)
		SELECT s.id, s.user_id, n, 'm', 'plan', 'succeeded', now() - interval '3 days', 'r', now(), now(), now() FROM sessions AS s, generate_series(1, 20000) AS n WHERE s.id = $1`, h.session)
	h.exec(`UPDATE sessions SET last_turn = 20000 WHERE id = $1`, h.session)
	h.exec(`ANALYZE turns`)
	require.NoError(t, pg.InTx(t.Context(), h.pool, func(tx pgx.Tx) error {
		var turns, read int
		require.NoError(t, tx.QueryRow(t.Context(), `SELECT turns FROM usage_today($1)`, h.session).Scan(&turns))
		require.Zero(t, turns)
		require.NoError(t, tx.QueryRow(t.Context(), `SELECT pg_stat_get_xact_tuples_returned('turns'::regclass) + pg_stat_get_xact_tuples_fetched('turns'::regclass)`).Scan(&read))
		require.Less(t, read, 200)

		return nil
	}))
}

// budgeted shows in the message which prompts built the input.
type budgeted struct {
	jobs.Prompts

	note string
}

func (m budgeted) Think(v *view.View) nodes.ThinkInput {
	in := m.Prompts.Think(v)
	in.Persona += m.note

	return in
}

func (m budgeted) Reply(v *view.View) nodes.ReplyInput {
	in := m.Prompts.Reply(v)
	in.Persona += m.note

	return in
}

func (m budgeted) Compress(v *view.View) nodes.CompressInput {
	in := m.Prompts.Compress(v)
	in.Persona += fmt.Sprint(m.note, " ", v.Turn.Number-1) // an identical request would be answered from storage

	return in
}

func TestPromptTooLongIsTriedShorter(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		node   string
		always bool
		code   string
		reply  string
	}{
		"Fits":           {node: "think"},
		"NeverFits":      {node: "think", always: true, code: "context_overflow"},
		"ReplyFits":      {node: "reply", reply: "Hello, "},
		"ReplyNeverFits": {node: "reply", always: true, reply: "reply from facts"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h := setup(t, chat(1))
			h.config.Shorter = []jobs.Prompts{budgeted{h.prompts, " (short)"}, budgeted{h.prompts, " (tight)"}}
			var tried []string
			h.model.before = func(_ context.Context, req *llm.Request) error {
				if req.Node != c.node {
					return nil
				}
				tried = append(tried, regexp.MustCompile(`\((short|tight)\)`).FindString(req.System))
				if tried[len(tried)-1] == "(tight)" && !c.always {
					return nil
				}

				return &llm.Error{Kind: llm.KindContextOverflow, Provider: "script", Err: errors.New("too long")}
			}
			h.start()
			turn := h.ended(h.enqueue(jobs.EnqueueParams{}).TurnID)
			require.Equal(t, []string{"", "(short)", "(tight)"}, tried)
			if c.code != "" {
				require.Equal(t, c.code, *turn.ErrorCode)

				return
			}
			require.Equal(t, db.TurnStatusSucceeded, turn.Status)
			require.Contains(t, *turn.Reply, c.reply)
		})
	}
}

func TestOlderTurnsTooLongAreTriedShorter(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	h := setup(t, chat(5))
	h.config.Windows.CompressEvery = 1
	h.config.Shorter = []jobs.Prompts{budgeted{h.prompts, " (short)"}, budgeted{h.prompts, " (tight)"}}
	h.model.before = func(_ context.Context, req *llm.Request) error {
		if req.Node != "compress" || strings.Contains(req.System, "(tight)") && req.Turn == 1 {
			return nil // the second range never fits
		}

		return &llm.Error{Kind: llm.KindContextOverflow, Provider: "script", Err: errors.New("too long")}
	}
	h.start()
	for range 5 {
		h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	}
	require.Eventually(t, func() bool {
		return column[int64](h, `SELECT count(*) FROM history_summaries WHERE session_id = $1`, h.session)[0] == 4
	}, dbtest.Patience, tick)
	require.Equal(t, []string{"1-1 script", "1-1 script", "1-2 none", "1-2 none"},
		column[string](h, `SELECT from_turn || '-' || to_turn || ' ' || model FROM history_summaries WHERE session_id = $1 ORDER BY 1`, h.session))
	require.Equal(t, []string{"script context_overflow"},
		column[string](h, `SELECT DISTINCT provider || ' ' || error_code FROM llm_calls WHERE session_id = $1 AND error_code IS NOT NULL`, h.session))
}

// covered fails first and recovers, like a model with a fallback.
type covered struct{ llm.Model }

func (c covered) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	time.Sleep(50 * time.Millisecond)
	req.Failed(&llm.Response{Provider: "openai", Model: "busy", Usage: llm.Usage{Input: 10}},
		&llm.Error{Kind: llm.KindOverloaded, Provider: "openai", Err: errors.New("busy")})

	return c.Model.Generate(ctx, req)
}

func TestCallThatFallbackCoversHasARow(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	h.config.Models = func(string) llm.Model { return covered{h.model} }
	h.start()
	h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, []string{"openai busy overloaded", "script script ok"},
		column[string](h, `SELECT concat_ws(' ', provider, model, coalesce(error_code, 'ok')) FROM llm_calls WHERE session_id = $1 AND node = 'think' ORDER BY id`, h.session))
	require.Equal(t, 1, h.model.count("think"))
	require.Equal(t, []bool{false}, column[bool](h, `SELECT s.created_at - s.latency_ms * interval '1 millisecond' < f.created_at FROM llm_calls AS f JOIN llm_calls AS s USING (session_id, node)
		WHERE session_id = $1 AND node = 'think' AND f.error_code IS NOT NULL AND s.error_code IS NULL`, h.session), "the second call begins when the first has failed")
}

// priced answers like a model that costs money.
type priced struct{ llm.Model }

func (p priced) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	response, err := p.Model.Generate(ctx, req)
	if response != nil {
		response.Provider, response.Model, response.Usage = "openai", "dear-2026-01-01", llm.Usage{Input: 1000, Cached: 400, Output: 100}
	}

	return response, err
}

func TestCallsAreCounted(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	h.config.Prices = llm.Prices{"dear": {Input: 10, Cached: 5, Output: 20}}
	h.config.Models = func(string) llm.Model { return priced{h.model} }
	h.start()
	h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, "reply openai dear-2026-01-01 1 0 1000 100 400 0.0100", column[string](h, `SELECT concat_ws(' ', node, provider, model, calls, errors, input_tokens, output_tokens, cached_tokens, round(cost_usd::numeric, 4))
		FROM v_llm_costs WHERE session_id = $1 AND node = 'reply'`, h.session)[0])
	require.Equal(t, "tokens", limited(h, jobs.Limits{Tokens: 4400}, "").What)
	require.Nil(t, limited(h, jobs.Limits{Tokens: 4401, CostUSD: 0.05}, ""))
}

// K12: the tenants' role without a user sees and does nothing; the operator sees everything.
func TestK12NoUserIsNobody(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	turn := h.enqueue(jobs.EnqueueParams{}).TurnID
	require.Equal(t, []int64{1}, column[int64](h, `SELECT count(*) FROM v_queue`))
	tx, err := h.pool.Begin(t.Context())
	require.NoError(t, err)
	defer tx.Rollback(t.Context())
	_, err = tx.Exec(t.Context(), `SET LOCAL ROLE alfred_tenant`)
	require.NoError(t, err)
	var seen int
	require.NoError(t, tx.QueryRow(t.Context(), `SELECT count(*) FROM v_queue`).Scan(&seen))
	require.Zero(t, seen)
	require.NoError(t, tx.QueryRow(t.Context(), `SELECT forget_session($1)::int`, h.session).Scan(&seen))
	require.Zero(t, seen)
	_, err = tx.Exec(t.Context(), `SELECT cancel_turn($1)`, turn)
	require.Equal(t, "AL001", pg.Code(err))
}

// K12: an unknown time zone is refused where it is set, not with every message.
func TestK12UnknownTimeZonesAreRefused(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	for _, zone := range []string{"Mars/Olympus", "", "x", "EDT", "UTC+3", "<+03>-3", "europe/berlin", "Local"} {
		_, err := h.pool.Exec(t.Context(), `UPDATE users SET timezone = $1`, zone)
		require.True(t, pg.Violates(err, "users_timezone_known"), zone)
	}
	h.exec(`UPDATE users SET timezone = 'Europe/Berlin'`)
	require.Empty(t, column[string](h, `SELECT name FROM pg_timezone_names WHERE name !~ '^(posix|right)/' AND NOT is_timezone(name)`))
}

// A turn that has begun is finished: a limit reached meanwhile loses nothing that was paid for.
func TestLimitsLetATurnFinish(t *testing.T) {
	t.Parallel()
	const bought = `INSERT INTO llm_calls (session_id, turn_id, position, node, provider, model, request, response, input_tokens)
		VALUES ($1, $2, $3, 'understand', 'script', 'm', '{}', '{"text": "{\"intent\": \"chat\"}"}', 1000)`
	begin := func(t *testing.T) (*harness, *jobs.Enqueued) {
		t.Helper()
		h := setup(t, chat(2))
		h.config.Limits = jobs.Limits{Tokens: 1000}

		return h, h.enqueue(jobs.EnqueueParams{})
	}

	t.Run("BetweenTwoDecisions", func(t *testing.T) {
		t.Parallel()
		h, turn := begin(t)
		h.once("understand", func(context.Context) error {
			// The next decision loads its view, because the session's version has changed.
			h.exec(bought, h.session, turn.TurnID, 9)
			h.exec(`UPDATE sessions SET version = version + 1`)

			return nil
		})
		h.start()
		require.Equal(t, db.TurnStatusSucceeded, h.ended(turn.TurnID).Status)
	})

	t.Run("WithABoughtAnswer", func(t *testing.T) {
		t.Parallel()
		h, turn := begin(t)
		h.exec(bought, h.session, turn.TurnID, 1)
		h.start()
		require.Equal(t, db.TurnStatusSucceeded, h.ended(turn.TurnID).Status)
		require.Zero(t, h.model.count("understand"))
	})

	t.Run("Undo", func(t *testing.T) {
		t.Parallel()
		h, turn := begin(t)
		h.start()
		h.summarized(turn.TurnID)
		h.exec(bought, h.session, turn.TurnID, 9)
		h.exec(`UPDATE turns SET undo = 'possible' WHERE id = $1`, turn.TurnID)
		require.Equal(t, db.TurnStatusSucceeded, h.ended(h.undo(turn.TurnID)).Status, "no model is asked")
	})
}

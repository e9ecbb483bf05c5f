package eval_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
	"alfred/internal/eval"
	"alfred/internal/llm"
	"alfred/internal/pg"
	"alfred/internal/prompt"
	"alfred/internal/recall"
	"alfred/jobs"
	"alfred/nodes"
)

// listening records what a lab's models are asked, by turn.
type listening struct {
	mu   sync.Mutex
	told map[int]string
}

func listen(l *eval.Lab, prompts *nodes.Prompts) *listening {
	heard, honest := &listening{told: map[int]string{}}, l.Worker
	l.Worker = func(ctx context.Context, pool *pgxpool.Pool, bound *domain.Domain, model string) (jobs.Config, *recall.Index, error) {
		config, index, err := honest(ctx, pool, bound, model)
		models, settings := config.Models, prompt.DefaultConfig()
		settings.Prompts = prompts
		config.Prompts = prompt.New(bound, settings)
		config.Models = func(node string) llm.Model { return &hearing{models(node), heard} }

		return config, index, err
	}

	return heard
}

type hearing struct {
	llm.Model

	heard *listening
}

func (h *hearing) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	h.heard.mu.Lock()
	h.heard.told[req.Turn] += req.System
	for _, m := range req.Messages {
		h.heard.told[req.Turn] += "\n" + m.Content
	}
	h.heard.mu.Unlock()

	return h.Model.Generate(ctx, req)
}

func nothing(*eval.ReplayedTurn) error { return nil }

// A conversation from weeks ago is replayed with its original dates, and what was said and noted then is known and in
// force. With other prompts, the models receive those.
func TestReplayHasTheClockOfThen(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)
	pool := dbtest.Pool(t)
	session, bound := hold(t, pool, "Show my recipes", "No shakshuka this week", "Plan dinners for Monday and Tuesday")
	const ago = 40 * 24 * time.Hour
	_, err := pool.Exec(t.Context(), `UPDATE turns SET created_at = created_at - $1::interval, started_at = started_at - $1::interval, replied_at = replied_at - $1::interval,
		summarized_at = summarized_at - $1::interval, finished_at = finished_at - $1::interval`, ago)
	require.NoError(t, err)
	var then time.Time
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT started_at FROM turns WHERE session_id = $1 AND number = 3`, session).Scan(&then))

	l := lab(t)
	dir := t.TempDir()
	together, err := os.ReadFile("../../nodes/prompts/together.md")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "together.md"), append(together, "\n\nAnswer as a pirate would.\n"...), 0o600))
	prompts, err := nodes.OpenPrompts(os.DirFS(dir))
	require.NoError(t, err)
	heard := listen(l, prompts)
	done, err := l.Replay(t.Context(), &eval.Source{Pool: pool, Bound: bound, Domain: "kitchen"}, session, "offline", 0, "", nil, nothing)
	require.NoError(t, err)
	require.Len(t, done.Turns, 3)
	told := heard.told[3]
	const day = "2006-01-02 (Monday)"
	then = then.UTC()
	sunday := then.AddDate(0, 0, (7-int(then.Weekday()))%7)
	require.Contains(t, told, "Today: "+then.Format(day))
	require.Contains(t, told, "Show my recipes", "what was said before is known")
	require.Contains(t, told, "until "+sunday.Format(day), "and what was noted for that week is in force")
	require.Equal(t, done.Turns[2].Was.Status, done.Turns[2].Is.Status)
	require.Contains(t, told, "as a pirate would")
	require.Less(t, done.Turns[2].Is.Seconds, 3600.0)

	for name, text := range map[string]string{"understand.md": "{{.Nobody", "think.md": `{{part "understand" "Nowhere"}}`} {
		bad := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(bad, name), []byte(text), 0o600))
		_, err := nodes.OpenPrompts(os.DirFS(bad))
		require.ErrorContains(t, err, strings.TrimSuffix(name, ".md"))
	}
	_, err = nodes.OpenPrompts(os.DirFS(t.TempDir()))
	require.ErrorContains(t, err, "no prompt in the folder")
}

// Undos by button are repeated, without asking a model.
func TestReplayRepeatsUndos(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)
	pool := dbtest.Pool(t)
	session, bound := hold(t, pool, "Delete the shakshuka", "Show my recipes")
	var target uuid.UUID
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT id FROM turns WHERE session_id = $1 AND number = 1`, session).Scan(&target))
	require.NoError(t, pg.InTx(t.Context(), pool, func(tx pgx.Tx) error {
		_, err := jobs.UndoTurn(t.Context(), tx, jobs.UndoParams{TurnID: target})

		return err
	}))
	work(t, pool, bound, session)
	done, err := lab(t).Replay(t.Context(), &eval.Source{Pool: pool, Bound: bound, Domain: "kitchen"}, session, "offline", 0, "", nil, nothing)
	require.NoError(t, err)
	require.Len(t, done.Turns, 3)
	require.Contains(t, done.Turns[2].Is.Reply, "Took back “Delete the shakshuka”", done.Text())
	require.Zero(t, done.Turns[2].Is.Models)
	require.Equal(t, eval.Rows{Equal: done.Turns[2].Rows.Equal}, done.Turns[2].Rows, done.Text())
}

// work lets a worker process what is waiting in a session.
func work(t *testing.T, pool *pgxpool.Pool, bound *domain.Domain, session uuid.UUID) {
	t.Helper()
	config, _, err := lab(t).Worker(t.Context(), pool, bound, "offline")
	require.NoError(t, err)
	runner, err := jobs.NewRunner(config)
	require.NoError(t, err)
	require.NoError(t, runner.Start(t.Context()))
	awaitRest(t, pool, session)
	ctx, cancel := context.WithTimeout(context.Background(), dbtest.Patience)
	defer cancel()
	require.NoError(t, runner.Stop(ctx))
}

// A long conversation's interrupted replay continues from its file with the same result: 24 turns, or
// ALFRED_REPLAY_TURNS. The time per turn that is not spent waiting for a model is the cost of replaying itself.
func TestALongReplayGoesOn(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)
	turns, err := strconv.Atoi(os.Getenv("ALFRED_REPLAY_TURNS"))
	if err != nil {
		turns = 24
	}
	pool := dbtest.Pool(t)
	session, bound := hold(t, pool, "Show my recipes")
	_, err = pool.Exec(t.Context(), `INSERT INTO turns (session_id, user_id, number, message, mode, status, reply, created_at, started_at, replied_at, summarized_at, finished_at)
		SELECT s.id, s.user_id, n, CASE n % 3 WHEN 0 THEN 'Add ' || n || ' eggs to my shopping list' WHEN 1 THEN 'Show my recipes' ELSE 'What is in my pantry?' END,
		       'plan', 'succeeded', 'so', x.at, x.at, x.at, x.at, x.at
		FROM sessions AS s, generate_series(2, $2) AS n, LATERAL (SELECT now() + n * interval '1 second' AS at) AS x WHERE s.id = $1`, session, turns)
	require.NoError(t, err)
	src := &eval.Source{Pool: pool, Bound: bound, Domain: "kitchen"}
	file, plan := filepath.Join(t.TempDir(), "replay.jsonl"), &eval.Replay{Session: session, Model: "offline"}
	halt := errors.New("the power went")
	_, add, err := eval.ResumeReplay(file, plan)
	require.NoError(t, err)
	started := time.Now()
	_, err = lab(t).Replay(t.Context(), src, session, "offline", 0, "", nil, func(turn *eval.ReplayedTurn) error {
		if err := add(turn); err != nil || turn.Number < turns/2 {
			return err
		}

		return halt
	})
	require.ErrorIs(t, err, halt)
	t.Logf("%d turns took %s each, all in", turns/2, (time.Since(started) / time.Duration(turns/2)).Round(time.Millisecond))
	before, add, err := eval.ResumeReplay(file, plan)
	require.NoError(t, err)
	require.Len(t, before.Turns, turns/2)
	more := 0
	done, err := lab(t).Replay(t.Context(), src, session, "offline", 0, "", before, func(turn *eval.ReplayedTurn) error {
		more++

		return add(turn)
	})
	require.NoError(t, err)
	require.Len(t, done.Turns, turns)
	require.Equal(t, turns-turns/2, more, "what was kept is not kept again")
	last, _, err := eval.ResumeReplay(file, plan)
	require.NoError(t, err)
	require.Len(t, last.Turns, turns)
	for i := range done.Turns {
		require.Equal(t, "succeeded", done.Turns[i].Is.Status)
	}
}

// fork begins a session as another one stood after a turn, and says something in it.
func fork(t *testing.T, pool *pgxpool.Pool, bound *domain.Domain, parent uuid.UUID, turn int, messages ...string) (session uuid.UUID) {
	t.Helper()
	require.NoError(t, pg.InTx(t.Context(), pool, func(tx pgx.Tx) (err error) {
		session, err = jobs.ForkSession(t.Context(), tx, parent, turn)

		return err
	}))
	for _, message := range messages {
		require.NoError(t, pg.InTx(t.Context(), pool, func(tx pgx.Tx) error {
			_, err := jobs.EnqueueTurn(t.Context(), tx, jobs.EnqueueParams{SessionID: session, Message: message})

			return err
		}))
	}
	work(t, pool, bound, session)

	return session
}

// A fork has copies only of its parent's last turns, so it is replayed from the parent's first turn, or from the first
// copy if the parent is forgotten.
func TestReplayOfAFork(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)
	pool := dbtest.Pool(t)
	parent, bound := hold(t, pool, "Show my recipes", "Add 12 eggs to the fridge", "What is in my pantry?", "hello", "Show my recipes", "thanks", "What are my tasks?", "Delete the shakshuka")
	session := fork(t, pool, bound, parent, 7, "Set the milk to 2 litres")
	session = fork(t, pool, bound, session, 8, "Show my recipes")
	src := &eval.Source{Pool: pool, Bound: bound, Domain: "kitchen"}
	done, err := lab(t).Replay(t.Context(), src, session, "offline", 3, "", nil, nothing)
	require.NoError(t, err)
	require.Len(t, done.Turns, 9)
	require.Empty(t, done.Notes, "what was answered in the parent is known")
	require.Equal(t, eval.Rows{Equal: 1}, done.Turns[1].Rows, done.Text())
	require.Equal(t, eval.Rows{Equal: 1}, done.Turns[7].Rows, done.Text())
	require.Equal(t, "Set the milk to 2 litres", done.Turns[7].Message)
	require.Equal(t, done.Turns[6].Was.Reply, done.Turns[6].Is.Reply)

	_, err = pool.Exec(t.Context(), `SELECT forget_session($1)`, parent)
	require.NoError(t, err)
	done, err = lab(t).Replay(t.Context(), src, session, "offline", 0, "", nil, nothing)
	require.NoError(t, err)
	require.Equal(t, 3, done.Turns[0].Number)
	require.Equal(t, 9, done.Turns[len(done.Turns)-1].Number)
	require.Contains(t, strings.Join(done.Notes, "; "), "it begins with turn 3")
	_, err = lab(t).Replay(t.Context(), src, session, "offline", 10, "", nil, nothing)
	require.ErrorIs(t, err, eval.ErrNoTurn)
}

// The replay reports what is no longer kept: old values, which are not rolled back, and answers, which are bought
// again.
func TestReplayOfWhatIsNoLongerKept(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)
	pool := dbtest.Pool(t)
	session, bound := hold(t, pool, "Show my recipes", "Delete the shakshuka", "Show my recipes")
	_, err := pool.Exec(t.Context(), `WITH calls AS (DELETE FROM llm_calls) DELETE FROM row_changes`)
	require.NoError(t, err)
	done, err := lab(t).Replay(t.Context(), &eval.Source{Pool: pool, Bound: bound, Domain: "kitchen"}, session, "offline", 3, "", nil, nothing)
	require.NoError(t, err)
	notes := strings.Join(done.Notes, "\n")
	require.Contains(t, notes, "what 1 of the user's turns wrote stays")
	require.Contains(t, notes, "the model was asked in 2 turns before")
	require.NotContains(t, done.Turns[0].Is.Reply, "Shakshuka")
}

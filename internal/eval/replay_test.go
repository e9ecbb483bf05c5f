package eval_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
	"alfred/internal/eval"
	"alfred/internal/llm"
	"alfred/internal/llm/script"
	"alfred/internal/recall"
	"alfred/jobs"
)

// Replaying a conversation with its own model gives the same result; with another model from some turn on, the earlier
// turns are unchanged and the differences are reported. The live rows are never touched.
func TestReplay(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)
	pool := dbtest.Pool(t)
	session, bound := hold(t, pool, "Show my recipes", "Add 12 eggs to the fridge", "What is in my pantry?", "Set the milk to 2 litres", "Delete the shakshuka", "Draft a Thai basil chicken", "Save it", "undo that")
	src := &eval.Source{Pool: pool, Bound: bound, Domain: "kitchen"}
	live := rowsOf(t, pool)
	keep := func(*eval.ReplayedTurn) error { return nil }

	same, err := lab(t).Replay(t.Context(), src, session, "offline", 0, "", nil, keep)
	require.NoError(t, err)
	require.Len(t, same.Turns, 8)
	for _, turn := range same.Turns {
		require.Equal(t, turn.Was.Reply, turn.Is.Reply, same.Text())
		require.Equal(t, turn.Was.Calls, turn.Is.Calls)
		require.Equal(t, eval.Rows{Equal: turn.Rows.Equal}, turn.Rows, same.Text())
	}
	require.Equal(t, 9, same.Turns[6].Rows.Equal, "rows that refer to one that was made too")
	require.Equal(t, 9, same.Turns[7].Rows.Equal, "and rows that were made and are gone")
	require.Positive(t, same.Turns[1].Rows.Equal)
	require.Positive(t, same.Turns[4].Rows.Equal)

	other := lab(t)
	asked := spoil(other)
	differs, err := other.Replay(t.Context(), src, session, "offline", 4, "", nil, keep)
	require.NoError(t, err)
	require.Equal(t, 1, differs.Turns[1].Rows.Equal, differs.Text())
	require.Positive(t, differs.Turns[3].Rows.Missing, differs.Text())
	require.Contains(t, differs.Text(), "reply   was:")
	require.Contains(t, differs.Text(), "inv updated: only then")
	require.Equal(t, live, rowsOf(t, pool))

	// Interrupted after its fourth turn, it continues without repeating answered requests.
	halt, file := errors.New("the power went"), filepath.Join(t.TempDir(), "replay.jsonl")
	kept, add, err := eval.ResumeReplay(file, &eval.Replay{Session: session, Model: "offline", From: 4})
	require.NoError(t, err)
	require.Nil(t, kept)
	_, err = other.Replay(t.Context(), src, session, "offline", 4, "", nil, func(turn *eval.ReplayedTurn) error {
		if err := add(turn); err != nil || turn.Number < 4 {
			return err
		}

		return halt
	})
	require.ErrorIs(t, err, halt)
	torn, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = torn.WriteString(`{"number": 5, "mess`)
	require.NoError(t, errors.Join(err, torn.Close()))
	kept, _, err = eval.ResumeReplay(file, &eval.Replay{Session: session, Model: "offline", From: 4})
	require.NoError(t, err)
	require.Len(t, kept.Turns, 4)
	*asked = nil
	whole, err := other.Replay(t.Context(), src, session, "offline", 4, "", kept, keep)
	require.NoError(t, err)
	require.Equal(t, differs.Turns[3].Is.Reply, whole.Turns[3].Is.Reply)
	require.Len(t, whole.Turns, 8)
	require.NotContains(t, *asked, 4)
	require.Contains(t, *asked, 5)
	_, _, err = eval.ResumeReplay(file, &eval.Replay{Session: session, Model: "offline", From: 1})
	require.ErrorContains(t, err, "name another file")

	var page strings.Builder
	require.NoError(t, differs.HTML(&page))
	require.Contains(t, page.String(), "Delete the shakshuka")
	require.Contains(t, page.String(), "missing")
}

// spoil makes a lab's models claim what they have not done, and records the turns in which they are asked.
func spoil(l *eval.Lab) *[]int {
	asked, mu, honest := &[]int{}, &sync.Mutex{}, l.Worker
	l.Worker = func(ctx context.Context, pool *pgxpool.Pool, bound *domain.Domain, model string) (jobs.Config, *recall.Index, error) {
		config, index, err := honest(ctx, pool, bound, model)
		models := config.Models
		config.Models = func(node string) llm.Model {
			return &noting{script.DisturbAlways(models(node), "claim_without_call"), mu, asked}
		}

		return config, index, err
	}

	return asked
}

type noting struct {
	llm.Model

	mu    *sync.Mutex // background jobs also ask
	asked *[]int
}

func (n *noting) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	if req.Node != "compress" { // of no turn
		n.mu.Lock()
		*n.asked = append(*n.asked, req.Turn)
		n.mu.Unlock()
	}

	return n.Model.Generate(ctx, req)
}

func rowsOf(t *testing.T, pool *pgxpool.Pool) (hash string) {
	t.Helper()
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT md5(string_agg(x::text, '' ORDER BY x::text)) FROM (SELECT r::text AS x FROM kitchen.recipes r UNION ALL SELECT v::text FROM kitchen.inventory v) AS x`).Scan(&hash))

	return hash
}

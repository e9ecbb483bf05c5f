package jobs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/jobs"
)

func TestTurnRunsToItsSummary(t *testing.T) {
	t.Parallel()

	h := setup(t, chat(1))
	h.start()
	turn := h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)

	require.Equal(t, db.TurnStatusSucceeded, turn.Status)
	require.Equal(t, "Hello, how can I help you with your kitchen today?", *turn.Reply)
	require.Equal(t, "answer", *turn.Goal)
	require.Equal(t, []string{
		"turn.started", "node.started", "node.finished", "node.started", "node.finished", "node.started", "node.finished", "reply", "turn.finished",
	}, h.events(turn.ID))
	require.Equal(t, []string{"understand", "think", "reply", "summarize"},
		column[string](h, `SELECT node FROM node_runs WHERE turn_id = $1 ORDER BY position`, turn.ID))
	require.Equal(t, []string{"understand", "think", "reply", "summarize"},
		column[string](h, `SELECT node FROM llm_calls WHERE turn_id = $1 ORDER BY id`, turn.ID))
	require.Equal(t, []string{"greeted"}, column[string](h, `SELECT response_summary FROM turn_summaries WHERE turn_id = $1`, turn.ID))
	require.Equal(t, []int64{4}, column[int64](h, `SELECT count(*) FROM context_items`))
	require.Zero(t, h.tools.inputs, "nothing to apply costs no transaction")
	require.NotNil(t, turn.InputsAppliedAt)
}

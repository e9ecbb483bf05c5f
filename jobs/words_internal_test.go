package jobs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/crud"
	"alfred/internal/llm"
	"alfred/internal/vocab"
)

// What a user approved ends its step, however it went: a write of no rows is empty, of one or more is done.
func TestWhatWasApprovedEnds(t *testing.T) {
	t.Parallel()

	rows := func(n int) *crud.Outcome {
		return &crud.Outcome{Results: []crud.Result{{Tool: vocab.ToolDelete, RowCount: n}}}
	}
	refused := rows(0)
	refused.Results[0].ErrorCode, refused.Results[0].ErrorMessage = crud.CodeNotFound, "It is gone."
	for _, c := range []struct {
		outcome *crud.Outcome
		want    db.StepOutcome
	}{{rows(0), db.StepOutcomeEmpty}, {rows(1), db.StepOutcomeOk}, {rows(2), db.StepOutcomeOk}, {refused, db.StepOutcomeFailed}} {
		m := afterApproved(c.outcome, acted{})
		require.Equal(t, c.want, m.end.outcome)
		require.Equal(t, vocab.NodeReply, m.next)
		for needs, next := range map[bool]string{true: vocab.NodeReply, false: vocab.NodeAct} {
			m = afterApproved(c.outcome, acted{later: []later{{step: 2, needs: needs}}})
			if c.want != db.StepOutcomeFailed {
				next = vocab.NodeAct
			}
			require.Equal(t, next, m.next, "what waited follows, unless it needs what failed")
		}
	}
	require.Equal(t, "Nothing was changed: It is gone.", afterApproved(refused, acted{}).end.summary)
}

// A provider that says when to come back is asked again then, as long as that is soon and has not happened too often.
func TestProvidersPausesAreKept(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		after   time.Duration
		snoozes int
		want    verdict
	}{
		{time.Second, 0, verdictSnooze},
		{maxSnooze, maxSnoozes - 1, verdictSnooze},
		{maxSnooze + 1, 0, verdictRetry},
		{time.Second, maxSnoozes, verdictRetry},
		{0, 0, verdictRetry},
	} {
		for _, kind := range []llm.Kind{llm.KindRateLimit, llm.KindOverloaded} {
			out := judgeModel(&llm.Error{Kind: kind, RetryAfter: c.after}, 1, c.snoozes)
			require.Equal(t, c.want, out.verdict, "%s after %s, %d times before", kind, c.after, c.snoozes)
			if c.want == verdictSnooze {
				require.Equal(t, c.after, out.after)
			}
		}
	}
}

func TestDeadlinesAreToldInWords(t *testing.T) {
	t.Parallel()

	for limit, want := range map[time.Duration]string{
		5 * time.Minute: "5 minutes", time.Minute: "a minute", 2 * time.Hour: "120 minutes", 90 * time.Second: "1m30s", 8 * time.Second: "8s",
	} {
		require.Equal(t, want, inWords(limit))
	}
}

package jobs

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"alfred/internal/llm"
	"alfred/internal/view"
)

func TestJudge(t *testing.T) {
	t.Parallel()

	model := func(kind llm.Kind, after time.Duration) error {
		return fmt.Errorf("think: %w", &llm.Error{Kind: kind, Provider: "p", RetryAfter: after, Err: errors.New("x")})
	}
	tests := map[string]struct {
		err     error
		attempt int
		snoozes int
		want    outcome
	}{
		"auth":                    {model(llm.KindAuth, 0), 1, 0, outcome{verdict: verdictFail, code: "model_auth"}},
		"bug":                     {errors.New("bug"), 1, 0, outcome{verdict: verdictRetry}},
		"bug, third time":         {errors.New("bug"), 3, 0, outcome{verdict: verdictFail, code: "internal"}},
		"cancelled":               {errors.Join(errCancelled, model(llm.KindOverloaded, 0)), 6, 0, outcome{verdict: verdictCancel}},
		"connection lost":         {&pgconn.PgError{Code: "57P01"}, 6, 0, outcome{verdict: verdictSnooze, after: 500 * time.Millisecond}},
		"context overflow":        {model(llm.KindContextOverflow, 0), 1, 0, outcome{verdict: verdictFail, code: "context_overflow"}},
		"deadlock":                {&pgconn.PgError{Code: "40P01"}, 6, 0, outcome{verdict: verdictSnooze, after: 500 * time.Millisecond}},
		"identifier in a prompt":  {fmt.Errorf("check: %w", view.ErrLeak), 1, 0, outcome{verdict: verdictFail, code: "internal"}},
		"invalid output":          {model(llm.KindInvalidOutput, 0), 1, 0, outcome{verdict: verdictFail, code: "invalid_output"}},
		"invalid request":         {model(llm.KindInvalidRequest, 0), 1, 0, outcome{verdict: verdictFail, code: "model_unavailable", text: unsuitable}},
		"lease lost":              {errors.Join(errLeaseLost, context.Canceled), 6, 0, outcome{verdict: verdictHandBack}},
		"lock timeout":            {&pgconn.PgError{Code: "55P03"}, 6, 0, outcome{verdict: verdictSnooze, after: 500 * time.Millisecond}},
		"no connection":           {&pgconn.PgError{Code: "53300"}, 6, 5, outcome{verdict: verdictSnooze, after: 16 * time.Second}},
		"no connection, for ever": {&pgconn.PgError{Code: "53300"}, 6, 20, outcome{verdict: verdictFail, code: "internal"}},
		"none":                    {nil, 1, 0, outcome{verdict: verdictDone}},
		"overloaded":              {model(llm.KindOverloaded, 0), 5, 0, outcome{verdict: verdictRetry}},
		"overloaded to the end":   {model(llm.KindOverloaded, 0), 6, 0, outcome{verdict: verdictFail, code: "model_unavailable"}},
		"panic":                   {&panicError{value: "x"}, 1, 0, outcome{verdict: verdictRetry}},
		"rate limit":              {model(llm.KindRateLimit, time.Second), 6, 3, outcome{verdict: verdictSnooze, after: time.Second}},
		"rate limit, too long":    {model(llm.KindRateLimit, time.Hour), 1, 0, outcome{verdict: verdictRetry}},
		"rate limit, too often":   {model(llm.KindRateLimit, time.Second), 6, 10, outcome{verdict: verdictFail, code: "model_unavailable"}},
		"served elsewhere":        {&pgconn.PgError{Code: "AL010"}, 6, 9, outcome{verdict: verdictSnooze, after: 2 * time.Second}},
		"refusal":                 {model(llm.KindRefusal, 0), 1, 0, outcome{verdict: verdictFail, code: "model_refused"}},
		"script exhausted":        {model(llm.KindScriptExhausted, 0), 1, 0, outcome{verdict: verdictFail, code: "script_exhausted"}},
		"stale":                   {fmt.Errorf("commit: %w", errStale), 6, 0, outcome{verdict: verdictStale}},
		"stopping":                {context.Canceled, 6, 0, outcome{verdict: verdictHandBack}},
		"timeout":                 {context.DeadlineExceeded, 6, 0, outcome{verdict: verdictFail, code: "model_unavailable"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := judge(test.err, test.attempt, test.snoozes)
			require.Equal(t, test.want, got)
			if got.verdict == verdictFail {
				require.NotEmpty(t, sentences[got.code])
			}
		})
	}
}

func TestPauseGrowsFromHalfASecond(t *testing.T) {
	t.Parallel()

	require.Equal(t, []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 30 * time.Second},
		[]time.Duration{pause(1), pause(2), pause(3), pause(4), pause(60)})
}

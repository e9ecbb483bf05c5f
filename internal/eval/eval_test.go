package eval_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
	"alfred/internal/engine"
	"alfred/internal/eval"
	"alfred/internal/llm"
	"alfred/internal/llm/lexical"
	"alfred/internal/llm/offline"
	"alfred/internal/llm/script"
	"alfred/internal/prompt"
	"alfred/internal/recall"
	"alfred/jobs"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// lab runs the tests' suites: with the offline model, or the script of cases that have one.
func lab(t *testing.T) *eval.Lab {
	t.Helper()

	return &eval.Lab{
		Address: dbtest.Server(t), Parallel: 3, Timeout: dbtest.Patience,
		Worker: func(_ context.Context, pool *pgxpool.Pool, bound *domain.Domain, _ string) (jobs.Config, *recall.Index, error) {
			model := offline.New(bound)
			config := jobs.Config{
				Pool: pool, Domain: bound, Logger: slog.New(slog.DiscardHandler), Models: func(string) llm.Model { return model }, Version: "eval", Grace: time.Second,
			}
			index := engine.Complete(&config, recall.New(bound, lexical.Embedder{}), prompt.DefaultConfig())

			return config, index, nil
		},
	}
}

func load(t *testing.T, name string) *eval.Suite {
	t.Helper()
	suite, err := eval.Load(name)
	require.NoError(t, err)

	return suite
}

// parse reads a suite about the kitchen.
func parse(t *testing.T, cases string) *eval.Suite {
	t.Helper()
	suite, err := eval.Parse([]byte("suite: test\ndomain: kitchen\nseed: SELECT kitchen.seed_demo(current_setting('alfred.user_id')::uuid)\ncases:\n"+cases), os.DirFS(t.TempDir()))
	require.NoError(t, err)

	return suite
}

func run(t *testing.T, l *eval.Lab, s *eval.Suite) *eval.Report {
	t.Helper()
	result, err := l.Run(t.Context(), s, "script")
	require.NoError(t, err)

	return &eval.Report{Run: result}
}

func text(t *testing.T, report *eval.Report) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, report.Text(&b))

	return b.String()
}

// The built-in suites pass with the models that need no network: one case in three, and all in `make nightly`.
func TestSuitesPass(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)
	for name, least := range map[string]int{"kitchen": 60, "shop": 12} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suite := load(t, name)
			require.GreaterOrEqual(t, len(suite.Cases), least)
			picked := dbtest.Sample(t, 3)
			suite.Cases = slices.DeleteFunc(suite.Cases, func(eval.Case) bool { return !picked() })
			report := run(t, lab(t), suite)
			require.Empty(t, report.Verdict(1), text(t, report))
		})
	}
}

// sampled is one case in twenty; all with DISTURBED set, as in make disturbed, which takes minutes.
func sampled(suite *eval.Suite) *eval.Suite {
	if os.Getenv("DISTURBED") != "" {
		return suite
	}
	every := min(20, len(suite.Cases))
	first := rand.IntN(every)
	n := -1
	suite.Cases = slices.DeleteFunc(suite.Cases, func(eval.Case) bool { n++; return n%every != first })

	return suite
}

// A case that nothing can fail proves nothing: each fails under a typical model error, including errors that do not
// prevent a reply.
func TestEachCaseFailsUnderADisturbance(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)
	kit := append([]string{"claim_without_call", "step_complete_too_early", "missing_field"}, script.Errors()...)
	for _, name := range []string{"kitchen", "shop"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			left := sampled(load(t, name))
			for i, mistake := range kit {
				if slices.Index(kit, mistake) < i || len(left.Cases) == 0 {
					continue
				}
				l := lab(t)
				l.Models = func(models func(string) llm.Model) func(string) llm.Model {
					return func(node string) llm.Model { return script.DisturbAlways(models(node), mistake) }
				}
				result := run(t, l, left).Run
				before := len(left.Cases)
				left.Cases = slices.DeleteFunc(left.Cases, func(c eval.Case) bool {
					return slices.ContainsFunc(result.Cases, func(r eval.Result) bool { return r.Case == c.Case && r.Outcome() == eval.Failed })
				})
				t.Logf("%s: %d of %d cases fail", mistake, before-len(left.Cases), before)
			}
			for _, c := range left.Cases {
				t.Errorf("case %s passes whatever the model answers", c.Case)
			}
		})
	}
}

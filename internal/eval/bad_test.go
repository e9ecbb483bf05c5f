package eval_test

import (
	"context"
	"encoding/xml"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
	"alfred/internal/eval"
	"alfred/internal/llm"
	"alfred/internal/llm/script"
	"alfred/internal/recall"
	"alfred/internal/scratch"
	"alfred/jobs"
)

// A fault of one case is reported, and the next one still runs.
func TestWhatIsWrongWithACaseStopsNoOther(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)
	suite := parse(t, `
  - case: no such column
    turns: [{say: Show my recipes, expect: {sql: [{sql: SELECT flavour FROM recipes, is: 1}]}}]
  - case: seed that cannot run
    seed: INSERT INTO recipes (flavour) VALUES ('sweet')
    turns: [{say: Hello}]
  - case: hangs
    seed: SELECT pg_sleep(1000)
    turns: [{say: Hello}]
  - case: writes outside its tenant
    seed: |
      CREATE FUNCTION kitchen.leak() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
      BEGIN
        UPDATE kitchen.recipes SET name = name || '!' WHERE user_id <> NEW.user_id;
        RETURN NULL;
      END $$;
      CREATE TRIGGER leak AFTER INSERT ON kitchen.shopping_list FOR EACH ROW EXECUTE FUNCTION kitchen.leak();
    turns: [{say: Add milk and eggs to my shopping list}]
  - case: claims more than is there
    turns: [{say: Show my recipes, expect: {reply: {has: [Caviar]}, writes: [recipes]}}]
  - case: limits
    turns: [{say: Show my recipes}, {say: What is in my pantry?}]
    limits: {calls: 1, tokens: 1}
  - case: fine
    turns: [{say: Show my recipes, expect: {reply: {has: [Pad See Ew]}, writes: [], asks: none}}]
    judge: It greets nobody.
`)
	l := lab(t)
	l.Timeout = 20 * time.Second
	report := run(t, l, suite)
	why := map[string]string{}
	for i := range report.Run.Cases {
		c := &report.Run.Cases[i]
		why[c.Case] = c.Outcome() + " " + c.Trials[0].Error
		for _, f := range c.Trials[0].Faults {
			why[c.Case] += f.String() + "; "
		}
	}
	for name, want := range map[string]string{
		"no such column":            `broken turn 1: SELECT flavour FROM recipes: ERROR: column "flavour" does not exist`,
		"seed that cannot run":      `broken seed: ERROR: column "flavour" of relation "recipes" does not exist`,
		"hangs":                     "broken it hangs: not over after 20s, before the first message was answered",
		"writes outside its tenant": "failed turn 1: rows of others: want none written, got update in kitchen.recipes",
		"claims more than is there": "failed turn 1: reply: want the words Caviar",
		"limits":                    "failed in the end: calls: want 1 at most",
		"fine":                      "passed ",
	} {
		require.True(t, strings.HasPrefix(why[name], want), "%s: %s", name, why[name])
	}
	require.Equal(t, "not judged: no judge is named", report.Run.Cases[6].Trials[0].Judged)
	require.Contains(t, report.Verdict(0), "3 of 7 cases could not be run")
	requireReports(t, report)
}

// The reports contain the run's results, with timelines and prompts of what did not pass.
func requireReports(t *testing.T, report *eval.Report) {
	t.Helper()
	said := text(t, report)
	require.Contains(t, said, "db_read recipe: 3 rows")
	var junit, page, data strings.Builder
	require.NoError(t, report.JUnit(&junit))
	require.Contains(t, junit.String(), `tests="7" failures="3" errors="3"`)
	var parsed struct {
		Failed []string `xml:"testcase>failure"`
		Broken []string `xml:"testcase>error"`
	}
	require.NoError(t, xml.Unmarshal([]byte(junit.String()), &parsed))
	require.Len(t, parsed.Failed, 3)
	require.Len(t, parsed.Broken, 3)
	require.Contains(t, strings.Join(parsed.Broken, "\n"), `column "flavour" does not exist`, "what is escaped is read as it was")
	require.NoError(t, report.HTML(&page))
	require.Contains(t, page.String(), "understand")
	require.Contains(t, page.String(), "&lt;") // prompts are escaped
	require.NoError(t, report.JSON(&data))
	again, err := eval.ReadReport([]byte(data.String()))
	require.NoError(t, err)
	require.Equal(t, report.Run.Failed, again.Failed)
	for _, row := range (&eval.Report{Run: report.Run, Other: again}).Rows() {
		require.NotNil(t, row.Other)
		require.Empty(t, row.Trend)
	}
}

// A turn whose model never answers only blocks its own trial.
func TestAModelThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)
	suite := parse(t, `
  - case: silence
    turns: [{say: Hello}, {say: And now?}]
`)
	l := lab(t)
	l.Timeout = 20 * time.Second
	l.Models = func(func(string) llm.Model) func(string) llm.Model {
		slow, err := script.Parse([]byte(`turns: [{understand: {intent: chat}, think: {goal: Talk, decision: plan, steps: []}, reply: Hello.}, {understand: {raw: "{}", delay: 1h}}]`))
		require.NoError(t, err)

		return func(string) llm.Model { return slow }
	}
	report := run(t, l, suite).Run
	result := report.Cases[0].Trials[0]
	require.Equal(t, eval.Broken, result.Outcome)
	require.Equal(t, "it hangs: not over after 20s, in turn 2", result.Error)
	require.Len(t, result.Turns, 2)
	require.Contains(t, text(t, &eval.Report{Run: report}), "turn 2: And now?")
	require.NotEmpty(t, result.Turns[0].Prompts, "what happened until then is shown")
}

// said answers as a user, or as a judge, from a list.
type said struct{ answers []string }

func (s *said) Generate(_ context.Context, req *llm.Request) (*llm.Response, error) {
	answer := s.answers[0]
	s.answers = s.answers[1:]

	return &llm.Response{Text: answer, Model: "gpt-4.1", Usage: llm.Usage{Input: 1000, Output: 1000}}, nil
}

// One model plays the user, another judges; their cost is reported separately.
func TestPersonAndJudge(t *testing.T) {
	t.Parallel()
	suite := parse(t, `
  - case: played
    user: {instructions: You want to know your recipes and save nothing.}
    turns: [{say: never said}]
    judge: The recipes are named.
    expect: {writes: [], reply: {has: [Pad See Ew]}}
`)
	prices, err := llm.DefaultPrices()
	require.NoError(t, err)
	l := lab(t)
	l.Person = &eval.Asked{Model: &said{[]string{`{"message": "Show my recipes", "done": false}`, `{"message": "", "done": true}`}}, Prices: prices}
	l.Judge = &eval.Asked{Model: &said{[]string{"```json\n" + `{"reason": "Two are missing.", "pass": false}` + "\n```"}}, Prices: prices}
	result := run(t, l, suite).Run.Cases[0].Trials[0]
	require.Equal(t, eval.Failed, result.Outcome)
	require.Len(t, result.Turns, 1)
	require.Equal(t, "Show my recipes", result.Turns[0].Message)
	require.Equal(t, "Two are missing.", result.Faults[0].Got)
	require.Equal(t, 6000, result.Others)
	require.Positive(t, result.OtherUSD)
	require.Zero(t, result.USD)
}

// Trials with different results are counted like in tau-bench.
func TestPassHat(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)
	suite := parse(t, `
  - case: once in four
    turns: [{say: Add 12 eggs to the pantry, expect: {writes: [inventory]}}]
  - case: always
    turns: [{say: Hello}]
`)
	l := lab(t)
	l.Trials, l.Parallel = 4, 1
	honest, n := l.Worker, 0
	l.Worker = func(ctx context.Context, pool *pgxpool.Pool, bound *domain.Domain, model string) (jobs.Config, *recall.Index, error) {
		config, index, err := honest(ctx, pool, bound, model)
		if n++; n > 1 && n <= 4 { // three of the first case's four
			models := config.Models
			config.Models = func(node string) llm.Model { return script.DisturbAlways(models(node), "claim_without_call") }
		}

		return config, index, err
	}
	report := run(t, l, suite)
	require.InDeltaSlice(t, []float64{0.625, 0.5, 0.5, 0.5}, report.Run.PassHat, 1e-9)
	require.Contains(t, report.Verdict(0.9), "62.5 % of the trials passed")
	require.Empty(t, report.Verdict(0.6))
}

// A case that could not be run is told by the trial that shows why, in words as in the pages.
func TestABrokenCaseIsToldByItsBrokenTrial(t *testing.T) {
	t.Parallel()
	missed := eval.Trial{Outcome: eval.Failed, Faults: []eval.Fault{{Check: "reply", Want: "eggs", Got: "milk"}}}
	hangs := eval.Trial{Outcome: eval.Broken, Error: "it hangs"}
	said := text(t, &eval.Report{Run: &eval.Run{Cases: []eval.Result{
		{Case: "stuck", Trials: []eval.Trial{missed, hangs}}, {Case: "fine", Trials: []eval.Trial{{Outcome: eval.Passed}}},
	}}})
	require.Contains(t, said, "BROKEN stuck (0 of 2 trials passed)\n  it hangs\n")
	require.NotContains(t, said, "milk")
	require.NotContains(t, said, "fine")
}

func TestSuitesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, says string }{
		"unknown key":    {"suite: a\ndomain: kitchen\ncases: [{case: a, turn: []}]", "unknown field"},
		"nothing said":   {"suite: a\ndomain: kitchen\ncases: [{case: a}]", "nobody says anything"},
		"twice":          {"suite: a\ndomain: kitchen\ncases: [{case: a, turns: [{say: x}]}, {case: a, turns: [{say: x}]}]", "there twice"},
		"no rows":        {"suite: a\ndomain: kitchen\ncases: [{case: a, turns: [{say: x, expect: {sql: [{sql: SELECT 1}]}}]}]", "needs rows"},
		"bad pattern":    {"suite: a\ndomain: kitchen\ncases: [{case: a, turns: [{say: x, expect: {reply: {matches: '('}}}]}]", "missing closing"},
		"unknown status": {"suite: a\ndomain: kitchen\ncases: [{case: a, turns: [{say: x, expect: {status: fine}}]}]", "succeeded, failed"},
		"no cases":       {"suite: a\ndomain: kitchen", "cases"},
	} {
		_, err := eval.Parse([]byte(c.text), os.DirFS("."))
		require.ErrorIs(t, err, eval.ErrSuite, name)
		require.ErrorContains(t, err, c.says, name)
	}
	_, err := eval.Load("no-such-suite")
	require.ErrorIs(t, err, eval.ErrSuite)
}

// A run drops what a killed run left, and keeps what a running one uses.
func TestTheReaper(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)
	address := dbtest.Server(t)
	dead, err := scratch.Open(t.Context(), address, "alfred_eval_")
	require.NoError(t, err)
	left, _, err := dead.Create(t.Context(), "template0")
	require.NoError(t, err)
	dead.Close()
	living, err := scratch.Open(t.Context(), address, "alfred_eval_")
	require.NoError(t, err)
	defer living.Close()
	used, _, err := living.Create(t.Context(), "template0")
	require.NoError(t, err)
	defer func() { require.NoError(t, living.Drop(context.WithoutCancel(t.Context()), used)) }()
	require.Eventually(t, func() bool { // the server notices a closed connection with a delay
		run(t, lab(t), parse(t, "\n  - case: hello\n    turns: [{say: Hello}]\n"))
		var there []string
		require.NoError(t, living.Admin.QueryRow(t.Context(), `SELECT coalesce(array_agg(datname::text), '{}') FROM pg_database WHERE datname = ANY ($1)`, []string{left, used}).Scan(&there))

		return len(there) == 1 && there[0] == used
	}, dbtest.Patience, 100*time.Millisecond)
}

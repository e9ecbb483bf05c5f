package script_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"alfred/internal/llm"
	"alfred/internal/llm/script"
)

const conversation = `
turns:
  - understand: {intent: read, mentions: [{text: "my recipes", resolution: unknown}]}
    think:
      - {decision: plan, goal: first}
      - {decision: plan, goal: again}
    act:
      - calls: [{tool: db_read, args: {table: recipes, filters: [{field: due, op: "=", value: 2026-01-15}], key: 9007199254740993}}]
      - calls:
          - {tool: db_create, args: {table: recipes}}
          - {tool: step_complete}
    reply: You have two recipes, both of them with butter. Crème brûlée is not among them.
    summarize: {response_summary: listed recipes}
  - act:
      - {step: 1, calls: [{tool: db_read}]}
      - {step: 2, calls: [{tool: db_analyze}]}
      - {step: 1, calls: [{tool: step_complete}]}
    reply: {text: Done., delay: 20ms}
    compress: [{text: talk}, {text: story}]
compress: {text: earlier}
`

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func TestModel_Generate(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		req  llm.Request
		text string
		call string
	}{
		"ActByStep":          {llm.Request{Node: "act", Turn: 2, Step: 1, Call: 2, Ordinal: 3}, "", "step_complete"},
		"ActByStepSecond":    {llm.Request{Node: "act", Turn: 2, Step: 2, Call: 1, Ordinal: 2}, "", "db_analyze"},
		"ActCountsTheTurn":   {llm.Request{Node: "act", Turn: 1, Step: 2, Call: 1, Ordinal: 2}, "", "db_create step_complete"},
		"ActFirst":           {llm.Request{Node: "act", Turn: 1, Step: 1, Call: 1, Ordinal: 1}, "", "db_read"},
		"CallWithoutOrdinal": {llm.Request{Node: "think", Turn: 1, Call: 2}, `{"decision":"plan","goal":"again"}`, ""},
		"CompressDefault":    {llm.Request{Node: "compress", Turn: 1, Ordinal: 1}, `{"text":"earlier"}`, ""},
		"CompressOfTurn":     {llm.Request{Node: "compress", Turn: 2, Ordinal: 2}, `{"text":"story"}`, ""},
		"CompressPastEnd":    {llm.Request{Node: "compress", Turn: 99, Ordinal: 1}, `{"text":"earlier"}`, ""},
		"Replan":             {llm.Request{Node: "think", Turn: 1, Ordinal: 2}, `{"decision":"plan","goal":"again"}`, ""},
		"Reply":              {llm.Request{Node: "reply", Turn: 2, Ordinal: 1}, "Done.", ""},
		"Single":             {llm.Request{Node: "summarize", Turn: 1, Ordinal: 1}, `{"response_summary":"listed recipes"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			response, err := parse(t, conversation).Generate(t.Context(), &tt.req)
			require.NoError(t, err)
			require.Equal(t, tt.text, response.Text)
			names := make([]string, 0, 2)
			for _, call := range response.ToolCalls {
				names = append(names, call.Name)
			}
			require.Equal(t, tt.call, strings.Join(names, " "))
		})
	}
}

func TestModel_Exhausted(t *testing.T) {
	t.Parallel()

	for name, req := range map[string]llm.Request{
		"NoSuchNode":     {Node: "think", Turn: 2, Ordinal: 1},
		"NoSuchTurn":     {Node: "reply", Turn: 3, Ordinal: 1},
		"PastEndOfList":  {Node: "act", Turn: 1, Ordinal: 3},
		"PastEndOfStep":  {Node: "act", Turn: 2, Step: 2, Call: 2, Ordinal: 3},
		"SecondOfSingle": {Node: "understand", Turn: 1, Ordinal: 2},
		"UnknownNode":    {Node: "dream", Turn: 1, Ordinal: 1},
		"ZeroTurn":       {Node: "reply"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parse(t, conversation).Generate(t.Context(), &req)
			require.Equal(t, llm.KindScriptExhausted, llm.KindOf(err))
		})
	}

	t.Run("CompressNotDeclared", func(t *testing.T) {
		t.Parallel()
		_, err := parse(t, "turns: [{reply: hello}]").Generate(t.Context(), &llm.Request{Node: "compress", Turn: 1, Ordinal: 1})
		require.Equal(t, llm.KindScriptExhausted, llm.KindOf(err))
	})
}

// A worker that takes over a turn in another process must get the answer that the dead one would have got.
func TestModel_Stateless(t *testing.T) {
	t.Parallel()

	req := &llm.Request{Node: "act", Turn: 1, Step: 2, Call: 1, Ordinal: 2}
	first := parse(t, conversation)
	for _, node := range []string{"understand", "think", "act"} {
		_, err := first.Generate(t.Context(), &llm.Request{Node: node, Turn: 1, Ordinal: 1})
		require.NoError(t, err)
	}
	want, err := first.Generate(t.Context(), req)
	require.NoError(t, err)
	got, err := parse(t, conversation).Generate(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestModel_Arguments(t *testing.T) {
	t.Parallel()

	response, err := parse(t, conversation).Generate(t.Context(), &llm.Request{Node: "act", Turn: 1, Ordinal: 1})
	require.NoError(t, err)
	require.Contains(t, string(response.ToolCalls[0].Args), `"value":"2026-01-15"`, "a date stays the text that was written")
	require.Contains(t, string(response.ToolCalls[0].Args), `"key":9007199254740993`)
	response, err = parse(t, conversation).Generate(t.Context(), &llm.Request{Node: "act", Turn: 1, Ordinal: 2})
	require.NoError(t, err)
	require.JSONEq(t, `{}`, string(response.ToolCalls[1].Args))
}

func TestModel_Streams(t *testing.T) {
	t.Parallel()

	var pieces []string
	req := &llm.Request{Node: "reply", Turn: 1, Ordinal: 1, OnDelta: func(text string) { pieces = append(pieces, text) }}
	response, err := parse(t, conversation).Generate(t.Context(), req)
	require.NoError(t, err)
	require.Greater(t, len(pieces), 3)
	require.Equal(t, response.Text, strings.Join(pieces, ""))
	require.Positive(t, response.Usage.Output)
}

func TestModel_Repairs(t *testing.T) {
	t.Parallel()

	model := parse(t, `
turns:
  - understand:
      raw: "{not json"
      repairs:
        - {raw: "still not"}
        - {intent: chat}
    act:
      - calls: [{tool: db_read, raw: '{"table": '}]
`)
	for attempt, want := range map[int]string{0: "{not json", 1: "{not json", 2: "still not", 3: `{"intent":"chat"}`, 4: `{"intent":"chat"}`} {
		response, err := model.Generate(t.Context(), &llm.Request{Node: "understand", Turn: 1, Ordinal: 1, Attempt: attempt})
		require.NoError(t, err)
		require.Equal(t, want, response.Text, attempt)
	}
	response, err := model.Generate(t.Context(), &llm.Request{Node: "act", Turn: 1, Ordinal: 1})
	require.NoError(t, err)
	require.Equal(t, `{"table": `, string(response.ToolCalls[0].Args))
}

func TestModel_Errors(t *testing.T) {
	t.Parallel()

	model := parse(t, `
turns:
  - reply: {text: hello, error: {kind: rate_limit, retry_after: 2s, times: 2}}
    think: {error: {kind: refusal}}
`)
	for range 2 {
		_, err := model.Generate(t.Context(), &llm.Request{Node: "reply", Turn: 1, Ordinal: 1})
		var failure *llm.Error
		require.ErrorAs(t, err, &failure)
		require.Equal(t, llm.KindRateLimit, failure.Kind)
		require.Equal(t, 2*time.Second, failure.RetryAfter)
	}
	response, err := model.Generate(t.Context(), &llm.Request{Node: "reply", Turn: 1, Ordinal: 1})
	require.NoError(t, err)
	require.Equal(t, "hello", response.Text)
	for range 3 {
		_, err := model.Generate(t.Context(), &llm.Request{Node: "think", Turn: 1, Ordinal: 1})
		require.Equal(t, llm.KindRefusal, llm.KindOf(err))
	}
}

func TestModel_DelayEndsWithContext(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	model := parse(t, `turns: [{reply: {text: late, delay: 1h}}]`)
	_, err := model.Generate(ctx, &llm.Request{Node: "reply", Turn: 1, Ordinal: 1})
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestParse_Rejects(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct{ text, says string }{
		"ActAsText":     {`turns: [{act: [hello]}]`, "turn 1: act entry 1"},
		"BadDelay":      {`turns: [{reply: {text: a, delay: soon}}]`, "soon"},
		"MixedSteps":    {`turns: [{act: [{step: 1, calls: []}, {calls: []}]}]`, "either all act entries"},
		"NumberAsEntry": {`turns: [{think: 3}]`, "think entry 1"},
		"ReplyFields":   {`turns: [{reply: {txt: a}}]`, "a reply is a text"},
		"UnknownCall":   {`turns: [{act: [{calls: [{tol: db_read}]}]}]`, "tol"},
		"UnknownError":  {`turns: [{reply: {text: a, error: {knd: auth}}}]`, "knd"},
		"UnknownKind":   {`turns: [{reply: {text: a, error: {kind: rate_limits}}}]`, "rate_limits"},
		"UnknownNode":   {`turns: [{dream: {}}]`, "dream"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := script.Parse([]byte(tt.text))
			require.ErrorContains(t, err, tt.says)
		})
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "talk.yaml")
	require.NoError(t, os.WriteFile(path, []byte(conversation), 0o600))
	_, err := script.Load(path)
	require.NoError(t, err)
	_, err = script.Load(path + ".missing")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func parse(t *testing.T, text string) *script.Model {
	t.Helper()
	model, err := script.Parse([]byte(text))
	require.NoError(t, err)

	return model
}

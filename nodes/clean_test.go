package nodes

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"alfred/internal/exact"
	"alfred/internal/llm"
	"alfred/internal/vocab"
)

// Postgres stores neither NUL nor half a surrogate pair: no text that is read from an answer has one, nor have the calls
// that an answer holds for later steps, which are stored as they are written.
func TestAnswersHoldOnlyWhatPostgresStores(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		`"\u0000"`:             "",
		`"a\u0000\u0000b"`:     "ab",
		"\"a\x00b\"":           "ab",
		`"\\u0000"`:            `\u0000`, // a backslash and letters
		`"\\\u0000"`:           `\`,
		`"\ud83d\ude00"`:       "😀",
		`"\ud83d"`:             "\ufffd",
		`"\ude00\ud83d\ude00"`: "\ufffd😀",
		`"\ud83d\ud83d\ude00"`: "\ufffd😀",
		`"\ud83d\u0041"`:       "\ufffdA",
		`"\u00e9\n\u0000\t"`:   "é\n\t",
	} {
		require.Equal(t, want, summaryIn(t, given), given)
		stored, err := exact.Storable(BesideCalls{Calls: []vocab.Call{{Tool: "db_read", Args: cleaned(calling(given)).ToolCalls[0].Args}}})
		require.NoError(t, err)
		var kept struct {
			Calls []struct {
				Args StepComplete `json:"args"`
			} `json:"calls"`
		}
		require.NoError(t, json.Unmarshal(stored, &kept))
		require.Equal(t, want, kept.Calls[0].Args.Summary, given)
	}
	for _, broken := range []string{`"\u00"`, `\u`, `\`} {
		require.Error(t, (&ActOutput{}).add(cleaned(calling(broken)).ToolCalls[0]), broken)
	}

	t.Run("LeavesGoodJSONAlone", rapid.MakeCheck(func(t *rapid.T) {
		text := rapid.String().Filter(func(s string) bool { return !strings.Contains(s, "\x00") }).Draw(t, "text")
		good, err := json.Marshal(text)
		require.NoError(t, err)
		require.Equal(t, text, summaryIn(t, string(good)))
	}))
}

// calling is an answer that ends a step, with a summary as it is written.
func calling(summary string) *llm.Response {
	return &llm.Response{ToolCalls: []llm.ToolCall{{Name: "step_complete", Args: json.RawMessage(`{"summary": ` + summary + `}`)}}}
}

// summaryIn is the summary that is read from the answer.
func summaryIn(t require.TestingT, written string) string {
	var out ActOutput
	require.NoError(t, out.add(cleaned(calling(written)).ToolCalls[0]))

	return out.StepComplete.Summary
}

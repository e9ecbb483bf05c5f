package answer_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"alfred/internal/answer"
)

func TestObject(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct{ text, want string }{
		"Array":          {`[1]`, `[1]`},
		"ArrayOfOne":     {`[{"a": 1}]`, `{"a": 1}`},
		"Broken":         {`Well: {"a": {"b": 1}, c}`, `{"a": {"b": 1}, c}`},
		"BrokenBehind":   {`{"a": 1} and {"b":`, `{"a": 1}`},
		"CutOff":         {"```json\n{\"a\": [{\"b\": 1}", `{"a": [{"b": 1}`},
		"Empty":          {"", ""},
		"FenceNoTag":     {"```\n{\"a\": 1}\n```", `{"a": 1}`},
		"FenceSecond":    {"```sh\nls\n```\n```json\n{\"a\": 1}\n```", `{"a": 1}`},
		"Named":          {`{"understand": {"intent": "read"}}`, `{"intent": "read"}`},
		"NamedInFence":   {"```\n{\"understand\": {\"intent\": \"read\"}}\n```", `{"intent": "read"}`},
		"NamedOtherwise": {`{"think": {"goal": ""}}`, `{"think": {"goal": ""}}`},
		"NamedText":      {`{"understand": "read"}`, `{"understand": "read"}`},
		"Object":         {" {\"a\": 1}\n", `{"a": 1}`},
		"OnlyBraces":     {strings.Repeat("{", 100_000), strings.Repeat("{", 100_000)},
		"Prose":          {`Well {then}: {"a": {"b": "}"}} and more`, `{"a": {"b": "}"}}`},
		"Twice":          {"{\"a\": 1}\n{\"a\": 1}", `{"a": 1}`},
		"Two":            {`First {"a": 1}, no: {"a": 2}`, `{"a": 1}, no: {"a": 2}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, answer.Object(tt.text, "understand"))
		})
	}

	t.Run("ObjectStaysWhole", rapid.MakeCheck(func(t *rapid.T) {
		object, err := json.Marshal(rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "object"))
		require.NoError(t, err)
		require.Equal(t, string(object), answer.Object(string(object), ""))
		require.Equal(t, string(object), answer.Object("Here:\n```json\n"+string(object)+"\n```\n", ""))
	}))
}

// What is wrong is said of the object, not of the prose around it or of an object within it.
func TestDecodeSaysWhatIsWrongWithTheObject(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		`Here it is: {"goal": "Soup", "steps": [{"type": "read"}`:              "it is cut off",
		`{"goal": "say "hi"", "steps": [{"type": "read"}]}`:                    "it is not valid JSON",
		"```json\n{\"goal\": \"a\"}\n```\nor\n```json\n{\"goal\": \"b\"}\n```": "there is more after the JSON object",
		"I cannot.": "it is not valid JSON",
	} {
		var into struct {
			Goal  string           `json:"goal"`
			Steps []map[string]any `json:"steps"`
		}
		require.ErrorContains(t, answer.Decode([]byte(text), &into), want, text)
	}
}

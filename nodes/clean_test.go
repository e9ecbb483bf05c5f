package nodes

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestCleanEscapes(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		`"\u0000"`:             `""`,
		`"a\u0000\u0000b"`:     `"ab"`,
		`"\\u0000"`:            `"\\u0000"`, // a backslash and letters
		`"\\\u0000"`:           `"\\"`,
		`"\ud83d\ude00"`:       `"\ud83d\ude00"`,
		`"\ud83d"`:             `"\ufffd"`,
		`"\ude00\ud83d\ude00"`: `"\ufffd\ud83d\ude00"`,
		`"\ud83d\ud83d\ude00"`: `"\ufffd\ud83d\ude00"`,
		`"\ud83d\u0041"`:       `"\ufffd\u0041"`,
		`"\u00"`:               `"\u00"`,
		`\u`:                   `\u`,
		`\`:                    `\`,
		`"\u00e9\n\u0000\t"`:   `"\u00e9\n\t"`,
	} {
		require.Equal(t, want, cleanEscapes(given), given)
	}

	t.Run("LeavesGoodJSONAlone", rapid.MakeCheck(func(t *rapid.T) {
		good, err := json.Marshal(rapid.String().Filter(func(s string) bool { return !strings.Contains(s, "\x00") }).Draw(t, "text"))
		require.NoError(t, err)
		require.Equal(t, string(good), cleanEscapes(string(good)))
	}))
}

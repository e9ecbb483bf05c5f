package httpapi

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/httpapi/problem"
)

// FuzzPositions: whatever a client sends as a cursor or event id is accepted or rejected; nothing else happens.
func FuzzPositions(f *testing.F) {
	for _, seed := range []string{"", "1", "1.2", "-1", ".", "9999999999", "1.2.3", "MjAyNi0wMS0wMVQwMDowMDowMFp8", "\x00", "a.b.c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if seq, err := parseNumber(text); err == nil {
			require.GreaterOrEqual(t, seq, int32(0))
		}
		if last, err := parsePosition(text); err == nil {
			require.GreaterOrEqual(t, min(last.number, last.seq), int32(0))
		}
		if place, err := parseCursor[entityPlace](text); err == nil && text != "" {
			again, err := parseCursor[entityPlace](cursorOf(place))
			require.NoError(t, err)
			require.Equal(t, place, again)
		}
		require.NotRegexp(t, `[\x00-\x1f\x7f]`, problem.OneLine(text))
	})
}

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
		if seq, err := parseNumber(text, errEventID); err == nil {
			require.GreaterOrEqual(t, seq, int32(0))
		}
		if last, err := parseNumberSeq(text); err == nil {
			require.GreaterOrEqual(t, min(last.first, last.second), int32(0))
		}
		if c, err := parseSessionCursor(text); err == nil && text != "" {
			again, err := parseSessionCursor(opaque(c))
			require.NoError(t, err)
			require.True(t, c.At.Equal(*again.At))
			require.Equal(t, *c.Pinned, *again.Pinned)
			require.Equal(t, c.ID, again.ID)
		}
		if c, err := parseEntityCursor(text, 0); err == nil && text != "" {
			again, err := parseEntityCursor(opaque(c), 0)
			require.NoError(t, err)
			require.Equal(t, c, again)
		}
		require.NotRegexp(t, `[\x00-\x1f\x7f]`, problem.OneLine(text))
	})
}

package say_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/say"
)

func TestLengthsCountCharactersInAnyScript(t *testing.T) {
	t.Parallel()
	short, long := strings.Repeat("ж", 160), strings.Repeat("ж", 161)
	require.False(t, say.IsLong(short))
	require.True(t, say.IsLong(long))
	require.False(t, say.IsLong([]any{strings.Repeat("ж", 100)}))
}

package say

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Parts are named where there are several, in any script.
func TestNamedParts(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"1. Run"}, named([]part{{"übungen", "1. Run"}}))
	require.Equal(t, []string{"Übungen:\n\n1. Run", "Pausen:\n\n- short"}, named([]part{{"übungen", "1. Run"}, {"pausen", "- short"}}))
}

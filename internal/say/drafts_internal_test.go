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

// People measure in units, which stand behind the number.
func TestMeasuredFacts(t *testing.T) {
	t.Parallel()
	for want, said := range map[string][2]string{
		"; prep time: 10 minutes": {"prep_time_minutes", "10"}, "; notice: 1 day": {"notice_days", "1"}, "; best days: Fri, Sat": {"best_days", "Fri, Sat"}, "; minutes: 4": {"minutes", "4"},
	} {
		require.Equal(t, want, forPerson.named(said[0], said[1]))
	}
	require.Equal(t, " prep_time_minutes:10", forModel.named("prep_time_minutes", "10"), "a model is shown the column")
}

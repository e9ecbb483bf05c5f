package clean_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/clean"
)

func TestWeekdays(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"due 2026-11-27":                       "due 2026-11-27 (Fri)",
		"at 2026-11-27 09:00, then home":       "at 2026-11-27 09:00 (Fri), then home",
		`"at":"2026-11-27T09:00:00+01:00",`:    `"at":"2026-11-27T09:00:00+01:00 (Fri)",`,
		"at:2026-11-27T23:30:00.119794Z":       "at:2026-11-27T23:30:00.119794Z (Fri)",
		`"[\"2026-11-27 09:00:00+00\",)"`:      `"[\"2026-11-27 09:00:00+00 (Fri)\",)"`, // of a range
		"2026-11-27T09:00 (Fri)":               "2026-11-27T09:00 (Fri)",
		"Fri, 2026-11-27 and 2026-11-28 (Sat)": "Fri, 2026-11-27 and 2026-11-28 (Sat)",
		"part 12026-11-27 or 2026-11-271":      "part 12026-11-27 or 2026-11-271",
		"2026-13-01":                           "2026-13-01",
	} {
		require.Equal(t, want, clean.Weekdays(text), text)
	}
}

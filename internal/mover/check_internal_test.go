package mover

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// How far clocks are apart does not depend on how long it takes to ask for them.
func TestClocksApart(t *testing.T) {
	t.Parallel()

	noon := time.Date(2026, 1, 13, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct{ there, took, apart time.Duration }{
		"the same":            {time.Millisecond, 2 * time.Millisecond, 0},
		"the same, far away":  {time.Second, 10 * time.Second, 0},
		"an hour behind":      {-time.Hour, time.Second, -time.Hour},
		"an hour ahead":       {time.Hour + time.Second, time.Second, time.Hour},
		"ahead, perhaps less": {3 * time.Second, time.Second, 2 * time.Second},
	} {
		require.Equal(t, c.apart, apart(noon, noon.Add(c.there), noon.Add(c.took)), name)
	}
}

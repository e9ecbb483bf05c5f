package jobs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// River reports the end of a job a moment after it: until then, nobody else may take the job up as a stray.
func TestEndedJobIsNoStrayYet(t *testing.T) {
	t.Parallel()

	one := &run{jobID: 7}
	r := &runs{runs: map[*run]struct{}{}}
	r.enter(one)()
	require.Equal(t, []int64{7}, r.jobs())
	one.ended = one.ended.Add(-9 * time.Second)
	require.Equal(t, []int64{7}, r.jobs())
	one.ended = one.ended.Add(-time.Minute)
	require.Empty(t, r.jobs())
}

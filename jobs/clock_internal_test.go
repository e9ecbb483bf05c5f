package jobs

import (
	"bytes"
	"log/slog"
	"math"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/require"
)

// K06: a worker whose clock is an hour off, either way, schedules by the database's clock, and so does its River
// client.
func TestK06RetriesFollowTheDatabasesClock(t *testing.T) {
	t.Parallel()

	for name, off := range map[string]time.Duration{"ahead": -time.Hour, "behind": time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			database := time.Now().Add(off)
			r := &Runner{clock: &clock{}, Config: Config{Logger: slog.New(slog.DiscardHandler)}}
			r.clock.set(database)
			row := &rivertype.JobRow{Attempt: 1}

			for worker, next := range map[string]time.Time{ // no worker has a policy of its own
				"turn":     river.WorkFunc(r.workTurn).NextRetry(&river.Job[TurnArgs]{JobRow: row}),
				"compress": river.WorkFunc(r.workCompress).NextRetry(&river.Job[CompressArgs]{JobRow: row}),
				"embed":    river.WorkFunc(r.workEmbed).NextRetry(&river.Job[TurnArgs]{JobRow: row}),
			} {
				require.Zero(t, next, worker)
			}
			require.WithinDuration(t, database.Add(firstPause), r.riverConfig().RetryPolicy.NextRetry(row), time.Minute)
			require.WithinDuration(t, database, r.riverConfig().Test.Time.Now(), time.Minute)
			require.Nil(t, r.riverConfig().Test.Time.NowOrNil())
			require.EqualValues(t, math.MaxInt64, r.riverConfig().RescueStuckJobsAfter, "it would go by this machine's clock")
		})
	}
}

// K06: ids tell the database's time and are in order, though many are made in the same millisecond.
func TestK06IDsFollowTheDatabasesClock(t *testing.T) {
	t.Parallel()

	database, c := time.Now().Add(-time.Hour), &clock{}
	c.set(database)
	last := uuid.Nil
	for range 10_000 {
		id := c.newID()
		require.Positive(t, bytes.Compare(id[:], last[:]))
		require.EqualValues(t, 7, id.Version())
		require.Equal(t, uuid.RFC4122, id.Variant())
		last = id
	}
	require.WithinDuration(t, database, time.Unix(last.Time().UnixTime()), time.Minute)
}

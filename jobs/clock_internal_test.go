package jobs

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
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

// K06: River's cleaner deletes finished jobs that are old by the database's clock, though it asks this machine's.
func TestK06FinishedJobsAgeByTheDatabasesClock(t *testing.T) {
	t.Parallel()

	const kept = 24 * time.Hour
	database, c, asked := time.Now().Add(-time.Hour), &clock{}, &cleaned{}
	c.set(database)
	horizon := time.Now().Add(-kept)
	_, err := (&executor{asked, c}).JobDeleteBefore(t.Context(), &riverdriver.JobDeleteBeforeParams{
		CancelledFinalizedAtHorizon: horizon, CompletedFinalizedAtHorizon: horizon, DiscardedFinalizedAtHorizon: horizon, Max: 7,
	})
	require.NoError(t, err)
	require.Equal(t, 7, asked.params.Max)
	for _, got := range []time.Time{asked.params.CancelledFinalizedAtHorizon, asked.params.CompletedFinalizedAtHorizon, asked.params.DiscardedFinalizedAtHorizon} {
		require.WithinDuration(t, database.Add(-kept), got, time.Minute)
	}
}

// K06: where this machine's clock is far ahead, River's rescuer would end jobs that another version's worker has just
// begun.
func TestK06StuckByTheDatabasesClock(t *testing.T) {
	t.Parallel()

	const stuck = time.Hour
	database, c, asked := time.Now().Add(-2*time.Hour), &clock{}, &cleaned{}
	c.set(database)
	_, err := (&executor{asked, c}).JobGetStuck(t.Context(), &riverdriver.JobGetStuckParams{StuckHorizon: time.Now().Add(-stuck)})
	require.NoError(t, err)
	require.WithinDuration(t, database.Add(-stuck), asked.stuck, time.Minute)
}

type cleaned struct {
	riverdriver.Executor

	params *riverdriver.JobDeleteBeforeParams
	stuck  time.Time
}

func (c *cleaned) JobGetStuck(_ context.Context, params *riverdriver.JobGetStuckParams) ([]*rivertype.JobRow, error) {
	c.stuck = params.StuckHorizon

	return nil, nil
}

func (c *cleaned) JobDeleteBefore(_ context.Context, params *riverdriver.JobDeleteBeforeParams) (int, error) {
	c.params = params

	return 0, nil
}

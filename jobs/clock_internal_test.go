package jobs

import (
	"log/slog"
	"testing"
	"time"

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

			for node, next := range map[string]time.Time{
				nodeThink:    (&worker[ThinkArgs]{runner: r}).NextRetry(&river.Job[ThinkArgs]{JobRow: row}),
				nodeCompress: (&compressWorker{runner: r}).NextRetry(&river.Job[CompressArgs]{JobRow: row}),
				kindEmbed:    (&embedWorker{runner: r}).NextRetry(&river.Job[EmbedArgs]{JobRow: row}),
			} {
				require.WithinDuration(t, database.Add(firstPause), next, time.Minute, node)
			}
			require.WithinDuration(t, database, r.riverConfig().Test.Time.Now(), time.Minute)
			require.Nil(t, r.riverConfig().Test.Time.NowOrNil())
		})
	}
}

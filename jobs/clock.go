package jobs

import (
	"context"
	"encoding/binary"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"
)

// clock follows the database's time. Retries and pauses are scheduled by that clock alone: a worker an hour ahead would
// delay them by an hour, one an hour behind would use up all attempts at once. Between readings it adds the elapsed
// time, so that a jump of this machine's clock has no effect. It implements rivertype.TimeGenerator and
// river.ClientRetryPolicy.
type clock struct {
	mu       sync.Mutex
	database time.Time // the last reading, zero before the first
	at       time.Time // when it arrived, by this machine's monotonic clock
	stamp    int64     // of the last id
	settles  time.Time // when to stop looking for timestamps in the future, by this machine's monotonic clock
}

const (
	// setBackBy is how far a reading must be behind the expected time to show that the database's clock was set back.
	setBackBy = time.Second

	// settleFor is how long transactions that began before the clock was set back may still commit.
	settleFor = 10 * time.Second
)

// set records a reading that has just arrived.
func (c *clock) set(database time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.database.IsZero() || database.Before(c.now().Add(-setBackBy)) {
		c.settles = time.Now().Add(settleFor)
	}
	c.database, c.at = database, time.Now()
}

// settling reports whether the database's clock was set back lately, or may have been before this worker began.
func (c *clock) settling() bool {
	c.mu.Lock()
	defer c.mu.Unlock()

	return time.Now().Before(c.settles)
}

// Now is the database's time in UTC, accurate to a round trip.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.now()
}

// now requires the lock.
func (c *clock) now() time.Time { return c.database.Add(time.Since(c.at)).UTC() }

// NowOrNil is nil, so that River's statements take the database's own now().
func (c *clock) NowOrNil() *time.Time { return nil }

// NextRetry is when a job whose attempt has failed is tried again.
func (c *clock) NextRetry(job *rivertype.JobRow) time.Time { return c.Now().Add(pause(job.Attempt)) }

// newID is a UUID version 7 of the database's time, greater than the last one: rows are listed, put into partitions and
// dropped by their ids. Its 60 bits of time are milliseconds and their 4096th parts.
func (c *clock) newID() uuid.UUID {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, millisecond := c.now(), int64(time.Millisecond)
	c.stamp = max(c.stamp+1, now.UnixMilli()<<12+int64(now.Nanosecond())%millisecond<<12/millisecond)
	id := uuid.New()
	binary.BigEndian.PutUint64(id[:8], uint64(c.stamp)>>12<<16|0x7000|uint64(c.stamp)&0xfff)

	return id
}

// behind is how far this machine's clock is behind.
func (c *clock) behind() time.Duration { return time.Until(c.Now()) }

// driver is River's, except that finished and stuck jobs are found by the database's clock: River's services use this
// machine's.
type driver struct {
	*riverpgxv5.Driver

	clock *clock
}

func (d *driver) GetExecutor() riverdriver.Executor {
	return &executor{d.Driver.GetExecutor(), d.clock}
}

type executor struct {
	riverdriver.Executor

	clock *clock
}

func (e *executor) JobDeleteBefore(ctx context.Context, params *riverdriver.JobDeleteBeforeParams) (int, error) {
	own, off := *params, e.clock.behind()
	for _, horizon := range []*time.Time{&own.CancelledFinalizedAtHorizon, &own.CompletedFinalizedAtHorizon, &own.DiscardedFinalizedAtHorizon} {
		*horizon = horizon.Add(off)
	}

	return e.Executor.JobDeleteBefore(ctx, &own) //nolint:wrapcheck // River's own
}

func (e *executor) JobGetStuck(ctx context.Context, params *riverdriver.JobGetStuckParams) ([]*rivertype.JobRow, error) {
	own := *params
	own.StuckHorizon = own.StuckHorizon.Add(e.clock.behind())

	return e.Executor.JobGetStuck(ctx, &own) //nolint:wrapcheck // River's own
}

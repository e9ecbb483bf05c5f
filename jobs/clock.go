package jobs

import (
	"sync"
	"time"
)

// clock follows the database's time. Retries and pauses are scheduled by that clock alone: a worker an hour ahead would
// delay them by an hour, one an hour behind would use up all attempts at once. Between readings it adds the elapsed
// time, so that a jump of this machine's clock has no effect. It implements rivertype.TimeGenerator.
type clock struct {
	mu       sync.Mutex
	database time.Time // the last reading, zero before the first
	at       time.Time // when it arrived, by this machine's monotonic clock
}

// set records a reading that has just arrived.
func (c *clock) set(database time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.database, c.at = database, time.Now()
}

// Now is the database's time in UTC, accurate to a round trip.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.database.Add(time.Since(c.at)).UTC()
}

// NowOrNil is nil, so that River's statements take the database's own now().
func (c *clock) NowOrNil() *time.Time { return nil }

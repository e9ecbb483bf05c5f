package jobs

import (
	"sync"
	"time"
)

// clock tells the database's time. Retries and pauses are due by that clock alone: a worker an hour ahead would put
// them an hour off, one an hour behind would spend all attempts at once. Between two readings it counts the time that
// has passed, so that a jump of this machine's clock moves nothing. It implements rivertype.TimeGenerator.
type clock struct {
	mu       sync.Mutex
	database time.Time // the last reading, zero before the first
	at       time.Time // when it arrived, by this machine's monotonic clock
}

// set takes a reading that has just arrived.
func (c *clock) set(database time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.database, c.at = database, time.Now()
}

// Now is the database's time to within a round trip, in UTC.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.database.Add(time.Since(c.at)).UTC()
}

// NowOrNil is nil, so that River's statements take the database's own now().
func (c *clock) NowOrNil() *time.Time { return nil }

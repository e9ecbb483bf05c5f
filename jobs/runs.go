package jobs

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"
)

// runs holds the jobs that this process is working on, so that a turn's job can be stopped from outside, and those that
// ended lately. A turn has one at a time, except for stale deliveries.
type runs struct {
	mu   sync.Mutex
	runs map[*run]struct{}
}

type run struct {
	jobID  int64
	turnID uuid.UUID               // nil in the background
	cancel context.CancelCauseFunc // nil in the background
	ended  time.Time               // zero while it runs
}

// enter registers a run; leave must be called when it is over.
func (r *runs) enter(one *run) (leave func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.runs[one] = struct{}{}

	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		one.ended = time.Now()
	}
}

// cancel stops the runs of a turn; uuid.Nil means those of all turns.
func (r *runs) cancel(turnID uuid.UUID, cause error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for one := range r.runs {
		if one.cancel != nil && (turnID == uuid.Nil || turnID == one.turnID) {
			one.cancel(cause)
		}
	}
}

// strayPause is how long after its end a job does not count as a stray: River reports it a moment later, or once the
// database is back.
const strayPause = 10 * time.Second

// jobs returns the ids of the jobs, never nil, and forgets those that ended long ago.
func (r *runs) jobs() []int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	ids := make([]int64, 0, len(r.runs))
	for one := range r.runs {
		if !one.ended.IsZero() && time.Since(one.ended) > strayPause {
			delete(r.runs, one)

			continue
		}
		ids = append(ids, one.jobID)
	}

	return ids
}

package jobs

import (
	"context"
	"sync"

	"github.com/google/uuid"
)

// runs are the decisions this process is working on, so that they can be stopped from outside. A turn has one at a
// time, except for stale deliveries.
type runs struct {
	mu   sync.Mutex
	next int
	stop map[int]run
}

type run struct {
	turnID uuid.UUID
	cancel context.CancelCauseFunc
}

func newRuns() *runs { return &runs{stop: map[int]run{}} }

// enter registers a run; leave must be called when it is over.
func (r *runs) enter(ctx context.Context, turnID uuid.UUID) (entered context.Context, leave func()) {
	entered, cancel := context.WithCancelCause(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next++
	id := r.next
	r.stop[id] = run{turnID: turnID, cancel: cancel}

	return entered, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.stop, id)
		cancel(nil)
	}
}

// cancel stops the runs of a turn.
func (r *runs) cancel(turnID uuid.UUID, cause error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range r.stop {
		if one.turnID == turnID {
			one.cancel(cause)
		}
	}
}

// cancelAll stops everything.
func (r *runs) cancelAll(cause error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range r.stop {
		one.cancel(cause)
	}
}

package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"alfred/db"
)

// strayPause is how long after its end a job does not count as a stray: River reports it a moment later, or once the
// database is back.
const strayPause = 10 * time.Second

// working are the jobs this process is working on, and those it recently ended.
type working struct {
	mu   sync.Mutex
	jobs map[int64]time.Time // when it ended; zero while it runs
}

func newWorking() *working { return &working{jobs: map[int64]time.Time{}} }

// enter registers a job; leave must be called when it is over.
func (w *working) enter(jobID int64) (leave func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.jobs[jobID] = time.Time{}

	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.jobs[jobID] = time.Now()
	}
}

// ids returns the ids of the jobs, never nil, and forgets those that ended long ago.
func (w *working) ids() []int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	ids := make([]int64, 0, len(w.jobs))
	for id, ended := range w.jobs {
		if !ended.IsZero() && time.Since(ended) > strayPause {
			delete(w.jobs, id)

			continue
		}
		ids = append(ids, id)
	}

	return ids
}

// supersedeStrays replaces jobs that the database believes are running here but are not. They result from a connection
// that breaks between a fetch's commit and its response, and from a database that is down for longer than River retries
// its report (about 7 s). While this worker lives, nobody else would look for them.
func (r *Runner) supersedeStrays(ctx context.Context) error {
	n, err := db.New().JobSupersedeStray(ctx, r.Pool, &db.JobSupersedeStrayParams{Client: r.id, Working: r.working.ids()})
	if err != nil {
		return fmt.Errorf("supersede strays: %w", err)
	}
	if n > 0 {
		r.Logger.WarnContext(ctx, "jobs fetched but not delivered", slog.Int("jobs", int(n)))
	}

	return nil
}

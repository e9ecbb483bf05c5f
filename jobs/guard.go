package jobs

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/google/uuid"

	"alfred/internal/view"
	"alfred/llm"
)

// guard is the gate of one decision: it looks at every prompt before a model gets
// it and at every reply before the user does, and counts what it had to take out.
type guard struct {
	*view.Gate

	leaks int
	total *atomic.Int64 // of the runner
}

func (r *Runner) guard(sessionID uuid.UUID) *guard {
	gate := view.NewGate(r.Domain, r.Pool, sessionID)
	gate.Strict = r.StrictGate

	return &guard{Gate: gate, total: &r.leaks}
}

// prompt cleans a request. What follows the first message of a repair quotes the
// model's own answer: an identifier in it is taken out, but is none that we let through.
func (g *guard) prompt(ctx context.Context, req *llm.Request) error {
	ours := []*string{&req.System}
	for i := range req.Messages {
		if i > 0 {
			clean, _, err := g.Check(ctx, req.Messages[i].Content)
			if err != nil && !errors.Is(err, view.ErrLeak) {
				return err
			}
			req.Messages[i].Content = clean

			continue
		}
		ours = append(ours, &req.Messages[i].Content)
	}
	for _, text := range ours {
		clean, found, err := g.Check(ctx, *text)
		g.count(found)
		if err != nil {
			return err
		}
		if found > 0 && len(req.Messages) > 0 {
			req.Messages[0].Stable = 0 // its bytes have moved
		}
		*text = clean
	}

	return nil
}

// reply makes a text fit for the user.
func (g *guard) reply(ctx context.Context, text string) (string, error) {
	clean, found, err := g.Reply(ctx, text)
	g.count(found)

	return clean, err
}

func (g *guard) count(found int) {
	g.leaks += found
	g.total.Add(int64(found))
}

// Leaks is how many identifiers the gates of this runner have taken out of
// prompts and replies since it started. Any is a bug.
func (r *Runner) Leaks() int64 { return r.leaks.Load() }

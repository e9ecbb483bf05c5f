package jobs

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/google/uuid"

	"alfred/db"
	"alfred/internal/view"
	"alfred/llm"
)

// guard is one decision's gate: it checks every prompt before a model sees it and every reply before the user does, and
// counts what it had to remove.
type guard struct {
	*view.Gate

	leaks int
	total *atomic.Int64 // the runner's counter
}

func (r *Runner) guard(conn db.DBTX, sessionID uuid.UUID) *guard {
	gate := view.NewGate(r.Domain, conn, sessionID)
	gate.Strict = r.StrictGate

	return &guard{Gate: gate, total: &r.leaks}
}

// prompt cleans a request. After the first message of a repair come quotes from the model's own answer: identifiers in
// them are removed but not counted as leaks.
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
			req.Messages[0].Stable = 0 // its bytes have changed
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

// Leaks is how many identifiers this runner's gates have removed from prompts and replies since it started. There
// should never be any.
func (r *Runner) Leaks() int64 { return r.leaks.Load() }

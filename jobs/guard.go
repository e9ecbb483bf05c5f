package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/google/uuid"

	"alfred/db"
	"alfred/internal/llm"
	"alfred/internal/view"
)

// guard is one decision's gate: it checks every prompt before a model sees it and every reply before the user does, and
// counts what it had to remove.
type guard struct {
	*view.Gate

	leaks int
}

func (r *Runner) guard(conn db.DBTX, sessionID uuid.UUID) *guard {
	gate := view.NewGate(r.Domain, conn, sessionID)
	gate.Strict = r.StrictGate

	return &guard{Gate: gate}
}

// prompt cleans a request. In what a model has written, its own answers and the complaints that quote them, identifiers
// are removed but not counted as leaks.
func (g *guard) prompt(ctx context.Context, req *llm.Request) error {
	if err := g.ours(ctx, &req.System); err != nil {
		return err
	}
	for i := range req.Messages {
		m := &req.Messages[i]
		complaint := req.Attempt > 1 && i == len(req.Messages)-1 // it may have been joined to results
		clean := g.ourMessage
		if i > 0 && (m.Role != llm.RoleTool || complaint) {
			clean = g.quoted
		}
		if err := clean(ctx, m); err != nil {
			return err
		}
	}

	return nil
}

// ourMessage cleans a message that code has written. If that changes it, no cache holds its beginning.
func (g *guard) ourMessage(ctx context.Context, m *llm.Message) error {
	before := m.Content
	err := g.ours(ctx, &m.Content)
	if m.Content != before {
		m.Stable = 0
	}

	return err
}

// ours cleans a text of our own.
func (g *guard) ours(ctx context.Context, text *string) error {
	clean, found, err := g.Check(ctx, *text)
	g.leaks += found
	if err != nil {
		return err
	}
	*text = clean

	return nil
}

// quoted cleans what a model has written. Its calls are copied, because others hold them.
func (g *guard) quoted(ctx context.Context, m *llm.Message) error {
	var err error
	clean := func(text string) string {
		cleaned, _, failure := g.Check(ctx, text)
		if failure != nil && !errors.Is(failure, view.ErrLeak) {
			err = failure
		}

		return cleaned
	}
	m.Content, m.Reasoning, m.ToolCalls = clean(m.Content), clean(m.Reasoning), slices.Clone(m.ToolCalls)
	for i := range m.ToolCalls {
		m.ToolCalls[i].Args = json.RawMessage(clean(string(m.ToolCalls[i].Args)))
	}

	return err
}

// reply makes a text fit for the user.
func (g *guard) reply(ctx context.Context, text string) (string, error) {
	clean, found, err := g.Reply(ctx, text)
	g.leaks += found

	return clean, err
}

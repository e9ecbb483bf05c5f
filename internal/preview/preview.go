package preview

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/internal/domain"
	"alfred/internal/prompt"
	"alfred/internal/view"
	"alfred/nodes"
)

// Preview builds the frames of turns that have not begun. It is immutable and safe for concurrent use.
type Preview struct {
	domain  *domain.Domain
	loader  *view.Loader
	prompts *prompt.Prompts
}

// New returns a Preview for a bound domain.
func New(d *domain.Domain, config prompt.Config) *Preview {
	return &Preview{domain: d, loader: view.NewLoader(d, config.Windows), prompts: prompt.New(d, config)}
}

// Frame returns what a node of the session's coming turn would see if the turn began now: understand, think, act (a
// first read step), reply or summarize. Any other name is an error.
func (p *Preview) Frame(ctx context.Context, tx pgx.Tx, sessionID uuid.UUID, node string) (nodes.Frame, error) {
	v, err := p.loader.NextTurn(ctx, tx, sessionID)
	if err != nil {
		return nodes.Frame{}, fmt.Errorf("preview: %w", err)
	}
	if v, err = view.Probe(ctx, tx, v, false); err != nil {
		return nodes.Frame{}, fmt.Errorf("preview: %w", err)
	}
	f, err := p.prompts.Preview(v, node)
	if err != nil {
		return nodes.Frame{}, fmt.Errorf("preview: %w", err)
	}
	gate := view.NewGate(p.domain, tx, sessionID)
	for i := range f.Blocks {
		for j := range f.Blocks[i].Sections {
			section := &f.Blocks[i].Sections[j]
			if section.Body, _, err = gate.Check(ctx, section.Body); err != nil {
				return nodes.Frame{}, fmt.Errorf("preview: %w", err)
			}
		}
	}

	return f, nil
}

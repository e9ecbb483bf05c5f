package registry

import (
	"context"
	"fmt"

	"alfred/db"
)

// Active returns the refs in a tier as of the given turn, in display order, with Tier set. window is how many turns a
// touch lasts.
func (r *Registry) Active(ctx context.Context, turn, window int) ([]Entry, error) {
	rows, err := r.q.EntityRefListActive(ctx, r.tx, &db.EntityRefListActiveParams{
		SessionID: r.scope.SessionID, TurnNumber: int32(turn), TurnsWindow: int32(window),
	})
	if err != nil {
		return nil, fmt.Errorf("list active refs: %w", err)
	}

	refs, tiers := make([]string, len(rows)), make(map[string]string, len(rows))
	for i, row := range rows {
		refs[i], tiers[row.Ref] = row.Ref, row.Tier
	}

	return r.inOrder(ctx, refs, tiers)
}

func (r *Registry) inOrder(ctx context.Context, refs []string, tiers map[string]string) ([]Entry, error) {
	known, err := r.load(ctx, refs)
	if err != nil {
		return nil, err
	}

	entries := make([]Entry, 0, len(refs))

	for _, ref := range refs {
		if e := known[ref]; e != nil {
			e.Tier = tiers[ref]
			entries = append(entries, *e)
		}
	}

	return entries, nil
}

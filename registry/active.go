package registry

import (
	"context"
	"fmt"

	"alfred/db"
)

// Active returns the refs in a tier as the given turn sees them, in display
// order, with Tier set. window is how many turns a touch lasts.
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

// Newest returns the n stored refs touched last, newest first, those in a tier
// included, hidden ones not, with Tier set.
func (r *Registry) Newest(ctx context.Context, turn, window, n int) ([]Entry, error) {
	rows, err := r.q.EntityRefListNewest(ctx, r.tx, &db.EntityRefListNewestParams{
		SessionID: r.scope.SessionID, TurnNumber: int32(turn), TurnsWindow: int32(window), MaxRefs: int32(n),
	})
	if err != nil {
		return nil, fmt.Errorf("list newest refs: %w", err)
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

// TypeCount counts entities of one type.
type TypeCount struct {
	Type  string
	Count int
}

// Counts counts, by type, the background: what was last touched before the
// window and is in no tier for that reason alone.
func (r *Registry) Counts(ctx context.Context, turn, window int) ([]TypeCount, error) {
	rows, err := r.q.EntityRefCountBackground(ctx, r.tx, &db.EntityRefCountBackgroundParams{
		SessionID: r.scope.SessionID, OldestTurn: int32(turn - window),
	})
	if err != nil {
		return nil, fmt.Errorf("count background refs: %w", err)
	}

	counts := make([]TypeCount, len(rows))
	for i, row := range rows {
		counts[i] = TypeCount{row.EntityType, int(row.Entities)}
	}

	return counts, nil
}

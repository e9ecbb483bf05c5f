package registry

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"alfred/db"
	"alfred/internal/pg"
)

// pinReason is shown for refs the user retained.
const pinReason = "pinned"

// Retain keeps a ref in view beyond the window, ends its exclusion and reverts a demotion. Confidence is 0 to 1, or
// nil. It does not count as a touch: a ref unused for long moves to the retained tier at once.
func (r *Registry) Retain(ctx context.Context, ref, reason string, confidence *float32) error {
	return r.curate(ctx, curation{"retain", "retained", ref, reason}, func(e *Entry) {
		e.retain(cmp.Or(CleanText(reason, maxReason), "kept"), confidence)
	})
}

// Demote hides a ref until it is touched again. Drafts are refused (ErrRefused): they can be forgotten or excluded.
func (r *Registry) Demote(ctx context.Context, ref, reason string) error {
	return r.curate(ctx, curation{"demote", "demoted", ref, reason}, func(e *Entry) { e.demote(r.scope.Turn) })
}

// Forget discards a ref: it has no tier and does not resolve. The row stays; read again, it gets its old ref back.
func (r *Registry) Forget(ctx context.Context, ref, reason string) error {
	return r.curate(ctx, curation{"forget", "dropped", ref, reason}, (*Entry).drop)
}

// Exclude marks a ref as rejected by the user and ends its retention. constraintID names the constraint whose end also
// ends the exclusion, or is nil.
func (r *Registry) Exclude(ctx context.Context, ref, reason string, constraintID *uuid.UUID) error {
	return r.curate(ctx, curation{"exclude", "excluded", ref, reason}, func(e *Entry) {
		e.exclude(cmp.Or(CleanText(reason, maxReason), "rejected"), constraintID)
	})
}

// Pin retains a ref for the user, without decay.
func (r *Registry) Pin(ctx context.Context, ref string) error {
	return r.curate(ctx, curation{"retain", "retained", ref, pinReason}, func(e *Entry) {
		e.retain(pinReason, nil)
		e.Pinned = true
	})
}

// Unpin ends a pin; it does nothing to a ref that is not pinned.
func (r *Registry) Unpin(ctx context.Context, ref string) error {
	return r.curate(ctx, curation{"expire", "expired", ref, "unpinned"}, func(e *Entry) {
		if e.Pinned {
			e.release()
		}
	})
}

// curation is one decision about a ref.
type curation struct{ action, event, ref, reason string }

// curate changes a ref that resolves and logs the decision, or returns [RefErrors]. A decision that changes nothing is
// logged but emits no event.
func (r *Registry) curate(ctx context.Context, c curation, how func(*Entry)) error {
	if err := r.lock(ctx); err != nil {
		return err
	}
	e, err := r.Resolve(ctx, c.ref, Want{})
	if err != nil {
		return err
	}
	if c.action == "demote" && e.Pending() {
		return fmt.Errorf("%s is a draft and cannot be demoted; forget or exclude it: %w", c.ref, ErrRefused)
	}
	if err := r.apply(ctx, []*Entry{&e}, c.event, how); err != nil {
		return err
	}

	return r.decide(ctx, c.action, []*Entry{&e}, CleanText(c.reason, maxReason))
}

// decide logs one decision about refs, with one reason.
func (r *Registry) decide(ctx context.Context, action string, entries []*Entry, reason string) error {
	refs := make([]string, len(entries))
	for i, e := range entries {
		refs[i] = e.Ref
	}
	if err := r.q.DecisionInsert(ctx, r.tx, &db.DecisionInsertParams{
		SessionID: r.scope.SessionID, TurnID: r.turnID(), TurnNumber: r.turn(), Action: action,
		Refs: refs, Reasons: slices.Repeat([]string{reason}, len(refs)), Actor: string(r.scope.Actor),
	}); err != nil {
		return fmt.Errorf("log decision: %w", err)
	}

	return nil
}

func (r *Registry) turnID() *uuid.UUID { return pg.OrNil(r.scope.TurnID) }

// ClearAll starts afresh: it drops drafts, demotes all other refs, ends retentions, exclusions and session constraints,
// and expires the open question. Domain rows, lasting constraints and counters stay.
func (r *Registry) ClearAll(ctx context.Context, reason string) error {
	if err := r.lock(ctx); err != nil {
		return err
	}
	// This comes before the drafts are dropped: a question that offers to save them would otherwise count as
	// superseded. With -1 open turns, a question that was just asked expires too.
	if _, err := r.q.QuestionExpire(ctx, r.tx, &db.QuestionExpireParams{
		SessionID: r.scope.SessionID, OpenTurns: -1, TurnNumber: r.turn(),
	}); err != nil {
		return fmt.Errorf("expire question: %w", err)
	}
	if err := r.dropDrafts(ctx, CleanText(reason, maxReason)); err != nil {
		return err
	}
	if _, err := r.q.EntityRefClear(ctx, r.tx, &db.EntityRefClearParams{
		TurnNumber: r.turn(), SessionID: r.scope.SessionID, Actor: string(r.scope.Actor),
	}); err != nil {
		return fmt.Errorf("demote all refs: %w", err)
	}
	if err := r.endWhere(ctx, func(c *db.Constraints) bool { return c.Scope == "session" }); err != nil {
		return err
	}
	if err := r.q.DecisionInsertClearAll(ctx, r.tx, &db.DecisionInsertClearAllParams{
		SessionID: r.scope.SessionID, TurnID: r.turnID(), TurnNumber: r.turn(),
		Reason: CleanText(reason, maxReason), Actor: string(r.scope.Actor),
	}); err != nil {
		return fmt.Errorf("log clear_all: %w", err)
	}

	return nil
}

// dropDrafts logs each draft as a separate decision, so that the reply can name what is gone.
func (r *Registry) dropDrafts(ctx context.Context, reason string) error {
	drafts, err := r.PendingDrafts(ctx)
	if err != nil {
		return err
	}
	if err := r.apply(ctx, drafts, "dropped", (*Entry).drop); err != nil {
		return err
	}

	return r.decide(ctx, "forget", drafts, reason)
}

// ExpireRetentions ends retentions neither renewed nor touched for decayTurns turns, as the system. Pins stay; 0 does
// nothing.
func (r *Registry) ExpireRetentions(ctx context.Context, decayTurns int) error {
	if decayTurns <= 0 {
		return nil
	}
	if err := r.lock(ctx); err != nil {
		return err
	}
	system := r.as(ActorSystem)
	decayed, err := r.entries(ctx, "list decayed retentions", db.EntityRefListDecayed, &db.EntityRefListDecayedParams{
		SessionID: r.scope.SessionID, TurnNumber: int32(r.scope.Turn - decayTurns),
	})
	if err != nil || len(decayed) == 0 {
		return err
	}
	if err := system.apply(ctx, decayed, "expired", (*Entry).release); err != nil {
		return err
	}

	return system.decide(ctx, "expire", decayed, fmt.Sprintf("neither renewed nor touched for %d turns", decayTurns))
}

// as returns the registry with another actor.
func (r *Registry) as(actor Actor) *Registry {
	other := *r
	other.scope.Actor = actor

	return &other
}

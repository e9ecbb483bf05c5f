package registry

import (
	"context"
	"fmt"
	"maps"

	"alfred/db"
	"alfred/internal/domain"
	"alfred/internal/exact"
)

// Generate gives each draft a gen_ ref, in order, and stores its content as version 1.
func (r *Registry) Generate(ctx context.Context, drafts []Draft) ([]Entry, error) {
	if len(drafts) == 0 {
		return nil, nil
	}
	if err := r.lock(ctx); err != nil {
		return nil, err
	}
	types := make([]string, len(drafts))
	for i, d := range drafts {
		types[i] = d.Type
	}
	refs, err := r.mint(ctx, kindGen, types)
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, len(drafts))
	changes := make([]change, len(drafts))
	versions := make(map[string]map[string]any, len(drafts))
	for i, d := range drafts {
		e := newEntry(key{entityType: d.Type}, refs[i], ActionGenerated, r.scope.Turn)
		e.State, e.SourceStep, e.SourceCall = StatePending, new(r.scope.Step), new(r.scope.Call)
		entries[i], versions[refs[i]] = *e, d.Content
		changes[i] = change{&entries[i], ActionGenerated}
	}

	return entries, r.writeVersions(ctx, changes, versions)
}

// draftLabel is the label of a draft, with those of the refs that it is made of.
func (r *Registry) draftLabel(ctx context.Context, e *domain.Entity, content map[string]any) (string, error) {
	var refs []string
	for _, name := range e.Label.Links() {
		if ref, ok := content[name].(string); ok {
			refs = append(refs, ref)
		}
	}
	known, err := r.Lookup(ctx, refs)
	if err != nil {
		return "", err
	}
	named := maps.Clone(content)
	for _, name := range e.Label.Links() {
		ref, _ := content[name].(string)
		if entry := known[ref]; entry != nil && !entry.LabelIsPlaceholder {
			named["_"+name+"_label"] = entry.Label
		}
	}

	return e.Label.Render(named), nil
}

// writeVersions labels changed drafts by their new contents, if these yield a label, and stores both.
func (r *Registry) writeVersions(ctx context.Context, changes []change, contents map[string]map[string]any) error {
	arg := &db.ArtifactInsertParams{SessionID: r.scope.SessionID, TurnNumber: r.turn(), Step: r.step(false)}
	for _, c := range changes {
		label, err := r.draftLabel(ctx, r.domain.ByType(c.entry.Type), contents[c.entry.Ref])
		if err != nil {
			return err
		}
		c.entry.relabel(label)
		content, err := exact.Storable(contents[c.entry.Ref])
		if err != nil {
			return fmt.Errorf("encode %s: %w", c.entry.Ref, err)
		}
		arg.Refs, arg.Contents = append(arg.Refs, c.entry.Ref), append(arg.Contents, content)
	}
	if err := r.write(ctx, changes); err != nil {
		return err
	}
	if err := r.q.ArtifactInsert(ctx, r.tx, arg); err != nil {
		return fmt.Errorf("store drafts: %w", err)
	}

	return nil
}

// UpdateEntityData replaces a draft's whole content (a new version), and its label if the new content yields one.
// Anything but a draft is RefErrors.
func (r *Registry) UpdateEntityData(ctx context.Context, ref string, content map[string]any) error {
	e, err := r.LockDraft(ctx, ref)
	if err != nil {
		return err
	}
	e.touch(r.scope.Turn)
	event := ActionUpdated
	if r.scope.Actor == ActorUser {
		event = ActionUpdatedUser
	}

	return r.writeVersions(ctx, []change{{&e, event}}, map[string]map[string]any{ref: content})
}

// LockDraft returns the entry of a draft, and prevents others from changing or saving it until the transaction ends. Anything
// but a draft is RefErrors.
func (r *Registry) LockDraft(ctx context.Context, ref string) (Entry, error) {
	if err := r.lock(ctx); err != nil {
		return Entry{}, err
	}

	return r.Resolve(ctx, ref, Want{Draft: true})
}

// NewestVersions returns the numbers of drafts' newest versions.
func (r *Registry) NewestVersions(ctx context.Context, refs ...string) (map[string]int, error) {
	rows, err := r.q.ArtifactNewest(ctx, r.tx, &db.ArtifactNewestParams{SessionID: r.scope.SessionID, Refs: refs})
	if err != nil {
		return nil, fmt.Errorf("read drafts' versions: %w", err)
	}
	versions := make(map[string]int, len(rows))
	for _, row := range rows {
		versions[row.Ref] = int(row.Version)
	}

	return versions, nil
}

// GetEntityData returns the content of drafts, and of those saved in this turn, so that rows referencing them can be
// written; other refs are absent.
func (r *Registry) GetEntityData(ctx context.Context, refs ...string) (map[string]map[string]any, error) {
	rows, err := r.q.ArtifactListNewest(ctx, r.tx, &db.ArtifactListNewestParams{
		SessionID: r.scope.SessionID, Refs: refs, TurnNumber: r.turn(),
	})
	if err != nil {
		return nil, fmt.Errorf("read drafts: %w", err)
	}
	contents := make(map[string]map[string]any, len(rows))
	for _, row := range rows {
		var content map[string]any
		if err := exact.Decode(row.Content, &content); err != nil {
			return nil, fmt.Errorf("read %s: %w", row.Ref, err)
		}
		contents[row.Ref] = content
	}

	return contents, nil
}

// Promote records that this draft was saved as the row entityID. The ref keeps its name. Call it before the row is
// registered in any other way: otherwise the row would have two refs, and the unique key rejects that.
// rowVersion may be "". A ref that is not a draft is RefErrors: a draft is saved once.
func (r *Registry) Promote(ctx context.Context, ref, entityID, rowVersion string) error {
	e, err := r.LockDraft(ctx, ref)
	if err != nil {
		return err
	}
	delete(r.presumed, ref)
	e.promote(entityID, rowVersion, r.scope.Turn)

	return r.write(ctx, []change{{&e, "promoted"}})
}

// Unsave records that the row saved from a draft is gone and that the draft is pending again. It returns false if the
// ref does not stand for that row.
func (r *Registry) Unsave(ctx context.Context, ref, entityID string) (bool, error) {
	return r.resave(ctx, ref, "restored", func(e *Entry) bool {
		if e.ID != entityID || e.State == StateDropped {
			return false
		}
		e.unsave(r.scope.Turn)

		return true
	})
}

// SaveAgain reverts an Unsave: the row exists again. It returns false if the ref is no longer a draft, or the row has
// another ref.
func (r *Registry) SaveAgain(ctx context.Context, ref, entityType, entityID string) (bool, error) {
	if known, err := r.LookupKeys(ctx, entityType, []string{entityID}); err != nil || len(known) > 0 {
		return false, err
	}

	return r.resave(ctx, ref, "promoted", func(e *Entry) bool {
		if !e.Pending() {
			return false
		}
		e.promote(entityID, "", r.scope.Turn)

		return true
	})
}

// resave changes the entry of a ref, whatever its state; how returns false to leave it as it is.
func (r *Registry) resave(ctx context.Context, ref, event string, how func(*Entry) bool) (bool, error) {
	if err := r.lock(ctx); err != nil {
		return false, err
	}
	known, err := r.load(ctx, []string{ref})
	if err != nil {
		return false, err
	}
	e := known[ref]
	if e == nil || !how(e) {
		return false, nil
	}

	return true, r.write(ctx, []change{{e, event}})
}

// PendingDrafts returns all drafts, oldest first.
func (r *Registry) PendingDrafts(ctx context.Context) ([]*Entry, error) {
	return r.entries(ctx, "list drafts", db.EntityRefListDrafts, &db.EntityRefListDraftsParams{SessionID: r.scope.SessionID, TurnNumber: r.turn()})
}

package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"alfred/db"
	"alfred/internal/domain"
	"alfred/internal/exact"
)

// Generate gives each draft a gen_ ref, in order, and stores its content as version 1. A draft whose content is not a
// JSON object, or whose type is unknown, is an error.
func (r *Registry) Generate(ctx context.Context, drafts []Draft) ([]Entry, error) {
	if len(drafts) == 0 {
		return nil, nil
	}
	types := make([]string, len(drafts))
	contents := make([]content, len(drafts))
	for i, d := range drafts {
		e := r.domain.ByType(d.Type)
		if e == nil {
			return nil, fmt.Errorf("generate %q: no such type", d.Type)
		}
		c, err := r.newContent(ctx, e, d.Content)
		if err != nil {
			return nil, fmt.Errorf("generate %s: %w", d.Type, err)
		}
		types[i], contents[i] = d.Type, c
	}
	if err := r.lock(ctx); err != nil {
		return nil, err
	}
	refs, err := r.mint(ctx, kindGen, types)
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, len(drafts))
	changes := make([]change, len(drafts))
	versions := make(map[string]json.RawMessage, len(drafts))
	for i, ref := range refs {
		entries[i] = r.newDraft(types[i], ref, contents[i].label)
		changes[i] = change{&entries[i], ActionGenerated}
		versions[ref] = contents[i].json
	}
	if err := r.write(ctx, changes); err != nil {
		return nil, err
	}

	return entries, r.addVersions(ctx, versions)
}

func (r *Registry) newDraft(entityType, ref, label string) Entry {
	step, call := r.scope.Step, r.scope.Call
	e := Entry{
		Ref: ref, Type: entityType, State: StatePending, Action: ActionGenerated, Label: ref, LabelIsPlaceholder: true,
		SourceStep: &step, SourceCall: &call, TurnCreated: r.scope.Turn, TurnLastRef: r.scope.Turn, Loaded: map[string]int{},
	}
	e.relabel(label)

	return e
}

// content is a draft's JSON as stored, and the label derived from it.
type content struct {
	json  json.RawMessage
	label string
}

// newContent checks and cleans: Postgres cannot store NUL in JSON.
func (r *Registry) newContent(ctx context.Context, e *domain.Entity, raw json.RawMessage) (content, error) {
	var fields map[string]any
	if err := exact.Decode(raw, &fields); err != nil || fields == nil {
		return content{}, fmt.Errorf("content must be one JSON object: %w", ErrRefused)
	}
	clean, err := exact.Storable(fields)
	if err != nil {
		return content{}, fmt.Errorf("encode content: %w", err)
	}
	if fields, err = r.namingLinks(ctx, e, fields); err != nil {
		return content{}, err
	}

	return content{clean, e.Label.Render(fields)}, nil
}

// namingLinks returns a draft's fields together with the labels of the refs that its own label is made of.
func (r *Registry) namingLinks(ctx context.Context, e *domain.Entity, fields map[string]any) (map[string]any, error) {
	var refs []string
	for _, name := range e.Label.Links() {
		if ref, ok := fields[name].(string); ok {
			refs = append(refs, ref)
		}
	}
	if len(refs) == 0 {
		return fields, nil
	}
	known, err := r.Lookup(ctx, refs)
	if err != nil {
		return nil, err
	}
	named := maps.Clone(fields)
	for _, name := range e.Label.Links() {
		if ref, ok := fields[name].(string); ok && !known[ref].LabelIsPlaceholder && known[ref].Label != "" {
			named["_"+name+"_label"] = known[ref].Label
		}
	}

	return named, nil
}

func (r *Registry) addVersions(ctx context.Context, versions map[string]json.RawMessage) error {
	arg := &db.ArtifactInsertParams{SessionID: r.scope.SessionID, TurnNumber: r.turn(), Step: r.step(false)}
	for ref, version := range versions {
		arg.Refs = append(arg.Refs, ref)
		arg.Contents = append(arg.Contents, version)
	}
	if err := r.q.ArtifactInsert(ctx, r.tx, arg); err != nil {
		return fmt.Errorf("store drafts: %w", err)
	}

	return nil
}

// UpdateEntityData replaces a draft's whole content (a new version), and its label if the new content yields one.
// Anything but a draft is a *RefError.
func (r *Registry) UpdateEntityData(ctx context.Context, ref string, raw json.RawMessage) (Entry, error) {
	e, err := r.draft(ctx, ref)
	if err != nil {
		return Entry{}, err
	}
	c, err := r.newContent(ctx, r.domain.ByType(e.Type), raw)
	if err != nil {
		return Entry{}, fmt.Errorf("update %s: %w", ref, err)
	}
	e.touch(r.scope.Turn)
	e.relabel(c.label)
	event := ActionUpdated
	if r.scope.Actor == ActorUser {
		event = ActionUpdatedUser
	}
	if err := r.write(ctx, []change{{&e, event}}); err != nil {
		return Entry{}, err
	}

	return e, r.addVersions(ctx, map[string]json.RawMessage{ref: c.json})
}

// draft locks the registry and returns the entry of a ref that must be pending.
func (r *Registry) draft(ctx context.Context, ref string) (Entry, error) {
	if err := r.lock(ctx); err != nil {
		return Entry{}, err
	}

	return r.ResolveDraft(ctx, ref)
}

// LockDraft prevents others from changing or saving a draft until the transaction ends. Anything but a draft is a
// *RefError.
func (r *Registry) LockDraft(ctx context.Context, ref string) error {
	_, err := r.draft(ctx, ref)

	return err
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

// ResolveDraft returns the entry of a draft. Anything else is a *RefError.
func (r *Registry) ResolveDraft(ctx context.Context, ref string) (Entry, error) {
	return r.Resolve(ctx, ref, Want{Draft: true})
}

// GetEntityData returns the content of drafts, and of those saved in this turn, so that rows referencing them can be
// written; other refs are absent.
func (r *Registry) GetEntityData(ctx context.Context, refs []string) (map[string]json.RawMessage, error) {
	rows, err := r.q.ArtifactListNewest(ctx, r.tx, &db.ArtifactListNewestParams{
		SessionID: r.scope.SessionID, Refs: refs, TurnNumber: r.turn(),
	})
	if err != nil {
		return nil, fmt.Errorf("read drafts: %w", err)
	}
	data := make(map[string]json.RawMessage, len(rows))
	for _, row := range rows {
		data[row.Ref] = row.Content
	}

	return data, nil
}

// Promote records that this draft was saved as the row entityID. The ref keeps its name. Call it before the row is
// registered in any other way: otherwise the row would have two refs, and the unique key rejects that.
// rowVersion may be "". A ref that is not a draft is a *RefError: a draft is saved once.
func (r *Registry) Promote(ctx context.Context, ref, entityID, rowVersion string) error {
	e, err := r.draft(ctx, ref)
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

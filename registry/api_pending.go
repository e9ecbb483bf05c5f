package registry

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"alfred/domain"
)

// Lookup returns the entries of exactly these refs; refs that do not resolve
// (unknown, dropped, deleted before this turn) are absent.
func (r *Registry) Lookup(ctx context.Context, refs []string) (map[string]Entry, error) {
	panic("soon")
}

// LookupKeys returns the entries of these rows by key; unknown ones are absent. Drops and deletions show in State.
func (r *Registry) LookupKeys(ctx context.Context, entityType string, ids []string) (map[string]Entry, error) {
	panic("soon")
}

// Want is what a place needs of a ref.
type Want struct {
	Type    string // entity type, "" for any
	Stored  bool   // a row is needed: drafts are refused unless presumed saved
	Deleted bool   // a row deleted in this turn will do
}

// Resolve returns the entry of a ref, or a *RefError.
func (r *Registry) Resolve(ctx context.Context, ref string, want Want) (Entry, error) { panic("soon") }

// ResolveAll returns the entries of refs in their order, or RefErrors with all that cannot be used.
func (r *Registry) ResolveAll(ctx context.Context, refs []string, want Want) ([]Entry, error) {
	panic("soon")
}

// Register records rows in the order in which they were first seen and returns
// one entry per sighting, in order. Known rows keep their ref.
func (r *Registry) Register(ctx context.Context, sightings []Sighting) ([]Entry, error) {
	panic("soon")
}

// Tombstone records that rows were deleted: out of every tier, resolvable until
// this turn ends, never reused. Rows without a ref get none. Action is
// ActionDeletedUser when the scope's actor is the user.
func (r *Registry) Tombstone(ctx context.Context, entityType string, ids []string) ([]Entry, error) {
	panic("soon")
}

// Relabel sets labels (ref -> label) and records it; an empty label changes nothing.
func (r *Registry) Relabel(ctx context.Context, labels map[string]string) error { panic("soon") }

// Touch records that refs were named in this turn (by a mention, a tool call, a
// node's output) and brings demoted ones back. Refs that do not resolve are ignored.
func (r *Registry) Touch(ctx context.Context, refs []string) ([]Entry, error) { panic("soon") }

// TouchText touches every ref that stands in the text as a whole token.
func (r *Registry) TouchText(ctx context.Context, text string) ([]Entry, error) { panic("soon") }

// Generate gives each draft a gen_ ref, in order.
func (r *Registry) Generate(ctx context.Context, drafts []Draft) ([]Entry, error) { panic("soon") }

// UpdateEntityData replaces a draft's whole content (a new version) and its label.
func (r *Registry) UpdateEntityData(ctx context.Context, ref string, content json.RawMessage) (Entry, error) {
	panic("soon")
}

// GetEntityData returns the content of drafts, and of those saved in this turn; other refs are absent.
func (r *Registry) GetEntityData(ctx context.Context, refs []string) (map[string]json.RawMessage, error) {
	panic("soon")
}

// Promote records that exactly this draft was saved as the row entityID. The ref keeps its name. Do it before
// registering the row by Register or TranslateRows. rowVersion may be "".
func (r *Registry) Promote(ctx context.Context, ref, entityID, label, rowVersion string) error {
	panic("soon")
}

// Presume makes a draft resolve to the key under which this decision is saving
// it, until Promote records it: for translating the decision's later calls
// while the tenant's role is on. Nothing is written.
func (r *Registry) Presume(ref, entityID string) { r.presumed[ref] = entityID }

// PendingDrafts returns all drafts, oldest first.
func (r *Registry) PendingDrafts(ctx context.Context) ([]Entry, error) { panic("soon") }

// JustPromoted returns the drafts saved in this turn, in order of their refs.
func (r *Registry) JustPromoted(ctx context.Context) ([]Entry, error) { panic("soon") }

// Retain keeps a ref in view beyond the window, ends its exclusion and brings it back when demoted. Confidence
// is 0..1 or nil. It does not count as a touch: a ref long unused stands under retained at once.
func (r *Registry) Retain(ctx context.Context, ref, reason string, confidence *float32) error {
	panic("soon")
}

// Demote takes a ref out of view until it is touched again. Drafts are refused (ErrRefused).
func (r *Registry) Demote(ctx context.Context, ref, reason string) error { panic("soon") }

// Drop discards a ref: no tier, not resolvable. A stored row read again gets it back.
func (r *Registry) Drop(ctx context.Context, ref, reason string) error { panic("soon") }

// Exclude marks a ref as rejected; constraintID names the constraint whose end ends it, or is nil.
func (r *Registry) Exclude(ctx context.Context, ref, reason string, constraintID *uuid.UUID) error {
	panic("soon")
}

// Restore undoes a demotion, an exclusion or a drop.
func (r *Registry) Restore(ctx context.Context, ref string) error { panic("soon") }

// Cleared is what ClearAll did.
type Cleared struct {
	Dropped     []Entry // drafts, which the reply names
	Demoted     int
	Constraints int
	Questions   int
}

// ClearAll is a fresh start: drafts dropped, all other refs demoted, reasons,
// exclusions and session constraints ended, the open question expired. Domain rows and counters stay.
func (r *Registry) ClearAll(ctx context.Context, reason string) (Cleared, error) { panic("soon") }

// ExpireRetentions ends retentions neither renewed nor touched for decayTurns turns, as the system; pinned ones
// stay, 0 does nothing. It returns the refs.
func (r *Registry) ExpireRetentions(ctx context.Context, decayTurns int) ([]string, error) {
	panic("soon")
}

// Pin retains a ref for the user, without decay.
func (r *Registry) Pin(ctx context.Context, ref string) error { panic("soon") }

// Unpin ends that.
func (r *Registry) Unpin(ctx context.Context, ref string) error { panic("soon") }

// Constraint is something the user asked to hold.
type Constraint struct {
	ID         uuid.UUID
	Text       string
	Kind       string // count, date_range, exclude, require, budget, other
	Value      json.RawMessage
	Scope      string // session or lasting
	SourceTurn int
	ExpiresAt  *time.Time
}

// AddConstraint stores a constraint; replaces, if not nil, is ended by it.
func (r *Registry) AddConstraint(ctx context.Context, c Constraint, replaces *uuid.UUID) (uuid.UUID, error) {
	panic("soon")
}

// Constraints returns those in force: this session's and the user's lasting ones, oldest first.
func (r *Registry) Constraints(ctx context.Context) ([]Constraint, error) { panic("soon") }

// EndConstraint ends a constraint and the exclusions that came with it; it returns the refs of these.
func (r *Registry) EndConstraint(ctx context.Context, id uuid.UUID) ([]string, error) { panic("soon") }

// ExpireConstraints ends all constraints whose time is over, as the system.
func (r *Registry) ExpireConstraints(ctx context.Context, now time.Time) ([]string, error) {
	panic("soon")
}

// Active returns the refs in a tier as the given turn sees them, in display order, with Tier set.
func (r *Registry) Active(ctx context.Context, turn, window int) ([]Entry, error) { panic("soon") }

// TypeCount counts entities of one type.
type TypeCount struct {
	Type  string
	Count int
}

// Counts counts, by type, the background: what is known and in no tier, hidden refs left out.
func (r *Registry) Counts(ctx context.Context, turn, window int) ([]TypeCount, error) { panic("soon") }

// Newest returns the n stored refs touched last, newest first, those in a tier
// included, hidden ones not, with Tier set.
func (r *Registry) Newest(ctx context.Context, turn, window, n int) ([]Entry, error) { panic("soon") }

// Named returns refs whose label stands in the text, in any case, hidden ones left out, longest label first.
func (r *Registry) Named(ctx context.Context, text string, limit int) ([]Entry, error) { panic("soon") }

// LabelReader reads labels of rows by key, as the tenant; rows that it cannot see are absent.
type LabelReader func(ctx context.Context, e *domain.Entity, ids []string) (map[string]string, error)

// VersionReader reads row versions (xmin) by key, as the tenant; rows that it cannot see are absent.
type VersionReader func(ctx context.Context, e *domain.Entity, ids []string) (map[string]string, error)

// Result is what one statement returned. Rows are JSON-shaped (map[string]any, []any, string, json.Number, bool,
// nil; uuid.UUID and Go integers too), keyed by column name, children under the child table's name.
type Result struct {
	Entity   *domain.Entity
	Rows     []map[string]any
	Action   string            // of the rows and their children
	Sets     []string          // column sets read
	Versions map[string]string // key -> xmin, may be nil
}

// Translated is a result as a model may see it.
type Translated struct {
	Rows    []map[string]any
	Refs    []string // of the rows that have a key, in order
	Entries []Entry  // the same refs' entries
}

// TranslateRows registers every row of the results, nested ones and unknown foreign keys included, and returns
// copies in which no key is left. labels may be nil.
func (r *Registry) TranslateRows(ctx context.Context, results []Result, labels LabelReader) ([]Translated, error) {
	panic("soon")
}

// Filter is one condition as a model writes it.
type Filter struct {
	Field string `json:"field"`
	Op    string `json:"op"`
	Value any    `json:"value"`
}

// TranslateFilters returns the filters with refs replaced by keys in key and
// foreign-key fields ("id" stands for the key), or RefErrors. Other fields are left alone. Drafts are refused: take those out first (ResolveAll).
func (r *Registry) TranslateFilters(ctx context.Context, e *domain.Entity, filters []Filter) ([]Filter, error) {
	panic("soon")
}

// TranslatePayload returns the payload with refs replaced by keys in key and foreign-key places, children and arrays included, or RefErrors.
func (r *Registry) TranslatePayload(ctx context.Context, e *domain.Entity, data map[string]any) (map[string]any, error) {
	panic("soon")
}

// TranslateError makes a database error's text fit for a model: known keys become refs, other ids [id].
func (r *Registry) TranslateError(ctx context.Context, text string) (string, error) { panic("soon") }

// Scrub replaces every UUID-shaped text by [id]. All text that enters a prompt from outside the registry goes through it.
func Scrub(text string) string { panic("soon") }

// HasID says whether the text has UUID-shaped text in it.
func HasID(text string) bool { panic("soon") }

// Stale is what happened to rows behind the registry's back.
type Stale struct {
	Changed []string // refs whose row has another version than when it was read
	Gone    []string // refs whose row does not exist any more
}

// Freshness compares the row versions of entries with those the reader finds. Drafts and entries without a version are left out.
func Freshness(ctx context.Context, d *domain.Domain, entries []Entry, read VersionReader) (Stale, error) {
	panic("soon")
}

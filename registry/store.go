package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/pg"
)

// change is an entry's current state and the event that led to it.
type change struct {
	entry *Entry
	event string
}

// lock makes this transaction the only writer of the session's registry. Reads that decide on a write must follow it,
// so that they see what others committed.
func (r *Registry) lock(ctx context.Context) error {
	if r.locked {
		return nil
	}
	r.locked = true

	return r.later(ctx, "lock registry", db.EntityRefLock, "alfred.registry."+r.scope.SessionID.String())
}

// later adds a statement that nothing waits for.
func (r *Registry) later(ctx context.Context, what, query string, params any) error {
	b := &pg.Batch{}
	b.Exec(what, query, params)

	return b.Defer(ctx, r.tx)
}

// entries returns the entries that a query selects.
func (r *Registry) entries(ctx context.Context, what, query string, params any) (found []*Entry, err error) {
	b := &pg.Batch{}
	b.Query(what, query, params, func(rows pgx.Rows) (err error) {
		found, err = pgx.CollectRows(rows, pgx.RowToAddrOf[Entry])

		return err
	})

	return found, b.Send(ctx, r.tx)
}

// load returns the entries of exactly these refs, whatever their state.
func (r *Registry) load(ctx context.Context, refs []string) (map[string]*Entry, error) {
	if len(refs) == 0 {
		return map[string]*Entry{}, nil
	}
	found, err := r.entries(ctx, "look up refs", db.EntityRefList, &db.EntityRefListParams{SessionID: r.scope.SessionID, Refs: refs})
	if err != nil {
		return nil, err
	}
	entries := make(map[string]*Entry, len(found))
	for _, e := range found {
		entries[e.Ref] = e
	}

	return entries, nil
}

// key identifies a row.
type key struct{ entityType, id string }

// loadKeys returns the entries of rows, whatever their state.
func (r *Registry) loadKeys(ctx context.Context, keys []key) (map[key]*Entry, error) {
	types, ids := make([]string, len(keys)), make([]string, len(keys))
	for i, k := range keys {
		types[i], ids[i] = k.entityType, k.id
	}
	found, err := r.entries(ctx, "look up rows", db.EntityRefListByKey, &db.EntityRefListByKeyParams{
		SessionID: r.scope.SessionID, EntityTypes: types, EntityIds: ids,
	})
	if err != nil {
		return nil, err
	}
	entries := make(map[key]*Entry, len(found))
	for _, e := range found {
		entries[key{e.Type, e.ID}] = e
	}

	return entries, nil
}

// Kinds of counters.
const (
	kindRow = "row"
	kindGen = "gen"
)

// mint returns new refs of these types, in order, with one counter update for all.
func (r *Registry) mint(ctx context.Context, kind string, types []string) ([]string, error) {
	if len(types) == 0 {
		return nil, nil
	}
	arg := &db.RefCounterAdvanceParams{SessionID: r.scope.SessionID, Kind: kind}
	counts := map[string]int{}
	for _, one := range types {
		counts[one]++
	}
	for _, e := range r.domain.Entities { // in a fixed order
		if n := counts[e.Type]; n > 0 {
			arg.EntityTypes = append(arg.EntityTypes, e.Type)
			arg.Counts = append(arg.Counts, int32(n))
		}
	}
	var rows []*db.RefCounterAdvanceRow
	b := &pg.Batch{}
	pg.Rows(b, "take ref numbers", db.RefCounterAdvance, arg, &rows)
	if err := b.Send(ctx, r.tx); err != nil {
		return nil, err
	}
	last := make(map[string]int, len(rows))
	for _, row := range rows {
		last[row.EntityType] = int(row.LastNumber) - counts[row.EntityType]
	}
	refs := make([]string, len(types))
	for i, one := range types {
		last[one]++
		refs[i] = refName(one, last[one], kind == kindGen)
	}

	return refs, nil
}

// write stores changes, each ref at most once, and their events.
func (r *Registry) write(ctx context.Context, changes []change) error {
	if len(changes) == 0 {
		return nil
	}
	entries := make([]*Entry, len(changes))
	events := make(map[string]string, len(changes))
	for i, c := range changes {
		entries[i] = c.entry
		events[c.entry.Ref] = c.event
	}
	refs, err := json.Marshal(entries)
	if err != nil {
		return fmt.Errorf("encode refs: %w", err)
	}
	actions, err := json.Marshal(events)
	if err != nil {
		return fmt.Errorf("encode events: %w", err)
	}
	byUser := slices.ContainsFunc(changes, func(c change) bool { return strings.HasSuffix(c.event, ":user") })
	written := r.scope.Written
	if written == nil {
		written = &Written{}
	}
	written.Names = slices.AppendSeq(written.Names, maps.Keys(events))
	b := &pg.Batch{}
	b.Query("write refs", db.EntityRefWrite, &db.EntityRefWriteParams{
		TurnNumber: r.turn(), Step: r.step(byUser), Events: actions,
		Actor: string(r.scope.Actor), SessionID: r.scope.SessionID, Refs: refs, TurnsWindow: int32(written.Window),
	}, written.read)
	if err := b.Defer(ctx, r.tx); err != nil {
		return err
	}

	return r.closeMootQuestion(ctx, changes)
}

func (w *Written) read(rows pgx.Rows) error {
	refs, err := pgx.CollectRows(rows, pgx.RowToAddrOfStructByPos[db.EntityRefWriteRow])
	w.Refs = append(w.Refs, refs...)

	return err
}

// closeMootQuestion closes the open question if these changes leave nothing of what it offers: a yes to it would permit a write
// nobody has in mind any more.
func (r *Registry) closeMootQuestion(ctx context.Context, changes []change) error {
	ends := []string{"dropped", "excluded", "promoted", ActionDeleted, ActionDeletedUser}
	if !slices.ContainsFunc(changes, func(c change) bool { return slices.Contains(ends, c.event) }) {
		return nil
	}

	return r.later(ctx, "settle the open question", db.QuestionMoot, r.scope.SessionID)
}

func (r *Registry) turn() int32 { return int32(r.scope.Turn) }

// step is null outside act; step 0 belongs to the user's inputs.
func (r *Registry) step(inputs bool) *int32 {
	if r.scope.Step == 0 && !inputs {
		return nil
	}

	return new(int32(r.scope.Step))
}

// Lookup returns the entries of exactly these refs; refs that do not resolve (unknown, dropped, deleted before this
// turn) are absent.
func (r *Registry) Lookup(ctx context.Context, refs []string) (map[string]*Entry, error) {
	entries, err := r.load(ctx, refs)
	maps.DeleteFunc(entries, func(_ string, e *Entry) bool { return !e.resolves(r.scope.Turn) })

	return entries, err
}

// LookupKeys returns the entries of rows of one type by key; unknown ones are absent. Dropped and deleted ones are
// included; see State.
func (r *Registry) LookupKeys(ctx context.Context, entityType string, ids []string) (map[string]*Entry, error) {
	keys := make([]key, len(ids))
	for i, id := range ids {
		keys[i] = key{entityType, id}
	}
	loaded, err := r.loadKeys(ctx, keys)
	found := make(map[string]*Entry, len(loaded))
	for k, e := range loaded {
		found[k.id] = e
	}

	return found, err
}

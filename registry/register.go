package registry

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Kinds of counters.
const (
	kindRow = "row"
	kindGen = "gen"
)

// Register records rows in first-seen order and returns one entry per sighting, in that order. Known rows keep their
// ref; new ones get the next numbers of their type. Register only what the database returned to the owner: sightings
// are not verified.
func (r *Registry) Register(ctx context.Context, sightings []Sighting) ([]Entry, error) {
	list := make([]*sighted, len(sightings))
	for i, s := range sightings {
		list[i] = &sighted{Sighting: s}
	}

	return r.register(ctx, list, func(*book) error { return nil })
}

// register is Register with a hook that completes the sightings once it is known which of them are new.
func (r *Registry) register(ctx context.Context, sightings []*sighted, complete func(*book) error) ([]Entry, error) {
	if len(sightings) == 0 {
		return nil, nil
	}
	if err := r.lock(ctx); err != nil {
		return nil, err
	}
	book, err := r.openBook(ctx, sightings)
	if err != nil {
		return nil, err
	}
	if err := complete(book); err != nil {
		return nil, err
	}
	for _, s := range sightings {
		book.enter(&s.Sighting)
	}
	for _, page := range book.pages {
		if err := r.write(ctx, page); err != nil {
			return nil, err
		}
	}
	entries := make([]Entry, len(sightings))
	for i, s := range sightings {
		entries[i] = *book.known[key{s.Type, s.ID}]
	}

	return entries, nil
}

// notSeen are actions that leave no row: bury and Generate record them.
var notSeen = []string{ActionDeleted, ActionDeletedUser, ActionGenerated}

// actionRelabelled is the event of a ref that got a first or a new label.
const actionRelabelled = "relabelled"

// book is the working state of one Register.
type book struct {
	known map[key]*Entry
	fresh map[key]string // refs of previously unknown rows
	turn  int
	// pages are written one after the other: a row that was created and then updated has two events, but one statement
	// can write a ref only once.
	pages [][]change
	noted map[string]place
}

type place struct{ page, line int }

// openBook loads what is known and reserves refs for what is not.
func (r *Registry) openBook(ctx context.Context, sightings []*sighted) (*book, error) {
	keys := make([]key, 0, len(sightings))
	seen := make(map[key]bool, len(sightings))
	for _, s := range sightings {
		if r.domain.ByType(s.Type) == nil || s.ID == "" || slices.Contains(notSeen, s.Action) {
			return nil, fmt.Errorf("register %q as %q: no such type, no key, or no row was seen", s.Type, s.Action)
		}
		if k := (key{s.Type, s.ID}); !seen[k] {
			seen[k] = true
			keys = append(keys, k)
		}
	}
	known, err := r.loadKeys(ctx, keys)
	if err != nil {
		return nil, err
	}
	keys = slices.DeleteFunc(keys, func(k key) bool { return known[k] != nil })
	fresh, err := r.mint(ctx, keys)
	if err != nil {
		return nil, err
	}

	return &book{known: known, fresh: fresh, turn: r.scope.Turn, noted: map[string]place{}}, nil
}

// mint names rows in order, with one counter update for all types.
func (r *Registry) mint(ctx context.Context, keys []key) (map[key]string, error) {
	counts := map[string]int{}
	for _, k := range keys {
		counts[k.entityType]++
	}
	last, err := r.take(ctx, kindRow, counts)
	if err != nil {
		return nil, err
	}
	fresh := make(map[key]string, len(keys))
	for _, k := range keys {
		last[k.entityType]++
		fresh[k] = refName(k.entityType, last[k.entityType], false)
	}

	return fresh, nil
}

// enter applies one sighting.
func (b *book) enter(s *Sighting) {
	k := key{s.Type, s.ID}
	e, known := b.known[k]
	if !known {
		b.known[k] = newEntry(s, b.fresh[k], b.turn)
		b.note(b.known[k], s.Action)

		return
	}
	before := *e
	after := before
	after.see(s, b.turn)
	event := s.Action
	if event == ActionLinked { // nothing happened to it, but it may have got a name
		event = actionRelabelled
	}

	// Reading a row twice in a turn is not news, nor is the same user action reported twice.
	if (s.Action == ActionLinked || s.Action == ActionRead || s.Action == before.Action && strings.HasSuffix(s.Action, ":user")) && after.equal(&before) {
		return
	}

	// A page keeps the entry as it was when noted.
	b.known[k] = &after
	b.note(&after, event)
}

// note adds a change to the page after the last one that contains the ref. Repetitions of the same event are dropped.
func (b *book) note(e *Entry, event string) {
	at, noted := b.noted[e.Ref]
	if noted {
		if b.pages[at.page][at.line].event == event {
			b.pages[at.page][at.line].entry = e

			return
		}
		at.page++
	}
	if at.page == len(b.pages) {
		b.pages = append(b.pages, nil)
	}
	at.line = len(b.pages[at.page])
	b.pages[at.page] = append(b.pages[at.page], change{e, event})
	b.noted[e.Ref] = at
}

func newEntry(s *Sighting, ref string, turn int) *Entry {
	e := &Entry{
		Ref: ref, Type: s.Type, ID: s.ID, State: StateStored, Action: s.Action, Label: ref, LabelIsPlaceholder: true,
		TurnCreated: turn, TurnLastRef: turn, Loaded: map[string]int{},
	}
	e.learn(s, turn)

	return e
}

// bury records that rows were deleted: they leave every tier, resolve until this turn ends, and their refs are never
// reused. A row without a ref gets one if it has a label and was not deleted as part of another, because "who deleted
// that row?" needs an answer. The action is ActionDeletedUser if the scope's actor is the user.
func (r *Registry) bury(ctx context.Context, entityType string, rows []gone) ([]Entry, error) {
	action := ActionDeleted
	if r.scope.Actor == ActorUser {
		action = ActionDeletedUser
	}
	if err := r.lock(ctx); err != nil {
		return nil, err
	}
	keys := make([]key, len(rows))
	for i, row := range rows {
		keys[i] = key{entityType, row.id}
	}
	known, err := r.loadKeys(ctx, keys)
	if err != nil {
		return nil, err
	}
	var unseen []key
	for i, row := range rows {
		if known[keys[i]] == nil && row.label != "" && !row.part {
			unseen = append(unseen, keys[i])
		}
	}
	fresh, err := r.mint(ctx, unseen)
	if err != nil {
		return nil, err
	}
	var entries []Entry
	var changes []change
	for i, k := range keys {
		if known[k] == nil && fresh[k] != "" {
			known[k] = newEntry(&Sighting{Type: entityType, ID: k.id, Label: rows[i].label}, fresh[k], r.scope.Turn)
		}
		e := known[k]
		if e == nil {
			continue
		}
		if e.State != StateDropped && e.State != StateDeleted {
			e.bury(r.scope.Turn, action)
			changes = append(changes, change{e, action})
		}
		entries = append(entries, *e)
	}

	return entries, r.write(ctx, changes)
}

// apply changes entries, writes those that differ afterwards, and returns all.
func (r *Registry) apply(ctx context.Context, entries []*Entry, event string, how func(*Entry)) ([]Entry, error) {
	var changes []change
	result := make([]Entry, len(entries))
	for i, e := range entries {
		before := *e
		how(e)
		if !e.equal(&before) {
			changes = append(changes, change{e, event})
		}
		result[i] = *e
	}

	return result, r.write(ctx, changes)
}

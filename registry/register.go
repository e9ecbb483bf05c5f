package registry

import (
	"context"
	"strings"
)

// sighting is one row that a statement returned, or that one of its rows references.
type sighting struct {
	key

	Label string // "" if the columns read do not yield one
	// Action is what happened to the row. ActionLinked registers a row known only by a foreign key, and leaves a known one
	// unchanged.
	Action     string
	Sets       []string       // column sets that were read
	RowVersion string         // xmin, "" if unknown
	row        map[string]any // nil for a row known only by a foreign key
	part       bool           // it was deleted as part of another row
}

func (s *sighting) gone() bool { return s.Action == ActionDeleted || s.Action == ActionDeletedUser }

// needsRef reports whether a row without a ref gets one. Of the deleted it is those that the log can name: "who deleted
// that row?" needs an answer.
func (s *sighting) needsRef() bool { return !s.gone() || s.Label != "" && !s.part }

// register records rows in first-seen order and returns the entries of those that have one. Known rows keep their ref;
// new ones get the next numbers of their type. Deleted ones leave every tier and resolve until this turn ends; they
// come last, since a row that one decision changed and deleted is gone.
func (r *Registry) register(ctx context.Context, sightings []*sighting, labels LabelReader) (map[key]*Entry, error) {
	if len(sightings) == 0 {
		return nil, nil
	}
	if err := r.lock(ctx); err != nil {
		return nil, err
	}
	keys := make([]key, len(sightings))
	for i, s := range sightings {
		keys[i] = s.key
	}
	known, err := r.loadKeys(ctx, keys)
	if err != nil {
		return nil, err
	}
	if err := r.label(ctx, sightings, known, labels); err != nil {
		return nil, err
	}
	fresh, err := r.names(ctx, sightings, known)
	if err != nil {
		return nil, err
	}
	b := &book{known: known, fresh: fresh, turn: r.scope.Turn, noted: map[string]place{}}
	for _, s := range sightings {
		b.enter(s)
	}
	for _, page := range b.pages {
		if err := r.write(ctx, page); err != nil {
			return nil, err
		}
	}

	return b.known, nil
}

// actionRelabelled is the event of a ref that got a first or a new label.
const actionRelabelled = "relabelled"

// book is the working state of one register.
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

// names mints refs for the rows that are not known.
func (r *Registry) names(ctx context.Context, sightings []*sighting, known map[key]*Entry) (map[key]string, error) {
	fresh := map[key]string{}
	var keys []key
	var types []string
	for _, s := range sightings {
		if _, counted := fresh[s.key]; !counted && known[s.key] == nil && s.needsRef() {
			fresh[s.key], keys, types = "", append(keys, s.key), append(types, s.entityType)
		}
	}
	refs, err := r.mint(ctx, kindRow, types)
	for i, ref := range refs {
		fresh[keys[i]] = ref
	}

	return fresh, err
}

// enter applies one sighting.
func (b *book) enter(s *sighting) {
	before, known := b.known[s.key]
	if !known {
		ref, minted := b.fresh[s.key]
		if !minted {
			return
		}
		before = newEntry(s.key, ref, s.Action, b.turn)
	}
	after, event := *before, s.Action
	after.see(s, b.turn)

	if known && after.equal(before) && s.mayRepeat(before) {
		return
	}
	if known && event == ActionLinked { // nothing happened to it, but it got a name
		event = actionRelabelled
	}

	// A page keeps the entry as it was when noted.
	b.known[s.key] = &after
	b.note(&after, event)
}

// mayRepeat reports whether a sighting that changes nothing is no news: a row read twice in a turn, or an action of the user
// that is reported twice.
func (s *sighting) mayRepeat(before *Entry) bool {
	byUser := strings.HasSuffix(s.Action, ":user")

	return s.Action == ActionLinked || s.Action == ActionRead || s.gone() || byUser && s.Action == before.Action
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

func newEntry(k key, ref, action string, turn int) *Entry {
	return &Entry{
		Ref: ref, Type: k.entityType, ID: k.id, State: StateStored, Action: action, Label: ref, LabelIsPlaceholder: true,
		TurnCreated: turn, TurnLastRef: turn, Loaded: map[string]int{},
	}
}

// apply changes entries and writes those that differ afterwards.
func (r *Registry) apply(ctx context.Context, entries []*Entry, event string, how func(*Entry)) error {
	var changes []change
	for _, e := range entries {
		before := *e
		how(e)
		if !e.equal(&before) {
			changes = append(changes, change{e, event})
		}
	}

	return r.write(ctx, changes)
}

package registry

import (
	"maps"
	"reflect"
	"strconv"

	"github.com/google/uuid"

	"alfred/internal/clean"
)

// The transitions of a ref, without a database. All rules of an entry's lifecycle are here; register.go and curation.go
// only load and store.

// see applies a sighting to a known entry.
func (e *Entry) see(s *sighting, turn int) {
	switch {
	case s.Action == ActionLinked:
		if e.LabelIsPlaceholder {
			e.relabel(s.Label)
		}

		return
	case s.gone() && (e.State == StateDropped || e.State == StateDeleted):
		return
	case s.gone():
		if e.LabelIsPlaceholder { // a deletion may know the key alone
			e.relabel(s.Label)
		}
		e.markDeleted(turn, s.Action)

		return
	}
	e.revive()
	e.Action = s.Action
	e.TurnLastRef = max(e.TurnLastRef, turn)

	// A row that is read or written again is in use again: if it stayed hidden, "show the second one" would find
	// nothing.
	e.DemotedAtTurn = nil
	if s.Action == ActionMentionedUser {
		e.include()
	}
	e.learn(s, turn)
}

// learn adopts what a row revealed: label, loaded sets, version.
func (e *Entry) learn(s *sighting, turn int) {
	e.relabel(s.Label)
	if s.RowVersion != "" {
		e.RowVersion = s.RowVersion
	}
	if len(s.Sets) == 0 {
		return
	}
	e.Loaded = maps.Clone(e.Loaded)
	for _, set := range s.Sets {
		e.Loaded[set] = max(e.Loaded[set], turn)
	}
}

// relabel never replaces a label by nothing: a read of few columns may yield none.
func (e *Entry) relabel(label string) {
	if label = CleanText(label, MaxLabel); label == "" {
		return
	}
	e.Label = label
	e.LabelIsPlaceholder = false
}

// revive brings back a ref whose row was found again, under its old name. A ref that still has its row does not change.
func (e *Entry) revive() {
	e.State = StateStored
	if e.TurnPromoted != nil {
		e.State = StatePromoted
	}
	e.DeletedAtTurn = nil
}

// touch records that the ref was named.
func (e *Entry) touch(turn int) {
	e.TurnLastRef = max(e.TurnLastRef, turn)
	e.DemotedAtTurn = nil
}

// markDeleted records that the row was deleted.
func (e *Entry) markDeleted(turn int, action string) {
	e.State = StateDeleted
	e.Action = action
	e.DeletedAtTurn = &turn
	e.TurnLastRef = max(e.TurnLastRef, turn)
	e.forget()
}

// retain keeps the ref beyond the window. It also ends an exclusion: whoever keeps a ref wants it considered.
func (e *Entry) retain(reason string, confidence *float32) {
	e.Reason = reason
	e.Confidence = confidence
	e.DemotedAtTurn = nil
	e.include()
}

func (e *Entry) demote(turn int) {
	e.DemotedAtTurn = &turn
	e.release()
}

func (e *Entry) drop() {
	e.State = StateDropped
	e.DemotedAtTurn = nil
	e.forget()
}

func (e *Entry) exclude(reason string, constraintID *uuid.UUID) {
	e.release()
	e.ExcludedReason = reason
	e.ConstraintID = constraintID
}

// release ends a retention.
func (e *Entry) release() {
	e.Reason = ""
	e.Confidence = nil
	e.Pinned = false
}

// include ends an exclusion.
func (e *Entry) include() {
	e.ExcludedReason = ""
	e.ConstraintID = nil
}

// forget leaves no reason behind that could outlive the ref.
func (e *Entry) forget() {
	e.release()
	e.include()
}

// promote turns a draft into a row.
func (e *Entry) promote(id, rowVersion string, turn int) {
	e.State = StatePromoted
	e.Action = ActionCreated
	e.ID = id
	e.TurnPromoted = &turn
	e.TurnLastRef = max(e.TurnLastRef, turn)
	e.RowVersion = rowVersion
}

// unsave turns a row back into a draft: the row saved from it is gone.
func (e *Entry) unsave(turn int) {
	e.State = StatePending
	e.Action = ActionGenerated
	e.ID, e.RowVersion, e.Loaded = "", "", map[string]int{}
	e.TurnPromoted, e.DeletedAtTurn, e.DemotedAtTurn = nil, nil, nil
	e.TurnLastRef = max(e.TurnLastRef, turn)
}

// resolves reports whether the ref may be used in a turn. The ref of a deleted row may be, until the turn that deleted
// the row ends.
func (e *Entry) resolves(turn int) bool {
	switch e.State {
	case StateDropped:
		return false
	case StateDeleted:
		return e.DeletedAtTurn != nil && *e.DeletedAtTurn >= turn
	default:
		return true
	}
}

func (e *Entry) equal(other *Entry) bool { return reflect.DeepEqual(e, other) }

// refName is the n-th name of a type.
func refName(entityType string, n int, gen bool) string {
	name := entityType + "_" + strconv.Itoa(n)
	if gen {
		return genPrefix + name
	}

	return name
}

// MaxLabel is how many characters of a label are kept.
const MaxLabel = 300

const (
	genPrefix = "gen_"
	maxReason = 1000
)

// Scrub replaces every UUID-shaped text by [id]. All text that enters a prompt from outside the registry passes through it.
func Scrub(text string) string {
	text, _ = clean.Redact(text)

	return text
}

// CleanText makes a single line fit for a prompt: no ids, no control characters, at most limit characters.
func CleanText(text string, limit int) string {
	text = Scrub(clean.Line(text))
	if runes := []rune(text); len(runes) > limit {
		text = string(runes[:limit-1]) + "…"
	}

	return text
}

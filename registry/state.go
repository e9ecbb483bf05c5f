package registry

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"strings"
	"unicode"

	"github.com/google/uuid"

	"alfred/db"
)

// The transitions of a ref, without a database. All rules of an entry's lifecycle are here; register.go and curation.go
// only load and store.

// see applies a sighting to a known entry.
func (e *Entry) see(s *Sighting, turn int) {
	if s.Action == ActionLinked {
		if e.LabelIsPlaceholder {
			e.relabel(s.Label)
		}

		return
	}
	if e.State == StateDropped || e.State == StateDeleted {
		e.revive()
	}
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
func (e *Entry) learn(s *Sighting, turn int) {
	e.relabel(s.Label)
	if s.RowVersion != "" {
		e.RowVersion = s.RowVersion
	}
	if len(s.Sets) == 0 {
		return
	}
	e.Loaded = maps.Clone(e.Loaded)
	if e.Loaded == nil {
		e.Loaded = map[string]int{}
	}
	for _, set := range s.Sets {
		e.Loaded[set] = max(e.Loaded[set], turn)
	}
}

// relabel never replaces a label by nothing: a read of few columns may yield none.
func (e *Entry) relabel(label string) {
	if label = cleanText(label, maxLabel); label == "" {
		return
	}
	e.Label = label
	e.LabelIsPlaceholder = false
}

// revive brings back a ref whose row was found again, under its old name.
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

// bury records that the row is deleted.
func (e *Entry) bury(turn int, action string) {
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
func (e *Entry) promote(id, label, rowVersion string, turn int) {
	e.State = StatePromoted
	e.Action = ActionCreated
	e.ID = id
	e.TurnPromoted = &turn
	e.TurnLastRef = max(e.TurnLastRef, turn)
	e.learn(&Sighting{Label: label, RowVersion: rowVersion}, turn)
}

// unsave turns a row back into a draft: the row saved from it is gone.
func (e *Entry) unsave(turn int) {
	e.State = StatePending
	e.Action = ActionGenerated
	e.ID, e.RowVersion, e.Loaded = "", "", map[string]int{}
	e.TurnPromoted, e.DeletedAtTurn, e.DemotedAtTurn = nil, nil, nil
	e.TurnLastRef = max(e.TurnLastRef, turn)
}

// resolves reports whether the ref may be used in a turn: a deleted row, until the turn that deleted it ends.
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

// record is an entry in the table's column names.
type record struct {
	Ref                  string         `json:"ref"`
	EntityType           string         `json:"entity_type"`
	EntityID             *string        `json:"entity_id"`
	State                db.RefState    `json:"state"`
	Action               string         `json:"action"`
	Label                string         `json:"label"`
	LabelIsPlaceholder   bool           `json:"label_is_placeholder"`
	SourceStep           *int           `json:"source_step"`
	SourceCall           *int           `json:"source_call"`
	TurnCreated          int            `json:"turn_created"`
	TurnLastRef          int            `json:"turn_last_ref"`
	TurnPromoted         *int           `json:"turn_promoted"`
	ActiveReason         *string        `json:"active_reason"`
	RetainConfidence     *float32       `json:"retain_confidence"`
	Pinned               bool           `json:"pinned"`
	ExcludedReason       *string        `json:"excluded_reason"`
	ExcludedConstraintID *uuid.UUID     `json:"excluded_constraint_id"`
	DemotedAtTurn        *int           `json:"demoted_at_turn"`
	DeletedAtTurn        *int           `json:"deleted_at_turn"`
	Loaded               map[string]int `json:"loaded"`
	RowVersion           *string        `json:"row_version"`
}

func (e *Entry) record() record {
	loaded := e.Loaded
	if loaded == nil {
		loaded = map[string]int{}
	}

	return record{
		Ref: e.Ref, EntityType: e.Type, EntityID: orNull(e.ID), State: e.State, Action: e.Action,
		Label: e.Label, LabelIsPlaceholder: e.LabelIsPlaceholder, SourceStep: e.SourceStep, SourceCall: e.SourceCall,
		TurnCreated: e.TurnCreated, TurnLastRef: e.TurnLastRef, TurnPromoted: e.TurnPromoted,
		ActiveReason: orNull(e.Reason), RetainConfidence: e.Confidence, Pinned: e.Pinned,
		ExcludedReason: orNull(e.ExcludedReason), ExcludedConstraintID: e.ConstraintID,
		DemotedAtTurn: e.DemotedAtTurn, DeletedAtTurn: e.DeletedAtTurn, Loaded: loaded, RowVersion: orNull(e.RowVersion),
	}
}

func entryOf(row *db.EntityRefs) (Entry, error) {
	e := Entry{
		Ref: row.Ref, Type: row.EntityType, ID: orEmpty(row.EntityID), State: row.State, Action: row.Action,
		Label: row.Label, LabelIsPlaceholder: row.LabelIsPlaceholder,
		SourceStep: orNil(row.SourceStep), SourceCall: orNil(row.SourceCall),
		TurnCreated: int(row.TurnCreated), TurnLastRef: int(row.TurnLastRef), TurnPromoted: orNil(row.TurnPromoted),
		Reason: orEmpty(row.ActiveReason), Confidence: row.RetainConfidence, Pinned: row.Pinned,
		ExcludedReason: orEmpty(row.ExcludedReason), ConstraintID: row.ExcludedConstraintID,
		DemotedAtTurn: orNil(row.DemotedAtTurn), DeletedAtTurn: orNil(row.DeletedAtTurn), RowVersion: orEmpty(row.RowVersion),
	}
	if err := json.Unmarshal(row.Loaded, &e.Loaded); err != nil {
		return Entry{}, fmt.Errorf("read loaded sets of %s: %w", row.Ref, err)
	}

	return e, nil
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}

	return &s
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}

	return *s
}

func orNil(n *int32) *int {
	if n == nil {
		return nil
	}
	v := int(*n)

	return &v
}

// refName is the n-th name of a type.
func refName(entityType string, n int, gen bool) string {
	name := entityType + "_" + strconv.Itoa(n)
	if gen {
		return genPrefix + name
	}

	return name
}

const (
	genPrefix = "gen_"
	maxLabel  = 300
	maxReason = 1000
)

// cleanText makes a single line fit for a prompt: no ids, no control characters, at most limit characters.
func cleanText(text string, limit int) string {
	text = strings.Join(strings.FieldsFunc(Scrub(text), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	if runes := []rune(text); len(runes) > limit {
		text = string(runes[:limit-1]) + "…"
	}

	return text
}

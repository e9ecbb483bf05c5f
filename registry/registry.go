package registry

import (
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/domain"
)

// Actor is who caused a change.
type Actor string

// The actors.
const (
	ActorAssistant Actor = "assistant"
	ActorUser      Actor = "user"
	ActorSystem    Actor = "system"
)

// The actions: what last happened to an entity. Code sets them from what the database returned.
const (
	ActionRead          = "read"
	ActionCreated       = "created"
	ActionUpdated       = "updated"
	ActionDeleted       = "deleted"
	ActionGenerated     = "generated"
	ActionLinked        = "linked"
	ActionCreatedUser   = "created:user"
	ActionUpdatedUser   = "updated:user"
	ActionDeletedUser   = "deleted:user"
	ActionMentionedUser = "mentioned:user"
)

// The states of a ref.
const (
	StateStored   = db.RefStateStored
	StatePending  = db.RefStatePending
	StatePromoted = db.RefStatePromoted
	StateDropped  = db.RefStateDropped
	StateDeleted  = db.RefStateDeleted
)

// Scope locates an event in a conversation.
type Scope struct {
	SessionID uuid.UUID
	UserID    uuid.UUID
	// TurnID is uuid.Nil if the user acts outside a turn; Turn is then the number of the coming turn.
	TurnID uuid.UUID
	Turn   int
	// Step and Call are 0 outside act. UI changes and mentions also have step 0; only their events record it.
	Step int
	Call int
	// Results is the number of the last result that the turn has stored for the step, 0 before the first.
	Results int
	Actor   Actor
	// Written, unless nil, collects what is written of the registry.
	Written *Written
}

// Written is what a transaction writes of a session's registry.
type Written struct {
	Window int      // of the view it is for, in turns
	Names  []string // the refs, known before they are written
	// Refs are the same refs as a view shows them, in the order in which they were written. They are complete once all
	// statements have been sent.
	Refs []*db.EntityRefWriteRow
}

// Registry is the registry of one session within one transaction. It is not safe
// for concurrent use.
type Registry struct {
	tx     pgx.Tx
	domain *domain.Domain
	scope  Scope
	q      *db.Queries
	locked bool
	// presumed are drafts that this decision is saving: ref -> key.
	presumed map[string]string
}

// New returns the registry of the scope's session. It reads nothing yet.
func New(tx pgx.Tx, d *domain.Domain, s Scope) *Registry {
	return &Registry{tx: tx, domain: d, scope: s, q: db.New(), presumed: map[string]string{}}
}

// Entry is a ref and what is known about its entity. It is read and written as JSON by the column names of entity_refs;
// what is omitted is null there.
type Entry struct {
	Ref   string      `json:"ref"`
	Type  string      `json:"entity_type"`
	ID    string      `json:"entity_id,omitempty"` // the row's key as text; "" while pending. Never for a model.
	State db.RefState `json:"state"`
	// Action is what last happened.
	Action string `json:"action"`
	// Label is what people call it; while LabelIsPlaceholder is true, it is the ref.
	Label              string `json:"label"`
	LabelIsPlaceholder bool   `json:"label_is_placeholder"`
	// SourceStep and SourceCall identify the generate call in TurnCreated that made it: drafts for which all three are
	// equal belong together. Nil for rows.
	SourceStep     *int           `json:"source_step"`
	SourceCall     *int           `json:"source_call"`
	TurnCreated    int            `json:"turn_created"`
	TurnLastRef    int            `json:"turn_last_ref"`
	TurnPromoted   *int           `json:"turn_promoted"`
	Reason         string         `json:"active_reason,omitempty"` // why it is retained, "" if it is not
	Confidence     *float32       `json:"retain_confidence"`
	Pinned         bool           `json:"pinned"`
	ExcludedReason string         `json:"excluded_reason,omitempty"` // why it is excluded, "" if it is not
	ConstraintID   *uuid.UUID     `json:"excluded_constraint_id"`
	DemotedAtTurn  *int           `json:"demoted_at_turn"`
	DeletedAtTurn  *int           `json:"deleted_at_turn"`
	Loaded         map[string]int `json:"loaded"`                // column set -> turn of its last read
	RowVersion     string         `json:"row_version,omitempty"` // xmin when last read or written, "" if unknown
}

// Pending reports whether the entity is a draft without a row.
func (e Entry) Pending() bool { return e.State == StatePending }

// Draft is unsaved generated content. Content is an object by the table's column names, with children under the child
// table's name and foreign keys as refs.
type Draft struct {
	Type    string
	Content map[string]any
}

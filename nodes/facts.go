package nodes

import (
	"encoding/json"
	"time"
)

// Facts are the content of a node's prompt as data, for in-process models that decide by rules instead of reading. A
// node has only the facts its prompt shows, and zero values for the rest. Facts are read-only, since the prompt is
// built from the same rows. Inputs make them when a model asks.
type Facts struct {
	// Message is the current message, with mentions written as "Label (ref)".
	Message string
	// Today is midnight UTC of the user's current date.
	Today time.Time
	// Entities are everything that has a ref, in registry order.
	Entities []Entity
	// Discarded are the labels of the drafts that this turn discarded.
	Discarded []string
	// Said are the last turns, oldest first.
	Said []Exchange
	// Question was open when the message arrived, or is what the message answers; Asked is the question this turn ends
	// with. Either may be nil.
	Question, Asked *OpenQuestion
	// Understood is what Understand made of the message; zero in Understand itself.
	Understood UnderstandOutput
	// Constraints are the user's constraints, oldest first.
	Constraints []Holding
	// Plan holds this turn's steps with their outcomes; Results what the tools returned, in this turn and the window
	// before it, oldest first.
	Plan    []PlannedStep
	Results []Result
	// InFull words what is known of a row or draft, for people.
	InFull func(ref string) string
}

// Entity is one ref with what is known about its row or draft.
type Entity struct {
	Ref, Type, Label string
	// Tier is where prompts list it: generated, recent, retained, excluded, or "".
	Tier string
	// Action is what last happened to it: read, created, linked, updated:user, ...
	Action string
	// Stale is "changed" or "gone" if the row differs from what was read.
	Stale   string
	Pending bool // an unsaved draft
	Deleted bool
	// Touched is the number of the turn that last touched it.
	Touched int
	// Columns are the values read within the window, the newest per column; a column that is absent is not loaded. Keys
	// of other rows appear as refs.
	Columns map[string]any
	// Children are its child rows, by table, each with its own ref as its key.
	Children map[string][]map[string]any
	// Draft is the content of an unsaved draft, as `generate` wrote it.
	Draft map[string]any
}

// Exchange is one earlier turn.
type Exchange struct {
	Turn    int
	Message string
}

// OpenQuestion is a question the assistant asked. Options are the refs among its answers.
type OpenQuestion struct {
	Turn    int
	Options []string
}

// Holding is a constraint in force.
type Holding struct {
	Kind  string
	Value json.RawMessage
}

// PlannedStep is a step of this turn's plan. Outcome is "" while it is open.
type PlannedStep struct {
	Step
	Number           int
	Outcome, Summary string
}

// Result is what one tool call returned. Step 0 is what the user did or pointed at before the plan; Current separates
// this turn's results from older ones.
type Result struct {
	Turn, Step       int
	Current          bool
	Tool, Type       string
	Refs             []string
	Rows             []map[string]any
	ErrorCode, Error string
}

package nodes

import (
	"encoding/json"
	"time"
)

// Facts are what the blocks of a node's prompt say, as data: for models that run
// in this process and decide by rules instead of reading. A node has the facts
// that its prompt has, and the zero value of the others; whoever gets them must
// not change them, since the prompt is made of the same rows.
type Facts struct {
	// Message is what the user says now, a mention written as "Label (ref)".
	Message string
	// Today is midnight, in UTC, of the day it is where the user is.
	Today time.Time
	// Entities are what has a ref, in the order of the registry.
	Entities []Entity
	// Discarded are the labels of the drafts that this turn gave up.
	Discarded []string
	// Said are the last turns, oldest first.
	Said []Exchange
	// Question was open when the message came, or is what the message answers;
	// Asked is what this turn ends with asking. Either is nil for none.
	Question, Asked *OpenQuestion
	// Understood is what Understand made of the message; zero in Understand itself.
	Understood UnderstandOutput
	// Constraints are what the user asked to hold, oldest first.
	Constraints []Holding
	// Plan are the steps of this turn with what came of them; Results what the
	// tools returned, in this turn and in the window before it, oldest first.
	Plan    []PlannedStep
	Results []Result
}

// Entity is one ref with what is known of its row or its draft.
type Entity struct {
	Ref, Type, Label string
	// Tier is where prompts list it: generated, recent, retained, excluded, or "".
	Tier string
	// Action is what last happened to it: read, created, linked, updated:user, ...
	Action string
	// Stale is "changed" or "gone" when the row is no longer what was read.
	Stale    string
	Pending  bool // a draft, not saved
	Deleted  bool
	Demoted  bool
	Promoted bool // a draft that this turn has saved
	// Created and Touched are the numbers of the turns that met it first and last.
	Created, Touched int
	// Columns are the values read within the window, newest first by column: a
	// column that is not there is not loaded. Keys of other rows stand as refs.
	Columns map[string]any
	// Children are the rows below it, by table, each with its own ref as its key.
	Children map[string][]map[string]any
	// Draft is the content of one that is not saved, as `generate` wrote it.
	Draft map[string]any
}

// Exchange is one earlier turn.
type Exchange struct {
	Turn           int
	Message, Reply string
	// Refs had to do with the turn; only Understand is told.
	Refs []string
}

// OpenQuestion is something the assistant asked.
type OpenQuestion struct {
	Kind    string // clarify, disambiguate, propose, ask_user, approve
	Turn    int
	Text    string
	Options []QuestionOption
}

// QuestionOption is one of the answers to choose from; Ref may be "".
type QuestionOption struct {
	Label, Ref string
}

// Holding is a constraint in force. Expires is zero when nothing ends it.
type Holding struct {
	Text, Kind, Scope string
	Value             json.RawMessage
	Expires           time.Time
}

// PlannedStep is a step of this turn's plan. Outcome is "" while it is open.
type PlannedStep struct {
	Step
	Number                              int
	Outcome, Summary, Conclusions, Note string
}

// Result is what one tool call returned. Step 0 is what the user did or pointed
// at before the plan; Current tells this turn's results from older ones.
type Result struct {
	Turn, Step, Call int
	Current          bool
	Tool, Type       string
	Params           json.RawMessage
	Refs             []string
	Rows             []map[string]any
	Count            int // rows found or written, which may be more than stand in Rows
	ErrorCode, Error string
}

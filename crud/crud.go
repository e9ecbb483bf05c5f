package crud

import (
	"encoding/json"

	"github.com/google/uuid"

	"alfred/db"
	"alfred/domain"
	"alfred/recall"
)

// Call is one call of a data tool, arguments as the model wrote them.
type Call struct {
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args"`
}

// The data tools.
const (
	ToolAnalyze   = "db_analyze"
	ToolCalculate = "calculate"
	ToolCreate    = "db_create"
	ToolDelete    = "db_delete"
	ToolGenerate  = "generate"
	ToolRead      = "db_read"
	ToolRecall    = "recall"
	ToolUpdate    = "db_update"
)

// Tools of a results row that no model calls.
const (
	ToolMention  = "mention"
	ToolUIChange = "ui_change"
)

// toolsOf is which tools a step of a type may use. It is enforced here, whatever
// a prompt said.
var toolsOf = map[string][]string{
	"analyze":  {ToolAnalyze, ToolCalculate, ToolRecall},
	"generate": {ToolCalculate, ToolGenerate},
	"read":     {ToolCalculate, ToolRead, ToolRecall},
	"write":    {ToolCreate, ToolDelete, ToolRead, ToolUpdate},
}

// StepTools lists the data tools that a step of the type may use, in alphabetical
// order; none for a type that does not exist.
func StepTools(stepType string) []string { return append([]string(nil), toolsOf[stepType]...) }

// Tools are the data tools of one domain. They hold no state and are safe for
// concurrent use.
type Tools struct {
	domain *domain.Domain
	search *recall.Searcher
}

// New returns the tools of a domain.
func New(d *domain.Domain, search *recall.Searcher) *Tools {
	return &Tools{domain: d, search: search}
}

// Prepared is one decision's calls and what their searches found.
type Prepared struct {
	calls   []Call
	vectors recall.Vectors
	found   found
}

// Calls are the calls that were prepared.
func (p Prepared) Calls() []Call { return p.calls }

// Outcome is what became of one decision.
type Outcome struct {
	// Results has one entry per call, in order, and then what somebody else has made of
	// the rows meanwhile, as reads.
	Results []Result
	// Approval is set when the user has to agree first; nothing was changed then.
	Approval *Approval
	// Undo is what the user is told of taking back what was written: that it cannot be, or, of rows that were deleted, that
	// it can; "" for nothing.
	Undo string
}

// Failed says that a call failed, and so that the decision changed nothing.
func (o *Outcome) Failed() bool {
	for i := range o.Results {
		if o.Results[i].ErrorCode != "" {
			return true
		}
	}

	return false
}

// Result is one call's result. Its rows are in turn_step_results.
type Result struct {
	Call         int // number in the step, from 1
	Tool         string
	EntityType   string // "" where the tool has none
	RowCount     int    // rows that matched
	Shown        int    // rows that are in the result
	Refs         []string
	Changes      []Change
	Notice       string // what the result does not say: a search that was degraded
	ErrorCode    Code
	ErrorMessage string
	// Stored is its row in turn_step_results.
	Stored *db.TurnStepResultInsertParams
}

// Change is one row that a decision wrote, for jobs that follow a write, such as
// embedding. ID is the row's key and never leaves the program.
type Change struct {
	EntityType string
	ID         string
	Action     string // created, updated, deleted
}

// Approval is the payload of an approve question.
type Approval struct {
	Text    string           `json:"text"`
	Options []ApprovalOption `json:"options"`
	// Calls are the decision's calls with the rows they were about to change.
	Calls []ApprovedCall `json:"calls"`
}

// ApprovalOption is one answer the user may give.
type ApprovalOption struct {
	ID    string `json:"id"`
	Label string `json:"label"`
}

// The options of a question that is answered by yes or no.
const (
	OptionNo  = "no"
	OptionYes = "yes"
)

// ApprovedCall is one call and exactly the rows it may change.
type ApprovedCall struct {
	Tool       string          `json:"tool"`
	Args       json.RawMessage `json:"args"`
	EntityType string          `json:"entity_type,omitempty"`
	// Preview is what the user was told that an operation would do.
	Preview string `json:"preview,omitempty"`
	// Keys are row keys as text. They stay in the database: a question's payload
	// is not shown beyond text and options.
	Keys []string `json:"keys,omitempty"`
	// Versions are those of the rows when the user was asked, by key; by type and key for
	// an operation, which may name rows of several types.
	Versions map[string]string `json:"versions,omitempty"`
}

// User is who a user interface acts for.
type User struct {
	ID uuid.UUID
	// Session, if not nil, is where the change is registered as the user's.
	Session *uuid.UUID
}

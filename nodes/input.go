package nodes

import (
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// Section is one heading of a prompt and the text below it. A section with an
// empty body is left out.
type Section struct {
	Heading string // with its hashes: "## Recent Context (last 2 turns)"
	Body    string
}

// Block is one tagged part of a prompt: <entity_context> ... </entity_context>.
type Block struct {
	Tag      string
	Sections []Section
}

// Item says why one thing stands in a prompt; it becomes one of context_items.
type Item struct {
	Section string // the heading's text or the tag
	Ref     string // "" where the item is no entity
	Turn    int    // 0 where the item belongs to no turn
	Reason  string // recent, retained, generated, ... (spec'd by the table's CHECK)
	Tokens  int
}

// Frame is what every node's prompt is made of: the domain's persona and the
// blocks in the order they are printed, stable ones first. Package memory builds
// it within the token budget.
type Frame struct {
	Persona string
	Prompts *Prompts `json:"-"` // nil: the built-in ones
	Blocks  []Block
	Items   []Item
	// At locates the decision for the script model and the call record.
	At At
}

// At is the place of a decision within its session. All count from 1; Step is 0
// outside act.
type At struct {
	Turn, Step, Call int
}

// Ref is what a node may know of an entity when it checks an output.
type Ref struct {
	Type    string
	Label   string
	Pending bool // generated, not saved
	Deleted bool
	// Loaded are the column sets of its row that stand in the data of the window as the row
	// is now: summary, text, rows. A changed row has none.
	Loaded []string
	Gone   bool // its row was deleted behind the conversation's back
}

// Has says whether all of these column sets are loaded.
func (r *Ref) Has(sets ...string) bool {
	return !slices.ContainsFunc(sets, func(set string) bool { return !slices.Contains(r.Loaded, set) })
}

// Refs are the refs that resolve in this session, by name.
type Refs map[string]Ref

// UnderstandInput is the input of Understand.
type UnderstandInput struct {
	Frame
	Facts       Facts
	Refs        Refs
	EntityTypes []string
	// EntityAliases maps further names of types, in lower case, to types.
	EntityAliases map[string]string
	// HasQuestion: a question is open, so answers_question may be true.
	HasQuestion bool
	// Plan, if set, asks for Think's decision in the same answer. Its frame is empty: the
	// prompt shows what both see. Nil asks for Understand's alone.
	Plan *ThinkInput
}

// ThinkInput is the input of Think.
type ThinkInput struct {
	Frame
	Facts      Facts
	Refs       Refs
	Subdomains []string
	// SubdomainAliases maps further names, in lower case, to subdomains.
	SubdomainAliases map[string]string
	MaxSteps         int
	// Permission says whether write steps are allowed; the prompt tells it below the task.
	Permission Permission
}

// Permission is whether a turn may save, change or delete, and why.
type Permission struct {
	Allowed bool
	Why     string  // for the planner, without a full stop
	Writes  []Offer // what the question that was answered proposes; empty where the message itself asks
}

// Offer is one write that a question proposes.
type Offer struct {
	Description string
	Refs        []string
}

// ActInput is the input of Act: one decision of one step.
type ActInput struct {
	Frame
	Facts Facts
	// Step is the step of the plan that the decision is about.
	Step     PlannedStep
	StepType string // read, analyze, generate, write
	// Tables the step's tools may name: the subdomain's and those requested.
	Tables []string
	// Writable are the tables that each tool for writing may name, by the tool's name: of
	// the subdomain's own and their children those of which the declaration allows it.
	Writable map[string][]string
	// Operations are further tools of a write step: functions of the domain's owner.
	Operations []Operation
	// EntityTypes generate may create.
	EntityTypes []string
	// Turn is what the tools of all steps of the turn may name; empty where each step is offered its own.
	Turn Toolbox
	// SchemaRequestsLeft is 0 when request_schema is no longer offered.
	SchemaRequestsLeft int
	// Shown are the columns of stored rows that stand in the prompt, by ref: what a decision may write over.
	Shown map[string][]string
	// Changed: a call of this step has changed rows, so that step_complete may say so.
	Changed bool
}

// Toolbox is what tools may name.
type Toolbox struct {
	Tables      []string
	Writable    map[string][]string // by the tool's name
	Operations  []Operation
	EntityTypes []string // that generate may create
}

// Operation is a tool that a domain declares.
type Operation struct {
	Name   string
	About  string
	Params *jsonschema.Schema
}

// ReplyInput is the input of Reply.
type ReplyInput struct {
	Frame
	Facts Facts
	// Outcome is how the turn ended, in a few words; the reply may claim no more.
	Outcome string
	// Blocked is why the step that gave up did so, and Notices what of the user's
	// own changes and mentions could not be found.
	Blocked string
	Notices []string
	// Fallback is the reply made from facts alone, used when the model fails.
	Fallback string
	// Ask is the question that the reply has to ask, or the offer it has to make; ""
	// for none. It is appended when the model leaves it out.
	Ask string
	// Done is what the turn did, against which the reply's claims are held.
	Done Done
	// OnDelta receives the reply while it is written; nil for no streaming.
	OnDelta func(text string)
}

// Done is what a turn did. A reply may claim no more.
type Done struct {
	Wrote   bool // rows were saved, changed or deleted
	Drafted bool // drafts were made or changed
	Curated bool // something was excluded, forgotten, kept or noted
	// Undo is what the reply says of taking it back: that this cannot be, or can; "" for nothing. It is appended when the
	// model leaves it out.
	Undo string
}

// SummarizeInput is the input of Summarize.
type SummarizeInput struct {
	Frame
	Facts Facts
	// Fallback is the summary made from facts alone, used when the model fails.
	Fallback SummarizeOutput
	// Short: the reply is short enough to stand for itself, and the facts say the rest.
	Short bool
}

// CompressInput is the input of Compress: the newest texts that cover the older
// turns, and the turns after them.
type CompressInput struct {
	Frame
	Fallback CompressOutput
}

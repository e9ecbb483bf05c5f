package nodes

import (
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"alfred/internal/llm"
)

// Section is one heading of a prompt and the text below it. A section with an empty body is left out.
type Section struct {
	Heading string // including its hashes: "## Recent Context (last 2 turns)"
	Body    string
	// Declared: the text depends only on the program and the declaration.
	Declared bool
}

// Block is one tagged part of a prompt: <entity_context> ... </entity_context>.
type Block struct {
	Tag      string
	Sections []Section
}

// Item says why something is in a prompt; it becomes a row of context_items.
type Item struct {
	Section string // the heading's text, or the tag
	Ref     string // "" if the item is not an entity
	Turn    int    // 0 if the item belongs to no turn
	Reason  string // recent, retained, generated, ...
	Tokens  int
}

// Frame is what every node's prompt consists of: the domain's persona and the blocks in print order, stable ones first.
// Package internal/prompt builds it within the token budget.
type Frame struct {
	Persona string
	Prompts *Prompts `json:"-"` // nil: the built-in ones
	Blocks  []Block
	Items   []Item
	// Round, if set, is the conversation that the prompt continues instead of consisting of the blocks. Results follow
	// it, one for each call of its answer.
	Round   *Round   `json:"-"`
	Results []string `json:"-"`
	// At locates the decision for the script model and the call record; whoever runs the node sets it.
	At At
}

// At is the position of a decision within its session. All fields count from 1; Step is 0 outside act.
type At struct {
	Turn, Step, Call int
}

// Ref is what a node knows about an entity when it checks an output.
type Ref struct {
	Type    string
	Label   string
	Pending bool // an unsaved draft
	Deleted bool
	// Loaded are the column sets of its row that the window's data holds in their current state: summary, text, rows. A
	// changed row has none.
	Loaded []string
	Gone   bool // its row was deleted outside the conversation
}

// Has reports whether all of these column sets are loaded.
func (r *Ref) Has(sets ...string) bool {
	return !slices.ContainsFunc(sets, func(set string) bool { return !slices.Contains(r.Loaded, set) })
}

// Refs are the refs that resolve in this session, by name.
type Refs map[string]Ref

// UnderstandInput is the input of Understand.
type UnderstandInput struct {
	Frame
	Facts func() Facts
	Refs  Refs
	// Deleted are refs of what was deleted in earlier turns: the prompt tells of it, but nothing can be done with it.
	Deleted     []string
	EntityTypes []string
	// HasQuestion: a question is open, so answers_question may be true.
	HasQuestion bool
	// Offers: none is open, but the last reply asks something in its own words.
	Offers bool
	// Plan, if set, also requests Think's decision in the same answer. Its frame is empty: the prompt shows what both
	// need. Nil requests only Understand's.
	Plan *ThinkInput
	// OnDelta receives the reply that the answer contains as it is written, if nothing else has to be done; nil for no
	// streaming.
	OnDelta func(text string) `json:"-"`
}

// ThinkInput is the input of Think.
type ThinkInput struct {
	Frame
	Facts      func() Facts
	Refs       Refs
	Deleted    []string // as in UnderstandInput
	Subdomains []string
	// Subdomain returns the name of the subdomain that a word means, or the word.
	Subdomain func(word string) string
	MaxSteps  int
	// Homes say where the rows of a table are handled, by table.
	Homes map[string]Home
	// Operations are further tools of write steps.
	Operations []string
	// Permission says whether write steps are allowed; the prompt states it below the task.
	Permission Permission
	// Refused says why the plan that came with Understand's answer cannot be followed, "" if none came or the permission
	// says it.
	Refused string
}

// Home is the subdomain that handles a table's rows, their type and what they are called.
type Home struct{ Subdomain, Type, Plural string }

// Permission says whether a turn may save, change or delete, and why.
type Permission struct {
	Allowed bool
	Why     string  // for the planner, without a full stop
	Writes  []Offer // what the answered question proposes; empty if the message itself asks for the write
}

// Offer is one write that a question proposes: what a yes permits.
type Offer struct {
	Description string   `json:"description"`
	Refs        []string `json:"refs"`
	// Save: the write only saves drafts, so it is done once they are saved.
	Save bool `json:"save,omitempty"`
}

// ActInput is the input of Act: one decision of one step.
type ActInput struct {
	Frame
	Toolbox
	Facts func() Facts
	// Step is the step of the plan being worked on.
	Step PlannedStep
	// Beside are later steps that need nothing from this one, in order: the same answer may contain their calls.
	Beside   []BesideStep
	StepType string // read, analyze, generate, write
	// Turn are the tools of all steps of the turn; nil if each step is offered its own.
	Turn Tools
	// SchemaRequestsLeft is 0 when request_schema is no longer offered.
	SchemaRequestsLeft int
	// Shown are the columns of stored rows that appear in the prompt, by ref: a decision may overwrite only these.
	Shown map[string][]string
	// LeftOut is how many of the step's rows the prompt has no room for.
	LeftOut int
	// Changed: a call of this step has changed rows, so step_complete may say so.
	Changed bool
	// Introduces: the other steps only prepared what this one drafts, so the words that come with its drafts begin the
	// reply.
	Introduces bool
	// OnDelta receives these words as they are written; nil for no streaming.
	OnDelta func(text string) `json:"-"`
}

// Tools are what a model is offered.
type Tools []llm.Tool

// Toolbox is what tools may name.
type Toolbox struct {
	// Tables: in a step, the subdomain's and those requested.
	Tables []string
	// Writable are the tables that each write tool may name, as far as the declaration allows it: in a step, the
	// subdomain's and their children.
	Writable map[string][]string
	// Operations are further tools of write steps: functions defined by the domain's owner.
	Operations []Operation
	// EntityTypes generate may create.
	EntityTypes []string
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
	Facts func() Facts
	// Notices are the user's changes and mentions that could not be found.
	Notices []string
	// Fallback is the reply made from facts alone, used when the model fails.
	Fallback string
	// Drafts shows these drafts to people, as they would be saved.
	Drafts func(refs []string) string
	// Ask is the question or offer that the reply must contain; "" for none. It is appended if the model leaves it out.
	Ask string
	// Offer: Ask is code's own offer to save drafts, in English.
	Offer bool
	// Written names the rows that the turn wrote, and Others what else the conversation knows of their types. A model's reply that
	// names one of these instead, or none of what is gone, is followed by the names.
	Written []Written
	Others  []string
	// NotWritten is what a turn that wrote has not written, "" for nothing. It is appended to a model's reply that admits nothing.
	NotWritten string
	// Before is what the last turn wrote, if this one did nothing: a reply that tells it as its own is replaced by it.
	Before string
	// Done is what the turn did; the reply's claims are checked against it.
	Done Done
	// OnDelta receives the reply as it is generated; nil for no streaming.
	OnDelta func(text string)
}

// Written are rows that a turn wrote.
type Written struct {
	Verb, Names string // "Saved" and their names
	Rows        int
	Gone        bool // they were deleted
}

// Done is what a turn did. A reply may claim no more.
type Done struct {
	Wrote   bool // rows were saved, changed or deleted
	Drafted bool // drafts were made or changed
	Curated bool // something was excluded, forgotten, kept or noted
	// Undrafted: a step was to draft, and no draft was made or changed.
	Undrafted bool
	// States are the words that rows' columns choose from: that an appointment is booked may be said without having booked it.
	States map[string]bool
	// Company is what the reply says of rows that were deleted with others, "" for nothing. It is appended.
	Company string
	// Undo is what the reply says about undoing the turn, "" for nothing. It is appended if the model leaves it out.
	Undo string
}

// SummarizeInput is the input of Summarize.
type SummarizeInput struct {
	Frame
	// Fallback is what code words of a summary, used when the model fails. The rest follows from rows.
	Fallback SummarizeOutput
	// Short: the reply is short enough to be its own summary, and the facts say the rest.
	Short bool
}

// CompressInput is the input of Compress: the newest texts covering older turns, and the turns after those.
type CompressInput struct {
	Frame
	Fallback CompressOutput
}

package nodes

import (
	"encoding/json"
	"fmt"
	"strings"

	"alfred/internal/vocab"
)

// UnderstandOutput is Understand's decision: what the message refers to, what stays in view, what the user wants.
type UnderstandOutput struct {
	Mentions        []Mention       `json:"mentions"`
	Curation        Curation        `json:"curation"`
	CurationSummary string          `json:"curation_summary"`
	Constraints     []Constraint    `json:"constraints"`
	Intent          string          `json:"intent"` // read, explore, write, confirm, answer, chat
	AnswersQuestion bool            `json:"answers_question"`
	Disambiguation  *Disambiguation `json:"disambiguation,omitempty"`
	Clarification   *Clarification  `json:"clarification,omitempty"`
	Quick           *Quick          `json:"quick,omitempty"`
	Recall          *RecallQuery    `json:"recall,omitempty"`

	// Think is Think's decision if the same answer contains it, as written; it is checked when it is followed. Nil if
	// Think has to be asked.
	Think *ThinkOutput `json:"think,omitempty"`
	// Say is the reply if the same answer contains it: to a message that needs nothing else, or for when the plan's
	// calls have succeeded.
	Say string `json:"say,omitempty"`
	// Degraded says why the model's answer could not be used as it was; code sets it.
	Degraded string `json:"-"`
}

// Mention is a phrase of the message that refers to an entity.
type Mention struct {
	Text       string   `json:"text"`
	Ref        string   `json:"ref,omitempty"`
	Resolution string   `json:"resolution"` // exact, inferred, ambiguous, unknown
	Candidates []string `json:"candidates"`
	Reason     string   `json:"reason"`
}

// Curation changes what later turns see.
type Curation struct {
	Retain   []Retain  `json:"retain"`
	Demote   []string  `json:"demote"`
	Forget   []string  `json:"forget" alias:"drop"`
	Exclude  []Exclude `json:"exclude"`
	ClearAll bool      `json:"clear_all"`
}

// Retain keeps an older entity in view. Confidence is 0..1; over budget, the lowest is dropped first.
type Retain struct {
	Ref        string   `json:"ref"`
	Reason     string   `json:"reason"`
	Confidence *float64 `json:"confidence,omitempty"`
}

// Exclude takes an entity out of consideration because the user rejected it.
type Exclude struct {
	Ref    string `json:"ref"`
	Reason string `json:"reason"`
}

// Constraint is something the user wants observed.
type Constraint struct {
	Text     string          `json:"text"`
	Kind     string          `json:"kind"` // count, date_range, exclude, require, budget, other
	Value    json.RawMessage `json:"value"`
	Scope    string          `json:"scope"` // session, lasting
	Replaces string          `json:"replaces,omitempty"`
}

// Disambiguation asks which of several entities is meant; Options are refs.
type Disambiguation struct {
	Question string   `json:"question"`
	Options  []string `json:"options"`
}

// Clarification asks for what is missing.
type Clarification struct {
	Questions []string `json:"questions"`
}

// Quick marks a single-table lookup that needs no plan.
type Quick struct {
	EntityType string `json:"entity_type"`
	Why        string `json:"why"`
}

// RecallQuery is a search of the past that answers the message.
type RecallQuery struct {
	Query string `json:"query"`
}

// ThinkOutput is a turn's plan. If it is a proposal, its steps are what would be done.
type ThinkOutput struct {
	Goal      string   `json:"goal"`
	Decision  string   `json:"decision"` // plan, propose, clarify
	Steps     []Step   `json:"steps"`
	Proposal  string   `json:"proposal,omitempty"`
	Questions []string `json:"questions"`
	// Calls are the calls that the planner wrote out, each with its step's number, from 1. They are moved into the
	// steps as they are read.
	Calls []json.RawMessage `json:"calls,omitempty"`

	// Left are the steps of a plan beyond its limit; code sets them, and the reply says that they were not done.
	Left []Step `json:"-"`
}

// Step is one step of a plan.
type Step struct {
	Type        string   `json:"type"` // read, analyze, generate, write
	Subdomain   string   `json:"subdomain"`
	Description string   `json:"description"`
	Refs        []string `json:"refs"`
	Needs       string   `json:"needs"` // refs, rows
	// Calls carry out the step, if the planner knew them; see ReadyCalls.
	Calls []json.RawMessage `json:"calls,omitempty"`

	// Undone is why a step is left undone that a turn records beside its plan.
	Undone string `json:"-"`

	// spent: all that it was planned for is steps of their own by now.
	spent bool
}

// ActOutput is one decision of one step. Calls are executed together or not at all. AskUser, Blocked and RequestSchema
// stand alone, without calls or StepComplete.
type ActOutput struct {
	// Words introduce to the user what the calls draft: the reply begins with them, then shows the drafts.
	Words         string         `json:"words,omitempty"`
	Calls         []vocab.Call   `json:"calls,omitempty"`
	StepComplete  *StepComplete  `json:"step_complete,omitempty"`
	AskUser       *AskUser       `json:"ask_user,omitempty"`
	Blocked       *Blocked       `json:"blocked,omitempty"`
	RequestSchema *RequestSchema `json:"request_schema,omitempty"`
	// Beside are the calls for later steps; they are carried out as decisions of those steps once this one has ended.
	Beside []BesideCalls `json:"beside,omitempty"`
}

// Text is all that the decision says: its calls' arguments and its words.
func (o *ActOutput) Text() string {
	var parts []string
	for _, call := range o.Calls {
		var args any
		_ = json.Unmarshal(call.Args, &args) // valid, and unescaped only so
		parts = append(parts, fmt.Sprint(args))
	}
	if c := o.StepComplete; c != nil {
		parts = append(parts, c.Summary, c.Conclusions, c.Note)
	}
	if a := o.AskUser; a != nil {
		parts = append(parts, a.Question, strings.Join(a.Options, "\n"))
	}
	if b := o.Blocked; b != nil {
		parts = append(parts, b.Details)
	}

	return strings.Join(append(parts, o.Words), "\n")
}

// StepComplete ends the step.
type StepComplete struct {
	Summary     string `json:"summary"`
	Conclusions string `json:"conclusions,omitempty"`
	Note        string `json:"note,omitempty"`
}

// AskUser ends the turn with a question. WouldWrite: a yes would request that something be saved, changed or deleted.
type AskUser struct {
	Question   string   `json:"question"`
	Options    []string `json:"options,omitempty"`
	WouldWrite bool     `json:"would_write,omitempty"`
}

// Blocked ends the step without success. Next is ask_user, replan or fail.
type Blocked struct {
	Code    string `json:"code"` // insufficient_info, plan_invalid, tool_failure
	Details string `json:"details"`
	Next    string `json:"next"`
}

// RequestSchema asks for another table's columns.
type RequestSchema struct {
	Table string `json:"table"`
}

// ReplyOutput is the text the user reads.
type ReplyOutput struct {
	Text string `json:"text"`
	// Fallback: the model failed and Text was made from facts.
	Fallback bool `json:"fallback,omitempty"`
}

// SummarizeOutput is what a model adds to the facts of a turn.
type SummarizeOutput struct {
	ResponseSummary    string `json:"response_summary"`
	ConversationPhase  string `json:"conversation_phase"` // exploring, narrowing, confirming, executing, reflecting
	Tone               string `json:"tone"`               // collaborative, informative, clarifying
	WhatUserExpressed  string `json:"what_user_expressed"`
	WhatWeAcknowledged string `json:"what_we_acknowledged"`
	NaturalNext        string `json:"natural_next"`
}

// CompressOutput replaces a range of older turns: what was said, and what was done and decided.
type CompressOutput struct {
	Conversation string `json:"conversation"`
	Narrative    string `json:"narrative"`
}

package llm

import (
	"context"
	"encoding/json"
	"time"
)

// Roles of a message.
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
)

// Model answers one request. Implementations are safe for concurrent use and
// give up as soon as ctx is done.
type Model interface {
	// Generate returns the whole answer. While it arrives, text is also handed
	// piece by piece to req.OnDelta, if that is set.
	//
	// Errors are *Error. A Response that comes with an error holds what arrived
	// before it, above all the tokens that are billed all the same. When ctx was
	// cancelled, errors.Is(err, context.Canceled) holds.
	Generate(ctx context.Context, req *Request) (*Response, error)
}

// Prepare fills in what req leaves open and model is configured with (temperature,
// token limit). Who records requests calls it first, so that the record is what was
// sent; Generate does the same on a copy.
func Prepare(model Model, req *Request) {
	if preparer, ok := model.(interface{ Prepare(req *Request) }); ok {
		preparer.Prepare(req)
	}
}

// Request is what a model gets. Its JSON form is stored as llm_calls.request,
// the same for every provider, and holds no identifier of the database.
type Request struct {
	System      string          `json:"system"`
	Messages    []Message       `json:"messages"`
	Tools       []Tool          `json:"tools,omitempty"`
	SchemaName  string          `json:"schema_name,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"`
	Temperature *float64        `json:"temperature,omitempty"`
	MaxTokens   int             `json:"max_tokens,omitempty"`

	// Input is the node's typed input, what the messages say as data. Only a model
	// that runs in this process may read it: no provider sends it, no record holds it.
	Input any `json:"-"`
	// Node is the node that asks. Together with Turn, Step and Call it lets the
	// script model find its entry; no provider sends any of them.
	Node string `json:"-"`
	// Holds are further nodes whose decisions the answer may hold besides that of Node,
	// each below its name.
	Holds []string `json:"-"`
	// Turn is the number of the turn within its session, from 1.
	Turn int `json:"-"`
	// Step is the plan's step, from 1; 0 outside act.
	Step int `json:"-"`
	// Call counts the node's decisions in this turn (for act: in this step), from 1.
	Call int `json:"-"`
	// Ordinal counts this node's decisions over the whole turn, from 1. It equals
	// Call but for act, whose Call starts again with each step.
	Ordinal int `json:"-"`
	// Attempt counts the requests made for one decision, from 1; above 1 it is a
	// repair round.
	Attempt int `json:"-"`
	// OnDelta receives streamed text; nil asks for no streaming.
	OnDelta func(text string) `json:"-"`
	// OnFailed, if set, is told of a call that failed and that the model itself makes
	// up for: by asking a second provider, or the same without a parameter.
	OnFailed func(response *Response, err error, took time.Duration) `json:"-"`
	// OnRefused, if set, is told when the answer to this request turned out to be
	// unusable.
	OnRefused func() `json:"-"`
}

// Failed tells OnFailed of a call that began at started.
func (r *Request) Failed(response *Response, err error, started time.Time) {
	if r.OnFailed != nil {
		r.OnFailed(response, err, time.Since(started))
	}
}

// Message is one entry of the conversation with the model.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	// Stable is how many bytes of Content the next prompts begin with too, which a provider may be told to keep; 0 for none.
	Stable int `json:"-"`
}

// Tool is a function the model may call; Schema is a JSON schema of its arguments.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

// Response is a model's whole answer.
type Response struct {
	Text      string     `json:"text,omitempty"`
	ToolCalls []ToolCall `json:"tool_calls,omitempty"`
	// Model is the name the provider reports, else the one asked for.
	Model    string `json:"model"`
	Provider string `json:"provider"`
	Usage    Usage  `json:"usage"`
}

// ToolCall is one function call in an answer. Args is what the model wrote and
// may be anything, valid JSON or not.
type ToolCall struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

// MarshalJSON writes Args that are no JSON as a string, so that an answer can be
// stored whatever the model wrote.
func (c ToolCall) MarshalJSON() ([]byte, error) {
	type plain ToolCall
	if json.Valid(c.Args) {
		return json.Marshal(plain(c))
	}
	quoted, err := json.Marshal(string(c.Args))
	if err != nil {
		return nil, err
	}
	return json.Marshal(plain{Name: c.Name, Args: quoted})
}

// Usage counts tokens as the provider bills them. Cached is the part of Input
// read from the provider's prompt cache.
type Usage struct {
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
	Cached int `json:"cached_tokens"`
}

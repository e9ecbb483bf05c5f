package llm

import (
	"context"
	"encoding/json"
	"unicode/utf8"
)

// Roles of a message.
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool" // the result of one call of the preceding assistant message
)

// Model answers one request. Implementations are safe for concurrent use and return as soon as ctx is done.
type Model interface {
	// Generate returns the whole answer. While it arrives, text is also passed
	// piece by piece to req.OnDelta, if that is set.
	//
	// Errors are *Error. A Response returned with an error holds what arrived before
	// it, in particular the tokens, which are billed anyway. If ctx was cancelled,
	// errors.Is(err, context.Canceled) holds.
	Generate(ctx context.Context, req *Request) (*Response, error)
}

// Prepare fills in what req leaves open and model has configured (temperature, token limit). Code that records requests
// calls it first, so that the record is what was sent; Generate does the same on a copy.
func Prepare(model Model, req *Request) {
	if preparer, ok := model.(interface{ Prepare(req *Request) }); ok {
		preparer.Prepare(req)
	}
}

// Request is a model's input. Its JSON form is what v_llm_calls.request shows, the same for every provider, and
// contains no database identifiers. System, Tools, Schema and Declared come only from the program and the declaration.
// They are stored once for all users, so they must not contain anything from a conversation.
type Request struct {
	System   string    `json:"system"`
	Messages []Message `json:"messages"`
	Tools    []Tool    `json:"tools,omitempty"` // which may be called instead of answering, or besides
	// Schema is the JSON schema, of the given name, that the answer's text must fit; empty means prose.
	SchemaName  string          `json:"schema_name,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"`
	Temperature *float64        `json:"temperature,omitempty"`
	MaxTokens   int             `json:"max_tokens,omitempty"`

	// Input is the node's typed input: the messages' content as data. Only an in-process model may read it; it is
	// neither sent nor recorded.
	Input any `json:"-"`
	// Declared are texts that may occur in Messages but, like System, come only from the program and the declaration.
	Declared []string `json:"-"`
	// Node is the node that asks. With Turn, Step and Call it lets the script model find its entry; no provider sends
	// any of them.
	Node string `json:"-"`
	// Holds are other nodes whose decisions the answer may contain, each under its name.
	Holds []string `json:"-"`
	// Turn is the number of the turn within its session, from 1.
	Turn int `json:"-"`
	// Step is the plan's step, from 1; 0 outside act.
	Step int `json:"-"`
	// Call counts the node's decisions in this turn (for act: in this step), from 1.
	Call int `json:"-"`
	// Ordinal counts this node's decisions over the whole turn, from 1. It equals Call except in act, whose Call
	// restarts with each step.
	Ordinal int `json:"-"`
	// Attempt counts the requests made for one decision, from 1; above 1 it is a repair round.
	Attempt int `json:"-"`
	// OnDelta receives streamed text; nil asks for no streaming.
	OnDelta func(text string) `json:"-"`
	// OnFailed, if set, is called for a failed call that the model itself recovers from, by asking a second provider or
	// by leaving out a parameter.
	OnFailed func(response *Response, err error) `json:"-"`
	// OnRefused, if set, is called if the answer to this request turned out to be unusable.
	OnRefused func() `json:"-"`
}

// Failed calls OnFailed.
func (r *Request) Failed(response *Response, err error) {
	if r.OnFailed != nil {
		r.OnFailed(response, err)
	}
}

// Message is one entry of the conversation with the model.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	// ToolCalls are the calls of an assistant's message. One message with a result follows for each, in the same order.
	// Providers get ids that are made for each request.
	ToolCalls []ToolCall `json:"tool_calls,omitempty"`
	// Reasoning and Provider are those of the answer that this assistant's message repeats.
	Reasoning string `json:"reasoning,omitempty"`
	Provider  string `json:"provider,omitempty"`
	// Stable is how many leading bytes of Content the next prompts share, which a provider may be told to cache; 0 for
	// none.
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
	// Reasoning is what some servers want back with the answer's calls. It goes back only to them; most servers send
	// none.
	Reasoning string `json:"reasoning,omitempty"`
	// Model is the name the provider reports, else the requested one.
	Model    string `json:"model"`
	Provider string `json:"provider"`
	Usage    Usage  `json:"usage"`
}

// ToolCall is one function call in an answer. Args is what the model wrote, possibly invalid JSON.
type ToolCall struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
	// Signature is what the provider wants back with the call, unchanged; "" for nothing.
	Signature string `json:"signature,omitempty"`
}

// MarshalJSON encodes invalid Args as a string, so that an answer can be stored whatever the model wrote.
func (c ToolCall) MarshalJSON() ([]byte, error) {
	type plain ToolCall
	if json.Valid(c.Args) {
		return json.Marshal(plain(c))
	}
	quoted, err := json.Marshal(string(c.Args))
	if err != nil {
		return nil, err
	}
	c.Args = quoted

	return json.Marshal(plain(c))
}

// Usage counts tokens as the provider bills them. Cached is the part of Input
// read from the provider's prompt cache.
type Usage struct {
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
	Cached int `json:"cached_tokens"`
}

// Embedder turns texts into vectors whose cosine distance is small if their meanings are similar. Implementations are
// safe for concurrent use.
type Embedder interface {
	// Embed returns one vector per text, in order. Errors are *Error.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	// Model names what made the vectors; vectors of different models are not comparable.
	Model() string
	// Dimensions is the length of every vector.
	Dimensions() int
}

// runesPerToken is the usual ratio for English; tokenizers differ by a quarter.
const runesPerToken = 4

// EstimateTokens estimates a text's tokens, for when no provider counts them.
func EstimateTokens(text string) int {
	return (utf8.RuneCountInString(text) + runesPerToken - 1) / runesPerToken
}

// EstimateTokens estimates the prompt's tokens: instructions, messages, tools and
// schema.
func (r *Request) EstimateTokens() int {
	total := EstimateTokens(r.System) + EstimateTokens(string(r.Schema))
	for _, message := range r.Messages {
		total += EstimateTokens(message.Content) + EstimateTokens(message.Reasoning) + tokensOf(message.ToolCalls)
	}
	for _, tool := range r.Tools {
		total += EstimateTokens(tool.Name) + EstimateTokens(tool.Description) + EstimateTokens(string(tool.Schema))
	}

	return total
}

// EstimateTokens estimates the answer's tokens: text and tool calls.
func (r *Response) EstimateTokens() int {
	return EstimateTokens(r.Text) + tokensOf(r.ToolCalls)
}

func tokensOf(calls []ToolCall) int {
	total := 0
	for _, call := range calls {
		total += EstimateTokens(call.Name) + EstimateTokens(string(call.Args))
	}

	return total
}

package alfred

import (
	"alfred/internal/llm"
	"alfred/internal/llm/provider"
)

type (
	// Model answers requests. It is safe for concurrent use, returns as soon as its context is done, and each of its
	// errors is a *[ModelError].
	//
	//	type Model interface {
	//		// Generate returns the whole answer. While it arrives, text is also passed
	//		// piece by piece to req.OnDelta, if that is set.
	//		//
	//		// Errors are *ModelError. A Response returned with an error holds what arrived before
	//		// it, in particular the tokens, which are billed anyway. If ctx was cancelled,
	//		// errors.Is(err, context.Canceled) holds.
	//		Generate(ctx context.Context, req *Request) (*Response, error)
	//	}
	Model = llm.Model
	// Request is what a model is asked.
	//
	//	type Request struct {
	//		System   string
	//		Messages []Message
	//		Tools    []Tool // which may be called instead of answering, or besides
	//		// Schema is the JSON schema, of the given name, that the answer's text must fit; empty means prose.
	//		SchemaName  string
	//		Schema      json.RawMessage
	//		Temperature *float64
	//		MaxTokens   int
	//
	//		// Input is the node's typed input: the messages' content as data. Only an in-process model may read it; it is
	//		// neither sent nor recorded.
	//		Input any
	//		// Declared are texts that may occur in Messages but, like System, come only from the program and the declaration.
	//		Declared []string
	//		// Node is the node that asks. With Turn, Step and Call it lets the script model find its entry; no provider sends
	//		// any of them.
	//		Node string
	//		// Holds are other nodes whose decisions the answer may contain, each under its name.
	//		Holds []string
	//		// Turn is the number of the turn within its session, from 1.
	//		Turn int
	//		// Step is the plan's step, from 1; 0 outside act.
	//		Step int
	//		// Call counts the node's decisions in this turn (for act: in this step), from 1.
	//		Call int
	//		// Ordinal counts this node's decisions over the whole turn, from 1. It equals Call except in act, whose Call
	//		// restarts with each step.
	//		Ordinal int
	//		// Attempt counts the requests made for one decision, from 1; above 1 it is a repair round.
	//		Attempt int
	//		// OnDelta receives streamed text; nil asks for no streaming.
	//		OnDelta func(text string)
	//		// OnFailed, if set, is called for a failed call that the model itself recovers from, by asking a second provider or
	//		// by leaving out a parameter.
	//		OnFailed func(response *Response, err error)
	//		// OnRefused, if set, is called if the answer to this request turned out to be unusable.
	//		OnRefused func()
	//	}
	//	// Failed calls OnFailed.
	//	func (r *Request) Failed(response *Response, err error)
	//	// EstimateTokens estimates the prompt's tokens: instructions, messages, tools and
	//	// schema.
	//	func (r *Request) EstimateTokens() int
	Request = llm.Request
	// Message is one entry of the conversation with the model.
	//
	//	type Message struct {
	//		Role    string
	//		Content string
	//		// ToolCalls are the calls of an assistant's message. One message with a result follows for each, in the same order.
	//		// Providers get ids that are made for each request.
	//		ToolCalls []ToolCall
	//		// Reasoning and Provider are those of the answer that this assistant's message repeats.
	//		Reasoning string
	//		Provider  string
	//		// Stable is how many leading bytes of Content the next prompts share, which a provider may be told to cache; 0 for
	//		// none.
	//		Stable int
	//	}
	Message = llm.Message
	// Tool is one that the model may call.
	//
	//	type Tool struct {
	//		Name        string
	//		Description string
	//		Schema      json.RawMessage
	//	}
	Tool = llm.Tool
	// Response is a model's whole answer.
	//
	//	type Response struct {
	//		Text      string
	//		ToolCalls []ToolCall
	//		// Reasoning is what some servers want back with the answer's calls. It goes back only to them; most servers send
	//		// none.
	//		Reasoning string
	//		// Model is the name the provider reports, else the requested one.
	//		Model    string
	//		Provider string
	//		Usage    Usage
	//	}
	//	// EstimateTokens estimates the answer's tokens: text and tool calls.
	//	func (r *Response) EstimateTokens() int
	Response = llm.Response
	// ToolCall is one call of a tool in an answer.
	//
	//	type ToolCall struct {
	//		Name string
	//		Args json.RawMessage
	//		// Signature is what the provider wants back with the call, unchanged; "" for nothing.
	//		Signature string
	//	}
	//	// MarshalJSON encodes invalid Args as a string, so that an answer can be stored whatever the model wrote.
	//	func (c ToolCall) MarshalJSON() ([]byte, error)
	ToolCall = llm.ToolCall
	// Usage is what an answer has cost in tokens.
	//
	//	type Usage struct {
	//		Input  int
	//		Output int
	//		Cached int
	//	}
	Usage = llm.Usage
	// Price is what a model costs, in US dollars per million tokens.
	//
	//	type Price struct {
	//		Input  float64
	//		Cached float64
	//		Output float64
	//	}
	Price = llm.Price
	// Embedder turns texts into vectors.
	//
	//	type Embedder interface {
	//		// Embed returns one vector per text, in order. Errors are *ModelError.
	//		Embed(ctx context.Context, texts []string) ([][]float32, error)
	//		// Model names what made the vectors; vectors of different models are not comparable.
	//		Model() string
	//		// Dimensions is the length of every vector.
	//		Dimensions() int
	//	}
	Embedder = llm.Embedder
	// Provider chooses among the models of Anthropic, Gemini and OpenAI, of servers that speak like it, and the model by
	// rules, which needs no network.
	//
	//	type Provider struct {
	//		// Name is anthropic, gemini, offline, openai or script; "" is offline.
	//		Name string
	//		// Model is the model of all nodes; "" is the provider's default.
	//		Model string
	//		// Models, Temperatures and MaxTokens are overrides by node.
	//		Models       map[string]string
	//		Temperatures map[string]float64
	//		MaxTokens    map[string]int
	//		// FirstByte, Silence and Whole override, by node, how long an answer may take to begin (90 s), to go on (30 s) and in
	//		// all (3 min); MaxBytes bounds every answer, 0: 4 MiB.
	//		FirstByte, Silence, Whole map[string]time.Duration
	//		MaxBytes                  int
	//		// Fallback answers if this provider is overloaded or rate-limits us; nil for none.
	//		Fallback *Provider
	//
	//		// Anthropic, Gemini and OpenAI are used by the provider of that name.
	//		Anthropic, Gemini, OpenAI Server
	//		// OfflineModel answers for offline; package alfred sets it.
	//		OfflineModel Model
	//		// ScriptPath is the file that script plays.
	//		ScriptPath string
	//
	//		// HTTPClient is nil except in tests.
	//		HTTPClient *http.Client
	//	}
	Provider = provider.Config
	// Server is how to reach a provider.
	//
	//	type Server struct {
	//		APIKey  string
	//		BaseURL string
	//	}
	Server = provider.Server
	// ModelError is every error of a model or an embedder; its kind says whether to try again.
	//
	//	type ModelError struct {
	//		Kind ModelErrorKind
	//		// Provider names who answered (or did not).
	//		Provider string
	//		// RetryAfter is the wait the provider asks for; 0 if it does not say.
	//		RetryAfter time.Duration
	//		// Err is the cause. It never contains a key.
	//		Err error
	//	}
	//	func (e *ModelError) Error() string
	//	func (e *ModelError) Unwrap() error
	//	// Transient reports whether the same request may succeed later.
	//	func (e *ModelError) Transient() bool
	ModelError = llm.Error
	// ModelErrorKind is one of the constants below.
	//
	//	type ModelErrorKind string
	ModelErrorKind = llm.Kind
)

// The kinds of error a Model returns.
const (
	KindAuth            = llm.KindAuth
	KindContextOverflow = llm.KindContextOverflow
	KindInvalidOutput   = llm.KindInvalidOutput
	KindInvalidRequest  = llm.KindInvalidRequest
	KindOverloaded      = llm.KindOverloaded
	KindRateLimit       = llm.KindRateLimit
	KindRefusal         = llm.KindRefusal
	KindTooLarge        = llm.KindTooLarge
)

// The roles of a [Message].
const (
	RoleUser      = llm.RoleUser
	RoleAssistant = llm.RoleAssistant
	RoleTool      = llm.RoleTool
)

package provider

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"alfred/internal/llm"
	"alfred/internal/llm/anthropic"
	"alfred/internal/llm/gemini"
	"alfred/internal/llm/openai"
	"alfred/internal/llm/script"
	"alfred/internal/llm/wire"
	"alfred/internal/vocab"
)

// The names of the providers.
const (
	Anthropic = "anthropic"
	Gemini    = "gemini"
	Offline   = "offline"
	OpenAI    = "openai"
	Script    = "script"
)

var (
	errNoOffline = errors.New("no offline model is given")
	errNoScript  = errors.New("no script is given: set ALFRED_SCRIPT")
	errNoModels  = errors.New("offline answers by rules and has no models to choose from")
	errUnknown   = errors.New("unknown provider")
)

// Server is how to reach a provider. An empty base URL is the provider's own.
type Server struct {
	APIKey  string
	BaseURL string
}

// Config chooses a provider and a model for each node.
type Config struct {
	// Name is anthropic, gemini, offline, openai or script; "" is offline.
	Name string
	// Model is the model of all nodes; "" is the provider's default.
	Model string
	// Models, Temperatures and MaxTokens are overrides by node.
	Models       map[string]string
	Temperatures map[string]float64
	MaxTokens    map[string]int
	// FirstByte, Silence and Whole override, by node, how long an answer may take to begin (90 s), to go on (30 s) and in
	// all (3 min); MaxBytes bounds every answer, 0: 4 MiB.
	FirstByte, Silence, Whole map[string]time.Duration
	MaxBytes                  int
	// Fallback answers if this provider is overloaded or rate-limits us; nil for none.
	Fallback *Config

	// Anthropic, Gemini and OpenAI are used by the provider of that name.
	Anthropic, Gemini, OpenAI Server
	// OfflineModel answers for offline; package alfred sets it.
	OfflineModel llm.Model
	// ScriptPath is the file that script plays.
	ScriptPath string

	// HTTPClient is nil except in tests.
	HTTPClient *http.Client
}

// nodes are the nodes that ask a model, with their temperatures: low if an answer is checked against facts, high if it
// is prose.
var nodes = map[string]float64{
	vocab.NodeAct:        0.25,
	vocab.NodeCompress:   0.3,
	vocab.NodeReply:      0.6,
	vocab.NodeSummarize:  0.3,
	vocab.NodeThink:      0.35,
	vocab.NodeUnderstand: 0.2,
}

// Nodes lists the nodes that ask a model.
func Nodes() []string { return slices.Sorted(maps.Keys(nodes)) }

// New returns the model of each node. It makes no connection; whatever can fail before the first call (a missing key,
// an unknown name, an invalid script) is an error here.
func New(config *Config) (map[string]llm.Model, error) {
	open, err := config.opener()
	if err != nil {
		return nil, err
	}
	var second map[string]llm.Model
	if config.Fallback != nil {
		if second, err = New(config.Fallback); err != nil {
			return nil, fmt.Errorf("fallback: %w", err)
		}
	}
	models := make(map[string]llm.Model, len(nodes))
	for node, temperature := range nodes {
		model, err := open(node)
		if err != nil {
			return nil, fmt.Errorf("model of %s: %w", node, err)
		}
		if second != nil {
			model = &fallback{first: model, second: second[node]}
		}
		if own, ok := config.Temperatures[node]; ok {
			temperature = own
		}
		models[node] = &tuned{model: model, temperature: temperature, maxTokens: config.MaxTokens[node], hint: config.hint(node)}
	}

	return models, nil
}

// remote is a provider behind a network.
type remote struct {
	server func(c *Config) Server
	model  string // the default; it supports tools and schemas
	open   func(config *wire.Config) (*wire.Model, error)
}

var remotes = map[string]remote{
	Anthropic: {func(c *Config) Server { return c.Anthropic }, "claude-sonnet-4-5", anthropic.New},
	Gemini:    {func(c *Config) Server { return c.Gemini }, "gemini-2.5-flash", gemini.New},
	OpenAI:    {func(c *Config) Server { return c.OpenAI }, "gpt-4.1-mini", openai.New},
}

// hint says what to do about a model that rejects the request as such: it does not exist, or supports no tools or
// schemas. "" for the local models.
func (c *Config) hint(node string) string {
	usual := remotes[c.Name].model
	if usual == "" {
		return ""
	}

	return fmt.Sprintf("model %q of node %s; if it is not there or takes no tools or JSON schemas, set ALFRED_MODEL to one that does, such as %s",
		cmp.Or(c.Models[node], c.Model, usual), node, usual)
}

// opener returns a constructor for the models of the configured provider's nodes.
func (c *Config) opener() (func(node string) (llm.Model, error), error) {
	r, ok := remotes[c.Name]
	if !ok {
		model, err := c.local()

		return func(string) (llm.Model, error) { return model, nil }, err
	}

	return func(node string) (llm.Model, error) {
		server := r.server(c)

		return r.open(&wire.Config{
			APIKey: server.APIKey, BaseURL: server.BaseURL, HTTPClient: c.HTTPClient, Model: cmp.Or(c.Models[node], c.Model, r.model),
			Limits: wire.Limits{FirstByte: c.FirstByte[node], Silence: c.Silence[node], Whole: c.Whole[node], MaxBytes: int64(c.MaxBytes)},
		})
	}, nil
}

// local returns the only model of a provider that needs no network.
func (c *Config) local() (llm.Model, error) {
	switch cmp.Or(c.Name, Offline) {
	case Offline:
		if model := cmp.Or(append(slices.Sorted(maps.Values(c.Models)), c.Model)...); model != "" {
			return nil, fmt.Errorf("%w: set ALFRED_LLM to the provider of %q", errNoModels, model)
		}
		if c.OfflineModel == nil {
			return nil, errNoOffline
		}

		return c.OfflineModel, nil
	case Script:
		if c.ScriptPath == "" {
			return nil, errNoScript
		}

		return script.Load(c.ScriptPath)
	}

	return nil, fmt.Errorf("%w %q: use offline, openai, anthropic, gemini or script", errUnknown, c.Name)
}

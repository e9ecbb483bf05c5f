package provider

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"alfred/internal/llm"
	"alfred/internal/llm/gemini"
	"alfred/internal/llm/lexical"
	"alfred/internal/llm/openai"
	"alfred/internal/llm/wire"
)

// Lexical is the name of the embedder that needs no network.
const Lexical = "lexical"

// defaultDimensions is supported by both providers' models and is below the 2000 dimensions that a vector index
// supports.
const defaultDimensions = 1536

// maxDimensions is what an index on pgvector's vector type supports.
const maxDimensions = 2000

var errDimensions = errors.New("too many dimensions")

// EmbedderConfig chooses an embedder.
type EmbedderConfig struct {
	// Name is Lexical, OpenAI or Gemini; "" is Lexical.
	Name string
	// Model is "" for the provider's default.
	Model string
	// Dimensions is 0 for 1536. Lexical has its own.
	Dimensions int
	// Gemini and OpenAI are used by the provider of that name.
	Gemini, OpenAI Server
	// HTTPClient is nil except in tests.
	HTTPClient *http.Client
}

// NewEmbedder returns the configured embedder. It makes no connection.
func NewEmbedder(config *EmbedderConfig) (llm.Embedder, error) {
	dimensions := cmp.Or(config.Dimensions, defaultDimensions)
	if dimensions > maxDimensions {
		return nil, fmt.Errorf("%w: %d; a vector index takes %d at most", errDimensions, dimensions, maxDimensions)
	}
	switch cmp.Or(config.Name, Lexical) {
	case Gemini:
		return gemini.NewEmbedder(config.wire(config.Gemini, "gemini-embedding-001"), dimensions)
	case Lexical:
		return lexical.Embedder{}, nil
	case OpenAI:
		return openai.NewEmbedder(config.wire(config.OpenAI, "text-embedding-3-small"), dimensions)
	}

	return nil, fmt.Errorf("%w %q: use lexical, openai or gemini", errUnknown, config.Name)
}

func (c *EmbedderConfig) wire(server Server, usual string) *wire.Config {
	return &wire.Config{APIKey: server.APIKey, BaseURL: server.BaseURL, HTTPClient: c.HTTPClient, Model: cmp.Or(c.Model, usual)}
}

// Earlier returns the embedder that made stored vectors, by their recorded model: the lexical one, Gemini's by their
// names, and otherwise OpenAI's, because any server may speak its protocol.
func (c *EmbedderConfig) Earlier(model string, dimensions int) (llm.Embedder, error) {
	own := *c
	own.Name, own.Model, own.Dimensions = OpenAI, model, dimensions
	switch {
	case model == (lexical.Embedder{}).Model() && dimensions == (lexical.Embedder{}).Dimensions():
		own.Name = Lexical
	case strings.HasPrefix(model, "lexical-"):
		return nil, fmt.Errorf("%w %q: this program's is %s", errUnknown, model, lexical.Embedder{}.Model())
	case strings.HasPrefix(model, "gemini-"):
		own.Name = Gemini
	}

	return NewEmbedder(&own)
}

package gemini

import (
	"cmp"
	"net/http"

	"alfred/llm/openai"
)

// DefaultBaseURL is the compatible endpoint.
const DefaultBaseURL = "https://generativelanguage.googleapis.com/v1beta/openai"

// Config says which model to use.
type Config struct {
	APIKey string
	// BaseURL is "" for DefaultBaseURL.
	BaseURL string
	// HTTPClient is nil but in tests.
	HTTPClient *http.Client
	Model      string
}

// New returns a Gemini model.
func New(config *Config) (*openai.Model, error) {
	return openai.New(config.compatible())
}

// NewEmbedder returns an embedder of the given number of dimensions.
func NewEmbedder(config *Config, dimensions int) (*openai.Embedder, error) {
	return openai.NewEmbedder(config.compatible(), dimensions)
}

func (c *Config) compatible() *openai.Config {
	return &openai.Config{
		APIKey: c.APIKey, BaseURL: cmp.Or(c.BaseURL, DefaultBaseURL), HTTPClient: c.HTTPClient, Model: c.Model, Provider: "gemini",
	}
}

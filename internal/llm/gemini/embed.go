package gemini

import (
	"cmp"
	"context"
	"fmt"

	"google.golang.org/genai"

	"alfred/internal/llm"
	"alfred/internal/llm/wire"
)

// Embedder makes vectors with a Gemini embedding model.
type Embedder struct {
	config     Config
	dimensions int
	models     *genai.Models
}

var _ llm.Embedder = (*Embedder)(nil)

// NewEmbedder returns an Embedder of config's model with vectors of the given length, which the model must support.
func NewEmbedder(config *Config, dimensions int) (*Embedder, error) {
	filled := *config
	filled.Limits.MaxBytes = cmp.Or(config.Limits.MaxBytes, wire.MaxVectors)
	models, err := open(&filled)
	if err != nil {
		return nil, err
	}

	return &Embedder{config: filled, dimensions: dimensions, models: models}, nil
}

// Dimensions is the requested length.
func (e *Embedder) Dimensions() int { return e.dimensions }

// Model is the model's name.
func (e *Embedder) Model() string { return e.config.Model }

// Embed embeds texts, in batches.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return wire.Embed(ctx, texts, e.embed)
}

func (e *Embedder) embed(ctx context.Context, texts []string) ([][]float32, error) {
	contents := make([]*genai.Content, len(texts))
	for i, text := range texts {
		contents[i] = genai.NewContentFromText(text, genai.RoleUser)
	}
	answer, err := wire.Call(ctx, provider, e.config.APIKey, func(ctx context.Context) (*genai.EmbedContentResponse, error) {
		return e.models.EmbedContent(ctx, e.config.Model, contents, &genai.EmbedContentConfig{OutputDimensionality: new(int32(e.dimensions))})
	})
	if err != nil {
		return nil, err
	}
	if len(answer.Embeddings) != len(texts) {
		return nil, mismatch(fmt.Errorf("%w: %d instead of %d", wire.ErrVectors, len(answer.Embeddings), len(texts)))
	}
	vectors := make([][]float32, len(texts))
	for i, embedding := range answer.Embeddings {
		if embedding == nil || len(embedding.Values) != e.dimensions {
			return nil, mismatch(wire.ErrVectors)
		}
		vectors[i] = embedding.Values
	}

	return vectors, nil
}

func mismatch(err error) *llm.Error {
	return &llm.Error{Kind: llm.KindInvalidOutput, Provider: provider, Err: err}
}

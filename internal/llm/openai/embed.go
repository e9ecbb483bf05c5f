package openai

import (
	"cmp"
	"context"
	"fmt"

	"github.com/openai/openai-go/v3"

	"alfred/internal/llm"
	"alfred/internal/llm/wire"
)

// Embedder makes vectors with a server's embedding model.
type Embedder struct {
	config     Config
	dimensions int
	service    openai.EmbeddingService
}

var _ llm.Embedder = (*Embedder)(nil)

// NewEmbedder returns an Embedder of config's model with vectors of the given length, which the model must support.
func NewEmbedder(config *Config, dimensions int) (*Embedder, error) {
	own := *config
	own.Limits.MaxBytes = cmp.Or(config.Limits.MaxBytes, wire.MaxVectors)
	filled, options, err := setup(&own)
	if err != nil {
		return nil, err
	}

	return &Embedder{config: *filled, dimensions: dimensions, service: openai.NewEmbeddingService(options...)}, nil
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
	answer, err := wire.Call(ctx, e.config.Provider, e.config.APIKey, func(ctx context.Context) (*openai.CreateEmbeddingResponse, error) {
		return e.service.New(ctx, openai.EmbeddingNewParams{
			Dimensions:     openai.Int(int64(e.dimensions)),
			EncodingFormat: openai.EmbeddingNewParamsEncodingFormatFloat,
			Input:          openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: texts},
			Model:          e.config.Model,
		})
	})
	if err != nil {
		return nil, err
	}
	if answer == nil { // the server said null
		return nil, e.mismatch(wire.ErrForm)
	}
	vectors := make([][]float32, len(texts))
	for _, item := range answer.Data {
		if item.Index < 0 || int(item.Index) >= len(texts) || len(item.Embedding) != e.dimensions {
			return nil, e.mismatch(fmt.Errorf("%w: index %d with %d dimensions", wire.ErrVectors, item.Index, len(item.Embedding)))
		}
		vectors[item.Index] = narrow(item.Embedding)
	}
	if len(answer.Data) != len(texts) {
		return nil, e.mismatch(fmt.Errorf("%w: %d instead of %d", wire.ErrVectors, len(answer.Data), len(texts)))
	}

	return vectors, nil
}

func (e *Embedder) mismatch(err error) *llm.Error {
	return &llm.Error{Kind: llm.KindInvalidOutput, Provider: e.config.Provider, Err: err}
}

func narrow(wide []float64) []float32 {
	vector := make([]float32, len(wide))
	for i, x := range wide {
		vector[i] = float32(x)
	}

	return vector
}

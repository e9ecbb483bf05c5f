package openai

import (
	"context"

	"github.com/openai/openai-go/v3"

	"alfred/internal/llm/wire"
)

// NewEmbedder returns an embedder of config's model with vectors of the given length, which the model must support.
func NewEmbedder(config *wire.Config, dimensions int) (*wire.Embedder, error) {
	filled, options, err := setup(config.ForVectors())
	if err != nil {
		return nil, err
	}
	service := openai.NewEmbeddingService(options...)

	return &wire.Embedder{Config: filled, Length: dimensions, Ask: func(ctx context.Context, texts []string) ([][]float32, error) {
		answer, err := service.New(ctx, openai.EmbeddingNewParams{
			Dimensions:     openai.Int(int64(dimensions)),
			EncodingFormat: openai.EmbeddingNewParamsEncodingFormatFloat,
			Input:          openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: texts},
			Model:          filled.Model,
		})
		if err != nil {
			return nil, err
		}
		vectors := make([][]float32, len(texts)) // what is missing has no length, which is looked at for every provider
		if answer == nil {                       // the server said null
			return vectors, nil
		}
		for _, item := range answer.Data {
			if item.Index >= 0 && int(item.Index) < len(texts) {
				vectors[item.Index] = narrow(item.Embedding)
			}
		}

		return vectors, nil
	}}, nil
}

func narrow(wide []float64) []float32 {
	vector := make([]float32, len(wide))
	for i, x := range wide {
		vector[i] = float32(x)
	}

	return vector
}

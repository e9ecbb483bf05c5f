package gemini

import (
	"context"

	"google.golang.org/genai"

	"alfred/internal/llm/wire"
)

// NewEmbedder returns an embedder of config's model with vectors of the given length, which the model must support.
func NewEmbedder(config *wire.Config, dimensions int) (*wire.Embedder, error) {
	filled, models, err := open(config.ForVectors())
	if err != nil {
		return nil, err
	}

	return &wire.Embedder{Config: filled, Length: dimensions, Ask: func(ctx context.Context, texts []string) ([][]float32, error) {
		contents := make([]*genai.Content, len(texts))
		for i, text := range texts {
			contents[i] = genai.NewContentFromText(text, genai.RoleUser)
		}
		answer, err := models.EmbedContent(ctx, filled.Model, contents, &genai.EmbedContentConfig{OutputDimensionality: new(int32(dimensions))})
		if err != nil {
			return nil, err
		}
		vectors := make([][]float32, len(answer.Embeddings))
		for i, embedding := range answer.Embeddings {
			if embedding != nil {
				vectors[i] = embedding.Values
			}
		}

		return vectors, nil
	}}, nil
}

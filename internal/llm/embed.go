package llm

import "context"

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

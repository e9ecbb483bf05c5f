package llm

import "context"

// Embedder turns texts into vectors whose cosine distance is small for texts of
// similar meaning. Implementations are safe for concurrent use.
type Embedder interface {
	// Embed returns one vector per text, in order. Errors are *Error.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	// Model names what made the vectors; vectors of two models never compare.
	Model() string
	// Dimensions is the length of every vector.
	Dimensions() int
}

package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"alfred/internal/llm"
)

// maxBatch is how many texts go into one request; some servers accept no more.
const maxBatch = 100

// errVectors is the cause if an answer's vectors do not match the request.
var errVectors = errors.New("the server returned other vectors than asked for")

// ForVectors returns a copy of the configuration whose limit leaves room for a batch of vectors.
func (c Config) ForVectors() *Config {
	c.Limits.MaxBytes = cmp.Or(c.Limits.MaxBytes, MaxVectors)
	return &c
}

// Embedder makes vectors with a provider's model. It implements llm.Embedder.
type Embedder struct {
	Config *Config
	Length int // of every vector
	// Ask makes the vectors of a batch, in order.
	Ask func(ctx context.Context, texts []string) ([][]float32, error)
}

var _ llm.Embedder = (*Embedder)(nil)

// Dimensions is the requested length.
func (e *Embedder) Dimensions() int { return e.Length }

// Model is the model's name.
func (e *Embedder) Model() string { return e.Config.Model }

// Embed embeds texts, in batches.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, 0, len(texts))
	for batch := range slices.Chunk(texts, maxBatch) {
		got, _, err := call(ctx, e.Config, func(ctx context.Context) ([][]float32, error) { return e.Ask(ctx, batch) })
		if err != nil {
			return nil, err
		}
		other := func(vector []float32) bool { return len(vector) != e.Length }
		if len(got) != len(batch) || slices.ContainsFunc(got, other) {
			return nil, e.Config.Fail(llm.KindInvalidOutput, fmt.Errorf("%w: %d instead of %d, or not all with %d dimensions", errVectors, len(got), len(batch), e.Length))
		}
		vectors = append(vectors, got...)
	}

	return vectors, nil
}

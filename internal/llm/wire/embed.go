package wire

import (
	"context"
	"errors"
	"slices"
)

// maxBatch is how many texts go into one request; some servers accept no more.
const maxBatch = 100

// ErrVectors is the cause if an answer's vectors do not match the request.
var ErrVectors = errors.New("the server returned other vectors than asked for")

// Embed embeds texts, in batches.
func Embed(ctx context.Context, texts []string, embed func(ctx context.Context, batch []string) ([][]float32, error)) ([][]float32, error) {
	vectors := make([][]float32, 0, len(texts))
	for batch := range slices.Chunk(texts, maxBatch) {
		got, err := embed(ctx, batch)
		if err != nil {
			return nil, err
		}
		vectors = append(vectors, got...)
	}

	return vectors, nil
}

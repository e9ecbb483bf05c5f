package recall

import (
	"errors"
	"fmt"
	"math"

	"alfred/internal/llm"
)

// ErrVector says that an embedder returned an unusable vector. Retrying the same text gives the same result.
var ErrVector = errors.New("unusable vector")

// check refuses vectors whose distance to others would be wrong or not a number.
func check(embedder llm.Embedder, vector []float32) error {
	if len(vector) != embedder.Dimensions() {
		return fmt.Errorf("%w: %s gave %d dimensions instead of %d", ErrVector, embedder.Model(), len(vector), embedder.Dimensions())
	}
	square := 0.0
	for _, x := range vector {
		square += float64(x) * float64(x)
	}
	if math.IsNaN(square) || math.IsInf(square, 0) || square == 0 {
		return fmt.Errorf("%w: %s gave one without a direction (zero, infinite or not a number)", ErrVector, embedder.Model())
	}

	return nil
}

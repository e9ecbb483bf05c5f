package lexical

import (
	"context"
	"hash/fnv"
	"math"

	"alfred/llm"
)

const (
	dimensions = 256
	model      = "lexical-1"

	gramLength   = 3
	gramWeight   = 0.5
	pairWeight   = 0.25
	commonWeight = 0.1 // of a word such as "the"; another weighs 1
)

// Embedder implements llm.Embedder. The zero value is ready to use.
type Embedder struct{}

var _ llm.Embedder = Embedder{}

// Dimensions is 256.
func (Embedder) Dimensions() int { return dimensions }

// Embed returns vectors of length 1. It fails only when ctx is done.
func (Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, &llm.Error{Kind: llm.KindOverloaded, Provider: "lexical", Err: err}
		}
		vectors[i] = embed(text)
	}
	return vectors, nil
}

// Model names the features and weights of this package.
func (Embedder) Model() string { return model }

func embed(text string) []float32 {
	sum := make([]float64, dimensions)
	previous := ""
	for _, word := range words(text) {
		if common[word] {
			add(sum, "w:"+word, commonWeight)
			continue
		}
		add(sum, "w:"+word, 1)
		for _, gram := range grams(word) {
			add(sum, "g:"+gram, gramWeight)
		}
		if previous != "" {
			add(sum, "p:"+previous+" "+word, pairWeight)
		}
		previous = word
	}
	return normalize(sum)
}

// add spreads a feature over one dimension. The sign comes from the hash too, so
// that features which collide cancel out on average instead of piling up.
func add(sum []float64, feature string, weight float64) {
	h := fnv.New64a()
	h.Write([]byte(feature))
	hash := mix(h.Sum64())
	if hash>>63 == 1 {
		weight = -weight
	}
	sum[hash%dimensions] += weight
}

// mix spreads the hash's entropy into all bits: FNV's low and high bits of short
// strings are correlated, which would give similar words the same sign.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// normalize scales to length 1. A text without words gets a vector of its own,
// because the cosine distance to a zero vector is not a number.
func normalize(sum []float64) []float32 {
	square := 0.0
	for _, x := range sum {
		square += x * x
	}
	if square == 0 {
		sum[0], square = 1, 1
	}
	vector := make([]float32, len(sum))
	for i, x := range sum {
		vector[i] = float32(x / math.Sqrt(square))
	}
	return vector
}

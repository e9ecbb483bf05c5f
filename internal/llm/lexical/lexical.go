package lexical

import (
	"context"
	"hash/fnv"
	"math"

	"alfred/internal/llm"
)

const (
	dimensions = 256
	model      = "lexical-2"

	// A word weighs 1, and all of its n-grams together slightly more, however many there are: otherwise accidental
	// overlaps would outweigh an equal word.
	gramLength   = 3
	gramWeight   = 1.2
	pairWeight   = 0.25
	commonWeight = 0.1 // for words such as "the"
)

// Embedder implements llm.Embedder. The zero value is ready to use.
type Embedder struct{}

var _ llm.Embedder = Embedder{}

// Dimensions is 256.
func (Embedder) Dimensions() int { return dimensions }

// Embed returns vectors of length 1. It fails only if ctx is done.
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
	found := features{places: map[string]int{}}
	previous := ""
	for _, word := range words(text) {
		if common[word] {
			found.add("w:"+word, commonWeight)
			continue
		}
		found.add("w:"+word, 1)
		parts := grams(word)
		for _, gram := range parts {
			found.add("g:"+gram, gramWeight/math.Sqrt(float64(len(parts))))
		}
		if previous != "" {
			found.add("p:"+previous+" "+word, pairWeight)
		}
		previous = word
	}

	return normalize(found.sum())
}

// features are those of one text in order of first occurrence: summing in another order would yield another vector.
type features struct {
	names   []string
	places  map[string]int
	weights []float64
}

func (f *features) add(name string, weight float64) {
	place, known := f.places[name]
	if !known {
		place = len(f.names)
		f.places[name] = place
		f.names, f.weights = append(f.names, name), append(f.weights, 0)
	}
	f.weights[place] += weight
}

// sum maps each feature to one dimension. The hash also determines the sign, so that colliding features cancel out on
// average instead of adding up. Repetitions, as in a reply that repeats its question, add less each time.
func (f *features) sum() []float64 {
	sum := make([]float64, dimensions)
	for i, name := range f.names {
		weight := f.weights[i]
		if weight > 1 {
			weight = 1 + math.Log(weight)
		}
		h := fnv.New64a()
		h.Write([]byte(name))
		hash := mix(h.Sum64())
		if hash>>63 == 1 {
			weight = -weight
		}
		sum[hash%dimensions] += weight
	}

	return sum
}

// mix spreads the hash's entropy over all bits: FNV's low and high bits are correlated for short strings, which would
// give similar words the same sign.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53

	return h ^ h>>33
}

// normalize scales to length 1. A text without words gets its own vector, because the cosine distance to a zero vector
// is undefined.
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

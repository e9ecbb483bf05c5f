package recall

import (
	"context"
	"fmt"
	"slices"

	"github.com/pgvector/pgvector-go"

	"alfred/domain"
	"alfred/llm"
)

// Searcher searches one domain with one embedder. It is safe for concurrent use.
type Searcher struct {
	domain   *domain.Domain
	embedder llm.Embedder
}

// New returns a searcher.
func New(d *domain.Domain, embedder llm.Embedder) *Searcher {
	return &Searcher{domain: d, embedder: embedder}
}

// Vectors are the vectors of texts that will be searched for.
type Vectors struct {
	// Model and Dimensions say which stored vectors these compare with.
	Model      string
	Dimensions int
	// Notice is set when the embedder failed: a sentence for the model. Searches
	// then go by words alone.
	Notice string

	byText map[string][]float32
}

// Of returns the vector of a text, or nil.
func (v *Vectors) Of(text string) []float32 { return v.byText[text] }

// EmbedTexts embeds texts, each once. It makes a call of the embedder: hold no
// transaction open. The embedder's failure is a notice; an error means that ctx is done.
func (s *Searcher) EmbedTexts(ctx context.Context, texts []string) (Vectors, error) {
	vectors := Vectors{Model: s.embedder.Model(), Dimensions: s.embedder.Dimensions(), byText: map[string][]float32{}}
	texts = slices.Compact(slices.Sorted(slices.Values(texts)))
	if len(texts) == 0 {
		return vectors, nil
	}
	found, err := s.embedder.Embed(ctx, texts)
	if ctx.Err() != nil {
		return Vectors{}, fmt.Errorf("embed searched texts: %w", ctx.Err())
	}
	for i, text := range texts[:min(len(texts), len(found))] {
		vectors.byText[text] = found[i]
	}
	if err != nil || len(found) < len(texts) {
		vectors.Notice = degraded
	}

	return vectors, nil
}

// degraded is what a search without vectors says of itself.
const degraded = "Search by meaning is not available right now; these were found by their words alone, so others may be missing."

// Literal is the vector of a text as pgvector writes it, or "" without one.
func (v *Vectors) Literal(text string) string {
	vector := v.byText[text]
	if vector == nil {
		return ""
	}

	return pgvector.NewVector(vector).String()
}

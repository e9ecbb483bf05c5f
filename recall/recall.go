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
	embedder llm.Embedder // the configured one; serves says which is searched
	serving  serving

	exactUpTo int32    // ExactUpTo, but in tests
	weighed   *Weights // nil for those that are measured
}

// New returns a searcher.
func New(d *domain.Domain, embedder llm.Embedder) *Searcher {
	return &Searcher{domain: d, embedder: embedder, exactUpTo: ExactUpTo}
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
// transaction open. The embedder's failure is a notice; an error means that ctx is
// done or the database does not answer.
func (s *Searcher) EmbedTexts(ctx context.Context, texts []string) (Vectors, error) {
	texts = slices.Compact(slices.Sorted(slices.Values(texts)))
	if len(texts) == 0 {
		return Vectors{}, nil
	}
	embedder, err := s.serves(ctx)
	if err != nil {
		return Vectors{}, err
	}
	vectors := Vectors{Model: embedder.Model(), Dimensions: embedder.Dimensions(), byText: map[string][]float32{}}
	found, err := embedder.Embed(ctx, texts)
	if ctx.Err() != nil {
		return Vectors{}, fmt.Errorf("embed searched texts: %w", ctx.Err())
	}
	for i, text := range texts[:min(len(texts), len(found))] {
		if check(embedder, found[i]) == nil {
			vectors.byText[text] = found[i]
		}
	}
	if err != nil || len(vectors.byText) < len(texts) {
		vectors.Notice = degraded
	}

	return vectors, nil
}

// Probe asks the configured embedder for one vector, whichever serves; its error
// says what is wrong.
func (s *Searcher) Probe(ctx context.Context) error {
	vectors, err := s.embedder.Embed(ctx, []string{"ok"})
	if err != nil {
		return err
	}
	if len(vectors) != 1 {
		return fmt.Errorf("%w: %s gave %d for 1 text", ErrVector, s.embedder.Model(), len(vectors))
	}

	return check(s.embedder, vectors[0])
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

package recall

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/pgvector/pgvector-go"

	"alfred/internal/domain"
	"alfred/internal/llm"
)

// Searcher searches one domain with one embedder. It is safe for concurrent use.
type Searcher struct {
	domain   *domain.Domain
	embedder llm.Embedder // the configured one; serves returns the one searched
	serving  serving

	exactUpTo int32    // ExactUpTo, except in tests
	weighed   *Weights // nil for the measured ones
}

// New returns a searcher.
func New(d *domain.Domain, embedder llm.Embedder) *Searcher {
	return &Searcher{domain: d, embedder: embedder, exactUpTo: ExactUpTo}
}

// Vectors are the embeddings of query texts.
type Vectors struct {
	model // of the stored vectors to compare with

	// Notice is set if the embedder failed: a sentence for the model. Searches then use words alone.
	Notice string

	byText map[string][]float32
}

// EmbedTexts embeds texts, each once. It calls the embedder: hold no transaction open. If the embedder fails, Notice
// says so; an error means that ctx is done or the database does not answer.
func (s *Searcher) EmbedTexts(ctx context.Context, texts []string) (Vectors, error) {
	texts = slices.Compact(slices.Sorted(slices.Values(texts)))
	if len(texts) == 0 {
		return Vectors{}, nil
	}
	embedder, err := s.serves(ctx)
	if err != nil {
		return Vectors{}, err
	}
	vectors := Vectors{model: modelOf(embedder), byText: map[string][]float32{}}
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

// Probe asks the configured embedder for one vector, whichever serves; its error says what is wrong.
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

// Literal is a text's vector in pgvector's text format, nil if there is none.
func (v *Vectors) Literal(text string) *string {
	vector := v.byText[text]
	if vector == nil {
		return nil
	}
	literal := pgvector.NewVector(vector).String()

	return &literal
}

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

package lexical_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"alfred/internal/llm"
	"alfred/internal/llm/lexical"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func TestEmbedder_Near(t *testing.T) {
	t.Parallel()

	const other = "change the oil of the car"
	for name, tt := range map[string]struct {
		a, b  string
		least float64
	}{
		"Accent":      {"crème brûlée", "creme brulee", 0.99},
		"Case":        {"Butter Chicken", "butter chicken", 0.99},
		"CommonWords": {"the soup of the day", "soup day", 0.9},
		"Asked":       {"what was it that my uncles were putting in their lasagnas?", "my uncle puts anchovies into the lasagna", 0.5},
		"Form":        {"roasted tomatoes", "roasting a tomato", 0.6},
		"Part":        {"chicken", "Butter Chicken with rice", 0.35},
		"Plural":      {"tomato", "tomatoes", 0.99},
		"PluralY":     {"berries", "berry", 0.99},
		"Typo":        {"chiken", "chicken", 0.35},
		"TypoAmong":   {"chiken curry", "chicken curry", 0.6},
		"Repeated":    {"lemon curd with basil", "lemon curd with basil. Lemon curd it is: lemon curd with basil.", 0.85},
		"WordOrder":   {"chicken with rice and peas", "rice and peas with chicken", 0.85},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			near := cosine(t, tt.a, tt.b)
			require.GreaterOrEqual(t, near, tt.least)
			require.Greater(t, near, cosine(t, tt.a, other)+0.2, "an unrelated text is clearly farther")
		})
	}
}

func TestEmbedder_WordOrderStillCounts(t *testing.T) {
	t.Parallel()

	require.Less(t, cosine(t, "peanut butter sauce", "butter sauce peanut"), 0.999)
}

func TestEmbedder_Ranks(t *testing.T) {
	t.Parallel()

	const query = "something with chiken"
	best, others := "Butter Chicken", []string{"Beef Stew", "Cheese Cake", "Chocolate Mousse", "Fish Tacos", "Lentil Soup"}
	for _, text := range others {
		require.Greater(t, cosine(t, query, best), cosine(t, query, text), text)
	}
}

func TestEmbedder_Cancelled(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := lexical.Embedder{}.Embed(ctx, []string{"egg"})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, llm.KindOverloaded, llm.KindOf(err))
}

// A vector that is not of unit length, or differs between two processes, silently breaks ranking.
func TestEmbedder_Properties(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		vectors, err := lexical.Embedder{}.Embed(context.Background(), []string{text, text})
		require.NoError(t, err)
		require.Equal(t, vectors[0], vectors[1])
		require.Len(t, vectors[0], lexical.Embedder{}.Dimensions())
		require.InDelta(t, 1, dot(vectors[0], vectors[0]), 1e-5)
	})
}

// The numbers are pinned: stored vectors stay comparable only while they hold. If you change them, also change the
// model's name.
func TestEmbedder_Stable(t *testing.T) {
	t.Parallel()

	vectors, err := lexical.Embedder{}.Embed(t.Context(), []string{"egg"})
	require.NoError(t, err)
	sum := 0.0
	for i, x := range vectors[0] {
		sum += float64(i) * float64(x)
	}
	require.Equal(t, "lexical-2", lexical.Embedder{}.Model())
	require.InDelta(t, 354.502537, sum, 1e-3)
}

func cosine(t *testing.T, a, b string) float64 {
	t.Helper()
	vectors, err := lexical.Embedder{}.Embed(t.Context(), []string{a, b})
	require.NoError(t, err)

	return dot(vectors[0], vectors[1])
}

func dot(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	if math.IsNaN(sum) {
		panic("not a number")
	}

	return sum
}

package llm_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/llm"
)

func TestPrices(t *testing.T) {
	t.Parallel()

	prices, err := llm.DefaultPrices()
	require.NoError(t, err)
	usage := llm.Usage{Input: 1_000_000, Cached: 500_000, Output: 100_000}

	t.Run("CachedInputIsCheaper", func(t *testing.T) {
		t.Parallel()
		usd, known := prices.Cost("gpt-4.1", usage)
		require.True(t, known)
		require.InDelta(t, 1.0+0.25+0.8, usd, 1e-9)
	})

	t.Run("FileWins", func(t *testing.T) {
		t.Parallel()
		own, err := prices.With(strings.NewReader(`{"gpt-4.1": {"input": 1, "cached": 1, "output": 0}, "mine": {"input": 2, "output": 2}}`))
		require.NoError(t, err)
		usd, _ := own.Cost("gpt-4.1", usage)
		require.InDelta(t, 1.0, usd, 1e-9)
		_, known := own.Cost("mine", usage)
		require.True(t, known)
		usd, _ = prices.Cost("gpt-4.1", usage)
		require.InDelta(t, 2.05, usd, 1e-9, "the table it was derived from is unchanged")
	})

	t.Run("FileWithUnknownField", func(t *testing.T) {
		t.Parallel()
		_, err := prices.With(strings.NewReader(`{"mine": {"input": 2, "output": -1}}`))
		require.ErrorContains(t, err, "the price of mine is below 0")
		_, err = prices.With(strings.NewReader(`{"mine": {"inptu": 2}}`))
		require.ErrorContains(t, err, "inptu")
	})

	t.Run("ReleaseCostsLikeItsModel", func(t *testing.T) {
		t.Parallel()
		for _, name := range []string{"gpt-4.1-2025-04-14", "claude-sonnet-4-5-20250929", "gemini-2.5-flash-001"} {
			_, known := prices.Cost(name, usage)
			require.True(t, known, name)
		}
	})

	t.Run("UnknownIsNotFreeButUnknown", func(t *testing.T) {
		t.Parallel()
		for _, name := range []string{"", "llama3", "gpt-4.1-huge"} {
			usd, known := prices.Cost(name, usage)
			require.False(t, known, name)
			require.Zero(t, usd)
		}
	})
}

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/jobs"
	"alfred/llm"
	"alfred/llm/provider"
)

func TestModelSettings(t *testing.T) {
	t.Parallel()

	file := filepath.Join(t.TempDir(), "prices.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"mine": {"input": 2, "output": 4}}`), 0o600))
	s, err := parseSettings(env{
		"DATABASE_URL": "postgres://x", "ALFRED_LLM": "openai", "ALFRED_MODEL": "mine", "ALFRED_FALLBACK_LLM": "anthropic", "ALFRED_FALLBACK_MODEL": "theirs",
		"ALFRED_TEMPERATURE_REPLY": "0", "ALFRED_MAX_TOKENS_ACT": "900", "ALFRED_PRICES": file, "ALFRED_LIMIT_TURNS": "50", "ALFRED_LIMIT_COST_USD": "1.5",
		"ALFRED_EMBEDDER": "openai", "ALFRED_EMBEDDER_MODEL": "text-embedding-3-large", "ALFRED_EMBEDDER_DIMENSIONS": "1024",
	})
	require.NoError(t, err)
	require.Equal(t, map[string]float64{"reply": 0}, s.model.Temperatures)
	require.Equal(t, map[string]int{"act": 900}, s.model.MaxTokens)
	require.Equal(t, provider.Anthropic, s.model.Fallback.Name)
	require.Equal(t, "theirs", s.model.Fallback.Model)
	require.Nil(t, s.model.Fallback.Fallback)
	require.Equal(t, jobs.Limits{Turns: 50, CostUSD: 1.5}, s.limits)
	usd, known := s.prices.Cost("mine", llm.Usage{Input: 1_000_000})
	require.True(t, known)
	require.InDelta(t, 2, usd, 1e-9)
	require.Equal(t, 1024, s.embedder.Dimensions)
}

func TestModelSettingsRefuseTypos(t *testing.T) {
	t.Parallel()

	for name, value := range map[string]string{
		"ALFRED_EMBEDDER_DIMENSIONS": "many", "ALFRED_LIMIT_COST_USD": "NaN", "ALFRED_LIMIT_TOKENS": "-1", "ALFRED_MAX_TOKENS_REPLY": "0",
		"ALFRED_MODEL_THINKING": "big", "ALFRED_PRICES": "nowhere.json", "ALFRED_TEMPERATURE_ACT": "hot", "ALFRED_TEMPERATURE_REPLY": "NaN",
	} {
		_, err := parseSettings(env{"DATABASE_URL": "x", name: value})
		require.ErrorIs(t, err, errSetting, name)
		require.ErrorContains(t, err, name)
	}
}

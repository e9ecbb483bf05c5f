package main

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/jobs"
	"alfred/llm"
	"alfred/llm/provider"
	"alfred/llm/wiretest"
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

func TestDoctorAsksTheModels(t *testing.T) {
	t.Parallel()

	url, _ := database(t)
	reply := wiretest.Reply{Status: http.StatusUnauthorized, Message: "Incorrect API key provided"}
	server := wiretest.Start(t, wiretest.OpenAI, func(context.Context, *wiretest.Call) wiretest.Reply { return reply })
	ask := func(e env) string {
		e["DATABASE_URL"] = url
		out, err := worker(t, e, "doctor")
		require.ErrorIs(t, err, errUnwell)

		return out
	}
	remote := func(key string) env {
		return env{"ALFRED_LLM": "openai", "OPENAI_API_KEY": key, "OPENAI_BASE_URL": server.BaseURL}
	}
	out := ask(remote("sk-secret"))
	require.Contains(t, out, "FAIL models     openai: auth: status 401")
	require.NotContains(t, out, "sk-secret")
	reply = wiretest.Reply{Text: "ok"}
	require.Contains(t, ask(remote(wiretest.Key)), "ok   models     openai answers with its default model")
	out = ask(env{"ALFRED_LLM": "anthropic"})
	require.Contains(t, out, "no API key")
	require.Regexp(t, `ok   embedder   lexical-1 has vectors of 0 of about \d+ texts; a running worker makes the others`, out)
}

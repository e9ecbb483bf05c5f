package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"alfred/jobs"
	"alfred/llm"
	"alfred/llm/provider"
)

var (
	errTemperature = errors.New("use a number from 0 to 2")
	errTokenLimit  = errors.New("use a whole number, 1 or more")
)

// parseModels reads which models answer, and what answers when they cannot.
func (s *settings) parseModels(e env) error {
	openAI := provider.Server{APIKey: e["OPENAI_API_KEY"], BaseURL: e["OPENAI_BASE_URL"]}
	gemini := provider.Server{APIKey: e["GEMINI_API_KEY"], BaseURL: e["GEMINI_BASE_URL"]}
	s.model = provider.Config{
		Name: e["ALFRED_LLM"], Model: e["ALFRED_MODEL"], ScriptPath: e["ALFRED_SCRIPT"], OpenAI: openAI, Gemini: gemini,
		Anthropic: provider.Server{APIKey: e["ANTHROPIC_API_KEY"], BaseURL: e["ANTHROPIC_BASE_URL"]},
	}
	var err error
	if s.model.Models, err = byNode(e, "ALFRED_MODEL_", func(text string) (string, error) { return text, nil }); err != nil {
		return err
	}
	if s.model.Temperatures, err = byNode(e, "ALFRED_TEMPERATURE_", temperature); err != nil {
		return err
	}
	if s.model.MaxTokens, err = byNode(e, "ALFRED_MAX_TOKENS_", tokenLimit); err != nil {
		return err
	}
	if e["ALFRED_FALLBACK_LLM"] != "" || e["ALFRED_FALLBACK_MODEL"] != "" {
		second := s.model
		second.Name, second.Model, second.Models = cmp.Or(e["ALFRED_FALLBACK_LLM"], s.model.Name), e["ALFRED_FALLBACK_MODEL"], nil
		s.model.Fallback = &second
	}
	s.embedder = provider.EmbedderConfig{Name: e["ALFRED_EMBEDDER"], Model: e["ALFRED_EMBEDDER_MODEL"], Gemini: gemini, OpenAI: openAI}

	return parseCount(e, "ALFRED_EMBEDDER_DIMENSIONS", &s.embedder.Dimensions)
}

// byNode reads settings that end in a node's name. A name that no node has is a
// typo, and its value would silently do nothing.
func byNode[T any](e env, prefix string, parse func(string) (T, error)) (map[string]T, error) {
	values := map[string]T{}
	for _, name := range slices.Sorted(maps.Keys(e)) {
		suffix, ok := strings.CutPrefix(name, prefix)
		if !ok || e[name] == "" {
			continue
		}
		node := strings.ToLower(suffix)
		if !slices.Contains(provider.Nodes(), node) {
			return nil, fmt.Errorf("%w: %s: there is no node %s; nodes are %s", errSetting, name, node, strings.Join(provider.Nodes(), ", "))
		}
		value, err := parse(e[name])
		if err != nil {
			return nil, fmt.Errorf("%w: %s is %q; %w", errSetting, name, e[name], err)
		}
		values[node] = value
	}

	return values, nil
}

func temperature(text string) (float64, error) {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || !(value >= 0 && value <= 2) {
		return 0, errTemperature
	}

	return value, nil
}

func tokenLimit(text string) (int, error) {
	value, err := strconv.Atoi(text)
	if err != nil || value < 1 {
		return 0, errTokenLimit
	}

	return value, nil
}

// parseLimits reads what a user may use in a day.
func parseLimits(e env) (jobs.Limits, error) {
	var limits jobs.Limits
	for name, into := range map[string]*int{"ALFRED_LIMIT_TOKENS": &limits.Tokens, "ALFRED_LIMIT_TURNS": &limits.Turns} {
		if err := parseCount(e, name, into); err != nil {
			return limits, err
		}
	}
	if text := e["ALFRED_LIMIT_COST_USD"]; text != "" {
		cost, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(cost) || math.IsInf(cost, 0) || cost < 0 {
			return limits, fmt.Errorf("%w: ALFRED_LIMIT_COST_USD is %q; use a number of US dollars, 0 for no limit", errSetting, text)
		}
		limits.CostUSD = cost
	}

	return limits, nil
}

// prices are the embedded ones, those of the file ALFRED_PRICES first.
func prices(path string) (llm.Prices, error) {
	known, err := llm.DefaultPrices()
	if err != nil || path == "" {
		return known, err //nolint:wrapcheck // says what it was
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: ALFRED_PRICES: %w", errSetting, err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	own, err := known.With(file)
	if err != nil {
		return nil, fmt.Errorf("%w: ALFRED_PRICES %s: %w", errSetting, path, err)
	}

	return own, nil
}

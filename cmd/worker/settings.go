package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"alfred/llm/provider"
	"alfred/memory"
)

var errSetting = errors.New("bad setting")

// settings is the worker's environment, parsed.
type settings struct {
	databaseURL string
	domain      string // ALFRED_DOMAIN: a name that comes with the program, or a path; kitchen
	model       provider.Config
	embedder    provider.EmbedderConfig

	windows        memory.Config // its windows are set, budgets are the defaults
	retentionDecay int           // RETENTION_DECAY_TURNS: 20; 0 = never
}

// parseSettings reads the environment; what is not set has its default. A typo in
// a number is an error, never a default.
func parseSettings(e env) (*settings, error) {
	s := &settings{databaseURL: e["DATABASE_URL"], domain: cmp.Or(e["ALFRED_DOMAIN"], "kitchen"), windows: memory.DefaultConfig(), retentionDecay: 20}
	if s.databaseURL == "" {
		return nil, errNoDatabase
	}
	openAI := provider.Server{APIKey: e["OPENAI_API_KEY"], BaseURL: e["OPENAI_BASE_URL"]}
	gemini := provider.Server{APIKey: e["GEMINI_API_KEY"], BaseURL: e["GEMINI_BASE_URL"]}
	s.model = provider.Config{
		Name: e["ALFRED_LLM"], Model: e["ALFRED_MODEL"], Models: modelsByNode(e), ScriptPath: e["ALFRED_SCRIPT"], OpenAI: openAI, Gemini: gemini,
		Anthropic: provider.Server{APIKey: e["ANTHROPIC_API_KEY"], BaseURL: e["ANTHROPIC_BASE_URL"]},
	}
	s.embedder = provider.EmbedderConfig{Name: e["ALFRED_EMBEDDER"], Gemini: gemini, OpenAI: openAI}
	numbers := map[string]*int{
		"TURN_RETENTION_WINDOW": &s.windows.RetentionWindow, "FULL_DETAIL_TURNS": &s.windows.FullDetailTurns,
		"UNDERSTAND_TURNS": &s.windows.UnderstandTurns, "RETENTION_DECAY_TURNS": &s.retentionDecay,
	}
	for _, name := range slices.Sorted(maps.Keys(numbers)) {
		if err := parseCount(e, name, numbers[name]); err != nil {
			return nil, err
		}
	}
	if text := e["COMPRESS_OLDER_TURNS"]; text != "" {
		compress, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fmt.Errorf("%w: COMPRESS_OLDER_TURNS is %q; use true or false", errSetting, text)
		}
		s.windows.CompressOlder = compress
	}

	return s, nil
}

// modelsByNode reads ALFRED_MODEL_<NODE>.
func modelsByNode(e env) map[string]string {
	models := map[string]string{}
	for name, value := range e {
		if node, ok := strings.CutPrefix(name, "ALFRED_MODEL_"); ok && value != "" {
			models[strings.ToLower(node)] = value
		}
	}

	return models
}

func parseCount(e env, name string, into *int) error {
	text := e[name]
	if text == "" {
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return fmt.Errorf("%w: %s is %q; use a whole number, 0 or more", errSetting, name, text)
	}
	*into = n

	return nil
}

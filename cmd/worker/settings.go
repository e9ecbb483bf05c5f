package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"alfred/jobs"
	"alfred/llm"
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
	prices      llm.Prices
	limits      jobs.Limits

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
	var err error
	if s.limits, err = parseLimits(e); err != nil {
		return nil, err
	}
	if s.prices, err = prices(e["ALFRED_PRICES"]); err != nil {
		return nil, err
	}
	if err := s.parseModels(e); err != nil {
		return nil, err
	}
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

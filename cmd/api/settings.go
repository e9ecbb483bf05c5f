package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"alfred/httpapi"
	"alfred/jobs"
	"alfred/llm/provider"
	"alfred/memory"
)

var (
	errNoDatabase = errors.New("DATABASE_URL is not set; `scripts/postgres url` prints one")

	errOpenToTheWorld = errors.New("ALFRED_AUTH=off is for a loopback address alone: set ALFRED_ADDR to 127.0.0.1:8080, or ALFRED_AUTH to on")

	errSetting = errors.New("bad setting")
)

const settingsHelp = `Settings, from the environment:

DATABASE_URL: address of the database.

ALFRED_ADDR (127.0.0.1:8080): where to listen.

ALFRED_AUTH (on): off answers without keys, as the user demo, on a loopback address alone.

ALFRED_CORS_ORIGINS: origins whose pages may call the API, separated by commas.

ALFRED_DOMAIN (kitchen): name of a domain that comes with the program, or a file.

ALFRED_EMBEDDER (lexical): lexical, openai or gemini; ALFRED_EMBEDDER_MODEL, ALFRED_EMBEDDER_DIMENSIONS: as the worker has them.

ALFRED_LIMIT_TURNS, ALFRED_LIMIT_TOKENS, ALFRED_LIMIT_COST_USD (0): what a user may use in a day of the user's time zone; 0 is no limit. As the worker has them.

TURN_RETENTION_WINDOW, FULL_DETAIL_TURNS, UNDERSTAND_TURNS, COMPRESS_OLDER_TURNS: as the worker has them, for previews of what a node sees.`

// settings is the environment of serve, parsed.
type settings struct {
	databaseURL string
	addr        string
	open        bool // without keys
	origins     []string
	domain      string
	embedder    provider.EmbedderConfig
	limits      jobs.Limits
	windows     memory.Config
}

// parseSettings reads the environment; what is not set has its default.
func parseSettings(e env) (*settings, error) {
	s := &settings{
		databaseURL: e["DATABASE_URL"], addr: cmp.Or(e["ALFRED_ADDR"], "127.0.0.1:8080"), domain: cmp.Or(e["ALFRED_DOMAIN"], "kitchen"),
		windows: memory.DefaultConfig(),
		embedder: provider.EmbedderConfig{
			Name:   e["ALFRED_EMBEDDER"],
			Model:  e["ALFRED_EMBEDDER_MODEL"],
			Gemini: provider.Server{APIKey: e["GEMINI_API_KEY"], BaseURL: e["GEMINI_BASE_URL"]},
			OpenAI: provider.Server{APIKey: e["OPENAI_API_KEY"], BaseURL: e["OPENAI_BASE_URL"]},
		},
	}
	if s.databaseURL == "" {
		return nil, errNoDatabase
	}
	if err := errors.Join(s.parseAuth(e), s.parseOrigins(e), s.parseNumbers(e)); err != nil {
		return nil, err
	}

	return s, nil
}

func (s *settings) parseAuth(e env) error {
	switch cmp.Or(e["ALFRED_AUTH"], "on") {
	case "on":
		return nil
	case "off":
		s.open = true
	default:
		return fmt.Errorf("%w: ALFRED_AUTH is %q; use on or off", errSetting, e["ALFRED_AUTH"])
	}
	if !httpapi.Loopback(s.addr) {
		return errOpenToTheWorld
	}

	return nil
}

func (s *settings) parseOrigins(e env) error {
	for origin := range strings.SplitSeq(e["ALFRED_CORS_ORIGINS"], ",") {
		if origin = strings.TrimSpace(origin); origin == "" {
			continue
		}
		if err := httpapi.CheckOrigin(origin); err != nil {
			return fmt.Errorf("%w: ALFRED_CORS_ORIGINS holds %q; use addresses such as https://example.org", errSetting, origin)
		}
		s.origins = append(s.origins, origin)
	}

	return nil
}

func (s *settings) parseNumbers(e env) error {
	counts := map[string]*int{
		"TURN_RETENTION_WINDOW": &s.windows.RetentionWindow, "FULL_DETAIL_TURNS": &s.windows.FullDetailTurns,
		"UNDERSTAND_TURNS": &s.windows.UnderstandTurns, "ALFRED_EMBEDDER_DIMENSIONS": &s.embedder.Dimensions,
		"ALFRED_LIMIT_TOKENS": &s.limits.Tokens, "ALFRED_LIMIT_TURNS": &s.limits.Turns,
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if e[name] == "" {
			continue
		}
		n, err := strconv.Atoi(e[name])
		if err != nil || n < 0 {
			return fmt.Errorf("%w: %s is %q; use a whole number, 0 or more", errSetting, name, e[name])
		}
		*counts[name] = n
	}
	if text := e["ALFRED_LIMIT_COST_USD"]; text != "" {
		cost, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(cost) || math.IsInf(cost, 0) || cost < 0 {
			return fmt.Errorf("%w: ALFRED_LIMIT_COST_USD is %q; use a number of US dollars, 0 for no limit", errSetting, text)
		}
		s.limits.CostUSD = cost
	}
	if text := e["COMPRESS_OLDER_TURNS"]; text != "" {
		compress, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%w: COMPRESS_OLDER_TURNS is %q; use true or false", errSetting, text)
		}
		s.windows.CompressOlder = compress
	}

	return nil
}

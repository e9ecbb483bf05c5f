package settings

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"alfred/internal/auth"
	"alfred/internal/httpapi"
	"alfred/internal/llm"
	"alfred/internal/llm/provider"
	"alfred/internal/prompt"
	"alfred/jobs"
)

// Errors that callers distinguish.
var (
	// ErrBad says which setting is invalid, and what it may be.
	ErrBad = errors.New("bad setting")
	// ErrNoDatabase says that there is no DATABASE_URL.
	ErrNoDatabase = errors.New("DATABASE_URL is not set; `scripts/postgres url` prints one")
	// ErrOpenToTheWorld says that an API without keys would be reachable from other machines.
	ErrOpenToTheWorld = errors.New("ALFRED_AUTH=off is for a loopback address alone: set ALFRED_ADDR to 127.0.0.1:8080, or ALFRED_AUTH to on")
)

// Env is an environment; tests pass their own.
type Env map[string]string

// Environ converts pairs as returned by [os.Environ].
func Environ(pairs []string) Env {
	e := Env{}
	for _, pair := range pairs {
		if name, value, ok := strings.Cut(pair, "="); ok {
			e[name] = value
		}
	}

	return e
}

// Settings is the parsed environment. Settings of other programs are zero.
type Settings struct {
	DatabaseURL string
	Directory   string // "": there is one database
	Domain      string // a built-in name, or a path
	Windows     prompt.Config
	Limits      jobs.Limits
	Embedder    provider.EmbedderConfig
	Collector   string // for traces and metrics

	// For the worker.
	Model          provider.Config
	Prices         llm.Prices
	RetentionDecay int    // turns; 0 = never
	MetricsAddr    string // empty: not served
	TurnDeadline   time.Duration

	// For the API.
	Addr    string
	Open    bool // without keys
	Origins []string
	Budget  auth.Budget
	Tokens  auth.TokenConfig

	fallbackLLM, fallbackModel string
	openAI, anthropic, gemini  provider.Server
}

// Database returns the database's address, for commands that need nothing else.
func Database(e Env) (string, error) {
	url, err := one(e, "DATABASE_URL")
	if err == nil && url == "" {
		err = ErrNoDatabase
	}

	return url, err
}

// Directory returns the directory's address, "" if there is none.
func Directory(e Env) (string, error) { return one(e, "ALFRED_DIRECTORY_URL") }

// Domain returns the domain's name or path, for commands that need nothing else.
func Domain(e Env) string {
	name, _ := one(e, "ALFRED_DOMAIN") // only reading a secret's file can fail

	return name
}

func one(e Env, name string) (string, error) {
	table := new(Settings).table()

	return valueOf(e, &table[slices.IndexFunc(table, func(l line) bool { return l.name == name })])
}

// Parse parses the program's settings and applies defaults. An invalid value is an error, never a default. With
// [ErrNoDatabase], everything else is valid.
func Parse(e Env, by Program) (*Settings, error) {
	s := &Settings{Windows: prompt.DefaultConfig()}
	var faults []error
	for _, l := range s.lines(by) {
		value, err := valueOf(e, &l)
		if err == nil {
			err = l.set(l.name, value, e)
		}
		faults = append(faults, err)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	if err := s.combine(); err != nil {
		return nil, err
	}
	if s.DatabaseURL == "" && (s.Directory == "" || by == Worker) {
		return s, ErrNoDatabase
	}

	return s, nil
}

// combine sets what depends on more than one setting.
func (s *Settings) combine() error {
	s.Model.OpenAI, s.Model.Anthropic, s.Model.Gemini = s.openAI, s.anthropic, s.gemini
	s.Embedder.OpenAI, s.Embedder.Gemini = s.openAI, s.gemini
	if s.fallbackLLM != "" || s.fallbackModel != "" {
		second := s.Model
		second.Name, second.Model, second.Models = cmp.Or(s.fallbackLLM, s.Model.Name), s.fallbackModel, nil
		s.Model.Fallback = &second
	}
	if s.Open && !httpapi.Loopback(s.Addr) {
		return ErrOpenToTheWorld
	}
	if s.Open && s.Directory != "" {
		return fmt.Errorf("%w: ALFRED_AUTH=off serves one user, and ALFRED_DIRECTORY_URL is for users in several databases: unset one of them", ErrBad)
	}

	return s.checkTokens()
}

// valueOf is a setting's own value, or its default. A secret may be in the file named by NAME_FILE, as service managers
// and container engines provide them.
func valueOf(e Env, l *line) (string, error) {
	value := e[l.name]
	if file := e[l.name+"_FILE"]; l.secret && value == "" && file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("%w: %s_FILE: %w", ErrBad, l.name, err)
		}
		value = strings.TrimSpace(string(text))
	}

	return cmp.Or(value, l.fallback), nil
}

// Unknown lists variables named like a setting that are not one: typos, whose values silently do nothing.
func Unknown(e Env) []string {
	var unknown []string
	for name := range e {
		if strings.HasPrefix(name, "ALFRED_") && !known(name) && !slices.Contains(ofScripts, name) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)

	return unknown
}

func known(name string) bool {
	return slices.ContainsFunc(new(Settings).table(), func(l line) bool {
		prefix, byNode := strings.CutSuffix(l.name, nodeSuffix)

		return name == l.name || byNode && strings.HasPrefix(name, prefix) || l.secret && name == l.name+"_FILE"
	})
}

// ofScripts are read only by scripts/.
var ofScripts = []string{"ALFRED_RUN_DIR", "ALFRED_URL"}

// checkTokens rejects an incomplete configuration: a token whose issuer or audience nobody checks could be anybody's.
func (s *Settings) checkTokens() error {
	t := s.Tokens
	if !t.Enabled() {
		if t.Issuer != "" || t.Audience != "" {
			return fmt.Errorf("%w: ALFRED_JWT_ISSUER and ALFRED_JWT_AUDIENCE do nothing without ALFRED_JWKS_URL", ErrBad)
		}

		return nil
	}
	if t.Issuer == "" || t.Audience == "" {
		return fmt.Errorf("%w: ALFRED_JWKS_URL needs ALFRED_JWT_ISSUER and ALFRED_JWT_AUDIENCE", ErrBad)
	}
	if s.Open {
		return fmt.Errorf("%w: ALFRED_JWKS_URL does nothing with ALFRED_AUTH=off, which asks for no tokens", ErrBad)
	}
	address, err := url.Parse(t.JWKSURL)
	if err != nil || address.Host == "" || address.Scheme != "https" && (address.Scheme != "http" || !httpapi.Loopback(address.Host)) {
		return bad("ALFRED_JWKS_URL", t.JWKSURL, "an https address")
	}

	return nil
}

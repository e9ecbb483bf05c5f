package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/engine"
	"alfred/internal/llm"
	"alfred/internal/llm/provider"
	"alfred/internal/prompt"
	"alfred/jobs"
)

func TestModelSettings(t *testing.T) {
	t.Parallel()

	file := filepath.Join(t.TempDir(), "prices.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"mine": {"input": 2, "output": 4}}`), 0o600))
	s, err := Parse(Env{
		"DATABASE_URL": "postgres://x", "ALFRED_LLM": "openai", "ALFRED_MODEL": "mine", "ALFRED_FALLBACK_LLM": "anthropic", "ALFRED_FALLBACK_MODEL": "theirs",
		"ALFRED_TEMPERATURE_REPLY": "0", "ALFRED_MAX_TOKENS_ACT": "900", "ALFRED_PRICES": file, "ALFRED_LIMIT_TURNS": "50", "ALFRED_LIMIT_COST_USD": "1.5",
		"ALFRED_EMBEDDER": "openai", "ALFRED_EMBEDDER_MODEL": "text-embedding-3-large", "ALFRED_EMBEDDER_DIMENSIONS": "1024",
	}, Worker)
	require.NoError(t, err)
	require.Equal(t, map[string]float64{"reply": 0}, s.Model.Temperatures)
	require.Equal(t, map[string]int{"act": 900}, s.Model.MaxTokens)
	require.Equal(t, provider.Anthropic, s.Model.Fallback.Name)
	require.Equal(t, "theirs", s.Model.Fallback.Model)
	require.Nil(t, s.Model.Fallback.Fallback)
	require.Equal(t, jobs.Limits{Turns: 50, CostUSD: 1.5}, s.Limits)
	usd, known := s.Prices.Cost("mine", llm.Usage{Input: 1_000_000})
	require.True(t, known)
	require.InDelta(t, 2, usd, 1e-9)
	require.Equal(t, 1024, s.Embedder.Dimensions)
}

func TestModelSettingsRefuseTypos(t *testing.T) {
	t.Parallel()

	for name, value := range map[string]string{
		"ALFRED_EMBEDDER_DIMENSIONS": "many", "ALFRED_LIMIT_COST_USD": "NaN", "ALFRED_LIMIT_TOKENS": "-1", "ALFRED_MAX_TOKENS_REPLY": "0",
		"ALFRED_MODEL_THINKING": "big", "ALFRED_PRICES": "nowhere.json", "ALFRED_TEMPERATURE_ACT": "hot", "ALFRED_TEMPERATURE_REPLY": "NaN",
		"TURN_RETENTION_WINDOW": "4294967295", "UNDERSTAND_TURNS": "2147483648", "RETENTION_DECAY_TURNS": "99999999999",
		"ALFRED_MAX_ANSWER_BYTES": "0", "ALFRED_RATE_BURST": "0", "OTEL_EXPORTER_OTLP_ENDPOINT": "localhost:4318",
	} {
		_, err := Parse(Env{"DATABASE_URL": "x", name: value}, both)
		require.ErrorIs(t, err, ErrBad, name)
		require.ErrorContains(t, err, name)
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()

	s, err := Parse(Env{"DATABASE_URL": "postgres://x", "ALFRED_MODEL_THINK": "big", "FULL_DETAIL_TURNS": "4", "COMPRESS_OLDER_TURNS": "false", "RETENTION_DECAY_TURNS": "0"}, Worker)
	require.NoError(t, err)
	require.Equal(t, "kitchen", s.Domain)
	require.Equal(t, map[string]string{"think": "big"}, s.Model.Models)
	require.Equal(t, 4, s.Windows.FullDetailTurns)
	require.Equal(t, 2, s.Windows.RetentionWindow)
	require.False(t, s.Windows.CompressOlder)
	require.Zero(t, s.RetentionDecay)

	for _, bad := range []Env{{}, {"DATABASE_URL": "x", "UNDERSTAND_TURNS": "five"}, {"DATABASE_URL": "x", "COMPRESS_OLDER_TURNS": "maybe"}} {
		_, err = Parse(bad, Worker)
		require.Error(t, err)
	}
}

// The table shows the windows' defaults to people; they must equal the program's own.
func TestDefaults(t *testing.T) {
	t.Parallel()

	s, err := Parse(Env{"DATABASE_URL": "x"}, both)
	require.NoError(t, err)
	require.Equal(t, prompt.DefaultConfig(), s.Windows)
	require.Equal(t, "127.0.0.1:8080", s.Addr)
	require.False(t, s.Open)
	require.Equal(t, engine.RetentionDecay, s.RetentionDecay)
	require.Equal(t, engine.Deadline, s.TurnDeadline)
}

func TestSecretsFromFiles(t *testing.T) {
	t.Parallel()

	file := filepath.Join(t.TempDir(), "url")
	require.NoError(t, os.WriteFile(file, []byte("postgres://from-a-file\n"), 0o600))
	s, err := Parse(Env{"DATABASE_URL_FILE": file}, API)
	require.NoError(t, err)
	require.Equal(t, "postgres://from-a-file", s.DatabaseURL)
	s, err = Parse(Env{"DATABASE_URL": "postgres://own", "DATABASE_URL_FILE": file}, API)
	require.NoError(t, err)
	require.Equal(t, "postgres://own", s.DatabaseURL)
	_, err = Parse(Env{"DATABASE_URL_FILE": file + "-none"}, API)
	require.ErrorIs(t, err, ErrBad)
	require.ErrorContains(t, err, "DATABASE_URL_FILE")
}

func TestShowMasksSecrets(t *testing.T) {
	t.Parallel()

	for _, url := range []string{
		"postgres://a:hunter2@h/db", "postgres://h/db?user=a&password=hunter2", "host=h password=hunter2 dbname=db", "host=h password='hunter2 hunter2'", "hunter2",
		`host=h password='it\'s hunter2'`, `host=h password=its\ hunter2`, "host=h password='hunter2 hunter2", "host = h sslpassword = hunter2", "PASSWORD=hunter2 host=h",
		"user=a password=hunter2", "postgres://a:hunter2@h1:5432,h2:5432/db", "postgres://a:hunter2%@h/db", "postgres://h/db?sslpassword=hunter2",
	} {
		e := Env{"DATABASE_URL": url, "OPENAI_API_KEY": "hunter2", "ALFRED_MODEL_THINK": "big"}
		shown := Show(e, Worker)
		text := fmt.Sprint(shown)
		require.NotContains(t, text, "hunter2", url)
		require.Contains(t, text, "ALFRED_MODEL_THINK big")
		require.True(t, shown[0].Set)
		require.NotEmpty(t, shown[0].Value)
	}
}

// K12: any address may contain a password.
func TestK12ShowMasksPasswordsInAddresses(t *testing.T) {
	t.Parallel()

	for address, want := range map[string]string{
		"https://ada:hunter2@proxy.example/v1":   "https://ada:xxxxx@proxy.example/v1",
		"https://ada:hunter2%@proxy.example/v1":  "https://ada:xxxxx@proxy.example/v1", // not a URL, and shown all the same
		"host=h password=hunter2 dbname=db":      "host=h password=xxxxx dbname=db",
		`host=h password='it\'s hunter2' port=1`: "host=h password=xxxxx port=1",
		"https://proxy.example/v1":               "https://proxy.example/v1",
	} {
		require.Equal(t, want, WithoutPassword(address))
		for _, name := range []string{"OPENAI_BASE_URL", "OTEL_EXPORTER_OTLP_ENDPOINT"} {
			for _, s := range Show(Env{name: address}, Worker) {
				require.NotContains(t, s.Value, "hunter2", name)
				if s.Name == name {
					require.Equal(t, want, s.Value)
				}
			}
		}
	}
	for _, s := range Show(Env{"DATABASE_URL": "host=h password=hunter2 dbname=db", "ALFRED_DIRECTORY_URL": "postgres://a:hunter2@h1,h2:1/db"}, Worker) {
		require.NotContains(t, s.Value, "hunter2")
	}
}

func TestUnknown(t *testing.T) {
	t.Parallel()

	require.Equal(t, []string{"ALFRED_LMM"}, Unknown(Env{"ALFRED_LMM": "x", "ALFRED_LLM": "x", "ALFRED_MODEL_THINK": "x", "PATH": "x"}))
}

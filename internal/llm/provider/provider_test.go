package provider_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"alfred/internal/llm"
	"alfred/internal/llm/provider"
	"alfred/internal/llm/wiretest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// model answers with its name, or fails after passing on some text.
type model struct {
	name    string
	failure llm.Kind
	deltas  string
	got     *llm.Request
}

func (m *model) Generate(_ context.Context, req *llm.Request) (*llm.Response, error) {
	m.got = req
	if m.deltas != "" && req.OnDelta != nil {
		req.OnDelta(m.deltas)
	}
	if m.failure != "" {
		return nil, &llm.Error{Kind: m.failure, Provider: m.name, Err: errors.New("as told")}
	}

	return &llm.Response{Text: m.name}, nil
}

func TestNew_EveryNodeHasItsTemperature(t *testing.T) {
	t.Parallel()

	offline := &model{}
	models, err := provider.New(&provider.Config{OfflineModel: offline, Temperatures: map[string]float64{"reply": 0}, MaxTokens: map[string]int{"reply": 300}})
	require.NoError(t, err)
	want := map[string]float64{"act": 0.25, "compress": 0.3, "reply": 0, "summarize": 0.3, "think": 0.35, "understand": 0.2}
	require.Len(t, models, len(want))
	for node, temperature := range want {
		req, prepared := &llm.Request{}, &llm.Request{}
		_, err := models[node].Generate(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, &llm.Request{}, req, "a request is not changed while it is asked")
		llm.Prepare(models[node], prepared)
		require.Equal(t, prepared, offline.got, "the record shows what was sent")
		require.InDelta(t, temperature, *prepared.Temperature, 1e-9, node)
		require.Equal(t, map[string]int{"reply": 300}[node], prepared.MaxTokens)
	}
}

func TestNew_ModelByNode(t *testing.T) {
	t.Parallel()

	for name, protocol := range map[string]wiretest.Protocol{
		provider.Anthropic: wiretest.Anthropic, provider.Gemini: wiretest.Gemini, provider.OpenAI: wiretest.OpenAI,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := wiretest.Start(t, protocol, func(context.Context, *wiretest.Call) wiretest.Reply { return wiretest.Reply{Text: "hello"} })
			reach := provider.Server{APIKey: wiretest.Key, BaseURL: server.BaseURL}
			models, err := provider.New(&provider.Config{
				Name: name, Model: "small", Models: map[string]string{"think": "large"},
				Anthropic: reach, Gemini: reach, OpenAI: reach, HTTPClient: server.Client(),
			})
			require.NoError(t, err)
			for node, want := range map[string]string{"reply": "small", "think": "large"} {
				response, err := models[node].Generate(t.Context(), &llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: "hi"}}})
				require.NoError(t, err)
				require.Equal(t, want, response.Model)
			}
		})
	}
}

func TestNew_Script(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "talk.yaml")
	require.NoError(t, os.WriteFile(path, []byte("turns: [{reply: hello}]"), 0o600))
	models, err := provider.New(&provider.Config{Name: provider.Script, ScriptPath: path})
	require.NoError(t, err)
	response, err := models["reply"].Generate(t.Context(), &llm.Request{Node: "reply", Turn: 1, Ordinal: 1})
	require.NoError(t, err)
	require.Equal(t, "hello", response.Text)
}

func TestNew_Rejects(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		config provider.Config
		says   string
	}{
		"AnthropicWithoutKey": {provider.Config{Name: provider.Anthropic}, "no API key is set: ANTHROPIC_API_KEY"},
		"FallbackWrong":       {provider.Config{OfflineModel: &model{}, Fallback: &provider.Config{Name: "hal"}}, "fallback: unknown provider"},
		"GeminiWithoutKey":    {provider.Config{Name: provider.Gemini}, "no API key"},
		"ModelOfOffline":      {provider.Config{OfflineModel: &model{}, Model: "gpt-4.1"}, "ALFRED_LLM"},
		"NodeModelOfOffline":  {provider.Config{OfflineModel: &model{}, Models: map[string]string{"think": "gpt-4.1"}}, "ALFRED_LLM"},
		"NoOffline":           {provider.Config{}, "no offline model"},
		"RealCallFromTest":    {provider.Config{Name: provider.OpenAI, OpenAI: provider.Server{APIKey: "sk-real"}}, "test must not call"},
		"ScriptMissing":       {provider.Config{Name: provider.Script, ScriptPath: "missing.yaml"}, "missing.yaml"},
		"ScriptUnnamed":       {provider.Config{Name: provider.Script}, "ALFRED_SCRIPT"},
		"Unknown":             {provider.Config{Name: "hal"}, `unknown provider "hal"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := provider.New(&tt.config)
			require.ErrorContains(t, err, tt.says)
		})
	}
}

func TestFallback(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		first model
		want  string
		kind  llm.Kind
	}{
		"Answers":        {model{name: "first"}, "first", ""},
		"Auth":           {model{failure: llm.KindAuth}, "", llm.KindAuth},
		"Overloaded":     {model{failure: llm.KindOverloaded}, "second", ""},
		"RateLimit":      {model{failure: llm.KindRateLimit}, "second", ""},
		"Refusal":        {model{failure: llm.KindRefusal}, "", llm.KindRefusal},
		"TextHandedOver": {model{failure: llm.KindOverloaded, deltas: "Once"}, "", llm.KindOverloaded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			models, err := provider.New(&provider.Config{
				OfflineModel: &tt.first, Fallback: &provider.Config{OfflineModel: &model{name: "second"}},
			})
			require.NoError(t, err)
			var failed []llm.Kind
			response, err := models["reply"].Generate(t.Context(), &llm.Request{
				OnDelta:  func(string) {},
				OnFailed: func(_ *llm.Response, err error) { failed = append(failed, llm.KindOf(err)) },
			})
			require.Equal(t, tt.kind, llm.KindOf(err))
			if tt.want != "" {
				require.Equal(t, tt.want, response.Text)
			}
			require.Equal(t, tt.want == "second", len(failed) == 1, "what was made up for is told")
		})
	}
}

func TestNewEmbedder(t *testing.T) {
	t.Parallel()

	embedder, err := provider.NewEmbedder(&provider.EmbedderConfig{})
	require.NoError(t, err)
	require.Equal(t, 256, embedder.Dimensions())

	server := wiretest.Start(t, wiretest.Gemini, func(context.Context, *wiretest.Call) wiretest.Reply { return wiretest.Reply{} })
	embedder, err = provider.NewEmbedder(&provider.EmbedderConfig{
		Name: provider.Gemini, Dimensions: 64, Gemini: provider.Server{APIKey: wiretest.Key, BaseURL: server.BaseURL}, HTTPClient: server.Client(),
	})
	require.NoError(t, err)
	vectors, err := embedder.Embed(t.Context(), []string{"egg"})
	require.NoError(t, err)
	require.Len(t, vectors[0], 64)
	require.Equal(t, "gemini-embedding-001", embedder.Model())

	_, err = provider.NewEmbedder(&provider.EmbedderConfig{Name: "hal"})
	require.ErrorContains(t, err, `unknown provider "hal"`)
}

// The log names a suitable model for whoever chose an unsuitable one.
func TestUnsuitableModelNamesAnAlternative(t *testing.T) {
	t.Parallel()

	server := wiretest.Start(t, wiretest.OpenAI, func(context.Context, *wiretest.Call) wiretest.Reply {
		return wiretest.Reply{Status: 404, Code: "model_not_found", Message: "The model gpt-9 does not exist"}
	})
	models, err := provider.New(&provider.Config{
		Name: provider.OpenAI, Model: "gpt-9", OpenAI: provider.Server{APIKey: wiretest.Key, BaseURL: server.BaseURL}, HTTPClient: server.Client(),
	})
	require.NoError(t, err)
	_, err = models["think"].Generate(t.Context(), &llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: "hi"}}})
	require.Equal(t, llm.KindInvalidRequest, llm.KindOf(err))
	for _, said := range []string{"does not exist", `"gpt-9"`, "ALFRED_MODEL", "gpt-4.1-mini"} {
		require.ErrorContains(t, err, said)
	}
}

func TestEarlier(t *testing.T) {
	t.Parallel()

	config := &provider.EmbedderConfig{Name: provider.OpenAI, OpenAI: provider.Server{APIKey: "k", BaseURL: "http://127.0.0.1:1"}}
	lexical, err := config.Earlier("lexical-2", 256)
	require.NoError(t, err)
	require.Equal(t, "lexical-2", lexical.Model())
	other, err := config.Earlier("text-embedding-3-large", 1024)
	require.NoError(t, err)
	require.Equal(t, "text-embedding-3-large 1024", fmt.Sprint(other.Model(), " ", other.Dimensions()))
	_, err = provider.NewEmbedder(&provider.EmbedderConfig{Name: provider.OpenAI, Dimensions: 3072})
	require.ErrorContains(t, err, "2000 at most")
}

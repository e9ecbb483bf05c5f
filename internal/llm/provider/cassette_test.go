package provider_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/llm"
	"alfred/internal/llm/anthropic"
	"alfred/internal/llm/gemini"
	"alfred/internal/llm/openai"
	"alfred/internal/llm/provider"
	"alfred/internal/llm/wire"
)

var record = flag.Bool("record", false, "ask the real servers and overwrite the cassettes; needs a key in the environment, such as OPENAI_API_KEY")

func TestCassettes(t *testing.T) {
	t.Parallel()
	for _, d := range []deck{
		{provider.Anthropic, "claude-haiku-4-5", anthropic.New},
		{provider.Gemini, "gemini-2.5-flash", gemini.New},
		{provider.OpenAI, "gpt-4.1-mini", openai.New},
	} {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			d.play(t)
		})
	}
}

// deck plays the cassettes of one provider, recorded with one of its models.
type deck struct {
	name, model string
	open        func(config *wire.Config) (*wire.Model, error)
}

func (d deck) play(t *testing.T) {
	t.Helper()

	t.Run("Stream", func(t *testing.T) {
		t.Parallel()
		var pieces []string
		response, err := d.played(t, "stream").Generate(t.Context(), &llm.Request{
			System: "Answer in one short sentence.", Messages: []llm.Message{{Role: llm.RoleUser, Content: "Say hello."}},
			OnDelta: func(text string) { pieces = append(pieces, text) },
		})
		require.NoError(t, err)
		require.NotEmpty(t, response.Text)
		require.Equal(t, response.Text, strings.Join(pieces, ""))
		require.Greater(t, len(pieces), 1)
		require.Positive(t, response.Usage.Input)
		require.Positive(t, response.Usage.Output)
	})

	t.Run("ToolCalls", func(t *testing.T) {
		t.Parallel()
		response, err := d.played(t, "tool_calls").Generate(t.Context(), &llm.Request{
			Messages: []llm.Message{{Role: llm.RoleUser, Content: "Read the tables recipes and tasks, both at once."}},
			Tools: []llm.Tool{{
				Name: "db_read", Description: "Read a table.",
				Schema: json.RawMessage(`{"type":"object","properties":{"table":{"type":"string"}},"required":["table"],"additionalProperties":false}`),
			}},
		})
		require.NoError(t, err)
		require.Len(t, response.ToolCalls, 2)
		require.JSONEq(t, `{"table":"recipes"}`, string(response.ToolCalls[0].Args))
		require.JSONEq(t, `{"table":"tasks"}`, string(response.ToolCalls[1].Args))
	})
}

func (d deck) played(t *testing.T, tape string) *wire.Model {
	t.Helper()
	key := "none"
	if *record {
		key = cmp.Or(os.Getenv(strings.ToUpper(d.name)+"_API_KEY"), key)
	}
	client := openTape(t, "testdata/"+d.name+"/"+tape+".json", *record, key)
	model, err := d.open(&wire.Config{APIKey: key, HTTPClient: client, Model: d.model})
	require.NoError(t, err)

	return model
}

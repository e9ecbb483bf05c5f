package wiretest_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/llm"
	"alfred/internal/llm/gemini"
	"alfred/internal/llm/openai"
	"alfred/internal/llm/wire"
	"alfred/internal/llm/wiretest"
)

// Vectors have the requested length, also beyond that of the embedder behind the stand-in.
func TestEmbeddingsOfAnyLength(t *testing.T) {
	t.Parallel()

	for _, length := range []int{3, 256, 1536} {
		for _, protocol := range []wiretest.Protocol{wiretest.Gemini, wiretest.OpenAI} {
			server := wiretest.Start(t, protocol, func(context.Context, *wiretest.Call) wiretest.Reply { return wiretest.Reply{} })
			var embedder llm.Embedder
			var err error
			if protocol == wiretest.Gemini {
				embedder, err = gemini.NewEmbedder(&wire.Config{APIKey: wiretest.Key, BaseURL: server.BaseURL, HTTPClient: server.Client(), Model: "m"}, length)
			} else {
				embedder, err = openai.NewEmbedder(&wire.Config{APIKey: wiretest.Key, BaseURL: server.BaseURL, HTTPClient: server.Client(), Model: "m"}, length)
			}
			require.NoError(t, err)
			vectors, err := embedder.Embed(t.Context(), []string{"egg"})
			require.NoError(t, err, "%s, %d", protocol, length)
			require.Len(t, vectors[0], length)
		}
	}
}

package openai_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/llm"
	"alfred/internal/llm/openai"
	"alfred/internal/llm/wire"
)

// Vectors that are not those of the texts are an answer that cannot be used, whatever a server sends.
func TestEmbedder_OtherVectors(t *testing.T) {
	t.Parallel()

	for name, answer := range map[string]string{
		"Fewer":     `{"data": [{"index": 0, "embedding": [1, 2]}]}`,
		"Longer":    `{"data": [{"index": 0, "embedding": [1, 2]}, {"index": 1, "embedding": [1, 2, 3]}]}`,
		"Null":      `null`,
		"Nothing":   `{}`,
		"OffIndex":  `{"data": [{"index": 0, "embedding": [1, 2]}, {"index": 2, "embedding": [1, 2]}]}`,
		"SameIndex": `{"data": [{"index": 0, "embedding": [1, 2]}, {"index": 0, "embedding": [1, 2]}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(answer))
			}))
			t.Cleanup(server.Close)
			embedder, err := openai.NewEmbedder(&wire.Config{BaseURL: server.URL, HTTPClient: server.Client(), Model: "embed"}, 2)
			require.NoError(t, err)
			_, err = embedder.Embed(t.Context(), []string{"egg", "flour"})
			require.Equal(t, llm.KindInvalidOutput, llm.KindOf(err), "%v", err)
		})
	}
}

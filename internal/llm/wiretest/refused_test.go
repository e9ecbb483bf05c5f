package wiretest_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/llm/wiretest"
)

// Only OpenAI's protocol says that the key is a bearer's.
func TestKeysAreTakenAsTheyStand(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		protocol  wiretest.Protocol
		path, key string
		body      string
	}{
		"Anthropic": {wiretest.Anthropic, "/v1/messages", "X-Api-Key", messagesBody},
		"Gemini":    {wiretest.Gemini, "/v1beta/models/m:generateContent", "X-Goog-Api-Key", generateBody},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := wiretest.Start(t, tt.protocol, func(context.Context, *wiretest.Call) wiretest.Reply { return wiretest.Reply{Text: "hi"} })
			header := http.Header{"Anthropic-Version": {"2023-06-01"}}
			header.Set(tt.key, wiretest.Key)
			require.Equal(t, http.StatusOK, send(t, server, tt.path, "{"+tt.body+"}", header))
			header.Set(tt.key, "Bearer "+wiretest.Key)
			require.Equal(t, http.StatusUnauthorized, send(t, server, tt.path, "{"+tt.body+"}", header))
		})
	}
}

func TestEmbeddingsRejectOtherTypes(t *testing.T) {
	t.Parallel()

	const gemini, openai = "/v1beta/models/m:batchEmbedContents", "/embeddings"
	for name, tt := range map[string]struct {
		protocol   wiretest.Protocol
		path, body string
		status     int
	}{
		"OpenAI/Good":       {wiretest.OpenAI, openai, `{"model": "m", "input": ["egg"], "dimensions": 3}`, http.StatusOK},
		"OpenAI/Numbers":    {wiretest.OpenAI, openai, `{"model": "m", "input": [1], "dimensions": 3}`, http.StatusBadRequest},
		"OpenAI/Objects":    {wiretest.OpenAI, openai, `{"model": "m", "input": [{"text": "egg"}], "dimensions": 3}`, http.StatusBadRequest},
		"OpenAI/TextLength": {wiretest.OpenAI, openai, `{"model": "m", "input": ["egg"], "dimensions": "3"}`, http.StatusBadRequest},
		"Gemini/Good":       {wiretest.Gemini, gemini, `{"requests": [{"content": {"parts": [{"text": "egg"}]}, "outputDimensionality": 3}]}`, http.StatusOK},
		"Gemini/Text":       {wiretest.Gemini, gemini, `{"requests": [{"content": "egg", "outputDimensionality": 3}]}`, http.StatusBadRequest},
		"Gemini/TextLength": {wiretest.Gemini, gemini, `{"requests": [{"content": {"parts": [{"text": "egg"}]}, "outputDimensionality": "3"}]}`, http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := wiretest.Start(t, tt.protocol, func(context.Context, *wiretest.Call) wiretest.Reply { return wiretest.Reply{} })
			header := http.Header{"Authorization": {"Bearer " + wiretest.Key}}
			header.Set("X-Goog-Api-Key", wiretest.Key)
			require.Equal(t, tt.status, send(t, server, tt.path, tt.body, header))
		})
	}
}

// send returns the status of the answer to a request with this header.
func send(t *testing.T, server *wiretest.Server, path, body string, header http.Header) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.BaseURL+path, strings.NewReader(body))
	require.NoError(t, err)
	request.Header = header
	response, err := server.Client().Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	require.NoError(t, err)

	return response.StatusCode
}

package e2e_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/llm/offline"
	"alfred/internal/tour"
)

// The README's conversation leaves every row that it promises, without a network or a key.
func TestTour(t *testing.T) {
	t.Parallel()
	h := openHouse(t, fixtures{model: offline.New})
	defer http.DefaultClient.CloseIdleConnections() // the tour's connections; otherwise they outlive the test
	played := &lockedBuffer{}
	demo := &tour.Tour{API: h.url, Pool: h.pool, Out: played}
	require.NoError(t, demo.Play(t.Context()), "%s", played)

	// Y20: the address and the key that the demo prints open the conversation.
	address, key := demo.Where()
	page, session, found := strings.Cut(address, "/#")
	require.True(t, found, address)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, page+"/v1/sessions/"+session+"/turns", nil)
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+key)
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Contains(t, string(said), "Draft a Thai basil chicken")
}

package e2e_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/tour"
	"alfred/llm/offline"
)

// The README's conversation leaves every row that it promises, without a network or a key.
func TestTour(t *testing.T) {
	t.Parallel()
	h := openHouse(t, fixtures{model: offline.New})
	defer http.DefaultClient.CloseIdleConnections() // the tour's connections; otherwise they outlive the test
	played := &lockedBuffer{}
	err := (&tour.Tour{API: h.url, Pool: h.pool, Out: played}).Play(t.Context())
	require.NoError(t, err, "%s", played)
}

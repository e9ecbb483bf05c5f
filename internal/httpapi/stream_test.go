package httpapi

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"alfred/internal/follow"
	"alfred/internal/httpapi/sse"
)

func TestPing(t *testing.T) {
	t.Parallel()

	recorder := httptest.NewRecorder()
	done := make(chan error)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		looks := 0
		done <- pump(sse.Open(w), follow.Watch(t.Context(), nil, time.Millisecond, func(context.Context) ([]event, bool, error) {
			looks++

			return nil, looks > 2, nil // after two without anything new
		}))
	}))
	defer server.Close()
	go func() {
		response, err := server.Client().Get(server.URL)
		if err == nil {
			_, _ = recorder.Body.ReadFrom(response.Body)
			_ = response.Body.Close()
		}
		done <- err
	}()
	require.NoError(t, <-done)
	require.NoError(t, <-done)
	require.Equal(t, ": stream open\n\n: ping\n\n: ping\n\n", recorder.Body.String())
}

package httpapi

import (
	"alfred/internal/httpapi/sse"
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPing(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithCancel(t.Context())
	ticks := make(chan time.Time)
	recorder := httptest.NewRecorder()
	done := make(chan error)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		p := &pump{
			out:  sse.Open(w),
			next: func(context.Context) ([]event, bool, error) { return nil, false, nil },
			ping: ticks,
		}
		done <- p.run(ctx)
	}))
	defer server.Close()
	go func() {
		ticks <- time.Now()
		ticks <- time.Now()
		cancel()
	}()
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

package httpapi

import (
	"alfred/internal/httpapi/problem"
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRequestsAreLogged(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		path   string
		serve  http.HandlerFunc
		level  string // "" where there is no line
		status int
		holds  string
	}{
		"a request":     {"/v1/x", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) }, "INFO", http.StatusAccepted, ""},
		"a forged line": {"/v1/a%0Alevel=ERROR", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }, "INFO", http.StatusOK, "a level=ERROR"},
		"a file":        {"/assets/x", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }, "", http.StatusOK, ""},
		"a failure":     {"/v1/x", failing(errors.New("disk full")), "ERROR", http.StatusInternalServerError, "disk full"},
		"a panic":       {"/v1/x", func(http.ResponseWriter, *http.Request) { panic("oops") }, "ERROR", http.StatusInternalServerError, "oops"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			log := &bytes.Buffer{}
			a := &api{Config: Config{Logger: slog.New(slog.NewJSONHandler(log, nil))}}
			recorder := httptest.NewRecorder()
			a.logRequests(c.serve).ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, c.path, nil))
			require.Equal(t, c.status, recorder.Code)
			if c.level == "" {
				require.Empty(t, log.String())

				return
			}
			require.Equal(t, 1, strings.Count(log.String(), "\n"), "one line a request")
			var line map[string]any
			require.NoError(t, json.Unmarshal(log.Bytes(), &line))
			require.Equal(t, c.level, line["level"])
			require.InDelta(t, c.status, line["status"], 0)
			require.Contains(t, line, "duration_ms")
			require.Contains(t, log.String(), c.holds)
			if c.status >= http.StatusInternalServerError {
				require.NotContains(t, recorder.Body.String(), c.holds, "the client is not told why")
			}
		})
	}
}

func failing(err error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		problem.Note(r.Context(), err)
		problem.Write(w, problem.Of(err))
	}
}

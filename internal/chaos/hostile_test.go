package chaos_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// huge is the size of the longest answers.
const huge = 300 << 20

// endless writes a piece repeatedly until the client disconnects.
func endless(w http.ResponseWriter, r *http.Request, piece []byte, pause time.Duration) {
	for sent := 0; sent < huge && r.Context().Err() == nil; sent += len(piece) {
		if _, err := w.Write(piece); err != nil {
			return
		}
		if pause > 0 {
			w.(http.Flusher).Flush()
			time.Sleep(pause)
		}
	}
}

// hostilities are what a model's server may do instead of answering.
func hostilities(t *testing.T) []http.HandlerFunc {
	t.Helper()

	var bomb bytes.Buffer
	packed := gzip.NewWriter(&bomb)
	for piece, sent := bytes.Repeat([]byte("x"), 1<<20), 0; sent < huge; sent += len(piece) {
		_, err := packed.Write(piece)
		require.NoError(t, err)
	}
	require.NoError(t, packed.Close())
	says := func(status int, body string, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i+1 < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	begun := func(then func(w http.ResponseWriter, r *http.Request)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"choices": [{"message": {"content": "`))
			then(w, r)
		}
	}

	return []http.HandlerFunc{
		begun(func(w http.ResponseWriter, r *http.Request) { endless(w, r, bytes.Repeat([]byte("x"), 64<<10), 0) }),
		func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
		},
		func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		begun(func(w http.ResponseWriter, r *http.Request) { w.(http.Flusher).Flush(); <-r.Context().Done() }),
		begun(func(w http.ResponseWriter, r *http.Request) { endless(w, r, []byte("x"), 50*time.Millisecond) }),
		begun(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }),
		says(http.StatusOK, "<html>"+strings.Repeat("<p>Welcome", 1000), "Content-Type", "text/html"),
		says(http.StatusOK, "null"),
		says(http.StatusFound, "", "Location", "/again"),
		says(http.StatusTooManyRequests, "{}", "Retry-After", "3600"),
		says(http.StatusInternalServerError, strings.Repeat("oops ", 1<<20)),
	}
}

// K02, K05: whatever a model's server does, a worker's memory stays bounded, and every turn ends in time with its own
// error code.
func TestK05MemoryUnderHostileModels(t *testing.T) {
	t.Parallel()
	z := newZoo(t, openLab(t), 1)
	all, next := hostilities(t), atomic.Int64{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // otherwise the server never notices that the client has disconnected
		all[int(next.Add(1))%len(all)](w, r)
	}))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	env := []string{"DATABASE_URL=" + z.url, "ALFRED_LLM=openai", "OPENAI_BASE_URL=" + server.URL, "OPENAI_API_KEY=k", "ALFRED_TURN_DEADLINE=30s"}
	for _, node := range []string{"UNDERSTAND", "THINK", "ACT", "REPLY", "SUMMARIZE", "COMPRESS"} {
		env = append(env, "ALFRED_FIRST_BYTE_"+node+"=2s", "ALFRED_SILENCE_"+node+"=2s", "ALFRED_TIMEOUT_"+node+"=5s")
	}
	worker := spawn(t, env, filepath.Join(z.l.programs, "worker"), "run")
	z.workers = []*process{worker}
	sessions := make([]uuid.UUID, 48)
	for i := range sessions {
		sessions[i] = newSession(t, z.pool)
	}
	idle, began := z.memory(), time.Now()
	for _, session := range sessions {
		require.NoError(t, say(t.Context(), z.pool, session, 1))
	}
	awaitQuietWhile(t, z.pool, func() { require.False(t, worker.ended(), "the worker has died") }, sessions...)
	took, most := time.Since(began), z.memory()
	var other string
	require.NoError(t, z.pool.QueryRow(t.Context(), `SELECT coalesce(string_agg(DISTINCT concat_ws(' ', status, error_code), ', '), '') FROM turns
		WHERE status <> 'failed' OR error_code NOT IN ('model_unavailable', 'invalid_output', 'timed_out')`).Scan(&other))
	require.Empty(t, other, "every turn says what happened to it")
	require.Less(t, most, 512, "MiB")
	report("limits", fmt.Sprintf("| a model server that answers with 300 MB, plain and compressed, hangs, drips, redirects, breaks off, or asks for an hour's pause | %d turns at once, %d calls in %.0f s; a worker's memory was %d MiB before and peaked at %d MiB | all ended and said what had happened |",
		len(sessions), next.Load(), took.Seconds(), idle, most))
}

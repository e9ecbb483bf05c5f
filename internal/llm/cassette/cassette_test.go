package cassette_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"alfred/internal/llm/cassette"
)

const secret = "sk-very-secret"

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func TestOpen_RecordAndReplay(t *testing.T) {
	t.Parallel()

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Retry-After", "3")
		w.Header().Set("Set-Cookie", "session="+secret)
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = w.Write([]byte("data: " + secret + "\n\ndata: " + string(body) + "\n\n"))
	}))
	t.Cleanup(server.Close)
	path := filepath.Join(t.TempDir(), "sub", "tape.json")

	recording := &ending{TB: t}
	recorder := cassette.Open(recording, path, cassette.Options{Record: true, Secrets: []string{secret}, Transport: server.Client().Transport})
	recorded := ask(t, recorder, server.URL+"/v1/chat?key="+secret, `{"a": 1, "b": "`+secret+`"}`)
	recording.end()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(text), secret)

	client := cassette.Open(t, path, cassette.Options{})
	require.Equal(t, recorded, ask(t, client, "http://elsewhere/v1/chat", `{"b": "[secret]", "a": 1}`))
	_, err = client.Post("http://elsewhere/v1/chat", "application/json", strings.NewReader(`{}`))
	require.ErrorContains(t, err, "the tape has ended")
}

func TestOpen_AnotherRequest(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "tape.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"exchanges": [{"request": {"method": "POST", "path": "/a", "body": {"n": 1}}, "response": {"status": 200, "lines": ["ok"]}}]}`), 0o600))
	client := cassette.Open(t, path, cassette.Options{})
	for target, body := range map[string]string{"http://x/a": `{"n": 2}`, "http://x/b": `{"n": 1}`} {
		_, err := client.Post(target, "application/json", strings.NewReader(body))
		require.ErrorContains(t, err, "not the recorded one")
	}
	require.Equal(t, "200  ok", ask(t, client, "http://x/a", `{"n":1}`))
}

// ending is a test whose end can be called.
type ending struct {
	testing.TB

	end func()
}

func (e *ending) Cleanup(end func()) { e.end = end }

func ask(t *testing.T, client *http.Client, target, body string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, target, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+secret)
	response, err := client.Do(request)
	require.NoError(t, err)
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())

	return fmt.Sprint(response.StatusCode, " ", response.Header.Get("Retry-After"), " ", string(text))
}

package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/auth"
	"alfred/internal/crud"
	"alfred/internal/dbtest"
	"alfred/internal/httpapi"
	"alfred/internal/llm/lexical"
	"alfred/internal/pg"
	"alfred/internal/preview"
	"alfred/internal/prompt"
	"alfred/internal/recall"
	"alfred/internal/testfactory"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// bundle is one server on its own database, and its first user.
type bundle struct {
	pool *pgxpool.Pool
	url  string
	key  string
	user uuid.UUID
	log  *lockedBuffer
	stop func() // tells streams and waits to end
}

// lockedBuffer is written by servers while tests read.
type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()

	return l.buffer.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()

	return l.buffer.String()
}

func setup(t *testing.T, change ...func(*httpapi.Config)) *bundle {
	t.Helper()

	b := &bundle{pool: dbtest.Pool(t), log: &lockedBuffer{}}
	b.user, b.key = b.newUser(t, "ada", "chat", "read")
	b.url = b.serve(t, change...)

	return b
}

// serve starts another instance on the same database.
func (b *bundle) serve(t *testing.T, change ...func(*httpapi.Config)) string {
	t.Helper()

	d := testfactory.Kitchen(t)
	logger := slog.New(slog.NewJSONHandler(b.log, nil))
	stopping := make(chan struct{})
	b.stop = func() { close(stopping) }
	searcher := recall.New(d, lexical.Embedder{})
	config := httpapi.Config{
		Pool: b.pool, Listener: pg.NewListener(b.pool.Config().ConnConfig, logger), Rows: crud.New(d, searcher),
		Preview: preview.New(d, prompt.DefaultConfig()), Search: searcher, Domain: d, Logger: logger, Version: "test", Stopping: stopping,
	}
	for _, c := range change {
		c(&config)
	}
	ctx, cancel := context.WithCancel(context.Background())
	listening := make(chan error, 1)
	go func() { listening <- config.Listener.Run(ctx) }()
	server := httptest.NewServer(httpapi.New(config))
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-listening)
		server.CloseClientConnections() // streams that a test left open
		server.Close()
		if t.Failed() {
			t.Log(b.log.String())
		}
	})

	return server.URL
}

func (b *bundle) newUser(t *testing.T, name string, scopes ...string) (uuid.UUID, string) {
	t.Helper()

	key, hash := auth.NewKey()
	id, err := db.New().UserEnsure(t.Context(), b.pool, name)
	require.NoError(t, err)
	_, err = db.New().ApiKeyInsert(t.Context(), b.pool, &db.ApiKeyInsertParams{UserID: id, Name: "test", KeyHash: hash, Scopes: scopes})
	require.NoError(t, err)

	return id, key
}

// answer is a fully read response.
type answer struct {
	status int
	header http.Header
	raw    string
	body   map[string]any
}

func (a *answer) code() string {
	code, _ := a.body["code"].(string)

	return code
}

func (a *answer) items() []map[string]any {
	var items []map[string]any
	list, _ := a.body["items"].([]any)
	for _, item := range list {
		object, _ := item.(map[string]any)
		items = append(items, object)
	}

	return items
}

func (a *answer) text(name string) string {
	text, _ := a.body[name].(string)

	return text
}

// header is what a test sends besides the key.
type header map[string]string

// call sends a request with the bundle's key. A string body is sent as is, nil sends none, anything else is sent as
// JSON.
func (b *bundle) call(t *testing.T, method, path string, body any, headers ...header) *answer {
	t.Helper()

	all := header{"Authorization": "Bearer " + b.key}
	for _, h := range headers {
		maps.Copy(all, h)
	}

	return send(t, b.url, method, path, body, all)
}

// later reads an address in the background.
func (b *bundle) later(t *testing.T, path string) (wait func() *answer, done <-chan struct{}) {
	t.Helper()

	return meanwhile(t, func() (*answer, error) {
		return fetch(t.Context(), b.url, http.MethodGet, path, nil, header{"Authorization": "Bearer " + b.key})
	})
}

// meanwhile asks in the background; wait returns the answer, which must not be torn off.
func meanwhile(t *testing.T, ask func() (*answer, error)) (wait func() *answer, done <-chan struct{}) {
	t.Helper()

	var (
		a   *answer
		err error
	)
	over := make(chan struct{})
	go func() {
		defer close(over)
		a, err = ask()
	}()

	return func() *answer {
		<-over
		require.NoError(t, err)

		return a
	}, over
}

func send(t *testing.T, url, method, path string, body any, headers header) *answer {
	t.Helper()

	a, err := fetch(t.Context(), url, method, path, body, headers)
	require.NoError(t, err)
	a.requireDescribed(t, method, path)

	return a
}

func fetch(ctx context.Context, url, method, path string, body any, headers header) (*answer, error) {
	content, err := contentOf(body)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, method, url+path, content)
	if err != nil {
		return nil, err
	}
	if content != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	a := &answer{status: response.StatusCode, header: response.Header, raw: string(raw)}
	if len(raw) > 0 && strings.Contains(response.Header.Get("Content-Type"), "json") {
		err = json.Unmarshal(raw, &a.body)
	}

	return a, err
}

func contentOf(body any) (io.Reader, error) {
	switch body := body.(type) {
	case nil:
		return nil, nil
	case string:
		return strings.NewReader(body), nil
	default:
		encoded, err := json.Marshal(body)

		return bytes.NewReader(encoded), err
	}
}

// client keeps no connections, so that none is left when goroutines are counted.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: dbtest.Patience}

// requireProblem checks what every error must satisfy.
func (a *answer) requireProblem(t *testing.T, status int, code string) {
	t.Helper()

	require.Equal(t, status, a.status, a.raw)
	require.Equal(t, "application/problem+json", a.header.Get("Content-Type"))
	require.Equal(t, code, a.code(), a.raw)
	require.InDelta(t, status, a.body["status"], 0)
	require.NotEmpty(t, a.body["title"])
	require.NotEmpty(t, a.body["detail"])
}

func (b *bundle) session(t *testing.T) string {
	t.Helper()

	a := b.call(t, http.MethodPost, "/v1/sessions", map[string]any{})
	require.Equal(t, http.StatusCreated, a.status, a.raw)

	return a.text("id")
}

func (b *bundle) message(t *testing.T, session, text string) string {
	t.Helper()

	a := b.call(t, http.MethodPost, "/v1/sessions/"+session+"/turns", map[string]any{"message": text})
	require.Equal(t, http.StatusAccepted, a.status, a.raw)

	return a.text("id")
}

func (b *bundle) exec(t *testing.T, sql string, args ...any) {
	t.Helper()

	_, err := b.pool.Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}

// emit appends an event to a turn's stream and notifies the listeners.
func (b *bundle) emit(t *testing.T, turn, eventType string, data map[string]any) {
	t.Helper()

	if data == nil {
		data = map[string]any{}
	}
	b.exec(t, `WITH e AS (SELECT turn_event_append($1::uuid, $2, $3)) SELECT pg_notify($4, $1::text) FROM e`, turn, eventType, data, pg.Channel)
}

// reply ends a turn like a worker, all at once, and starts the next one.
func (b *bundle) reply(t *testing.T, turn, text string) {
	t.Helper()

	b.exec(t, `WITH ended AS (
			UPDATE turns SET status = 'succeeded', reply = $2, replied_at = clock_timestamp(), finished_at = clock_timestamp(),
				summarized_at = clock_timestamp(), position = position + 1 WHERE id = $1::uuid RETURNING id)
		SELECT turn_events_append(id, jsonb_build_array(
			jsonb_build_object('type', 'reply', 'data', jsonb_build_object('text', $2::text)),
			jsonb_build_object('type', 'turn.finished', 'data', jsonb_build_object('status', 'succeeded')))), pg_notify($3, $1::text) FROM ended`,
		turn, text, pg.Channel)
	b.exec(t, `SELECT turn_start_next((SELECT session_id FROM turns WHERE id = $1))`, turn)
}

// tick is how often a test looks whether what it waits for has happened.
const tick = 10 * time.Millisecond

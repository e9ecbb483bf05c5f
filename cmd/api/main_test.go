package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/cmd/internal/program"
	"alfred/cmd/internal/settings"
	"alfred/internal/dbtest"
	"alfred/internal/pg"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// api runs the program and returns what it printed.
func api(t *testing.T, e settings.Env, args ...string) (string, error) {
	t.Helper()

	var out, errs bytes.Buffer
	err := run(t.Context(), args, e, &out, &errs)

	return out.String(), err
}

// mustAPI is api for what has to succeed.
func mustAPI(t *testing.T, e settings.Env, args ...string) string {
	t.Helper()
	out, err := api(t, e, args...)
	require.NoError(t, err, out)

	return out
}

func TestRunExplainsItself(t *testing.T) {
	t.Parallel()

	out := mustAPI(t, settings.Env{}, "--help")
	require.Contains(t, out, "keys create")
	out = mustAPI(t, settings.Env{}, "serve", "--help")
	require.Contains(t, out, "ALFRED_AUTH")
	_, err := api(t, settings.Env{}, "fly")
	require.ErrorContains(t, err, "--help")
}

func TestServeRefusesToStart(t *testing.T) {
	t.Parallel()

	free := "127.0.0.1:0"
	behind, ahead, ready := dbtest.EmptyURL(t), dbtest.URL(t), dbtest.URL(t)
	exec(t, ahead, `INSERT INTO alfred.schema_migrations (version_id, is_applied) VALUES (99999, true)`)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = taken.Close() })

	for name, c := range map[string]struct {
		env  settings.Env
		is   error
		says string
	}{
		"no database":             {settings.Env{}, settings.ErrNoDatabase, "DATABASE_URL is not set"},
		"a database that is gone": {settings.Env{"DATABASE_URL": "postgres://nobody@127.0.0.1:1/none"}, pg.ErrNoAnswer, "start it or correct DATABASE_URL"},
		"not an address":          {settings.Env{"DATABASE_URL": "mysql://x"}, nil, "DATABASE_URL"},
		"no migrations":           {settings.Env{"DATABASE_URL": behind, "ALFRED_ADDR": free}, pg.ErrSchemaBehind, "worker migrate up"},
		"later migrations":        {settings.Env{"DATABASE_URL": ahead, "ALFRED_ADDR": free}, pg.ErrSchemaAhead, "newer version"},
		"open to the world":       {settings.Env{"DATABASE_URL": ready, "ALFRED_AUTH": "off", "ALFRED_ADDR": "0.0.0.0:0"}, settings.ErrOpenToTheWorld, "loopback"},
		"open on every address":   {settings.Env{"DATABASE_URL": ready, "ALFRED_AUTH": "off", "ALFRED_ADDR": ":0"}, settings.ErrOpenToTheWorld, "ALFRED_ADDR"},
		"open everywhere":         {settings.Env{"ALFRED_DIRECTORY_URL": ready, "ALFRED_AUTH": "off"}, settings.ErrBad, "unset one of them"},
		"half open":               {settings.Env{"DATABASE_URL": ready, "ALFRED_AUTH": "maybe"}, settings.ErrBad, "on or off"},
		"an origin with a path":   {settings.Env{"DATABASE_URL": ready, "ALFRED_CORS_ORIGINS": "https://a.example/x"}, settings.ErrBad, "ALFRED_CORS_ORIGINS"},
		"tokens of anybody":       {settings.Env{"DATABASE_URL": ready, "ALFRED_JWKS_URL": "https://id.example/keys", "ALFRED_JWT_ISSUER": "https://id.example"}, settings.ErrBad, "ALFRED_JWT_AUDIENCE"},
		"tokens without keys":     {settings.Env{"DATABASE_URL": ready, "ALFRED_JWT_AUDIENCE": "alfred"}, settings.ErrBad, "ALFRED_JWKS_URL"},
		"keys in the clear":       {settings.Env{"DATABASE_URL": ready, "ALFRED_JWKS_URL": "http://id.example/keys", "ALFRED_JWT_ISSUER": "x", "ALFRED_JWT_AUDIENCE": "x"}, settings.ErrBad, "https"},
		"tokens nobody asks for":  {settings.Env{"DATABASE_URL": ready, "ALFRED_AUTH": "off", "ALFRED_JWKS_URL": "https://id.example", "ALFRED_JWT_ISSUER": "x", "ALFRED_JWT_AUDIENCE": "x"}, settings.ErrBad, "ALFRED_AUTH"},
		"a rate of words":         {settings.Env{"DATABASE_URL": ready, "ALFRED_RATE_LIMIT": "fast"}, settings.ErrBad, "ALFRED_RATE_LIMIT"},
		"a window of words":       {settings.Env{"DATABASE_URL": ready, "UNDERSTAND_TURNS": "five"}, settings.ErrBad, "UNDERSTAND_TURNS"},
		"an unknown domain":       {settings.Env{"DATABASE_URL": ready, "ALFRED_ADDR": free, "ALFRED_DOMAIN": "garage"}, nil, "garage"},
		"an untried domain":       {settings.Env{"DATABASE_URL": ready, "ALFRED_ADDR": free, "ALFRED_DOMAIN": untried(t)}, nil, "nobody has tried whether domain pantry keeps users apart"},
		"an unknown embedder":     {settings.Env{"DATABASE_URL": ready, "ALFRED_ADDR": free, "ALFRED_EMBEDDER": "magic"}, nil, "magic"},
		"a taken address":         {settings.Env{"DATABASE_URL": ready, "ALFRED_ADDR": taken.Addr().String()}, nil, "ALFRED_ADDR"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := api(t, c.env, "serve")
			require.Error(t, err)
			require.ErrorContains(t, err, c.says)
			if c.is != nil {
				require.ErrorIs(t, err, c.is)
			}
		})
	}
}

// untried is a domain over existing tables whose user isolation has not been probed.
func untried(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "pantry.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`{name: pantry, schema: kitchen, owner: user_id, persona: You help., entities: [{type: food, table: ingredients, reference: true, label: "{name}"}],
		subdomains: [{name: all, description: All., tables: [ingredients], guidance: None.}]}`), 0o600))

	return file
}

func TestKeys(t *testing.T) {
	t.Parallel()

	url := dbtest.URL(t)
	e := settings.Env{"DATABASE_URL": url}
	out := mustAPI(t, e, "keys", "create", "--user", "ada", "--scopes", "chat,read")
	key := strings.TrimSuffix(out, "\n")
	require.Regexp(t, `^alf_[A-Za-z0-9_-]{43}$`, key, "the key and nothing else")

	list := mustAPI(t, e, "keys", "list", "--json")
	var listed struct {
		ID     string   `json:"id"`
		User   string   `json:"user"`
		Scopes []string `json:"scopes"`
	}
	require.NoError(t, json.Unmarshal([]byte(list), &listed))
	require.Equal(t, "ada", listed.User)
	require.Equal(t, []string{"chat", "read"}, listed.Scopes)
	require.NotContains(t, list, key)

	base, stop := startServer(t, settings.Env{"DATABASE_URL": url, "ALFRED_ADDR": "127.0.0.1:0"})
	require.Equal(t, http.StatusOK, get(t, base+"/v1/sessions", key))
	mustAPI(t, e, "keys", "revoke", listed.ID)
	require.Equal(t, http.StatusUnauthorized, get(t, base+"/v1/sessions", key))
	require.NoError(t, stop())

	_, err := api(t, e, "keys", "revoke", listed.ID)
	require.ErrorIs(t, err, errNoKey)
	list = mustAPI(t, e, "keys", "list")
	require.Contains(t, list, "revoked")
}

func TestKeysCreateRefuses(t *testing.T) {
	t.Parallel()

	e := settings.Env{"DATABASE_URL": dbtest.URL(t)}
	for _, args := range [][]string{
		{"--user"}, {"--scopes", "root", "--user", "ada"}, {"--scopes", "", "--user", "ada"}, {"--user", ""},
		{"--user", " ada"}, {"--user", "ada\nroot"}, {"--user", strings.Repeat("ä", 201)},
	} {
		out, err := api(t, e, append([]string{"keys", "create"}, args...)...)
		require.ErrorContains(t, err, args[0], "it names what is wrong")
		require.NotContains(t, err.Error(), "SQLSTATE")
		require.Empty(t, out, "no key is printed that was not stored")
	}
	_, err := api(t, settings.Env{}, "keys", "list")
	require.ErrorIs(t, err, settings.ErrNoDatabase)
	_, err = api(t, settings.Env{"DATABASE_URL": dbtest.EmptyURL(t)}, "keys", "list")
	require.ErrorIs(t, err, pg.ErrSchemaBehind)
}

func TestServeWithoutKeys(t *testing.T) {
	t.Parallel()

	base, stop := startServer(t, settings.Env{"DATABASE_URL": dbtest.URL(t), "ALFRED_ADDR": "127.0.0.1:0", "ALFRED_AUTH": "off"})
	require.Equal(t, http.StatusOK, get(t, base+"/v1/sessions", ""))
	require.Equal(t, http.StatusOK, get(t, base+"/", ""))
	require.Equal(t, http.StatusOK, get(t, base+"/readyz", ""))
	require.NoError(t, stop())
}

// Stopping is not a failure, does not wait for streams, and notifies them.
func TestServeStops(t *testing.T) {
	t.Parallel()

	base, stop := startServer(t, settings.Env{"DATABASE_URL": dbtest.URL(t), "ALFRED_ADDR": "127.0.0.1:0", "ALFRED_AUTH": "off"})
	response, err := http.Post(base+"/v1/sessions", "application/json", strings.NewReader(`{}`))
	require.NoError(t, err)
	var session struct {
		ID string `json:"id"`
	}
	require.NoError(t, json.NewDecoder(response.Body).Decode(&session))
	require.NoError(t, response.Body.Close())
	stream, err := http.Get(base + "/v1/sessions/" + session.ID + "/events")
	require.NoError(t, err)
	t.Cleanup(func() { _ = stream.Body.Close() })

	require.NoError(t, stop(), "what still runs after shutdownGrace is an error")
	_, err = io.ReadAll(stream.Body)
	require.NoError(t, err, "the stream ended, and was not torn off")
	http.DefaultClient.CloseIdleConnections()
}

// The last metrics are read from the database before its pool is closed.
func TestServeReportsItsLastMetrics(t *testing.T) {
	t.Parallel()

	reported := make(chan []byte, 10)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		reported <- text
	}))
	t.Cleanup(collector.Close)
	_, stop := startServer(t, settings.Env{"DATABASE_URL": dbtest.URL(t), "ALFRED_ADDR": "127.0.0.1:0", "OTEL_EXPORTER_OTLP_ENDPOINT": collector.URL})
	require.NoError(t, stop())
	require.Contains(t, string(<-reported), "alfred.workers")
}

// startServer runs `api serve` and returns its address and a function that stops it.
func startServer(t *testing.T, e settings.Env) (base string, stop func() error) {
	t.Helper()

	ctx, cancel := context.WithCancel(context.Background())
	reader, writer := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := run(ctx, []string{"serve"}, e, io.Discard, writer)
		_ = writer.CloseWithError(err)
		done <- err
	}()
	addr := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(reader)
		for lines.Scan() {
			var line struct {
				Addr string `json:"addr"`
				Msg  string `json:"msg"`
			}
			if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "serving" {
				addr <- line.Addr
			}
		}
	}()
	t.Cleanup(cancel)
	select {
	case a := <-addr:
		return "http://" + a, func() error {
			cancel()

			return <-done
		}
	case err := <-done:
		require.NoError(t, err)
	}

	return "", nil
}

func get(t *testing.T, url, key string) int {
	t.Helper()

	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())

	return response.StatusCode
}

func exec(t *testing.T, url, sql string) {
	t.Helper()

	pool, err := pg.Open(t.Context(), pg.Config{URL: url, AppName: "test", MaxConns: 2})
	require.NoError(t, err)
	defer pool.Close()
	_, err = pool.Exec(t.Context(), sql)
	require.NoError(t, err)
}

func TestDoctor(t *testing.T) {
	t.Parallel()

	mustAPI(t, settings.Env{"DATABASE_URL": dbtest.URL(t)}, "doctor")
	out, err := api(t, settings.Env{"DATABASE_URL": dbtest.EmptyURL(t), "UNDERSTAND_TURNS": "five"}, "doctor")
	require.ErrorIs(t, err, program.ErrUnwell)
	require.Contains(t, out, "FAIL settings   bad setting: UNDERSTAND_TURNS")
	require.Contains(t, out, "FAIL database   ")
	out, err = api(t, settings.Env{"DATABASE_URL": dbtest.URL(t), "ALFRED_DOMAIN": untried(t)}, "doctor")
	require.ErrorIs(t, err, program.ErrUnwell)
	require.Contains(t, out, "FAIL domain     nobody has tried whether domain pantry keeps users apart", "as api serve says")
	out = mustAPI(t, settings.Env{}, "doctor", "--config")
	require.Contains(t, out, "ALFRED_ADDR")
}

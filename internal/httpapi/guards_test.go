package httpapi_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/require"

	"alfred/internal/auth"
	"alfred/internal/dbtest"
	"alfred/internal/httpapi"
)

// A token represents the user it names, who is created on first use, beside keys.
func TestTokensOfAnIssuer(t *testing.T) {
	t.Parallel()

	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	key := jose.JSONWebKey{Key: private, KeyID: "k", Use: "sig", Algorithm: string(jose.ES256)}
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{key.Public()}})
	}))
	t.Cleanup(issuer.Close)
	config := auth.TokenConfig{JWKSURL: issuer.URL, Issuer: "https://id.example", Audience: "alfred", UserClaim: "email"}
	b := setup(t, func(c *httpapi.Config) { c.Tokens = auth.NewTokens(config, slog.New(slog.DiscardHandler)) })
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, nil)
	require.NoError(t, err)
	token := func(user, scope string) string {
		token, err := jwt.Signed(signer).Claims(map[string]any{
			"iss": "https://id.example", "aud": "alfred", "email": user, "scope": scope, "exp": time.Now().Add(time.Hour).Unix(),
		}).Serialize()
		require.NoError(t, err)

		return token
	}

	mine := b.session(t)
	b.key = token("zoe@example.org", "chat")
	theirs := b.session(t)
	require.Equal(t, http.StatusOK, b.call(t, http.MethodGet, "/v1/sessions/"+theirs, nil).status)
	b.call(t, http.MethodGet, "/v1/sessions/"+mine, nil).requireProblem(t, http.StatusNotFound, "not_found")
	b.key = token("ada", "read")
	require.Equal(t, http.StatusOK, b.call(t, http.MethodGet, "/v1/sessions/"+mine, nil).status, "names are the users' of the keys")
	b.call(t, http.MethodPost, "/v1/sessions", map[string]any{}).requireProblem(t, http.StatusForbidden, "forbidden")
	b.key = token("ada", "email")
	b.call(t, http.MethodGet, "/v1/sessions", nil).requireProblem(t, http.StatusForbidden, "forbidden")
	good := token("ada", "chat")
	b.key = good[:len(good)-4] + "AAAA"
	b.call(t, http.MethodGet, "/v1/sessions", nil).requireProblem(t, http.StatusUnauthorized, "unauthorized")
	require.NotContains(t, b.log.String(), good)

	issuer.Close()
	b.url, b.key = b.serve(t, func(c *httpapi.Config) { c.Tokens = auth.NewTokens(config, slog.New(slog.DiscardHandler)) }), good
	b.call(t, http.MethodGet, "/v1/sessions", nil).requireProblem(t, http.StatusServiceUnavailable, "unavailable")
	_, b.key = b.newUser(t, "ada", "chat")
	require.Equal(t, http.StatusOK, b.call(t, http.MethodGet, "/v1/sessions", nil).status, "keys need no issuer")
}

// One key's rate limit does not delay another key.
func TestRequestsPerKey(t *testing.T) {
	t.Parallel()

	b := setup(t, func(c *httpapi.Config) { c.Budget = auth.Budget{PerSecond: 1, Burst: 3} })
	_, other := b.newUser(t, "ada", "chat")
	var refused *answer
	require.Eventually(t, func() bool {
		refused = b.call(t, http.MethodGet, "/v1/sessions", nil)

		return refused.status == http.StatusTooManyRequests
	}, dbtest.Patience, time.Millisecond)
	refused.requireProblem(t, http.StatusTooManyRequests, "limit_exceeded")
	seconds, err := strconv.Atoi(refused.header.Get("Retry-After"))
	require.NoError(t, err)
	require.Positive(t, seconds)
	b.key = other
	require.Equal(t, http.StatusOK, b.call(t, http.MethodGet, "/v1/sessions", nil).status)
	require.Equal(t, http.StatusOK, send(t, b.url, http.MethodGet, "/healthz", nil, nil).status, "probes are nobody's")
}

// openStream returns once the stream's first line has arrived.
func (b *bundle) openStream(t *testing.T, path string) (*http.Response, *bufio.Reader) {
	t.Helper()

	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.url+path, nil)
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+b.key)
	response, err := client.Do(request)
	require.NoError(t, err)
	t.Cleanup(func() { _ = response.Body.Close() })
	lines := bufio.NewReader(response.Body)
	_, err = lines.ReadString('\n')
	require.NoError(t, err)

	return response, lines
}

func TestStreamsPerKey(t *testing.T) {
	t.Parallel()

	b := setup(t, func(c *httpapi.Config) { c.Budget = auth.Budget{Streams: 2} })
	session := b.session(t)
	path := "/v1/sessions/" + session + "/events"
	first, _ := b.openStream(t, path)
	b.openStream(t, path)
	refused := b.call(t, http.MethodGet, path, nil)
	refused.requireProblem(t, http.StatusTooManyRequests, "limit_exceeded")
	require.NotEmpty(t, refused.header.Get("Retry-After"))

	own := b.key
	_, b.key = b.newUser(t, "ada", "chat")
	b.openStream(t, path)
	b.key = own
	require.NoError(t, first.Body.Close())
	require.Eventually(t, func() bool {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.url+path, nil)
		require.NoError(t, err)
		request.Header.Set("Authorization", "Bearer "+b.key)
		response, err := client.Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())

		return response.StatusCode == http.StatusOK
	}, dbtest.Patience, 10*time.Millisecond)
}

// What happens after a key is revoked does not reach a stream opened with it.
func TestRevokedWhileStreaming(t *testing.T) {
	t.Parallel()

	b := setup(t)
	session := b.session(t)
	turn := b.message(t, session, "hi")
	_, lines := b.openStream(t, "/v1/sessions/"+session+"/events")
	b.emit(t, turn, "node.started", map[string]any{"node": "before"})
	for {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		if strings.Contains(line, "before") {
			break
		}
	}
	b.exec(t, `UPDATE api_keys SET revoked_at = now()`)
	b.emit(t, turn, "node.started", map[string]any{"node": "after"})
	rest, err := io.ReadAll(lines)
	require.NoError(t, err, "the stream ended, and was not torn off")
	require.NotContains(t, string(rest), "after")
}

func TestSecurityHeaders(t *testing.T) {
	t.Parallel()

	b := setup(t)
	for _, path := range []string{"/", "/v1/sessions", "/v1/nothing", "/assets/nothing", "/healthz", "/v1/openapi.json"} {
		a := b.call(t, http.MethodGet, path, nil)
		require.Equal(t, "nosniff", a.header.Get("X-Content-Type-Options"), path)
		require.Equal(t, "DENY", a.header.Get("X-Frame-Options"), path)
		require.Equal(t, "no-referrer", a.header.Get("Referrer-Policy"), path)
		policy := a.header.Get("Content-Security-Policy")
		require.Contains(t, policy, "default-src 'self'", path)
		require.NotContains(t, policy, "unsafe", path)
		require.NotEmpty(t, a.header.Get("Content-Type"), path)
	}
	require.Equal(t, "no-store", b.call(t, http.MethodGet, "/v1/sessions", nil).header.Get("Cache-Control"))
}

// The policy forbids inline scripts and styles, so the page must contain none.
func TestPageHasNothingInline(t *testing.T) {
	t.Parallel()

	pages := 0
	require.NoError(t, filepath.WalkDir("web", func(path string, entry os.DirEntry, err error) error {
		if entry.Name() == "node_modules" {
			return filepath.SkipDir // the page's build tool; not served
		}
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".html" {
			return err
		}
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		page := strings.ToLower(string(raw))
		for part := range strings.SplitSeq(page, "<script") {
			if pages++; !strings.HasPrefix(part, "<!") {
				require.Regexp(t, `^[^>]* src="[^"]+"[^>]*>\s*</script>`, part)
			}
		}
		require.NotRegexp(t, `<style|\son[a-z]+=|\sstyle=|javascript:`, page)

		return nil
	}))
	require.Positive(t, pages)
}

// A client that asks and does not read loses its connection.
func TestReaderWhoTakesNothing(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	b := setup(t)
	one := send(t, b.url, http.MethodGet, "/alfred.js", nil, nil)
	var dialer net.Dialer
	conn, err := dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(b.url, "http://"))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	asked := 64 << 20 / len(one.raw) // more than the buffers in between hold
	_, err = io.WriteString(conn, strings.Repeat("GET /alfred.js HTTP/1.1\r\nHost: alfred\r\n\r\n", asked))
	require.NoError(t, err)
	time.Sleep(12 * time.Second) // a piece has ten
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(dbtest.Patience)))
	_, err = io.CopyN(io.Discard, conn, int64(asked*len(one.raw)))
	require.Error(t, err, "the connection ends before that")
}

package auth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/require"
)

// issuer is an identity provider whose keys, answers and clock a test controls.
type issuer struct {
	t       *testing.T
	tokens  *Tokens
	now     time.Time
	set     atomic.Pointer[jose.JSONWebKeySet] // nil: it answers 500
	fetches atomic.Int32
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()

	i := &issuer{t: t, now: time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		i.fetches.Add(1)
		set := i.set.Load()
		if set == nil {
			w.WriteHeader(http.StatusInternalServerError)

			return
		}
		_ = json.NewEncoder(w).Encode(set)
	}))
	t.Cleanup(server.Close)
	i.tokens = NewTokens(TokenConfig{JWKSURL: server.URL, Issuer: "https://id.example", Audience: "alfred", UserClaim: "sub"}, slog.New(slog.DiscardHandler))
	i.tokens.now = func() time.Time { return i.now }
	i.tokens.keys.now = i.tokens.now

	return i
}

// publish makes the public halves of keys the issuer's key set.
func (i *issuer) publish(keys ...jose.JSONWebKey) {
	set := &jose.JSONWebKeySet{}
	for _, key := range keys {
		if key.IsPublic() || key.Algorithm == string(jose.HS256) {
			set.Keys = append(set.Keys, key)
		} else {
			set.Keys = append(set.Keys, key.Public())
		}
	}
	i.set.Store(set)
}

func newRSA(t *testing.T, kid string) jose.JSONWebKey {
	t.Helper()

	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)

	return jose.JSONWebKey{Key: key, KeyID: kid, Use: "sig", Algorithm: string(jose.RS256)}
}

// claims are valid claims with changes applied.
func (i *issuer) claims(change map[string]any) map[string]any {
	all := map[string]any{
		"iss": "https://id.example", "aud": []string{"other", "alfred"}, "sub": "ada", "scope": "openid chat read",
		"iat": i.now.Unix(), "exp": i.now.Add(time.Hour).Unix(),
	}
	for name, value := range change {
		if value == nil {
			delete(all, name)
		} else {
			all[name] = value
		}
	}

	return all
}

func (i *issuer) sign(alg jose.SignatureAlgorithm, key any, kid string, change map[string]any) string {
	i.t.Helper()

	options := (&jose.SignerOptions{}).WithType("JWT")
	if kid != "" {
		options = options.WithHeader("kid", kid)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, options)
	require.NoError(i.t, err)
	token, err := jwt.Signed(signer).Claims(i.claims(change)).Serialize()
	require.NoError(i.t, err)

	return token
}

func TestTokens(t *testing.T) {
	t.Parallel()

	i := newIssuer(t)
	key := newRSA(t, "first")
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	secret := jose.JSONWebKey{Key: []byte(strings.Repeat("s", 32)), KeyID: "shared", Use: "sig", Algorithm: string(jose.HS256)}
	encrypts := newRSA(t, "encrypts")
	encrypts.Use = "enc"
	i.publish(key, jose.JSONWebKey{Key: curve, KeyID: "curve"}, secret, encrypts)
	other := newRSA(t, "first")

	claims, err := i.tokens.verify(t.Context(), i.sign(jose.RS256, key.Key, "first", nil))
	require.NoError(t, err)
	require.Equal(t, Credential{User: "ada", scopes: []string{"chat", "read"}, expires: i.now.Add(time.Hour + clockLeeway)}, Credential{User: claims.User, scopes: claims.scopes, expires: claims.expires.UTC()})
	for name, token := range map[string]string{
		"a curve":                   i.sign(jose.ES256, curve, "curve", nil),
		"one audience":              i.sign(jose.RS256, key.Key, "first", map[string]any{"aud": "alfred"}),
		"expired within the leeway": i.sign(jose.RS256, key.Key, "first", map[string]any{"exp": i.now.Add(-clockLeeway / 2).Unix()}),
	} {
		_, err := i.tokens.verify(t.Context(), token)
		require.NoError(t, err, name)
	}

	public := &key.Key.(*rsa.PrivateKey).PublicKey
	der, err := x509.MarshalPKIXPublicKey(public)
	require.NoError(t, err)
	good := i.sign(jose.RS256, key.Key, "first", nil)
	parts := strings.Split(good, ".")
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","kid":"first"}`)) + "." + parts[1] + "."
	for name, token := range map[string]string{
		"no signature":                none,
		"none in capitals":            base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"NONE","kid":"first"}`)) + "." + parts[1] + ".",
		"signature cut off":           parts[0] + "." + parts[1] + ".",
		"HS256 with the public key":   i.sign(jose.HS256, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), "first", nil),
		"HS256 with its DER":          i.sign(jose.HS256, der, "first", nil),
		"a shared secret of the set":  i.sign(jose.HS256, secret.Key, "shared", nil),
		"another algorithm's key":     i.sign(jose.PS256, key.Key, "first", nil),
		"a key for encryption":        i.sign(jose.RS256, encrypts.Key, "encrypts", nil),
		"somebody else's key":         i.sign(jose.RS256, other.Key, "first", nil),
		"another key's id":            i.sign(jose.RS256, key.Key, "curve", nil),
		"no key id":                   i.sign(jose.RS256, key.Key, "", nil),
		"an unknown key id":           i.sign(jose.RS256, key.Key, "nobody's", nil),
		"expired":                     i.sign(jose.RS256, key.Key, "first", map[string]any{"exp": i.now.Add(-time.Minute).Unix()}),
		"never expires":               i.sign(jose.RS256, key.Key, "first", map[string]any{"exp": nil}),
		"not yet":                     i.sign(jose.RS256, key.Key, "first", map[string]any{"nbf": i.now.Add(time.Minute).Unix()}),
		"issued tomorrow":             i.sign(jose.RS256, key.Key, "first", map[string]any{"iat": i.now.Add(24 * time.Hour).Unix()}),
		"for somebody else":           i.sign(jose.RS256, key.Key, "first", map[string]any{"aud": "other"}),
		"for nobody":                  i.sign(jose.RS256, key.Key, "first", map[string]any{"aud": nil}),
		"another issuer":              i.sign(jose.RS256, key.Key, "first", map[string]any{"iss": "https://id.example.evil"}),
		"no issuer":                   i.sign(jose.RS256, key.Key, "first", map[string]any{"iss": nil}),
		"no user":                     i.sign(jose.RS256, key.Key, "first", map[string]any{"sub": nil}),
		"an empty user":               i.sign(jose.RS256, key.Key, "first", map[string]any{"sub": ""}),
		"a user that is no text":      i.sign(jose.RS256, key.Key, "first", map[string]any{"sub": 7}),
		"a user of two lines":         i.sign(jose.RS256, key.Key, "first", map[string]any{"sub": "ada\nroot"}),
		"a user of 201 characters":    i.sign(jose.RS256, key.Key, "first", map[string]any{"sub": strings.Repeat("ä", 201)}),
		"scopes that are no text":     i.sign(jose.RS256, key.Key, "first", map[string]any{"scope": 7}),
		"longer than any header line": i.sign(jose.RS256, key.Key, "first", map[string]any{"sub": strings.Repeat("a", maxTokenBytes)}),
		"empty":                       "..", "not a token": "abc",
	} {
		_, err := i.tokens.verify(t.Context(), token)
		require.Equal(t, ErrUnauthorized, err, name)
	}
	require.Equal(t, int32(1), i.fetches.Load(), "made-up key ids must not make us flood the issuer")
}

// K12: lookalike names are one user or none, and a weak key proves nothing.
func TestK12LookAlikesAndWeakKeys(t *testing.T) {
	t.Parallel()

	i := newIssuer(t)
	key := newRSA(t, "good")
	short, err := rsa.GenerateKey(rand.Reader, 1024)
	require.NoError(t, err)
	i.publish(key, jose.JSONWebKey{Key: short, KeyID: "short", Use: "sig", Algorithm: string(jose.RS256)})
	verify := func(user string) (string, error) {
		claims, err := i.tokens.verify(t.Context(), i.sign(jose.RS256, key.Key, "good", map[string]any{"sub": user}))

		return claims.User, err
	}

	for user, name := range map[string]string{
		"ada": "ada", "Ada": "Ada", "auth0|5f7c8ec7": "auth0|5f7c8ec7", "ada@example.org": "ada@example.org", "ａｄａ": "ada",
		"zoe\u0308": "zo\u00eb", "李雷": "李雷",
	} {
		got, err := verify(user)
		require.NoError(t, err, "%q", user)
		require.Equal(t, name, got)
	}
	for _, user := range []string{"ada ", " ada", "a da", "ada\u200b", "ada\u202e", "\u2066ada\u2069", "ada\u00a0", "ad\u00ada"} {
		_, err := verify(user)
		require.Equal(t, ErrUnauthorized, err, "%q", user)
	}
	_, err = i.tokens.verify(t.Context(), signWith(t, i, short))
	require.Equal(t, ErrUnauthorized, err)
}

// signWith signs a valid token with a key that the library itself refuses to use.
func signWith(t *testing.T, i *issuer, key *rsa.PrivateKey) string {
	t.Helper()

	part := func(value any) string {
		raw, err := json.Marshal(value)
		require.NoError(t, err)

		return base64.RawURLEncoding.EncodeToString(raw)
	}
	text := part(map[string]any{"alg": "RS256", "typ": "JWT", "kid": "short"}) + "." + part(i.claims(nil))
	digest := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, digest[:])
	require.NoError(t, err)

	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func TestTokenScopes(t *testing.T) {
	t.Parallel()

	for want, claims := range map[string]string{
		"read chat":  `{}`,
		"chat":       `{"scope": "openid chat"}`,
		"":           `{"scope": "openid email"}`,
		"read":       `{"scp": ["read", "write"]}`,
		"admin read": `{"scp": "admin read"}`,
		"chat read":  `{"scope": "chat", "scp": ["read"]}`,
	} {
		var all map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(claims), &all))
		scopes, err := scopesOf(all)
		require.NoError(t, err)
		require.Equal(t, want, strings.Join(scopes, " "), claims)
	}
}

// A new key is fetched when a token names it; an unreachable issuer does not invalidate known keys until they are too
// old.
func TestKeysOfTheIssuer(t *testing.T) {
	t.Parallel()

	i := newIssuer(t)
	first, second := newRSA(t, "first"), newRSA(t, "second")
	verify := func(key jose.JSONWebKey) error {
		_, err := i.tokens.verify(t.Context(), i.sign(jose.RS256, key.Key, key.KeyID, nil))

		return err
	}
	require.Equal(t, ErrNoKeys, verify(first), "the issuer has never answered")
	i.publish(first)
	require.Equal(t, ErrNoKeys, verify(first), "it is not asked again at once")
	i.now = i.now.Add(fetchPause)
	require.NoError(t, verify(first))
	require.Equal(t, ErrUnauthorized, verify(second))

	i.publish(first, second)
	i.now = i.now.Add(fetchPause)
	require.NoError(t, verify(second), "a new key is fetched when a token names it")
	i.publish(second)
	require.NoError(t, verify(first))
	i.now = i.now.Add(keysFresh + time.Second)
	require.Equal(t, ErrUnauthorized, verify(first), "a key that is withdrawn goes when the keys are fetched again")

	i.set.Store(nil)
	i.now = i.now.Add(keysFresh + time.Second)
	require.NoError(t, verify(second), "known keys go on")
	require.Equal(t, ErrNoKeys, verify(first), "whether the issuer has it now cannot be told")
	i.now = i.now.Add(keysUsable)
	require.Equal(t, ErrNoKeys, verify(second))
	i.publish(second)
	i.now = i.now.Add(fetchPause)
	require.NoError(t, verify(second))

	i.publish()
	i.now = i.now.Add(keysFresh + time.Second)
	require.NoError(t, verify(second), "a set without keys is a mistake, no withdrawal of all")
}

// FuzzTokens: whatever a client sends as a token is accepted or rejected; nothing else happens.
func FuzzTokens(f *testing.F) {
	for _, seed := range []string{"", "\x00", "eyJhbGciOiJub25lIn0.e30.", "a.b.c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if signed, err := parseToken(text); err == nil {
			require.NotEmpty(t, signed.Headers[0].KeyID)
			require.Contains(t, tokenAlgorithms, jose.SignatureAlgorithm(signed.Headers[0].Algorithm))
		}
	})
}

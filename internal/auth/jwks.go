package auth

import (
	"context"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	// keysFresh is how long fetched keys are used without fetching again.
	keysFresh = 10 * time.Minute
	// keysUsable is how long they are used while the issuer is unreachable: a withdrawn key is not trusted for longer.
	keysUsable = 24 * time.Hour
	// fetchPause is the minimum time between two fetches, so that tokens with made-up key ids cannot make us flood the
	// issuer.
	fetchPause   = 10 * time.Second
	fetchTimeout = 5 * time.Second
	maxKeySet    = 1 << 20
)

// ErrNoKeys says that a token cannot be verified at the moment.
var ErrNoKeys = errors.New("the keys that tokens are checked with cannot be fetched from their issuer")

// keySet is an issuer's public keys. They are fetched on first use, when they are old, and when a token names an
// unknown one.
type keySet struct {
	url    string
	client *http.Client
	logger *slog.Logger
	now    func() time.Time

	fetching sync.Mutex // held during a fetch; never acquired while holding mu

	mu      sync.Mutex
	keys    []jose.JSONWebKey
	fetched time.Time // last success
	tried   time.Time // last attempt
	failure error     // of the last attempt
}

func newKeySet(url string, logger *slog.Logger) *keySet {
	return &keySet{
		url: url, logger: logger, now: time.Now,
		client: &http.Client{Timeout: fetchTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
}

// find returns the key with an id for an algorithm: ErrUnauthorized if the issuer has none, ErrNoKeys if it is
// unreachable.
func (k *keySet) find(ctx context.Context, kid string, alg jose.SignatureAlgorithm) (*jose.JSONWebKey, error) {
	key, fresh, _ := k.cached(kid, alg)
	if key != nil && fresh {
		return key, nil
	}
	switch {
	case key == nil:
		k.fetching.Lock()
		k.refresh(ctx)
		k.fetching.Unlock()
	case k.fetching.TryLock(): // if a usable key exists, one request fetches and the others do not wait
		k.refresh(ctx)
		k.fetching.Unlock()
	}
	key, _, failure := k.cached(kid, alg)
	switch {
	case key != nil:
		return key, nil
	case failure != nil:
		return nil, ErrNoKeys
	default:
		return nil, ErrUnauthorized
	}
}

func (k *keySet) cached(kid string, alg jose.SignatureAlgorithm) (key *jose.JSONWebKey, fresh bool, failure error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	age := k.now().Sub(k.fetched)
	if age > keysUsable {
		return nil, false, k.failure
	}
	for i := range k.keys {
		found := &k.keys[i]
		if found.KeyID == kid && (found.Algorithm == "" || found.Algorithm == string(alg)) {
			return found, age <= keysFresh, nil
		}
	}

	return nil, age <= keysFresh, k.failure
}

// refresh fetches the keys unless that was just tried. It requires the fetching lock.
func (k *keySet) refresh(ctx context.Context) {
	k.mu.Lock()
	justTried := k.now().Sub(k.tried) < fetchPause
	k.mu.Unlock()
	if justTried {
		return
	}
	// The caller may disconnect; others wait for the same keys.
	keys, err := k.fetch(context.WithoutCancel(ctx))
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tried, k.failure = k.now(), err
	if err != nil {
		k.logger.WarnContext(ctx, "keys of the token issuer cannot be fetched", slog.String("error", err.Error()), slog.Int("cached", len(k.keys)))

		return
	}
	k.keys, k.fetched = keys, k.tried
}

var errJWKS = errors.New("no key set")

func (k *keySet) fetch(ctx context.Context) ([]jose.JSONWebKey, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, k.url, nil)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	response, err := k.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("fetch keys: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%w: status %d", errJWKS, response.StatusCode)
	}
	// Decode one by one: a key of an unknown kind must not invalidate the others.
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxKeySet)).Decode(&set); err != nil {
		return nil, fmt.Errorf("%w: %w", errJWKS, err)
	}
	var keys []jose.JSONWebKey
	for _, raw := range set.Keys {
		var key jose.JSONWebKey
		if json.Unmarshal(raw, &key) == nil && trusted(&key) {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("%w: it holds no public key with an id for signatures, of 2,048 bits or more if it is RSA", errJWKS)
	}

	return keys, nil
}

// minRSABits is what NIST SP 800-131A has required of signature keys since 2014.
const minRSABits = 2048

// trusted accepts only public signature keys: a shared secret published here would be known to everybody.
func trusted(key *jose.JSONWebKey) bool {
	if short, isRSA := key.Key.(*rsa.PublicKey); isRSA && short.N.BitLen() < minRSABits {
		return false
	}

	return key.Valid() && key.IsPublic() && (key.Use == "" || key.Use == "sig") && key.KeyID != ""
}

package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"golang.org/x/text/secure/precis"
)

// TokenConfig says whose signed tokens (JWT) are taken in place of keys. The zero value: nobody's.
type TokenConfig struct {
	// JWKSURL is where the issuer publishes its keys; https, but for loopback.
	JWKSURL string
	// Issuer and Audience are what a token's iss and aud have to be.
	Issuer, Audience string
	// UserClaim is the claim that names the user, such as sub.
	UserClaim string
}

// Enabled reports whether tokens are taken at all.
func (c TokenConfig) Enabled() bool { return c.JWKSURL != "" }

// tokenAlgorithms are those taken: asymmetric ones alone, so that a public key is
// never taken for a shared secret, and a token without a signature for a signed one.
var tokenAlgorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

const (
	// maxTokenBytes is more than a header line of a usual proxy holds.
	maxTokenBytes = 16 << 10
	// clockLeeway is how far the issuer's clock may be off.
	clockLeeway = 30 * time.Second
	// maxUserName is what users.name holds, in characters.
	maxUserName = 200
)

// tokens verifies what an identity provider has signed.
type tokens struct {
	config TokenConfig
	keys   *keySet
	now    func() time.Time
}

func newTokens(config TokenConfig, logger *slog.Logger) *tokens {
	return &tokens{config: config, keys: newKeySet(config.JWKSURL, logger), now: time.Now}
}

// tokenClaims are what a verified token says.
type tokenClaims struct {
	user    string
	scopes  []string
	expires time.Time
}

// verify returns ErrUnauthorized for a token that is not good, whatever is wrong
// with it, and ErrNoKeys if that cannot be told for want of the issuer's keys.
func (t *tokens) verify(ctx context.Context, token string) (tokenClaims, error) {
	signed, kid, alg, err := parseToken(token)
	if err != nil {
		return tokenClaims{}, ErrUnauthorized
	}
	key, err := t.keys.find(ctx, kid, alg)
	if err != nil {
		return tokenClaims{}, err
	}
	var (
		standard jwt.Claims
		all      map[string]json.RawMessage
	)
	if err := signed.Claims(key.Key, &standard, &all); err != nil {
		return tokenClaims{}, ErrUnauthorized
	}
	expected := jwt.Expected{Issuer: t.config.Issuer, AnyAudience: jwt.Audience{t.config.Audience}, Time: t.now()}
	if standard.Expiry == nil || standard.ValidateWithLeeway(expected, clockLeeway) != nil {
		return tokenClaims{}, ErrUnauthorized
	}
	user, err := userClaim(all, t.config.UserClaim)
	if err != nil {
		return tokenClaims{}, ErrUnauthorized
	}
	scopes, err := scopesOf(all)
	if err != nil {
		return tokenClaims{}, ErrUnauthorized
	}

	return tokenClaims{user: user, scopes: scopes, expires: standard.Expiry.Time().Add(clockLeeway)}, nil
}

var errBadToken = errors.New("not a token with one signature of a known algorithm and a key id")

// parseToken reads a token's form; its signature is not checked yet.
func parseToken(token string) (signed *jwt.JSONWebToken, kid string, alg jose.SignatureAlgorithm, err error) {
	if len(token) > maxTokenBytes {
		return nil, "", "", errBadToken
	}
	signed, err = jwt.ParseSigned(token, tokenAlgorithms)
	if err != nil {
		return nil, "", "", fmt.Errorf("%w: %w", errBadToken, err)
	}
	if len(signed.Headers) != 1 || signed.Headers[0].KeyID == "" {
		return nil, "", "", errBadToken
	}

	return signed, signed.Headers[0].KeyID, jose.SignatureAlgorithm(signed.Headers[0].Algorithm), nil
}

func textClaim(claims map[string]json.RawMessage, name string) (string, error) {
	raw, there := claims[name]
	if !there {
		return "", nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return "", fmt.Errorf("read claim: %w", err)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", errBadToken
	}

	return text, nil
}

// userClaim is the user's name in the one form that names of users have (RFC 8265): two names that look alike, by spaces,
// marks of direction or wide letters, would otherwise be two users. What has no such form is errBadToken.
func userClaim(claims map[string]json.RawMessage, name string) (string, error) {
	text, err := textClaim(claims, name)
	if err != nil {
		return "", err
	}
	user, err := precis.UsernameCasePreserved.String(text)
	if err != nil || user == "" || len([]rune(user)) > maxUserName {
		return "", errBadToken
	}

	return user, nil
}

// scopesOf are those of our scopes that scope (words in a text) or scp (a list)
// name. A token that speaks of no scopes at all may read and chat.
func scopesOf(claims map[string]json.RawMessage) ([]string, error) {
	named, err := textClaim(claims, "scope")
	if err != nil {
		return nil, err
	}
	words := strings.Fields(named)
	if raw, there := claims["scp"]; there {
		var list []string
		if err := json.Unmarshal(raw, &list); err != nil {
			text, err := textClaim(claims, "scp")
			if err != nil {
				return nil, err
			}
			list = strings.Fields(text)
		}
		words = append(words, list...)
	}
	if claims["scope"] == nil && claims["scp"] == nil {
		return []string{scopeRead, scopeChat}, nil
	}

	return slices.DeleteFunc(words, func(word string) bool {
		return word != scopeRead && word != scopeChat && word != scopeAdmin
	}), nil
}

package auth

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"golang.org/x/text/secure/precis"
)

// TokenConfig says whose signed tokens (JWT) are accepted in place of keys. Zero: nobody's.
type TokenConfig struct {
	// JWKSURL is where the issuer publishes its keys; https, except on loopback.
	JWKSURL string
	// Issuer and Audience must equal a token's iss and aud.
	Issuer, Audience string
	// UserClaim is the claim that names the user, such as sub.
	UserClaim string
}

// Enabled reports whether tokens are accepted at all.
func (c TokenConfig) Enabled() bool { return c.JWKSURL != "" }

// tokenAlgorithms are the accepted algorithms: only asymmetric ones, so that a public key is never used as a shared
// secret, and unsigned tokens are rejected.
var tokenAlgorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

const (
	// maxTokenBytes is more than common proxies allow in a header line.
	maxTokenBytes = 16 << 10
	// clockLeeway is how far the issuer's clock may be off.
	clockLeeway = 30 * time.Second
	// maxUserName is the length limit of users.name, in characters.
	maxUserName = 200
)

// Tokens verifies what an identity provider has signed.
type Tokens struct {
	config TokenConfig
	keys   *keySet
	now    func() time.Time
}

// NewTokens returns nil where no tokens are taken. It asks their issuer for keys when the first one comes.
func NewTokens(config TokenConfig, logger *slog.Logger) *Tokens {
	if !config.Enabled() {
		return nil
	}

	return &Tokens{config: config, keys: newKeySet(config.JWKSURL, logger), now: time.Now}
}

// verify returns ErrUnauthorized for an invalid token, whatever is wrong with it, and ErrNoKeys if it cannot be
// verified for lack of the issuer's keys.
func (t *Tokens) verify(ctx context.Context, token string) (Credential, error) {
	signed, err := parseToken(token)
	if err != nil {
		return Credential{}, err
	}
	key, err := t.keys.find(ctx, signed.Headers[0].KeyID, jose.SignatureAlgorithm(signed.Headers[0].Algorithm))
	if err != nil {
		return Credential{}, err
	}
	var (
		standard jwt.Claims
		all      map[string]json.RawMessage
	)
	if err := signed.Claims(key.Key, &standard, &all); err != nil {
		return Credential{}, ErrUnauthorized
	}
	expected := jwt.Expected{Issuer: t.config.Issuer, AnyAudience: jwt.Audience{t.config.Audience}, Time: t.now()}
	if standard.Expiry == nil || standard.ValidateWithLeeway(expected, clockLeeway) != nil {
		return Credential{}, ErrUnauthorized
	}
	user, userErr := userClaim(all, t.config.UserClaim)
	scopes, err := scopesOf(all)
	if errors.Join(userErr, err) != nil {
		return Credential{}, ErrUnauthorized
	}

	return Credential{User: user, scopes: scopes, expires: standard.Expiry.Time().Add(clockLeeway)}, nil
}

// parseToken parses a token with one signature, of a known algorithm and with a key's id, without checking it.
func parseToken(token string) (*jwt.JSONWebToken, error) {
	if len(token) > maxTokenBytes {
		return nil, ErrUnauthorized
	}
	signed, err := jwt.ParseSigned(token, tokenAlgorithms)
	if err != nil || len(signed.Headers) != 1 || signed.Headers[0].KeyID == "" {
		return nil, ErrUnauthorized
	}

	return signed, nil
}

func textClaim(claims map[string]json.RawMessage, name string) (string, error) {
	raw, there := claims[name]
	if !there {
		return "", nil
	}
	var text string
	if json.Unmarshal(raw, &text) != nil || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", ErrUnauthorized
	}

	return text, nil
}

// userClaim normalizes the user's name (RFC 8265): otherwise two names that look alike, because of spaces, direction
// marks or wide letters, would be two users.
func userClaim(claims map[string]json.RawMessage, name string) (string, error) {
	text, err := textClaim(claims, name)
	if err != nil {
		return "", err
	}
	user, err := precis.UsernameCasePreserved.String(text)
	if err != nil || user == "" || len([]rune(user)) > maxUserName {
		return "", ErrUnauthorized
	}

	return user, nil
}

// scopesOf returns our scopes among those in scope (words in a text) or scp (a list). A token without any scope claim
// may read and chat.
func scopesOf(claims map[string]json.RawMessage) ([]string, error) {
	if claims["scope"] == nil && claims["scp"] == nil {
		return []string{scopeRead, scopeChat}, nil
	}
	named, err := textClaim(claims, "scope")
	if err != nil {
		return nil, err
	}
	var scp []string
	if json.Unmarshal(claims["scp"], &scp) != nil {
		text, err := textClaim(claims, "scp")
		if err != nil {
			return nil, err
		}
		scp = strings.Fields(text)
	}

	return slices.DeleteFunc(append(strings.Fields(named), scp...), func(word string) bool {
		return word != scopeRead && word != scopeChat && word != scopeAdmin
	}), nil
}

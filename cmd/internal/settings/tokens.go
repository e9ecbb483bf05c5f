package settings

import (
	"fmt"
	"net/url"

	"alfred/internal/httpapi"
)

// checkTokens rejects an incomplete configuration: a token whose issuer or audience nobody checks could be anybody's.
func (s *Settings) checkTokens() error {
	t := s.Tokens
	if !t.Enabled() {
		if t.Issuer != "" || t.Audience != "" {
			return fmt.Errorf("%w: ALFRED_JWT_ISSUER and ALFRED_JWT_AUDIENCE do nothing without ALFRED_JWKS_URL", ErrBad)
		}

		return nil
	}
	if t.Issuer == "" || t.Audience == "" {
		return fmt.Errorf("%w: ALFRED_JWKS_URL needs ALFRED_JWT_ISSUER and ALFRED_JWT_AUDIENCE", ErrBad)
	}
	if s.Open {
		return fmt.Errorf("%w: ALFRED_JWKS_URL does nothing with ALFRED_AUTH=off, which asks for no tokens", ErrBad)
	}
	address, err := url.Parse(t.JWKSURL)
	if err != nil || address.Host == "" || address.Scheme != "https" && (address.Scheme != "http" || !httpapi.Loopback(address.Host)) {
		return bad("ALFRED_JWKS_URL", t.JWKSURL, "an https address")
	}

	return nil
}

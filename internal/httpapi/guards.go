package httpapi

import (
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"alfred/internal/httpapi/door"
	"alfred/internal/httpapi/problem"
)

// guardOrigin lets pages of the configured origins call the API. If no key is required, it rejects every other page:
// what runs in the user's browser can reach a loopback address too.
func (a *api) guardOrigin(next http.Handler) http.Handler {
	if a.OpenUser != uuid.Nil {
		next = loopbackOnly(a.sameOrigin(next))
	}
	if len(a.Origins) == 0 {
		return next
	}

	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Add("Vary", "Origin")
		origin := r.Header.Get("Origin")
		if !slices.Contains(a.Origins, origin) || !strings.HasPrefix(r.URL.Path, "/v1/") {
			next.ServeHTTP(w, r)

			return
		}
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Expose-Headers", "ETag, Retry-After, "+door.SessionHeader+", "+door.TurnHeader)
		if r.Method != http.MethodOptions {
			next.ServeHTTP(w, r)

			return
		}
		// Other protocols' clients send headers of their own. A key says who may call; no header does.
		h.Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers"))
		h.Set("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE")
		h.Set("Access-Control-Max-Age", "600")
		w.WriteHeader(http.StatusNoContent)
	})
}

// sameOrigin rejects what a browser sends on behalf of another site's page.
func (a *api) sameOrigin(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	for _, origin := range a.Origins {
		if err := protection.AddTrustedOrigin(origin); err != nil {
			panic(err) // CheckOrigin has passed it
		}
	}
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		problem.Write(w, problem.New(http.StatusForbidden, "forbidden", "Pages of other sites may not do that."))
	}))

	return protection.Handler(next)
}

// loopbackOnly rejects host names that somebody pointed at this machine (DNS rebinding): to the browser, such a site
// has the same origin as we do.
func loopbackOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !Loopback(r.Host) {
			problem.Write(w, problem.New(http.StatusForbidden, "forbidden", "Without keys this server answers to localhost alone."))

			return
		}
		next.ServeHTTP(w, r)
	})
}

// Loopback reports whether a host, with or without a port, is this machine's own
// loopback address.
func Loopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)

	return ip != nil && ip.IsLoopback()
}

// CheckOrigin says what is wrong with an origin for Config, such as a path.
func CheckOrigin(origin string) error {
	return http.NewCrossOriginProtection().AddTrustedOrigin(origin)
}

// contentPolicy lets the page load only its own files: no inline script or style, so that text which slips through as
// markup still runs nothing.
const contentPolicy = "default-src 'self'; object-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"

// securityHeaders tells browsers what not to do with our answers.
func securityHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		if strings.HasPrefix(r.URL.Path, "/v1/") {
			h.Set("Cache-Control", "no-store")
		}
		next.ServeHTTP(w, r)
	})
}

// fallback serves what the mux knows and answers the rest with problems, where the mux itself would answer in plain
// text.
func fallback(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern != "" {
			mux.ServeHTTP(w, r)

			return
		}
		unserved := &verdict{header: http.Header{}}
		mux.ServeHTTP(unserved, r)
		if unserved.status != http.StatusMethodNotAllowed {
			problem.Write(w, problem.ErrNotFound)

			return
		}
		allow := unserved.header.Get("Allow")
		w.Header().Set("Allow", allow)
		problem.Write(w, problem.New(http.StatusMethodNotAllowed, "invalid_request", "This address takes "+allow+"."))
	})
}

// verdict is a response of which only status and headers matter.
type verdict struct {
	header http.Header
	status int
}

func (v *verdict) Header() http.Header            { return v.header }
func (v *verdict) Write(data []byte) (int, error) { return len(data), nil }
func (v *verdict) WriteHeader(status int)         { v.status = status }

package httpapi

import (
	"alfred/internal/httpapi/problem"
	"net/http"
)

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

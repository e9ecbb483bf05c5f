package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/subtle"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

const (
	password   = "example"
	cookieName = "shop"
	tokenLife  = 5 * time.Minute
)

//go:embed page.html
var pageHTML string

//go:embed page.js
var pageJS []byte

// shop is the host: it knows who is logged in, and signs that for Alfred.
type shop struct {
	issuer, alfred string
	page           *template.Template
	signer         jose.Signer
	keys           jose.JSONWebKeySet

	mu       sync.Mutex
	loggedIn map[string]string // user by cookie
}

func newShop(issuer, alfred string) (*shop, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader) // a real one outlives the process
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	key := jose.JSONWebKey{Key: private, KeyID: "1", Algorithm: string(jose.ES256), Use: "sig"}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, nil)
	if err != nil {
		return nil, fmt.Errorf("make a signer: %w", err)
	}
	page, err := template.New("page").Parse(pageHTML)
	if err != nil {
		return nil, fmt.Errorf("read the page: %w", err)
	}

	return &shop{
		issuer: issuer, alfred: alfred, page: page, signer: signer, loggedIn: map[string]string{},
		keys: jose.JSONWebKeySet{Keys: []jose.JSONWebKey{key.Public()}},
	}, nil
}

func (s *shop) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.show)
	mux.HandleFunc("GET /page.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = w.Write(pageJS)
	})
	mux.HandleFunc("POST /login", s.login)
	mux.HandleFunc("POST /logout", s.logout)
	mux.HandleFunc("POST /token", s.token)
	mux.HandleFunc("GET /.well-known/jwks.json", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, s.keys) })

	return http.NewCrossOriginProtection().Handler(mux)
}

// who is the user of a request, "" for nobody.
func (s *shop) who(r *http.Request) string {
	cookie, err := r.Cookie(cookieName)
	if err != nil {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.loggedIn[cookie.Value]
}

func (s *shop) show(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	// The page may only run its own script and Alfred's, and only talk to both.
	h.Set("Content-Security-Policy", fmt.Sprintf("default-src 'self'; script-src 'self' %s; connect-src 'self' %s", s.alfred, s.alfred))
	_ = s.page.Execute(w, map[string]string{"User": s.who(r), "Alfred": s.alfred, "Wrong": r.URL.Query().Get("wrong")}) // a disconnected browser needs no page
}

func (s *shop) login(w http.ResponseWriter, r *http.Request) {
	name := r.FormValue("name")
	right := subtle.ConstantTimeCompare([]byte(r.FormValue("password")), []byte(password)) == 1
	if !right || (name != "ada" && name != "eve") {
		http.Redirect(w, r, "/?wrong=1", http.StatusSeeOther)

		return
	}
	id := rand.Text()
	s.mu.Lock()
	s.loggedIn[id] = name
	s.mu.Unlock()
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: id, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode}) //nolint:gosec // Secure is for https, which an example on loopback has not
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (s *shop) logout(w http.ResponseWriter, r *http.Request) {
	if cookie, err := r.Cookie(cookieName); err == nil {
		s.mu.Lock()
		delete(s.loggedIn, cookie.Value)
		s.mu.Unlock()
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// token signs who is logged in, for a few minutes: the page asks for another when Alfred rejects the last.
func (s *shop) token(w http.ResponseWriter, r *http.Request) {
	name := s.who(r)
	if name == "" {
		http.Error(w, "log in first", http.StatusUnauthorized)

		return
	}
	now := time.Now()
	signed, err := jwt.Signed(s.signer).Claims(jwt.Claims{
		Issuer: s.issuer, Audience: jwt.Audience{"alfred"}, Subject: name, IssuedAt: jwt.NewNumericDate(now), Expiry: jwt.NewNumericDate(now.Add(tokenLife)),
	}).Claims(map[string]any{"scope": "chat read"}).Serialize()
	if err != nil {
		http.Error(w, "no token could be signed", http.StatusInternalServerError)

		return
	}
	writeJSON(w, map[string]string{"token": signed})
}

func writeJSON(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) //nolint:errchkjson // a browser that has gone needs no answer
}

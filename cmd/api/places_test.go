package main

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"alfred/cmd/internal/settings"
	"alfred/internal/dbtest"
	"alfred/internal/directory"
)

// The API over two databases: keys are made where the directory puts their user, requests find them, and a user without a
// key is nobody.
func TestServeManyDatabases(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	e := settings.Env{"ALFRED_DIRECTORY_URL": dbtest.EmptyURL(t), "ALFRED_ADDR": "127.0.0.1:0"}
	_, err := api(t, e, "serve")
	require.ErrorIs(t, err, directory.ErrNotMade)
	require.NoError(t, directory.Init(t.Context(), e["ALFRED_DIRECTORY_URL"], slog.New(slog.DiscardHandler)))
	known, err := directory.Open(t.Context(), e["ALFRED_DIRECTORY_URL"])
	require.NoError(t, err)
	t.Cleanup(known.Close)
	urls := []string{dbtest.URL(t), dbtest.URL(t)}
	for i, url := range urls {
		_, err := known.AddDatabase(t.Context(), directory.Database{Name: string(rune('a' + i)), URL: url})
		require.NoError(t, err)
	}
	keys, at := map[string]string{}, map[string]int{}
	for _, user := range []string{"ada", "bob"} {
		out := mustAPI(t, e, "keys", "create", "--user", user)
		keys[user] = strings.TrimSpace(out)
		found, err := known.ByName(t.Context(), user)
		require.NoError(t, err)
		at[user] = strings.Index("ab", found.Database.Name)
	}
	require.NotEqual(t, at["ada"], at["bob"], "a new user gets the database with the fewest")
	out := mustAPI(t, e, "keys", "list")
	require.Contains(t, out, "ada")
	require.Contains(t, out, "bob")

	address, stop := startServer(t, e)
	for user, key := range keys {
		status, _ := request(t, http.MethodPost, address+"/v1/sessions", key)
		require.Equal(t, http.StatusCreated, status, user)
		status, text := request(t, http.MethodGet, address+"/v1/sessions", key)
		require.Equal(t, http.StatusOK, status)
		var list struct {
			Items []json.RawMessage `json:"items"`
		}
		require.NoError(t, json.Unmarshal([]byte(text), &list))
		require.Len(t, list.Items, 1, user)
	}
	status, _ := request(t, http.MethodGet, address+"/v1/sessions", "alf_of_nobody")
	require.Equal(t, http.StatusUnauthorized, status)
	status, _ = request(t, http.MethodGet, address+"/", "")
	require.Equal(t, http.StatusOK, status, "the page needs nobody")
	status, _ = request(t, http.MethodGet, address+"/readyz", "")
	require.Equal(t, http.StatusOK, status)

	exec(t, urls[at["ada"]], `SELECT alfred.user_place_set(id, 1, 1, 'away') FROM alfred.users WHERE name = 'ada'`)
	back := time.AfterFunc(300*time.Millisecond, func() { // the move was given up
		exec(t, urls[at["ada"]], `SELECT alfred.user_place_set(id, 1, 2, 'here') FROM alfred.users WHERE name = 'ada'`)
	})
	status, _ = request(t, http.MethodPost, address+"/v1/sessions", keys["ada"])
	require.Equal(t, http.StatusCreated, status, "a request waits for a move, whatever comes of it")
	require.False(t, back.Stop(), "it did not wait")

	id := strings.Fields(out)[0]
	mustAPI(t, e, "keys", "revoke", id)
	status, _ = request(t, http.MethodGet, address+"/v1/sessions", keys[strings.Fields(out)[1]])
	require.Equal(t, http.StatusUnauthorized, status, "a key that is revoked dies at once")
	require.NoError(t, stop())
}

func request(t *testing.T, method, address, key string) (int, string) {
	t.Helper()

	var body io.Reader
	if method == http.MethodPost {
		body = strings.NewReader(`{}`)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, address, body)
	require.NoError(t, err)
	r.Close = true
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)

	return answer.StatusCode, string(text)
}

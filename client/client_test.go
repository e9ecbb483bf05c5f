package client_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/client"
	"alfred/internal/httpapi"
)

// The clients are made of openapi.json, which has to be what the API says of itself.
func TestDescriptionIsCurrent(t *testing.T) {
	t.Parallel()

	kept, err := os.ReadFile("openapi.json")
	require.NoError(t, err)
	now, err := httpapi.Document("1", false)
	require.NoError(t, err)
	require.True(t, string(kept) == string(now), "client/openapi.json is old: make generate") //nolint:testifylint // a diff of it would fill the screen
}

func serve(t *testing.T, handler http.HandlerFunc) *client.ClientWithResponses {
	t.Helper()

	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	api, err := client.New(server.URL, "alf_secret")
	require.NoError(t, err)

	return api
}

func TestProblemsAreErrors(t *testing.T) {
	t.Parallel()

	api := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusConflict)
		_ = json.NewEncoder(w).Encode(map[string]any{"status": 409, "code": "turn_running", "detail": "A turn is running.", "turn_id": "t1"})
	})
	_, err := api.Say(t.Context(), "s1", "hi")
	var problem *client.Problem
	require.ErrorAs(t, err, &problem)
	require.Equal(t, client.TurnRunning, problem.Code)
	require.Equal(t, "t1", *problem.TurnID)

	api = serve(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "bad gateway", http.StatusBadGateway) })
	_, err = api.Say(t.Context(), "s1", "hi")
	require.ErrorContains(t, err, "502")
	require.NotErrorAs(t, err, &problem)
}

func TestSayWaits(t *testing.T) {
	t.Parallel()

	asked := 0
	api := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Header.Get("Authorization") != "Bearer alf_secret" {
			w.WriteHeader(http.StatusUnauthorized)
		}
		turn := map[string]any{"id": "t1", "status": "running"}
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusAccepted)
		} else if asked++; asked == 2 {
			turn["status"], turn["reply"] = "succeeded", "there"
		}
		_ = json.NewEncoder(w).Encode(turn)
	})
	turn, err := api.Say(t.Context(), "s1", "hi")
	require.NoError(t, err)
	require.Equal(t, "there", *turn.Reply)
	require.Equal(t, 2, asked)
}

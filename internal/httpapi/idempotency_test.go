package httpapi_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// K04: resending a request with its key creates nothing twice, also concurrently, and a different request is not
// confused with it.
func TestK04RetriesMakeOneRow(t *testing.T) {
	t.Parallel()

	b := setup(t)
	key := header{"Idempotency-Key": "one"}
	for path, body := range map[string]map[string]any{"/v1/data/task": {"title": "Buy milk"}, "/v1/sessions": {"title": "Dinner"}} {
		key := header{"Idempotency-Key": "for " + path}
		ids := make([]string, 6)
		var requests sync.WaitGroup
		for i := range ids {
			requests.Go(func() { ids[i] = b.call(t, http.MethodPost, path, body, key).text("id") })
		}
		requests.Wait()
		for _, id := range ids {
			require.Equal(t, ids[0], id, path)
		}
		require.NotEqual(t, ids[0], b.call(t, http.MethodPost, path, body).text("id"), "without a key each makes its own")
		require.NotEqual(t, ids[0], b.call(t, http.MethodPost, path, body, header{"Idempotency-Key": "another" + path}).text("id"))
	}
	require.Len(t, b.call(t, http.MethodGet, "/v1/data/task", nil).items(), 3)

	require.Equal(t, http.StatusCreated, b.call(t, http.MethodPost, "/v1/data/task", map[string]any{"title": "Sweep"}, key).status)
	b.call(t, http.MethodPost, "/v1/data/task", map[string]any{"title": "Mop"}, key).requireProblem(t, http.StatusConflict, "conflict")
	b.call(t, http.MethodPost, "/v1/sessions", map[string]any{}, key).requireProblem(t, http.StatusConflict, "conflict")
	b.call(t, http.MethodPost, "/v1/data/task", map[string]any{"title": "Mop"}, header{"Idempotency-Key": strings.Repeat("k", 256)}).requireProblem(t, http.StatusBadRequest, "invalid_request")

	// A refused request created nothing, so its key is free; keys belong to their user.
	refused := header{"Idempotency-Key": "refused"}
	b.call(t, http.MethodPost, "/v1/data/task", map[string]any{"title": nil}, refused).requireProblem(t, http.StatusBadRequest, "invalid_request")
	require.Equal(t, http.StatusCreated, b.call(t, http.MethodPost, "/v1/data/task", map[string]any{"title": "Dust"}, refused).status)
	_, other := b.newUser(t, "eve", "chat", "read")
	theirs := b.call(t, http.MethodPost, "/v1/data/task", map[string]any{"title": "Sweep"}, header{"Idempotency-Key": "one", "Authorization": "Bearer " + other})
	require.Equal(t, http.StatusCreated, theirs.status)
	require.Len(t, b.call(t, http.MethodGet, "/v1/data/task", nil, header{"Authorization": "Bearer " + other}).items(), 1)
}

// Every POST takes a key, or can be repeated safely.
func TestK04EveryPostMayBeRetried(t *testing.T) {
	t.Parallel()

	harmless := []string{
		"cancel-turn",   // an ended turn stays as it is
		"save-artifact", // a draft is saved only once
	}
	b := setup(t)
	paths := b.call(t, http.MethodGet, "/v1/openapi.json", nil).body["paths"].(map[string]any)
	for path, operations := range paths {
		post, ok := operations.(map[string]any)["post"].(map[string]any)
		if !ok {
			continue
		}
		takes := false
		parameters, _ := post["parameters"].([]any)
		for _, p := range parameters {
			takes = takes || p.(map[string]any)["name"] == "Idempotency-Key"
		}
		id, _ := post["operationId"].(string)
		require.True(t, takes || slices.Contains(harmless, id), "%s (%s) makes a thing twice when it is retried", path, id)
	}
}

// K10: a row of defaults alone, and a conversation deleted meanwhile, cause no internal error.
func TestK10NothingIsInternal(t *testing.T) {
	t.Parallel()

	b := setup(t)
	made := b.call(t, http.MethodPost, "/v1/data/pref", map[string]any{})
	require.Equal(t, http.StatusCreated, made.status, made.raw)
	require.Equal(t, "intermediate", made.text("cooking_skill_level"))
	b.call(t, http.MethodPost, "/v1/data/task", map[string]any{}).requireProblem(t, http.StatusBadRequest, "invalid_request")
}

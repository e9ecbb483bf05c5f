package httpapi_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// A user's time zone is set by the user, and the rows' times follow it.
func TestTimezoneOfAUser(t *testing.T) {
	t.Parallel()

	b := setup(t)
	me := b.call(t, http.MethodGet, "/v1/user", nil)
	require.Equal(t, "UTC", me.body["timezone"])
	require.NotEmpty(t, me.body["name"])
	for _, unknown := range []string{"Mars/Olympus", "EDT", "", "UTC+3", "europe/berlin", "Local"} {
		b.call(t, http.MethodPatch, "/v1/user", map[string]any{"timezone": unknown}).requireProblem(t, http.StatusBadRequest, "invalid_request")
	}
	require.Equal(t, "Asia/Tokyo", b.call(t, http.MethodPatch, "/v1/user", map[string]any{"timezone": "Asia/Tokyo"}).body["timezone"])
	require.Equal(t, "Asia/Tokyo", b.call(t, http.MethodGet, "/v1/user", nil).body["timezone"])
}

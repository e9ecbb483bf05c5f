package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Y08: a person's feedback on a reply is stored with its turn, once per turn, and can be withdrawn.
func TestY08Feedback(t *testing.T) {
	t.Parallel()

	b := setup(t)
	session := b.session(t)
	turn := b.message(t, session, "Cook something")
	b.reply(t, turn, "Soup it is.")
	path := "/v1/turns/" + turn

	given := b.call(t, http.MethodPut, path+"/feedback", map[string]any{"rating": "down", "text": " Too salty "})
	require.Equal(t, http.StatusOK, given.status, given.raw)
	require.Equal(t, "Too salty", given.text("text"))
	require.Equal(t, "up", b.call(t, http.MethodPut, path+"/feedback", map[string]any{"rating": "up"}).text("rating"))
	require.Equal(t, "up", b.call(t, http.MethodGet, path, nil).body["feedback"].(map[string]any)["rating"])
	require.Equal(t, "up", b.call(t, http.MethodGet, "/v1/sessions/"+session+"/turns", nil).items()[0]["feedback"].(map[string]any)["rating"])

	var message, reply, rating string
	require.NoError(t, b.pool.QueryRow(t.Context(), `SELECT message, reply, rating FROM v_feedback WHERE turn_id = $1`, turn).Scan(&message, &reply, &rating))
	require.Equal(t, []string{"Cook something", "Soup it is.", "up"}, []string{message, reply, rating})

	b.call(t, http.MethodPut, path+"/feedback", map[string]any{"rating": "sideways"}).requireProblem(t, http.StatusBadRequest, "invalid_request")
	b.call(t, http.MethodPut, path+"/feedback", map[string]any{"rating": "up", "text": strings.Repeat("a", 4001)}).requireProblem(t, http.StatusBadRequest, "invalid_request")
	require.Equal(t, http.StatusNoContent, b.call(t, http.MethodDelete, path+"/feedback", nil).status)
	b.call(t, http.MethodDelete, path+"/feedback", nil).requireProblem(t, http.StatusNotFound, "not_found")
	require.NotContains(t, b.call(t, http.MethodGet, path, nil).body, "feedback")
}

// Y08: pinned conversations are listed above the others, also across pages.
func TestY08PinnedSessions(t *testing.T) {
	t.Parallel()

	b := setup(t)
	titles := func() (list []string) {
		for cursor := ""; ; {
			page := b.call(t, http.MethodGet, "/v1/sessions?limit=1&cursor="+cursor, nil)
			for _, s := range page.items() {
				list = append(list, s["title"].(string))
			}
			if cursor = page.text("next_cursor"); cursor == "" {
				return list
			}
		}
	}
	for _, title := range []string{"old", "middle", "new"} {
		b.call(t, http.MethodPost, "/v1/sessions", map[string]any{"title": title})
	}
	require.Equal(t, []string{"new", "middle", "old"}, titles())
	old := b.call(t, http.MethodGet, "/v1/sessions?q=old", nil).items()[0]["id"].(string)
	require.Equal(t, true, b.call(t, http.MethodPatch, "/v1/sessions/"+old, map[string]any{"pinned": true}).body["pinned"])
	require.Equal(t, []string{"old", "new", "middle"}, titles())
	require.Equal(t, false, b.call(t, http.MethodPatch, "/v1/sessions/"+old, map[string]any{"pinned": false}).body["pinned"])
	require.Equal(t, []string{"new", "middle", "old"}, titles())
}

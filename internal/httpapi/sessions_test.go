package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
)

func TestSessions(t *testing.T) {
	t.Parallel()

	b := setup(t)
	made := b.call(t, http.MethodPost, "/v1/sessions", map[string]any{"title": "  Dinner ", "mode": "create"})
	require.Equal(t, http.StatusCreated, made.status, made.raw)
	require.Equal(t, "Dinner", made.text("title"))
	require.Equal(t, "create", made.text("mode"))
	require.Equal(t, "kitchen", made.text("domain"))
	require.Equal(t, "active", made.text("status"))
	require.InDelta(t, 0, made.body["last_turn"], 0)
	require.NotContains(t, made.body, "$schema")
	path := "/v1/sessions/" + made.text("id")

	require.Equal(t, made.body, b.call(t, http.MethodGet, path, nil).body)

	renamed := b.call(t, http.MethodPatch, path, map[string]any{"title": "Supper"})
	require.Equal(t, "Supper", renamed.text("title"))
	require.Equal(t, false, renamed.body["archived"])
	archived := b.call(t, http.MethodPatch, path, map[string]any{"archived": true})
	require.Equal(t, "Supper", archived.text("title"))
	require.Equal(t, true, archived.body["archived"])
	require.Equal(t, false, b.call(t, http.MethodPatch, path, map[string]any{"archived": false}).body["archived"])

	require.Equal(t, http.StatusNoContent, b.call(t, http.MethodDelete, path, nil).status)
	b.call(t, http.MethodGet, path, nil).requireProblem(t, http.StatusNotFound, "not_found")
	b.call(t, http.MethodDelete, path, nil).requireProblem(t, http.StatusNotFound, "not_found")
}

func TestSessionCreateNeedsNoBody(t *testing.T) {
	t.Parallel()

	b := setup(t)
	made := b.call(t, http.MethodPost, "/v1/sessions", nil)
	require.Equal(t, http.StatusCreated, made.status, made.raw)
	require.Equal(t, "plan", made.text("mode"))
}

func TestSessionStatusFollowsActivity(t *testing.T) {
	t.Parallel()

	b := setup(t)
	session := b.session(t)
	for idle, status := range map[string]string{"29 minutes": "active", "31 minutes": "stale", "25 hours": "expired"} {
		b.exec(t, `UPDATE sessions SET last_activity_at = now() - $2::text::interval WHERE id = $1`, session, idle)
		require.Equal(t, status, b.call(t, http.MethodGet, "/v1/sessions/"+session, nil).text("status"), idle)
	}
}

// K06: how long nothing was said is counted by the clock that dated it, also where that is two days behind the program's.
func TestK06SessionStatusFollowsTheDatabasesClock(t *testing.T) {
	t.Parallel()

	b := setup(t)
	dbtest.SetClock(t, b.pool, -48*time.Hour)
	session := b.session(t)
	require.Equal(t, "active", b.call(t, http.MethodGet, "/v1/sessions/"+session, nil).text("status"))
	require.Equal(t, "active", b.call(t, http.MethodGet, "/v1/sessions", nil).items()[0]["status"])
}

func TestSessionListPages(t *testing.T) {
	t.Parallel()

	b := setup(t)
	var made []string
	for range 5 {
		made = append([]string{b.session(t)}, made...) // newest first
	}
	b.exec(t, `UPDATE sessions SET last_activity_at = '2026-01-01T00:00:00.123456Z' WHERE id = ANY ($1)`, made[2:4]) // a tie
	var seen []string
	cursor := ""
	for {
		page := b.call(t, http.MethodGet, "/v1/sessions?limit=2&cursor="+cursor, nil)
		require.Equal(t, http.StatusOK, page.status, page.raw)
		for _, item := range page.items() {
			seen = append(seen, item["id"].(string))
		}
		if cursor = page.text("next_cursor"); cursor == "" {
			break
		}
	}
	require.ElementsMatch(t, made, seen)
	require.Equal(t, made[:2], seen[:2])

	_, b.key = b.newUser(t, "bob", "chat")
	none := b.call(t, http.MethodGet, "/v1/sessions", nil)
	require.JSONEq(t, `{"items": [], "next_cursor": ""}`, none.raw)
}

func TestSessionTakesItsTitleFromTheFirstMessage(t *testing.T) {
	t.Parallel()

	b := setup(t)
	session := b.session(t)
	b.message(t, session, "What is\n in my   pantry? "+strings.Repeat("x", 100))
	require.Equal(t, "What is in my pantry?…", b.call(t, http.MethodGet, "/v1/sessions/"+session, nil).text("title"), "no part of a word")
	session = b.session(t)
	b.message(t, session, strings.Repeat("x", 60))
	require.Equal(t, strings.Repeat("x", 60), b.call(t, http.MethodGet, "/v1/sessions/"+session, nil).text("title"))
	session = b.session(t)
	b.message(t, session, strings.Repeat("x", 61))
	require.Equal(t, strings.Repeat("x", 59)+"…", b.call(t, http.MethodGet, "/v1/sessions/"+session, nil).text("title"))
}

// A number beyond Postgres's integers is not taken for the one that its last 32 bits are.
func TestForkAfterNoTurn(t *testing.T) {
	t.Parallel()

	b := setup(t)
	path := "/v1/sessions/" + b.session(t) + "/fork"
	for _, turn := range []int{-1, 1, 1 << 31, 1 << 32, 1<<63 - 1} {
		b.call(t, http.MethodPost, path, map[string]any{"turn": turn}).requireProblem(t, http.StatusBadRequest, "invalid_request")
	}
}

// What refers to a conversation that is just being deleted waits for that, and finds nothing.
func TestForgottenMeanwhile(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		method, path string
		body         map[string]any
	}{
		"fork":     {http.MethodPost, "/v1/sessions/{session}/fork", map[string]any{"turn": 1}},
		"feedback": {http.MethodPut, "/v1/turns/{turn}/feedback", map[string]any{"rating": "up"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			session := b.session(t)
			turn := b.message(t, session, "hi")
			b.reply(t, turn, "Hello.")
			tx, err := b.pool.Begin(t.Context())
			require.NoError(t, err)
			defer tx.Rollback(t.Context())
			_, err = tx.Exec(t.Context(), `SELECT forget_session($1)`, session)
			require.NoError(t, err)
			var (
				a       *answer
				failure error
			)
			answered := make(chan struct{})
			go func() {
				defer close(answered)
				path := strings.NewReplacer("{session}", session, "{turn}", turn).Replace(c.path)
				a, failure = fetch(t.Context(), b.url, c.method, path, c.body, header{"Authorization": "Bearer " + b.key})
			}()
			require.Eventually(t, func() (waits bool) {
				err := b.pool.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`).Scan(&waits)

				return err == nil && waits
			}, dbtest.Patience, tick)
			require.NoError(t, tx.Commit(t.Context()))
			<-answered
			require.NoError(t, failure)
			a.requireProblem(t, http.StatusNotFound, "not_found")
		})
	}
}

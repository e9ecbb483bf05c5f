package client_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/client"
)

const streamed = "text/event-stream"

// A stream is cut within an event, cannot be taken up for a while, and ends: what
// is seen is each event once.
func TestFollowResumes(t *testing.T) {
	t.Parallel()

	var asked []string
	api := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Header.Get("Last-Event-ID"))
		w.Header().Set("Content-Type", streamed)
		switch len(asked) {
		case 1:
			fmt.Fprint(w, ": stream open\n\nid: 1\nevent: turn.started\ndata: {\"seq\": 1}\n\nid: 2\nevent: plan\nda")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		case 2:
			http.Error(w, "bad gateway", http.StatusBadGateway)
		default:
			fmt.Fprint(w, ": ping\n\nid: 2\nevent: plan\ndata: {\"seq\": 2}\n\nid: 3\nevent: turn.finished\ndata: {\"seq\": 3}\n\n")
		}
	})
	var seen []string
	for event, err := range api.FollowTurn(t.Context(), "t1", "") {
		require.NoError(t, err)
		seen = append(seen, event.ID+" "+event.Type+" "+string(event.Data))
	}
	require.Equal(t, []string{`1 turn.started {"seq": 1}`, `2 plan {"seq": 2}`, `3 turn.finished {"seq": 3}`}, seen)
	require.Equal(t, []string{"", "1", "1"}, asked)
}

func TestFollowEnds(t *testing.T) {
	t.Parallel()

	// Nothing follows.
	api := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Last-Event-ID") == "9" {
			w.WriteHeader(http.StatusNoContent)
		}
	})
	for event, err := range api.FollowTurn(t.Context(), "t1", "9") {
		t.Fatal("nothing was to follow", event, err)
	}

	// The session is deleted while it is followed.
	asked := 0
	api = serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked == 1 {
			w.Header().Set("Content-Type", streamed)
			fmt.Fprint(w, "id: 1.4\nevent: turn.finished\ndata: {}\n\n")

			return
		}
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"status": 404, "code": "not_found", "detail": "There is no such conversation."}`)
	})
	seen, last := lastOf(t, api.FollowSession(t.Context(), "s1", ""))
	require.Equal(t, 1, seen, "the end of a turn is not the session's")
	var problem *client.Problem
	require.ErrorAs(t, last, &problem)
	require.Equal(t, client.NotFound, problem.Code)

	// A server that was never there, an event without end, and a caller that has enough.
	nobody, err := client.New("http://127.0.0.1:1", "")
	require.NoError(t, err)
	_, last = lastOf(t, nobody.FollowTurn(t.Context(), "t1", ""))
	require.Error(t, last)
	api = serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "data: "+strings.Repeat("x", 17<<20)) })
	_, last = lastOf(t, api.FollowTurn(t.Context(), "t1", ""))
	require.ErrorContains(t, last, "too long")
	api = serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "id: 1\nevent: turn.started\ndata: {}\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, err := range api.FollowTurn(ctx, "t1", "") {
		if err == nil {
			cancel()

			continue
		}
		require.ErrorIs(t, err, context.Canceled)
	}
	for _, err := range api.FollowTurn(t.Context(), "t1", "") {
		require.NoError(t, err)

		break
	}
}

// lastOf reads events to their end: how many there were, and with what error it ended.
func lastOf(t *testing.T, events func(func(client.Event, error) bool)) (seen int, last error) {
	t.Helper()
	for _, err := range events {
		require.NoError(t, last, "an error is the last element")
		if last = err; err == nil {
			seen++
		}
	}

	return seen, last
}

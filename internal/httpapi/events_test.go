package httpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
)

// streamEvent is one event as read by a client.
type streamEvent struct {
	id, name string
	data     map[string]any
}

// eventStream is an open connection.
type eventStream struct {
	response *http.Response
	scanner  *bufio.Scanner
	close    context.CancelFunc
}

func open(t *testing.T, url, key, path, last string) *eventStream {
	t.Helper()

	ctx, cancel := context.WithTimeout(t.Context(), dbtest.Patience)
	t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+path, nil)
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+key)
	if last != "" {
		request.Header.Set("Last-Event-ID", last)
	}
	response, err := client.Do(request)
	require.NoError(t, err)
	t.Cleanup(func() { _ = response.Body.Close() })

	return &eventStream{response: response, scanner: bufio.NewScanner(response.Body), close: cancel}
}

// next returns the next event, or nil at the stream's end.
func (s *eventStream) next(t *testing.T) *streamEvent {
	t.Helper()

	var e streamEvent
	for s.scanner.Scan() {
		name, value, _ := strings.Cut(s.scanner.Text(), ": ")
		switch name {
		case "id":
			e.id = value
		case "event":
			e.name = value
		case "data":
			require.NoError(t, json.Unmarshal([]byte(value), &e.data))
		default:
			if e.name != "" && s.scanner.Text() == "" {
				return &e
			}
		}
	}

	return nil
}

// rest reads to the stream's end.
func (s *eventStream) rest(t *testing.T) []streamEvent {
	t.Helper()

	var events []streamEvent
	for e := s.next(t); e != nil; e = s.next(t) {
		events = append(events, *e)
	}
	require.NoError(t, s.scanner.Err())

	return events
}

func names(events []streamEvent) []string {
	var list []string
	for _, e := range events {
		list = append(list, e.name)
	}

	return list
}

func TestTurnEvents(t *testing.T) {
	t.Parallel()

	b := setup(t)
	turn := b.message(t, b.session(t), "hi")
	s := open(t, b.url, b.key, "/v1/turns/"+turn+"/events", "")
	require.Equal(t, "text/event-stream", s.response.Header.Get("Content-Type"))
	require.Equal(t, "turn.started", s.next(t).name)
	require.Equal(t, "node.started", s.next(t).name)

	b.emit(t, turn, "reply.delta", map[string]any{"text": "a\nb\r\n\ndata: forged"})
	delta := s.next(t)
	require.Equal(t, streamEvent{"3", "reply.delta", map[string]any{
		"text": "a\nb\r\n\ndata: forged", "seq": 3.0, "turn_id": turn, "number": 1.0, "type": "reply.delta", "at": delta.data["at"],
	}}, *delta)
	beyond := open(t, b.url, b.key, "/v1/turns/"+turn+"/events", "99")
	require.Equal(t, "1", beyond.next(t).id, "what has not been reached starts over: who waited for it would miss all before it")
	b.reply(t, turn, "there")
	rest := s.rest(t) // the server ends the stream
	require.Equal(t, []string{"reply", "turn.finished"}, names(rest))
	require.Equal(t, "there", rest[0].data["text"])
}

func TestTurnEventsResumeOnAnyInstance(t *testing.T) {
	t.Parallel()

	b := setup(t)
	other := b.serve(t)
	turn := b.message(t, b.session(t), "hi")
	for n := range 450 { // more than one page of events
		b.emit(t, turn, "tool.called", map[string]any{"call": n})
	}
	first := open(t, b.url, b.key, "/v1/turns/"+turn+"/events", "")
	var last *streamEvent
	for range 123 {
		last = first.next(t)
	}
	second := open(t, other, b.key, "/v1/turns/"+turn+"/events", last.id)
	b.reply(t, turn, "there")
	rest := first.rest(t)
	require.Len(t, rest, 452+2-123)
	require.Equal(t, rest, second.rest(t))
	require.Equal(t, rest, open(t, other, b.key, "/v1/turns/"+turn+"/events?after="+last.id, "").rest(t), "after the end as before")

	// A browser reconnects after every end, until it is told that nothing follows.
	over := open(t, other, b.key, "/v1/turns/"+turn+"/events", rest[len(rest)-1].id)
	require.Equal(t, http.StatusNoContent, over.response.StatusCode)
}

func TestTurnEventsEndWithTheTurn(t *testing.T) {
	t.Parallel()

	for name, end := range map[string]func(b *bundle, session, turn string){
		"turn.cancelled": func(b *bundle, _, turn string) { b.call(t, http.MethodPost, "/v1/turns/"+turn+"/cancel", nil) },
		"turn.failed": func(b *bundle, _, turn string) {
			b.exec(t, `SELECT turn_end($1, 'failed', 'internal', 'Sorry.')`, turn)
		},
		"": func(b *bundle, session, _ string) { b.call(t, http.MethodDelete, "/v1/sessions/"+session, nil) },
	} {
		t.Run("ended by "+name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			session := b.session(t)
			turn := b.message(t, session, "hi")
			s := open(t, b.url, b.key, "/v1/turns/"+turn+"/events", "2")
			all := open(t, b.url, b.key, "/v1/sessions/"+session+"/events", "1.2")
			end(b, session, turn)
			rest := s.rest(t)
			if name == "" {
				require.Empty(t, rest)
				require.Empty(t, all.rest(t), "a forgotten session has no stream")

				return
			}
			require.Equal(t, []string{name}, names(rest))
			require.NotEmpty(t, rest[0].data["error"].(map[string]any)["message"])
			require.Equal(t, name, all.next(t).name)
		})
	}
}

func TestSessionEvents(t *testing.T) {
	t.Parallel()

	b := setup(t)
	session := b.session(t)
	path := "/v1/sessions/" + session + "/events"
	s := open(t, b.url, b.key, path, "")
	one := b.message(t, session, "one")
	two := b.message(t, session, "two")
	b.reply(t, one, "first")
	b.reply(t, two, "second")
	var ids []string
	for range 8 {
		ids = append(ids, s.next(t).id)
	}
	require.Equal(t, []string{"1.1", "1.2", "1.3", "1.4", "2.1", "2.2", "2.3", "2.4"}, ids)
	resumed := open(t, b.serve(t), b.key, path, "1.4")
	require.Equal(t, "2.1", resumed.next(t).id)
}

// Turns may start in a different order than they were sent if one interrupts, and a waiting one may be cancelled: no
// event is skipped, live or after a resume.
func TestSessionEventsOfTurnsOutOfOrder(t *testing.T) {
	t.Parallel()

	b := setup(t)
	session := b.session(t)
	turns := "/v1/sessions/" + session + "/turns"
	path := "/v1/sessions/" + session + "/events"
	live := open(t, b.url, b.key, path, "")
	b.message(t, session, "one")
	two := b.message(t, session, "two")
	waits := b.message(t, session, "three")
	sent := b.call(t, http.MethodPost, turns, map[string]any{"message": "four", "if_busy": "interrupt"})
	four := sent.text("id")
	var ids []string
	read := func(n int) {
		for range n {
			ids = append(ids, live.next(t).id)
		}
	}
	read(5)
	b.call(t, http.MethodPost, "/v1/turns/"+waits+"/cancel", nil)
	b.emit(t, four, "plan", nil)
	read(1)
	b.reply(t, four, "done")
	b.reply(t, two, "done")
	read(7)
	require.Equal(t, []string{"1.1", "1.2", "1.3", "4.1", "4.2", "4.3", "4.4", "4.5", "3.1", "2.1", "2.2", "2.3", "2.4"}, ids)
	for n, id := range ids[:len(ids)-1] {
		require.Equal(t, ids[n+1], open(t, b.url, b.key, path, id).next(t).id, "after "+id)
	}
}

func TestSlowReaderHoldsUpNobody(t *testing.T) {
	t.Parallel()

	b := setup(t)
	turn := b.message(t, b.session(t), "hi")
	for range 4 {
		open(t, b.url, b.key, "/v1/turns/"+turn+"/events", "") // never read from
	}
	for n := range 20 {
		b.emit(t, turn, "reply.delta", map[string]any{"text": strings.Repeat(strconv.Itoa(n%10), 500_000)})
	}
	reader := open(t, b.url, b.key, "/v1/turns/"+turn+"/events", "")
	reader.scanner.Buffer(nil, 1<<20)
	b.reply(t, turn, "there")
	started := time.Now()
	require.Len(t, reader.rest(t), 24)
	require.Less(t, time.Since(started), 10*time.Second, "which one write to a slow reader may take")
	require.Equal(t, http.StatusOK, b.call(t, http.MethodGet, "/v1/turns/"+turn, nil).status, "no connection is held by a stream")
}

func TestStreamsEndWhenTheServerStops(t *testing.T) {
	t.Parallel()

	b := setup(t)
	turn := b.message(t, b.session(t), "hi")
	s := open(t, b.url, b.key, "/v1/turns/"+turn+"/events", "")
	b.stop()
	require.Equal(t, []string{"turn.started", "node.started"}, names(s.rest(t)))
}

// Nothing follows the headers of a HEAD, so its connection is free for the next request.
func TestHeadOfAStream(t *testing.T) {
	t.Parallel()

	b := setup(t)
	session := b.session(t)
	b.message(t, session, "hi")
	for _, path := range []string{"/v1/sessions/" + session + "/events", "/v1/events?session=" + session} {
		keepAlive := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}, Timeout: dbtest.Patience}
		for range 2 {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodHead, b.url+path, nil)
			require.NoError(t, err)
			request.Header.Set("Authorization", "Bearer "+b.key)
			response, err := keepAlive.Do(request)
			require.NoError(t, err, path)
			require.NoError(t, response.Body.Close())
			require.Equal(t, http.StatusOK, response.StatusCode)
			require.Equal(t, "text/event-stream", response.Header.Get("Content-Type"))
		}
		keepAlive.CloseIdleConnections()
	}
}

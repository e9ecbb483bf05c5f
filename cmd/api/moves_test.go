package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/cmd/internal/settings"
	"alfred/internal/dbtest"
	"alfred/internal/directory"
	"alfred/internal/domain"
	"alfred/internal/mover"
	"alfred/internal/pg"
)

// town is the API over two databases, with a user in the first who has a conversation.
type town struct {
	t       *testing.T
	env     settings.Env
	known   *directory.Directory
	pools   map[string]*pgxpool.Pool
	powers  map[string]*power // of the databases, for all but the test itself
	address string
	key     string
	session string
}

func openTown(t *testing.T) *town {
	t.Helper()

	e := settings.Env{"ALFRED_DIRECTORY_URL": dbtest.EmptyURL(t), "ALFRED_ADDR": "127.0.0.1:0"}
	require.NoError(t, directory.Init(t.Context(), e["ALFRED_DIRECTORY_URL"], slog.New(slog.DiscardHandler)))
	w := &town{t: t, env: e, pools: map[string]*pgxpool.Pool{}, powers: map[string]*power{}}
	var err error
	w.known, err = directory.Open(t.Context(), e["ALFRED_DIRECTORY_URL"])
	require.NoError(t, err)
	t.Cleanup(w.known.Close)
	for _, name := range []string{"a", "b"} {
		url := dbtest.URL(t)
		w.pools[name], err = pg.Open(t.Context(), pg.Config{URL: url, MaxConns: 4})
		require.NoError(t, err)
		t.Cleanup(w.pools[name].Close)
		url, w.powers[name] = powered(t, url)
		_, err = w.known.AddDatabase(t.Context(), directory.Database{Name: name, URL: url})
		require.NoError(t, err)
		if name == "a" { // so that the user's is this one
			out := mustAPI(t, e, "keys", "create", "--user", "ada")
			w.key = strings.TrimSpace(out)
		}
	}
	var stop func() error
	w.address, stop = startServer(t, e)
	t.Cleanup(func() { require.NoError(t, stop()) })
	w.session, _ = w.send(http.MethodPost, "/v1/sessions", `{}`)["id"].(string)
	require.NotEmpty(t, w.session)

	return w
}

// send sends a request whose answer is JSON.
func (w *town) send(method, path, body string) map[string]any {
	w.t.Helper()

	status, text, err := w.ask(w.t.Context(), method, path, body)
	require.NoError(w.t, err)
	require.Less(w.t, status, http.StatusBadRequest, text)
	var answer map[string]any
	require.NoError(w.t, json.Unmarshal([]byte(text), &answer), text)

	return answer
}

func (w *town) request(ctx context.Context, method, path, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, w.address+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Close = true
	r.Header.Set("Authorization", "Bearer "+w.key)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("X-Session-Id", w.session)

	return http.DefaultClient.Do(r)
}

func (w *town) ask(ctx context.Context, method, path, body string) (int, string, error) {
	answer, err := w.request(ctx, method, path, body)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)

	return answer.StatusCode, string(text), err
}

func (w *town) message(text string) (turn string) {
	w.t.Helper()
	turn, _ = w.send(http.MethodPost, "/v1/sessions/"+w.session+"/turns", `{"message": "`+text+`"}`)["id"].(string)

	return turn
}

func (w *town) exec(database, sql string, args ...any) {
	w.t.Helper()
	_, err := w.pools[database].Exec(w.t.Context(), sql, args...)
	require.NoError(w.t, err)
}

func (w *town) text(database, sql string, args ...any) (value string) {
	w.t.Helper()
	require.NoError(w.t, w.pools[database].QueryRow(w.t.Context(), sql, args...).Scan(&value))

	return value
}

// says appends an event to a turn's stream, as a worker does.
func (w *town) says(database, turn, what string) {
	w.t.Helper()
	w.exec(database, `SELECT turn_event_append($1::uuid, 'plan', jsonb_build_object('goal', $2::text))`, turn, what)
}

// replies ends a turn, as a worker does, and starts the next one.
func (w *town) replies(database, turn, text string) {
	w.t.Helper()
	w.exec(database, `WITH ended AS (
			UPDATE turns SET status = 'succeeded', reply = $2, replied_at = clock_timestamp(), finished_at = clock_timestamp(),
				summarized_at = clock_timestamp(), position = position + 1 WHERE id = $1::uuid RETURNING id)
		SELECT turn_events_append(id, jsonb_build_array(
			jsonb_build_object('type', 'reply', 'data', jsonb_build_object('text', $2::text)),
			jsonb_build_object('type', 'turn.finished', 'data', jsonb_build_object('status', 'succeeded')))) FROM ended`, turn, text)
	w.exec(database, `SELECT turn_start_next((SELECT session_id FROM turns WHERE id = $1))`, turn)
}

// move moves the user; last, if not nil, ends the turn that runs.
func (w *town) move(to string, last func()) {
	w.t.Helper()

	moved := make(chan error, 1)
	go func() {
		_, err := (&mover.Mover{
			Directory: w.known, Domain: func() (fs.FS, string) { return domain.Find("kitchen") },
			Patience: dbtest.Patience, Off: true, Logger: slog.New(slog.DiscardHandler),
		}).Move(w.t.Context(), "ada", to)
		moved <- err
	}()
	from := map[string]string{"a": "b", "b": "a"}[to]
	if last != nil {
		require.Eventually(w.t, func() bool {
			return w.text(from, `SELECT count(*)::text FROM user_places WHERE state = 'leaving'`) == "1"
		}, dbtest.Patience, 10*time.Millisecond)
		last()
	}
	require.NoError(w.t, <-moved)
}

// reader follows a stream over as many connections as it takes, as browsers do. Its fields may be read once it is done.
type reader struct {
	seen  []string // "2.3 plan"
	conns int
	err   error
	done  chan struct{}
	last  atomic.Value // of seen, while it reads
}

func (w *town) read(path, last, until string) *reader {
	r := &reader{done: make(chan struct{})}
	go func() {
		defer close(r.done)
		for r.err == nil && (len(r.seen) == 0 || r.seen[len(r.seen)-1] != until) {
			r.conns++
			last, r.err = w.readOnce(r, path, last, until)
		}
	}()

	return r
}

// readOnce reads until the server ends the stream, or the last event has come, and returns where to go on.
func (w *town) readOnce(r *reader, path, last, until string) (string, error) {
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.address+path, nil)
	if err != nil {
		return last, err
	}
	request.Close = true
	request.Header.Set("Authorization", "Bearer "+w.key)
	if last != "" {
		request.Header.Set("Last-Event-ID", last)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return last, err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return last, fmt.Errorf("after %s the stream answered %d", last, answer.StatusCode)
	}
	name := ""
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		switch field, value, _ := strings.Cut(lines.Text(), ": "); field {
		case "id":
			last = value
		case "event":
			name = value
		case "data":
			r.seen = append(r.seen, last+" "+name)
			r.last.Store(last + " " + name)
			if r.seen[len(r.seen)-1] == until {
				return last, nil
			}
		}
	}

	return last, nil
}

// reaches waits until an event is the last one that has come, so that a move finds the reader where it was.
func (r *reader) reaches(t *testing.T, event string) {
	t.Helper()
	require.Eventually(t, func() bool { return r.last.Load() == event }, dbtest.Patience, 10*time.Millisecond, event)
}

func (r *reader) await(t *testing.T) {
	t.Helper()

	select {
	case <-r.done:
	case <-time.After(dbtest.Patience):
		require.Fail(t, "the stream does not end", "%v", r.seen)
	}
	require.NoError(t, r.err)
}

// Streams of a session and of a turn go on at the new place behind the last event that their reader has: none is lost, none
// comes twice, however often the user moves.
func TestStreamsFollowTheirUser(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	w := openTown(t)
	one, two, three := w.message("one"), w.message("two"), w.message("three")
	all := w.read("/v1/sessions/"+w.session+"/events", "", "3.5 turn.finished")
	waiting := w.read("/v1/turns/"+three+"/events", "", "5 turn.finished")
	w.says("a", one, "a plan")
	all.reaches(t, "1.3 plan")
	w.move("b", func() {
		w.says("a", one, "another")
		w.replies("a", one, "first")
	})
	w.says("b", two, "a plan")
	all.reaches(t, "2.3 plan")
	w.move("a", func() { w.replies("b", two, "second") })
	w.says("a", three, "a plan")
	w.replies("a", three, "third")
	all.await(t)
	waiting.await(t)
	require.Equal(t, strings.Fields("1.1 turn.started 1.2 node.started 1.3 plan 1.4 plan 1.5 reply 1.6 turn.finished "+
		"2.1 turn.started 2.2 node.started 2.3 plan 2.4 reply 2.5 turn.finished 3.1 turn.started 3.2 node.started 3.3 plan 3.4 reply 3.5 turn.finished"),
		strings.Fields(strings.Join(all.seen, " ")))
	require.Equal(t, []string{"1 turn.started", "2 node.started", "3 plan", "4 reply", "5 turn.finished"}, waiting.seen)
	require.GreaterOrEqual(t, all.conns, 3, "it did not have to follow")
	late := w.read("/v1/sessions/"+w.session+"/events", "1.5", "3.5 turn.finished")
	late.await(t)
	require.Equal(t, all.seen[5:], late.seen, "who was away all the time goes on, too")
}

// waits are requests that wait for the reply to the message "two".
var waits = map[string]struct{ method, path, body string }{
	"completions":          {http.MethodPost, "/v1/chat/completions", `{"model": "alfred", "messages": [{"role": "user", "content": "two"}]}`},
	"streamed completions": {http.MethodPost, "/v1/chat/completions", `{"model": "alfred", "stream": true, "messages": [{"role": "user", "content": "two"}]}`},
	"ag-ui":                {http.MethodPost, "/v1/agui", `{"threadId": "SESSION", "runId": "r", "messages": [{"role": "user", "content": "two"}]}`},
	"mcp":                  {http.MethodPost, "/mcp", `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "send_message", "arguments": {"session_id": "SESSION", "message": "two"}}}`},
	"a turn":               {http.MethodGet, "/v1/turns/TURN?wait=1m", ""},
}

// wait sends one of those behind a turn that runs, and says which turns there are once it waits.
func (w *town) wait(name string) (one, two string, answered <-chan string) {
	w.t.Helper()

	c := waits[name]
	one = w.message("one")
	if c.method == http.MethodGet {
		two = w.message("two")
	}
	said := make(chan string, 1)
	go func() {
		status, text, err := w.ask(w.t.Context(), c.method, strings.ReplaceAll(c.path, "TURN", two), strings.ReplaceAll(c.body, "SESSION", w.session))
		said <- fmt.Sprint(status, " ", text, " ", err)
	}()
	const queued = `SELECT coalesce(max(id::text), '') FROM turns WHERE session_id = $1 AND message = 'two'`
	var found string
	require.Eventually(w.t, func() bool { found = w.text("a", queued, w.session); return found != "" }, dbtest.Patience, 10*time.Millisecond)

	return one, found, said
}

func requireAnswer(t *testing.T, answered <-chan string) string {
	t.Helper()

	select {
	case text := <-answered:
		require.Contains(t, text, "the second reply")
		require.True(t, strings.HasPrefix(text, "200 "), text)

		return text
	case <-time.After(dbtest.Patience):
		require.Fail(t, "no answer")

		return ""
	}
}

// Who waits for the reply to a message that is stored gets it, though the turn runs at another database, and the message
// is sent there once.
func TestWaitsFollowTheirUser(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	for name := range waits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := openTown(t)
			one, two, answered := w.wait(name)
			w.move("b", func() { w.replies("a", one, "first") })
			w.replies("b", two, "the second reply")
			requireAnswer(t, answered)
			require.Equal(t, "2", w.text("b", `SELECT count(*)::text FROM turns`), "the message stands once")
		})
	}
}

// A wait goes on though the database that its user has left is switched off meanwhile, and so does a stream.
func TestWaitsOutliveTheOldDatabase(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	for name := range waits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := openTown(t)
			one, two, answered := w.wait(name)
			stream := w.read("/v1/sessions/"+w.session+"/events", "", "2.4 turn.finished")
			w.move("b", func() { w.replies("a", one, "first") })
			w.powers["a"].switchOff()
			w.replies("b", two, "the second reply")
			text := requireAnswer(t, answered)
			require.NotContains(t, text, "RUN_ERROR")
			stream.await(t)
			three := w.message("three")
			require.NotEmpty(t, three, "what is new goes to the new place")
			if name == "ag-ui" {
				require.Contains(t, text, `"STATE_SNAPSHOT"`)
			}
		})
	}
}

// The state that an AG-UI client is shown at the end is that of the place where its turn has run.
func TestSnapshotsFollowTheirUser(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	w := openTown(t)
	one, two, answered := w.wait("ag-ui")
	w.move("b", func() { w.replies("a", one, "first") })
	w.exec("b", `INSERT INTO entity_refs (session_id, user_id, ref, entity_type, entity_id, state, action, label, turn_created, turn_last_ref)
		SELECT id, user_id, 'recipe_1', 'recipe', gen_random_uuid(), 'stored', 'read', 'Dal of the second place', 2, 2 FROM sessions WHERE id = $1`, w.session)
	w.replies("b", two, "the second reply")
	require.Contains(t, requireAnswer(t, answered), "Dal of the second place")
}

package router_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/internal/auth"
	"alfred/internal/dbtest"
	"alfred/internal/directory"
	"alfred/internal/httpapi/problem"
	"alfred/internal/router"
)

const tick = 10 * time.Millisecond

func TestMain(m *testing.M) { dbtest.Main(m) }

// town is a router over two databases, whose APIs are played.
type town struct {
	*httptest.Server

	url     string // of the directory
	key     string
	at      atomic.Value // the database that answers; the other one says that the user is elsewhere
	unknown atomic.Bool  // it says instead that it does not know the key
	asked   [2]atomic.Int64
	down    atomic.Bool // b cannot be opened
	broken  atomic.Bool // what has refused fails instead, as a database that is switched off
	// change, if set, changes what is sent.
	change func(*http.Request)
	// looks, if set, is called with each request before it is answered.
	looks func(database string, r *http.Request)
}

// patience is for requests of users who move.
const patience = 3 * time.Second

func openTown(t *testing.T) *town {
	t.Helper()

	w := &town{url: dbtest.EmptyURL(t)}
	w.at.Store("a")
	require.NoError(t, directory.Init(t.Context(), w.url, slog.New(slog.DiscardHandler)))
	known, err := directory.Open(t.Context(), w.url)
	require.NoError(t, err)
	t.Cleanup(known.Close)
	key, hash := auth.NewKey()
	w.key = key
	w.exec(t, `INSERT INTO databases (name, url) VALUES ('a', 'postgres://a'), ('b', 'postgres://b')`)
	w.exec(t, `INSERT INTO users (id, name, database) VALUES (gen_random_uuid(), 'ada', 'a')`)
	w.exec(t, `INSERT INTO keys (hash, user_id) SELECT $1, id FROM users`, hash)
	routed := router.New(router.Config{Users: directory.NewMap(known, slog.New(slog.DiscardHandler)), Open: w.open, Patience: patience, Logger: slog.New(slog.DiscardHandler)})
	routed.Warm(t.Context(), []directory.Listed{{Database: directory.Database{Name: "a", URL: "postgres://a"}}})
	w.Server = httptest.NewServer(routed)
	t.Cleanup(w.Close)

	return w
}

func (w *town) open(_ context.Context, database directory.Database) (router.API, error) {
	if w.down.Load() && database.Name == "b" {
		return router.API{}, errors.New("it is down")
	}

	return router.API{Handler: http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.asked[strings.Index("ab", database.Name)].Add(1)
		body, _ := io.ReadAll(r.Body)
		if w.looks != nil {
			w.looks(database.Name, r)
		}
		switch {
		case r.Header.Get("Authorization") == "":
			fmt.Fprint(out, "anybody's")
		case w.at.Load() == database.Name:
			out.Header().Set("X-At", database.Name)
			out.WriteHeader(http.StatusAccepted)
			fmt.Fprintf(out, "%s took %s", database.Name, body)
		case w.broken.Load():
			http.Error(out, "it is down", http.StatusServiceUnavailable)
		case w.unknown.Load():
			http.Error(out, "who is that?", http.StatusUnauthorized)
		default:
			out.Header().Set(problem.ElsewhereHeader, "true")
			out.Header().Set("X-Stale", "true")
			http.Error(out, "try again", http.StatusServiceUnavailable)
		}
	})}, nil
}

func (w *town) exec(t *testing.T, sql string, args ...any) {
	t.Helper()

	conn, err := pgx.Connect(t.Context(), w.url)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	_, err = conn.Exec(t.Context(), `SET search_path = alfred_directory`)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), sql, args...)
	require.NoError(t, err, sql)
}

func (w *town) post(t *testing.T, key, body string) (int, string, http.Header) {
	t.Helper()

	answer, text, err := w.send(t.Context(), key, body)
	require.NoError(t, err)

	return answer.StatusCode, text, answer.Header
}

func (w *town) send(ctx context.Context, key, body string) (*http.Response, string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL+"/v1/sessions", strings.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	if w.change != nil {
		w.change(request)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)

	return answer, string(text), err
}

// A request goes to its user's database, whole, also after they have moved.
func TestRequestsFollowTheirUser(t *testing.T) {
	t.Parallel()

	for name, unknown := range map[string]bool{"refused by the old place": false, "forgotten by the old place": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := openTown(t)
			w.unknown.Store(unknown)
			status, text, _ := w.post(t, w.key, "one")
			require.Equal(t, "a took one", text)
			require.Equal(t, http.StatusAccepted, status)
			w.at.Store("b")
			w.exec(t, `UPDATE users SET database = 'b', epoch = 2`)
			long := strings.Repeat("two", 100_000)
			status, text, header := w.post(t, w.key, long)
			require.Equal(t, http.StatusAccepted, status)
			require.Equal(t, "b took "+long, text)
			require.Empty(t, header.Get("X-Stale"), "nothing is left of an answer that was kept back")
			require.Empty(t, header.Get(problem.ElsewhereHeader))
			asked := w.asked[0].Load()
			w.post(t, w.key, "three")
			require.Equal(t, asked, w.asked[0].Load(), "the old place is not asked again")
		})
	}
}

// While a user is being moved a request waits for the end of it.
func TestRequestsWaitForAMove(t *testing.T) {
	t.Parallel()

	w := openTown(t)
	w.at.Store("nowhere")
	answered := make(chan string, 1)
	go func() {
		_, text, err := w.send(t.Context(), w.key, "one")
		if err != nil {
			text = err.Error()
		}
		answered <- text
	}()
	require.Eventually(t, func() bool { return w.asked[0].Load() > 2 }, dbtest.Patience, tick)
	w.exec(t, `UPDATE users SET database = 'b', epoch = 2`)
	w.at.Store("b")
	require.Equal(t, "b took one", <-answered)
}

// How long a request waits for a move counts from when it is first refused: it may have waited for a reply before. What it
// waits for counts from its arrival, wherever it is answered.
func TestRequestsThatHaveWaitedWaitForAMove(t *testing.T) {
	t.Parallel()

	w := openTown(t)
	var since, waited time.Duration
	arrived, refuses, moved := time.Now(), make(chan struct{}), make(chan struct{})
	w.looks = func(database string, r *http.Request) {
		if database == "b" {
			since, waited = time.Since(arrived), auth.WaitedFor(r.Context())

			return
		}
		arrived = time.Now()
		close(refuses)
		<-moved
	}
	answered := make(chan string, 1)
	go func() {
		_, text, err := w.send(t.Context(), w.key, "one")
		answered <- fmt.Sprint(text, err)
	}()
	<-refuses
	w.exec(t, `UPDATE users SET database = 'b', epoch = 2`)
	w.at.Store("b")
	time.Sleep(patience + tick)
	close(moved)
	require.Equal(t, "b took one<nil>", <-answered)
	require.Greater(t, since, patience)
	require.GreaterOrEqual(t, waited, since)
	require.Zero(t, auth.WaitedFor(t.Context()), "without a directory nobody moves")
}

// What fails at a database that the user has left is sent again where they are, if it has done nothing or does nothing
// twice; the next request goes there at once.
func TestRequestsLeaveADatabaseThatIsDown(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		change func(*http.Request)
		want   string
	}{
		"looks":             {func(r *http.Request) { r.Method = http.MethodGet }, "b took one"},
		"has a key":         {func(r *http.Request) { r.Header.Set("Idempotency-Key", "k") }, "b took one"},
		"has a key in vain": {func(r *http.Request) { r.Method = http.MethodPatch; r.Header.Set("Idempotency-Key", "k") }, "it is down\n"},
		"may have written":  {func(*http.Request) {}, "it is down\n"},
		"cannot be reached": {nil, "a took one"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := openTown(t)
			from, to := "a", "b"
			if c.change == nil { // the user's database cannot be opened, and they leave it
				from, to, c.change = "b", "a", func(*http.Request) {}
				w.exec(t, `UPDATE users SET database = 'b'`)
				w.down.Store(true)
				status, _, _ := w.post(t, w.key, "zero")
				require.Equal(t, http.StatusServiceUnavailable, status)
			} else {
				w.post(t, w.key, "zero")
			}
			w.broken.Store(true)
			w.exec(t, `UPDATE users SET database = $1, epoch = 2`, to)
			w.at.Store(to)
			w.change = c.change
			_, text, _ := w.post(t, w.key, "one")
			require.Equal(t, c.want, text)
			asked := w.asked[strings.Index("ab", from)].Load()
			w.change = nil
			_, text, _ = w.post(t, w.key, "two")
			require.Equal(t, to+" took two", text)
			require.Equal(t, asked, w.asked[strings.Index("ab", from)].Load(), "the old place is not asked again")
		})
	}
}

// What fails does not wait for a directory that is down as well.
func TestFailuresDoNotWaitForTheDirectory(t *testing.T) {
	t.Parallel()

	w := openTown(t)
	w.change = func(r *http.Request) { r.Method = http.MethodGet }
	w.post(t, w.key, "one")
	w.at.Store("b")
	w.broken.Store(true)
	w.exec(t, `ALTER TABLE users RENAME TO gone`)
	down := time.Now()
	w.post(t, w.key, "two")
	w.exec(t, `UPDATE gone SET database = 'b', epoch = 2`)
	w.exec(t, `ALTER TABLE gone RENAME TO users`)
	_, text, _ := w.post(t, w.key, "three")
	if time.Since(down) < time.Second {
		require.Equal(t, "it is down\n", text, "the directory is left alone for a moment")
	}
	require.Eventually(t, func() bool {
		_, text, err := w.send(t.Context(), w.key, "four")

		return err == nil && text == "b took four"
	}, dbtest.Patience, tick)
}

// While the directory does not answer, who waits goes on where their user is known to be.
func TestPlacesAreKnownWithoutTheDirectory(t *testing.T) {
	t.Parallel()

	w := openTown(t)
	var err error
	w.looks = func(_ string, r *http.Request) { _, err = auth.PlaceOf(r.Context())(r.Context()) }
	w.post(t, w.key, "one")
	require.NoError(t, err)
	w.exec(t, `ALTER TABLE users RENAME TO gone`)
	w.post(t, w.key, "two")
	require.NoError(t, err)
}

// Known users go on while the directory does not answer, and what is down stops its own users alone.
func TestOneDownStopsItsUsersAlone(t *testing.T) {
	t.Parallel()

	w := openTown(t)
	w.post(t, w.key, "one")
	w.exec(t, `ALTER TABLE users RENAME TO gone`)
	_, text, _ := w.post(t, w.key, "two")
	require.Equal(t, "a took two", text)
	w.exec(t, `ALTER TABLE gone RENAME TO users`)

	key, hash := auth.NewKey()
	w.exec(t, `INSERT INTO users (id, name, database) VALUES (gen_random_uuid(), 'bob', 'b')`)
	w.exec(t, `INSERT INTO keys (hash, user_id) SELECT $1, id FROM users WHERE name = 'bob'`, hash)
	w.down.Store(true)
	status, text, _ := w.post(t, key, "three")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, text, `"code":"unavailable"`)
	_, text, _ = w.post(t, w.key, "four")
	require.Equal(t, "a took four", text)
}

// Who shows nothing, or a key that nobody has, is answered by any database; so is what needs nobody.
func TestWhoIsNobody(t *testing.T) {
	t.Parallel()

	w := openTown(t)
	_, text, _ := w.post(t, "", "one")
	require.Equal(t, "anybody's", text)
	w.at.Store("b")
	w.unknown.Store(true)
	status, _, _ := w.post(t, "alf_of_nobody", "one")
	require.Equal(t, http.StatusUnauthorized, status)
	answer, err := http.Get(w.URL + "/readyz")
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusOK, answer.StatusCode)
}

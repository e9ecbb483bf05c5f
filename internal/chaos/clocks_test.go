package chaos_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
)

// The offsets of clocks, as testdata/clock.go.txt reads them.
const (
	ahead   = "1h"
	behind  = "-1h"
	jumping = "1h/1s"
)

// openClocks builds the programs with a wall clock that may be wrong. libfaketime does not work for Go programs, which
// ask the kernel themselves, so the standard library is changed.
func openClocks(t *testing.T) *lab {
	t.Helper()

	if os.Getenv("CLOCKS") == "" {
		t.Skip("make chaos/clocks does this")
	}
	l := openLab(t)
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	require.NoError(t, err)
	source := filepath.Join(strings.TrimSpace(string(root)), "src", "time")
	text, err := os.ReadFile(filepath.Join(source, "time.go"))
	require.NoError(t, err)
	const reading = "sec, nsec, mono := runtimeNow()\n"
	require.Equal(t, 1, strings.Count(string(text), reading))
	patched := filepath.Join(t.TempDir(), "time.go")
	require.NoError(t, os.WriteFile(patched, []byte(strings.Replace(string(text), reading, reading+"\tsec += wrong(mono)\n", 1)), 0o600))
	wrong, err := filepath.Abs("testdata/clock.go.txt")
	require.NoError(t, err)
	right, programs := l.programs, filepath.Join(l.dir, "clocks")
	overlaid(t, map[string]string{filepath.Join(source, "time.go"): patched, filepath.Join(source, "wrong.go"): wrong}, programs+"/", "alfred/cmd/worker", "alfred/cmd/api")
	l.programs = programs
	t.Cleanup(func() { l.programs = right })

	return l
}

// K06: whatever the clocks of workers and API say, conversations end as with right ones, even while workers are killed,
// stopped and terminated. A wrong clock of the database is the same as wrong clocks of all programs.
func TestK06WrongClocksSameOutcomes(t *testing.T) {
	t.Parallel()
	l := openClocks(t)
	want := openZoo(t, l, 1).undisturbed()
	decisions := strings.Count(want["node_runs"], "\n") + 1
	for _, tt := range []struct {
		name    string
		workers []string
		api     string
	}{
		{"four workers: right, an hour ahead, an hour behind, jumping by two hours each second", []string{"", ahead, behind, jumping}, ""},
		{"all programs an hour behind, as if the database were ahead", slices.Repeat([]string{behind}, zooWorkers), behind},
		{"all programs an hour ahead, as if the database were behind", slices.Repeat([]string{ahead}, zooWorkers), ahead},
	} {
		z := newZoo(t, l, 1)
		z.plain, z.clocks, z.apiClock = true, tt.workers, tt.api
		z.revive()
		sessions := z.round(func(sessions []uuid.UUID) { z.strikeEach(sessions, decisions*len(sessions)) })
		for _, session := range sessions {
			requireSame(t, want, state(t, z.pool, session), tt.name)
		}
		requireClean(t, z.pool)
		requireTimely(t, z.pool)
		report("clocks", fmt.Sprintf("| %s | %d turns of %d sessions; %s | all as with right clocks: 0 lost, 0 doubled |", tt.name, len(sessions)*z.turns, len(sessions), z.tally()))
	}
}

// K06: the same while the database's clock is set back by an hour and ahead again, and the worker that notices first is
// killed each time.
func TestK06DatabaseClockSet(t *testing.T) {
	t.Parallel()
	if os.Getenv("CLOCKS") == "" {
		t.Skip("make chaos/clocks does this")
	}
	l := openLab(t)
	want := openZoo(t, l, 1).undisturbed()
	decisions := strings.Count(want["node_runs"], "\n") + 1
	z := newZoo(t, l, 1)
	z.plain = true
	dbtest.SetClock(t, z.pool, 0)
	z.revive()
	const times = 8
	sessions := z.round(func(sessions []uuid.UUID) {
		for n := range times {
			z.awaitDecisions(sessions, decisions*len(sessions)*(n+1)/(times+2))
			by := []time.Duration{-time.Hour, 0, time.Hour, 0}[n%4]
			dbtest.SetClock(t, z.pool, by)
			z.did["the clock set "+map[bool]string{true: "back", false: "ahead"}[n%4 == 0 || n%4 == 3]]++
			z.did["kill -9 of a worker"]++
			z.workers[n%len(z.workers)].kill()
			z.revive()
		}
	})
	for _, session := range sessions {
		requireSame(t, want, state(t, z.pool, session), "the database's clock set")
	}
	report("clocks", fmt.Sprintf("| the database's set back by an hour and ahead again, four times each | %d turns of %d sessions; %s | all as with right clocks: 0 lost, 0 doubled |", len(sessions)*z.turns, len(sessions), z.tally()))
}

// requireTimely looks for ids with a different time than the database's: rows are listed, partitioned and dropped by
// their ids.
func requireTimely(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()

	for _, table := range []string{"llm_calls", "questions"} {
		var n int
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM `+table+`
			WHERE id NOT BETWEEN uuid_v7_floor(created_at - interval '1 minute') AND uuid_v7_floor(created_at + interval '1 minute')`).Scan(&n))
		require.Zero(t, n, "%s whose ids tell another time", table)
	}
}

// strikeEach makes each worker, and so each clock, suffer each accident, evenly spread over so many decisions.
func (z *zoo) strikeEach(sessions []uuid.UUID, decisions int) {
	z.t.Helper()

	blows := []struct {
		what string
		blow func(*process)
	}{
		{"kill -9 of a worker", func(p *process) { p.kill() }},
		{"a worker stopped for 5 s", func(p *process) {
			p.signal(syscall.SIGSTOP)
			time.AfterFunc(5*time.Second, func() { p.signal(syscall.SIGCONT) })
		}},
		{"SIGTERM of a worker", func(p *process) { p.signal(syscall.SIGTERM) }},
	}
	for n := range len(blows) * len(z.workers) {
		z.awaitDecisions(sessions, decisions*(n+1)/(len(blows)*len(z.workers)+2))
		blow := blows[n/len(z.workers)]
		z.did[blow.what]++
		blow.blow(z.workers[n%len(z.workers)])
		z.revive()
	}
}

// mood is how a model server treats a message. It never gives an answer that a worker can use.
type mood struct {
	word   string                                                  // in the message
	answer func(w http.ResponseWriter, r *http.Request, asked int) // to the n-th request
	waits  []time.Duration                                         // how long the worker must wait, at least, before it asks again
	code   string                                                  // with which the turn ends
}

const (
	clocksDeadline = "20s"
	hangs          = "hangs-for-ever"
	dies           = "its-worker-dies"
	stops          = "its-worker-stops"
)

func moods() []mood {
	refuse := func(w http.ResponseWriter) { http.Error(w, "{}", http.StatusUnauthorized) } // ends the turn
	pause := func(w http.ResponseWriter, until string) {
		w.Header().Set("Retry-After", until)
		http.Error(w, "{}", http.StatusTooManyRequests)
	}
	once := func(w http.ResponseWriter, r *http.Request, asked int) {
		if asked == 1 {
			<-r.Context().Done()
		}
		refuse(w)
	}

	return []mood{
		{"is-overloaded", func(w http.ResponseWriter, _ *http.Request, asked int) {
			if asked < 5 {
				http.Error(w, "{}", http.StatusServiceUnavailable)
			} else {
				refuse(w)
			}
		}, []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second}, "model_auth"},
		{"asks-for-pauses", func(w http.ResponseWriter, _ *http.Request, asked int) {
			switch asked {
			case 1:
				pause(w, "3")
			case 2: // at the full second
				pause(w, time.Now().Add(4*time.Second).UTC().Format(http.TimeFormat))
			default:
				refuse(w)
			}
		}, []time.Duration{3 * time.Second, 3 * time.Second}, "model_auth"},
		{hangs, func(_ http.ResponseWriter, r *http.Request, _ int) { <-r.Context().Done() }, nil, "timed_out"},
		{dies, once, nil, "model_auth"},
		{stops, once, nil, "model_auth"},
	}
}

// moody is a model server that records when it was asked about each message.
type moody struct {
	mu    sync.Mutex
	asked map[string][]time.Time
}

func (m *moody) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	for _, mood := range moods() {
		if bytes.Contains(body, []byte(mood.word)) {
			mood.answer(w, r, m.note(mood.word))
		}
	}
}

func (m *moody) note(word string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked[word] = append(m.asked[word], time.Now())

	return len(m.asked[word])
}

func (m *moody) times(word string) []time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()

	return slices.Clone(m.asked[word])
}

// watch is the workers with one clock, whose waits are measured.
type watch struct {
	*ward

	clock string
	model *moody
	addr  string

	metrics string // address of the newest worker's
}

// worker starts a worker and waits for its lease.
func (w *watch) worker() *process {
	w.t.Helper()

	leases := func() (n int) {
		require.NoError(w.t, w.pool.QueryRow(w.t.Context(), `SELECT count(*) FROM workers`).Scan(&n))

		return n
	}
	before := leases()
	port, err := freePort(w.t.Context())
	require.NoError(w.t, err)
	w.metrics = fmt.Sprintf("127.0.0.1:%d", port)
	p := spawn(w.t, []string{
		"DATABASE_URL=" + w.url, "ALFRED_LLM=openai", "OPENAI_BASE_URL=" + w.addr, "OPENAI_API_KEY=k", "ALFRED_TURN_DEADLINE=" + clocksDeadline, "WRONG_CLOCK=" + w.clock, "ALFRED_METRICS_ADDR=" + w.metrics,
	}, filepath.Join(w.l.programs, "worker"), "run")
	w.await("a worker's lease", func() bool { return leases() > before })

	return p
}

func (w *watch) await(what string, is func() bool) {
	w.t.Helper()

	for since := time.Now(); !is(); time.Sleep(5 * time.Millisecond) {
		require.Less(w.t, time.Since(since), dbtest.Patience, "%s, with the clock %q\n%s", what, w.clock, stuck(w.t, w.pool))
	}
}

// say starts a turn in a new session.
func (w *watch) say(word string) uuid.UUID {
	w.t.Helper()

	session := newSession(w.t, w.pool)
	_, err := w.pool.Exec(w.t.Context(), `SELECT enqueue_turn($1, $2, 'once')`, session, "Whoever answers "+word)
	require.NoError(w.t, err)

	return session
}

// ended waits for the end of a session's turn and returns how long it took, by the database's clock.
func (w *watch) ended(session uuid.UUID, code string) time.Duration {
	w.t.Helper()

	var got string
	var seconds float64
	w.await("the end of a turn", func() bool {
		return w.pool.QueryRow(w.t.Context(), `SELECT coalesce(error_code, 'none'), extract(epoch FROM finished_at - started_at)::float8
			FROM turns WHERE session_id = $1 AND finished_at IS NOT NULL`, session).Scan(&got, &seconds) == nil
	})
	require.Equal(w.t, code, got)

	return time.Duration(seconds * float64(time.Second))
}

// finished inserts a job that ended so long ago.
func (w *watch) finished(ago string) {
	w.t.Helper()

	_, err := w.pool.Exec(w.t.Context(), `INSERT INTO river_job (kind, queue, args, state, max_attempts, finalized_at)
		VALUES ('embed', 'background', jsonb_build_object('ago', $1::text), 'completed', 1, clock_timestamp() - $1::text::interval)`, ago)
	require.NoError(w.t, err)
}

// kept are the finished jobs that are left.
func (w *watch) kept() (ago string) {
	w.t.Helper()

	require.NoError(w.t, w.pool.QueryRow(w.t.Context(), `SELECT coalesce(string_agg(args ->> 'ago', ', ' ORDER BY id), '') FROM river_job WHERE args ? 'ago'`).Scan(&ago))

	return ago
}

// slack is how much longer than asked for a wait may take: a busy machine's share, far from an hour.
const slack = 10 * time.Second

// seconds formats waits after checking each.
func (w *watch) seconds(what string, atLeast, waited []time.Duration) string {
	w.t.Helper()

	words := make([]string, len(waited))
	require.Len(w.t, waited, len(atLeast), what)
	for i, wait := range waited {
		require.GreaterOrEqual(w.t, wait, atLeast[i], "%s, with the clock %q", what, w.clock)
		require.Less(w.t, wait, atLeast[i]+slack, "%s, with the clock %q", what, w.clock)
		words[i] = fmt.Sprintf("%.1f", wait.Seconds())
	}

	return strings.Join(words, ", ") + " s"
}

// between are the waits between requests about a message.
func (w *watch) between(word string) []time.Duration {
	var waited []time.Duration
	for times := w.model.times(word); len(times) > 1; times = times[1:] {
		waited = append(waited, times[1].Sub(times[0]))
	}

	return waited
}

// tookByMetrics is the total duration of its turns in the newest worker's histogram.
func (w *watch) tookByMetrics() time.Duration {
	w.t.Helper()

	resp, err := http.Get("http://" + w.metrics + "/metrics")
	require.NoError(w.t, err)
	text, err := io.ReadAll(resp.Body)
	require.NoError(w.t, err)
	require.NoError(w.t, resp.Body.Close())
	sums := regexp.MustCompile(`(?m)^alfred_turn_duration_seconds_sum\S* (\S+)$`).FindAllStringSubmatch(string(text), -1)
	require.NotEmpty(w.t, sums)
	var all float64
	for _, sum := range sums {
		one, err := strconv.ParseFloat(sum[1], 64)
		require.NoError(w.t, err)
		all += one
	}

	return time.Duration(all * float64(time.Second))
}

// takenOver makes the only worker suffer an accident while it asks about a message. It returns the worker that takes
// over, and after how long.
func (w *watch) takenOver(word string, victim *process, accident func(), atLeast time.Duration) (other *process, after string) {
	w.t.Helper()

	session := w.say(word)
	w.await("the first request", func() bool { return len(w.model.times(word)) == 1 })
	other = w.worker()
	since := time.Now()
	accident()
	w.ended(session, "model_auth")
	victim.kill()

	return other, w.seconds(word, []time.Duration{atLeast}, []time.Duration{w.model.times(word)[1].Sub(since)})
}

// K06: retries, pauses that a provider asks for, a turn's deadline, leases and retention last as long as with a right
// clock.
func TestK06WrongClocksSameWaits(t *testing.T) {
	t.Parallel()
	l := openClocks(t)
	for _, tt := range []struct{ name, clock string }{
		{"right", ""}, {"an hour ahead", ahead}, {"an hour behind", behind}, {"jumping by two hours each second", jumping},
	} {
		w := &watch{ward: &ward{t: t, l: l}, clock: tt.clock, model: &moody{asked: map[string][]time.Time{}}}
		w.url, w.pool = l.database(t)
		server := httptest.NewServer(w.model)
		t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
		w.addr = server.URL
		w.finished("24:30")
		w.finished("23:30")
		first := w.worker()
		var measured []string
		var all time.Duration
		sessions := map[string]uuid.UUID{}
		for _, mood := range moods()[:3] {
			sessions[mood.word] = w.say(mood.word)
		}
		for _, mood := range moods()[:3] {
			took := w.ended(sessions[mood.word], mood.code)
			all += took
			if mood.word == hangs {
				measured = append(measured, "ended at its deadline after "+w.seconds(hangs, []time.Duration{20 * time.Second}, []time.Duration{took}))
			} else {
				measured = append(measured, mood.word+": retried after "+w.seconds(mood.word, mood.waits, w.between(mood.word)))
			}
		}
		w.seconds("turns in the metrics", []time.Duration{all - time.Second}, []time.Duration{w.tookByMetrics()})
		w.await("the older job to be deleted", func() bool { return w.kept() != "24:30, 23:30" })
		require.Equal(t, "23:30", w.kept(), "finished jobs are kept for 24 hours, with the clock %q", tt.clock)
		second, killed := w.takenOver(dies, first, first.kill, 0)
		third, stopped := w.takenOver(stops, second, func() { second.signal(syscall.SIGSTOP) }, 2*time.Second)
		third.kill()
		report("clocks", fmt.Sprintf("| one worker, then another: %s | %s | taken over %s after a kill, %s after a stop; finished jobs kept for 24 hours |",
			tt.name, strings.Join(measured, "; "), killed, stopped))
	}
}

// K06: the database's clock decides what is old: with a clock ten weeks ahead, worker prune would drop this month.
func TestK06PruneByTheDatabasesClock(t *testing.T) {
	t.Parallel()
	l := openClocks(t)
	url, _ := l.database(t)
	for _, clock := range []string{"", "1680h", "-1680h"} {
		prune := exec.CommandContext(t.Context(), filepath.Join(l.programs, "worker"), "prune", "--dry-run", "--json")
		prune.Env = append(os.Environ(), "DATABASE_URL="+url, "WRONG_CLOCK="+clock)
		out, err := prune.Output()
		require.NoError(t, err)
		var done struct {
			Dropped []string `json:"dropped"`
		}
		require.NoError(t, json.Unmarshal(out, &done))
		require.Empty(t, done.Dropped, "with the clock %q", clock)
	}
}

// K06: a resent request is recognized, whatever the API's clock says.
func TestK06ResentWithWrongClocks(t *testing.T) {
	t.Parallel()
	l := openClocks(t)
	for _, clock := range []string{"", ahead, behind} {
		z := newZoo(t, l, 1)
		z.plain, z.workers, z.apiClock = true, z.workers[:1], clock
		z.revive()
		z.awaitAPI()
		key := z.newKey(newSession(t, z.pool))
		for range 2 {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+z.addr+"/v1/chat/completions",
				strings.NewReader(`{"model": "alfred", "messages": [{"role": "user", "content": "What is missing?"}]}`))
			require.NoError(t, err)
			req.Header = http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}, "X-Stainless-Retry-Count": {"1"}}
			resp, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.Equal(t, http.StatusOK, resp.StatusCode)
		}
		var sent int
		require.NoError(t, z.pool.QueryRow(t.Context(), `SELECT count(*) FROM turns`).Scan(&sent))
		require.Equal(t, 1, sent, "turns, with the clock %q", clock)
	}
}

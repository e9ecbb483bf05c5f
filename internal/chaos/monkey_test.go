package chaos_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
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

	"alfred/internal/auth"
	"alfred/internal/dbtest"
)

// zoo is what the monkey disturbs: workers, an API and the server.
type zoo struct {
	t       *testing.T
	l       *lab
	url     string
	script  string
	addr    string
	pool    *pgxpool.Pool
	network *network // of one worker
	keys    map[uuid.UUID]string
	apiArgs []string
	turns   int  // of a conversation
	plain   bool // all workers are alike
	slots   int  // of each worker if all are alike; 0 is the usual number
	standby *server

	// What the clocks of programs are off by, if clocks_test.go has built them.
	clocks   []string // of the workers
	apiClock string

	mu       sync.Mutex
	statuses map[int]int // how often the API returned each
	workers  []*process
	api      *process
	dice     *rand.Rand
	did      map[string]int
}

const zooWorkers = 4

func openZoo(t *testing.T, l *lab, seed uint64) *zoo {
	t.Helper()

	z := newZoo(t, l, seed)
	z.network = openNetwork(t, l.server.address())
	z.revive()

	return z
}

// newZoo starts nothing yet.
func newZoo(t *testing.T, l *lab, seed uint64) *zoo {
	t.Helper()

	z := &zoo{t: t, l: l, script: writeScript(t, 20*time.Millisecond, turns), dice: rand.New(rand.NewPCG(seed, seed)), did: map[string]int{}, keys: map[uuid.UUID]string{}, statuses: map[int]int{}, turns: len(turns)}
	z.url, z.pool = l.database(t)
	port, err := freePort(t.Context())
	require.NoError(t, err)
	z.addr = fmt.Sprintf("127.0.0.1:%d", port)
	z.workers = make([]*process, zooWorkers)

	return z
}

// revive restarts what has died, like a supervisor.
func (z *zoo) revive() {
	z.t.Helper()

	for i, worker := range z.workers {
		if worker == nil || worker.ended() {
			url, args := z.url, []string{}
			switch {
			case z.plain && z.slots > 0:
				args = []string{"--turns", strconv.Itoa(z.slots)}
			case z.plain:
			case i == 0:
				args = []string{"--conns", "3"} // its pool is always full
			case i == 1:
				url = z.networkURL()
			}
			clock := ""
			if z.clocks != nil {
				clock = z.clocks[i]
			}
			z.workers[i] = z.l.workerAt(z.t, clock, url, z.script, args...)
		}
	}
	if z.api == nil || z.api.ended() {
		z.api = spawn(z.t, []string{"DATABASE_URL=" + z.url, "ALFRED_ADDR=" + z.addr, "WRONG_CLOCK=" + z.apiClock}, filepath.Join(z.l.programs, "api"), append([]string{"serve"}, z.apiArgs...)...)
	}
}

// accident is something that happens to programs.
type accident struct {
	what string
	odds int // relative to the others
	blow func(z *zoo)
}

func accidents() []accident {
	return append([]accident{
		{"kill -9 of a worker", 6, func(z *zoo) { z.anyWorker().kill() }},
		{"a crash of Postgres", 2, func(z *zoo) { z.crash(0) }},
		{"kill -9 of the API", 2, func(z *zoo) { z.api.kill() }},
		{"a worker stopped for 4 to 6 s", 3, func(z *zoo) {
			worker := z.anyWorker()
			worker.signal(syscall.SIGSTOP)
			time.AfterFunc(4*time.Second+time.Duration(z.dice.IntN(2000))*time.Millisecond, func() { worker.signal(syscall.SIGCONT) })
		}},
		{"a worker's connections dropped", 3, func(z *zoo) {
			z.exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'alfred worker' AND random() < 0.3`)
		}},
		{"lease and LISTEN connections dropped", 2, func(z *zoo) {
			z.exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name <> 'chaos'
				AND (query ILIKE 'LISTEN%' OR query LIKE '%pg_advisory_lock%')`)
		}},
		{"SIGTERM of a worker", 1, func(z *zoo) { z.anyWorker().signal(syscall.SIGTERM) }},
		// Longer than a lease: every worker has stopped its runs when the server is back.
		{"Postgres away for 4 s", 1, func(z *zoo) { z.crash(4 * time.Second) }},
	}, networkAccidents()...)
}

func (z *zoo) anyWorker() *process { return z.workers[z.dice.IntN(len(z.workers))] }

// crash kills the server and restarts it after a while.
func (z *zoo) crash(away time.Duration) {
	z.t.Helper()

	require.NoError(z.t, z.l.server.crash())
	time.Sleep(away)
	require.NoError(z.t, z.l.server.start(z.t.Context()))
}

// strike makes the accident happen.
func (z *zoo) strike(a accident) {
	z.t.Helper()

	z.did[a.what]++
	a.blow(z)
	z.revive()
}

// any picks an accident by its odds.
func (z *zoo) any() accident {
	var all []accident
	for _, a := range accidents() {
		all = append(all, slices.Repeat([]accident{a}, a.odds)...)
	}

	return all[z.dice.IntN(len(all))]
}

func (z *zoo) exec(sql string) {
	_, _ = z.pool.Exec(z.t.Context(), sql) // the server may be down, and may also end this connection
}

// post sends the n-th message until the API has accepted it. An accepted message without a response is sent again.
func (z *zoo) post(ctx context.Context, session uuid.UUID, key string, n int) error {
	text := fmt.Sprintf("message %d", n)
	body, err := json.Marshal(map[string]string{"message": text})
	if err != nil {
		return err
	}
	for {
		status, answer := 0, []byte(nil)
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+z.addr+"/v1/sessions/"+session.String()+"/turns", bytes.NewReader(body))
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+key)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", text)
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			answer, _ = io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			status = resp.StatusCode
			z.mu.Lock()
			z.statuses[status]++
			z.mu.Unlock()
		}
		if status == http.StatusAccepted || status == http.StatusOK {
			return nil
		}
		if status >= http.StatusBadRequest && status < http.StatusInternalServerError && status != http.StatusTooManyRequests {
			return fmt.Errorf("the API answered %d: %s", status, answer)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// talk plays the whole conversation in n sessions concurrently, two messages ahead of the answers.
func (z *zoo) talk(n int) ([]uuid.UUID, *sync.WaitGroup, []error) {
	z.t.Helper()

	sessions, errs := make([]uuid.UUID, n), make([]error, n)
	wait := &sync.WaitGroup{}
	for i := range sessions {
		sessions[i] = newSession(z.t, z.pool)
		key := z.newKey(sessions[i])
		wait.Go(func() {
			for k := range z.turns {
				if errs[i] = z.post(z.t.Context(), sessions[i], key, k+1); errs[i] != nil {
					return
				}
				time.Sleep(time.Duration(i%5) * 20 * time.Millisecond)
			}
		})
	}

	return sessions, wait, errs
}

// newKey creates a key for the user of a session.
func (z *zoo) newKey(session uuid.UUID) string {
	z.t.Helper()

	key, hash := auth.NewKey()
	_, err := z.pool.Exec(z.t.Context(), `INSERT INTO api_keys (user_id, name, key_hash, scopes) SELECT user_id, 'chaos', $2, '{chat}' FROM sessions WHERE id = $1`, session, hash)
	require.NoError(z.t, err)
	z.keys[session] = key

	return key
}

// disturbance is the duration of a round of `make chaos`.
const disturbance = 30 * time.Second

// Everything that can be killed is killed while many sessions talk. The result equals an undisturbed session's. In the
// short form each accident happens once, in a fixed order, at fixed points of progress; in the long one all happen at
// random.
func TestMonkey(t *testing.T) {
	t.Parallel()
	l := openLab(t)
	seed := seedOf(t)
	calm := openZoo(t, l, seed)
	want := calm.undisturbed()
	disturbed, began := openZoo(t, l, seed), time.Now()
	var all []uuid.UUID
	if rounds() == 0 {
		decisions := strings.Count(want["node_runs"], "\n") + 1
		all = disturbed.round(func(sessions []uuid.UUID) { disturbed.eachOnce(sessions, decisions*len(sessions)) })
	}
	for until := began.Add(disturbance * time.Duration(rounds())); time.Now().Before(until); {
		length := min(time.Until(until), time.Minute)
		all = append(all, disturbed.round(func([]uuid.UUID) { disturbed.anyFor(length) })...)
	}
	disturbed.pool.Reset() // the server has crashed since some of its connections were made
	for _, session := range all {
		requireSame(t, want, state(t, disturbed.pool, session), fmt.Sprintf("seed %d, session %s", seed, session))
	}
	requireClean(t, disturbed.pool)
	disturbed.report(len(all), time.Since(began))
}

// seedOf is CHAOS_SEED, or a new one for each run of the long form.
func seedOf(t *testing.T) uint64 {
	t.Helper()

	seed := uint64(1)
	if rounds() > 0 {
		seed = uint64(time.Now().UnixNano())
	}
	if given, err := strconv.ParseUint(os.Getenv("CHAOS_SEED"), 10, 64); err == nil {
		seed = given
	}
	t.Logf("CHAOS_SEED=%d", seed)

	return seed
}

// undisturbed is what a session leaves if nothing happens to it.
func (z *zoo) undisturbed() map[string]string {
	z.t.Helper()

	z.awaitAPI()
	sessions, wait, errs := z.talk(1)
	wait.Wait()
	require.NoError(z.t, errs[0])
	awaitQuiet(z.t, z.pool, sessions...)
	for _, p := range append(z.workers, z.api) {
		p.kill()
	}

	return state(z.t, z.pool, sessions[0])
}

// round lets a wave of sessions talk while disturb runs, and waits until all is quiet.
func (z *zoo) round(disturb func(sessions []uuid.UUID)) []uuid.UUID {
	z.t.Helper()

	wave := 8 + 16*min(1, rounds())
	z.pool.Reset()
	z.awaitAPI()
	sessions, wait, errs := z.talk(wave)
	disturb(sessions)
	z.await("everything to be sent", waited(wait))
	for _, err := range errs {
		require.NoError(z.t, err)
	}
	awaitQuietWhile(z.t, z.pool, z.revive, sessions...)

	return sessions
}

// eachOnce makes each accident happen once, evenly spread over so many decisions.
func (z *zoo) eachOnce(sessions []uuid.UUID, decisions int) {
	z.t.Helper()

	all := accidents()
	for i, a := range all {
		z.awaitDecisions(sessions, decisions*(i+1)/(len(all)+2))
		z.strike(a)
	}
}

// awaitDecisions waits until that many have been made.
func (z *zoo) awaitDecisions(sessions []uuid.UUID, decisions int) {
	z.t.Helper()

	z.await(fmt.Sprintf("%d decisions", decisions), func() bool {
		var made int
		err := z.pool.QueryRow(z.t.Context(), `SELECT count(*) FROM node_runs AS n JOIN turns AS t ON t.id = n.turn_id WHERE t.session_id = ANY ($1)`, sessions).Scan(&made)

		return err == nil && made >= decisions
	})
}

// await waits for a condition as long as turns make progress, and restarts what has died.
func (z *zoo) await(what string, is func() bool) {
	z.t.Helper()

	for until, moved := time.Now().Add(dbtest.Patience), z.moved(); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			now := z.moved()
			require.NotEqual(z.t, moved, now, "waited in vain for %s", what)
			until, moved = time.Now().Add(dbtest.Patience), now
		}
		z.revive()
	}
}

// moved is the total progress of all turns.
func (z *zoo) moved() int {
	far := 0
	_ = z.pool.QueryRow(z.t.Context(), `SELECT count(*) + coalesce(sum(position), 0) FROM turns`).Scan(&far) // the server may be down

	return far
}

// awaitQueue waits until no turn's job is waiting.
func (z *zoo) awaitQueue() {
	z.t.Helper()

	left := -1
	for moved := time.Now(); left != 0; time.Sleep(100 * time.Millisecond) {
		var now int
		require.NoError(z.t, z.pool.QueryRow(z.t.Context(), `SELECT count(*) FROM river_job WHERE state IN ('available', 'running') AND queue = 'turns'`).Scan(&now))
		if now != left {
			left, moved = now, time.Now()
		}
		require.Less(z.t, time.Since(moved), dbtest.Patience, "%d jobs wait", left)
	}
}

// seedTurns gives a session past turns.
func (z *zoo) seedTurns(session uuid.UUID, n int) {
	z.t.Helper()

	for _, sql := range []string{
		`INSERT INTO turns (session_id, user_id, number, message, mode, status, reply, replied_at, started_at, finished_at, summarized_at)
		 SELECT s.id, s.user_id, i, 'What did I say in turn ' || i || '?', 'plan', 'succeeded', 'That it was turn ' || i, at, at, at, at
		 FROM sessions AS s, generate_series(1, $2::integer) AS i, LATERAL (SELECT clock_timestamp() - make_interval(mins => $2 - i)) AS x (at) WHERE s.id = $1`,
		`INSERT INTO turn_summaries (turn_id, session_id, turn_number, user_message, response_summary, conversation_phase)
		 SELECT id, session_id, number, message, 'turn ' || number, 'exploring' FROM turns WHERE session_id = $1 AND number <= $2`,
		`UPDATE sessions SET last_turn = $2 WHERE id = $1`,
	} {
		_, err := z.pool.Exec(z.t.Context(), sql, session, n)
		require.NoError(z.t, err)
	}
}

// anyFor makes random accidents happen for a while.
func (z *zoo) anyFor(length time.Duration) {
	z.t.Helper()

	for until := time.Now().Add(length); time.Now().Before(until); {
		time.Sleep(time.Duration(200+z.dice.IntN(500)) * time.Millisecond)
		z.strike(z.any())
	}
}

func (z *zoo) awaitAPI() {
	z.t.Helper()

	z.await("the API to serve", z.serves)
}

func (z *zoo) serves() bool {
	resp, err := http.Get("http://" + z.addr + "/readyz")
	if err != nil {
		return false
	}
	_ = resp.Body.Close()

	return resp.StatusCode == http.StatusOK
}

func (z *zoo) report(sessions int, took time.Duration) {
	z.t.Log(z.tally())
	report("monkey", fmt.Sprintf("| %d turns of %d sessions, %.0f s of disturbance (%s) | 0 lost, 0 doubled; %s |", sessions*len(turns), sessions, took.Seconds(), z.tally(), z.boughtTwice()))
}

// tally reports how often each accident happened.
func (z *zoo) tally() string { return tally(z.did) }

func tally(did map[string]int) string {
	lines := make([]string, 0, len(did))
	for what, n := range did {
		lines = append(lines, fmt.Sprintf("%s: %d", what, n))
	}
	slices.Sort(lines)

	return strings.Join(lines, ", ")
}

package chaos_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/httpapi"
)

// zoo is what the monkey plays with: workers, an API and the server.
type zoo struct {
	t       *testing.T
	l       *lab
	url     string
	script  string
	addr    string
	pool    *pgxpool.Pool
	workers []*process
	api     *process
	dice    *rand.Rand
	did     map[string]int
}

const zooWorkers = 4

func openZoo(t *testing.T, l *lab, seed uint64) *zoo {
	t.Helper()

	z := &zoo{t: t, l: l, script: writeScript(t, 20*time.Millisecond, turns), dice: rand.New(rand.NewPCG(seed, seed)), did: map[string]int{}}
	z.url, z.pool = l.database(t)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	z.addr = listener.Addr().String()
	require.NoError(t, listener.Close())
	z.workers = make([]*process, zooWorkers)
	z.revive()

	return z
}

// revive starts what has died, as a supervisor would.
func (z *zoo) revive() {
	z.t.Helper()

	for i, worker := range z.workers {
		if worker == nil || worker.ended() {
			args := []string{}
			if i == 0 {
				args = []string{"--conns", "2"} // whose pool is always full
			}
			z.workers[i] = z.l.worker(z.t, z.url, z.script, args...)
		}
	}
	if z.api == nil || z.api.ended() {
		z.api = spawn(z.t, []string{"DATABASE_URL=" + z.url, "ALFRED_ADDR=" + z.addr}, filepath.Join(z.l.programs, "api"), "serve")
	}
}

// act does one thing that happens to programs.
func (z *zoo) act() {
	z.t.Helper()

	worker := z.workers[z.dice.IntN(len(z.workers))]
	switch n := z.dice.IntN(20); {
	case n < 6:
		z.did["kill -9 of a worker"]++
		worker.kill()
	case n < 8:
		z.did["kill -9 of the API"]++
		z.api.kill()
	case n < 11:
		z.did["a worker's connections dropped"]++
		z.exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'alfred worker' AND random() < 0.3`)
	case n < 14:
		z.did["lease and LISTEN connections dropped"]++
		z.exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
			AND (query ILIKE 'LISTEN%' OR query LIKE '%pg_advisory_lock%')`)
	case n < 17:
		z.did["a worker stopped for 4 to 6 s"]++
		worker.signal(syscall.SIGSTOP)
		time.AfterFunc(4*time.Second+time.Duration(z.dice.IntN(2000))*time.Millisecond, func() { worker.signal(syscall.SIGCONT) })
	case n < 18:
		z.did["SIGTERM of a worker"]++
		worker.signal(syscall.SIGTERM)
	default:
		z.did["a crash of Postgres"]++
		require.NoError(z.t, z.l.server.stop("immediate"))
		require.NoError(z.t, z.l.server.start(z.t.Context()))
	}
}

func (z *zoo) exec(sql string) {
	_, _ = z.pool.Exec(z.t.Context(), sql) // the server may be away, and may end this connection too
}

// post sends the n-th message until the API has taken it. A message that was taken but not answered is sent again.
func (z *zoo) post(ctx context.Context, session uuid.UUID, key string, n int) error {
	text := fmt.Sprintf("message %d", n)
	body, err := json.Marshal(map[string]string{"message": text})
	if err != nil {
		return err
	}
	for {
		status := 0
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+z.addr+"/v1/sessions/"+session.String()+"/turns", bytes.NewReader(body))
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+key)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", text)
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
			status = resp.StatusCode
		}
		if status == http.StatusAccepted || status == http.StatusOK {
			return nil
		}
		if status >= http.StatusBadRequest && status < http.StatusInternalServerError && status != http.StatusTooManyRequests {
			return fmt.Errorf("the API answered %d", status)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// talk plays the whole conversation in n sessions at once, two messages ahead of the answers.
func (z *zoo) talk(n int) ([]uuid.UUID, *sync.WaitGroup, []error) {
	z.t.Helper()

	sessions, errs := make([]uuid.UUID, n), make([]error, n)
	wait := &sync.WaitGroup{}
	for i := range sessions {
		sessions[i] = newSession(z.t, z.pool)
		key, hash := httpapi.NewKey()
		_, err := z.pool.Exec(z.t.Context(), `INSERT INTO api_keys (user_id, name, key_hash, scopes) SELECT user_id, 'chaos', $2, '{chat}' FROM sessions WHERE id = $1`, sessions[i], hash)
		require.NoError(z.t, err)
		wait.Go(func() {
			for k := range turns {
				if errs[i] = z.post(z.t.Context(), sessions[i], key, k+1); errs[i] != nil {
					return
				}
				time.Sleep(time.Duration(i%5) * 20 * time.Millisecond)
			}
		})
	}

	return sessions, wait, errs
}

// shortDisturbance is how long the monkey plays in the short form; a round of `make chaos` is five times as long.
const shortDisturbance = 6 * time.Second

// Everything that can be killed is killed at random while many sessions talk. What is left is what an undisturbed session leaves.
func TestMonkey(t *testing.T) { //nolint:paralleltest // it wants the machine for itself
	l := openLab(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	calm := openZoo(t, l, seed)
	calm.awaitAPI()
	sessions, wait, errs := calm.talk(1)
	wait.Wait()
	require.NoError(t, errs[0])
	awaitQuiet(t, calm.pool, time.Minute, sessions...)
	want := state(t, calm.pool, sessions[0])
	for _, p := range append(calm.workers, calm.api) {
		p.kill()
	}

	disturbed, began := openZoo(t, l, seed), time.Now()
	disturbed.awaitAPI()
	until := began.Add(shortDisturbance * time.Duration(max(1, 5*rounds())))
	var all []uuid.UUID
	for time.Now().Before(until) {
		all = append(all, disturbed.round(min(time.Until(until), time.Minute))...)
	}
	for _, session := range all {
		requireSame(t, want, state(t, disturbed.pool, session), session.String())
	}
	requireClean(t, disturbed.pool)
	disturbed.report(len(all), time.Since(began))
}

// round lets a wave of sessions talk while the monkey plays, and waits until all is quiet.
func (z *zoo) round(length time.Duration) []uuid.UUID {
	z.t.Helper()

	const wave = 24
	sessions, wait, errs := z.talk(wave)
	for until := time.Now().Add(length); time.Now().Before(until); {
		time.Sleep(time.Duration(200+z.dice.IntN(500)) * time.Millisecond)
		z.act()
		z.revive()
	}
	quiet := make(chan struct{})
	var supervisor sync.WaitGroup
	supervisor.Go(func() {
		for {
			select {
			case <-quiet:
				return
			case <-time.After(200 * time.Millisecond):
				z.revive() // who started while the server was away has given up
			}
		}
	})
	wait.Wait()
	for _, err := range errs {
		require.NoError(z.t, err)
	}
	awaitQuiet(z.t, z.pool, 2*time.Minute, sessions...)
	close(quiet)
	supervisor.Wait()

	return sessions
}

// awaitAPI waits until the API serves.
func (z *zoo) awaitAPI() {
	z.t.Helper()

	require.Eventually(z.t, func() bool {
		resp, err := http.Get("http://" + z.addr + "/readyz")
		if err != nil {
			return false
		}
		_ = resp.Body.Close()

		return resp.StatusCode == http.StatusOK
	}, time.Minute, 20*time.Millisecond, "%s", z.api.tail())
}

func (z *zoo) report(sessions int, took time.Duration) {
	var lines []string
	for what, n := range z.did {
		lines = append(lines, fmt.Sprintf("%s: %d", what, n))
	}
	slices.Sort(lines)
	z.t.Log(lines)
	report("monkey", fmt.Sprintf("| %d turns of %d sessions, %.0f s of disturbance (%s) | 0 lost, 0 doubled |", sessions*len(turns), sessions, took.Seconds(), lines))
}

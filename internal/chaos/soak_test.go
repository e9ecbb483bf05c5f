package chaos_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// soakFor is how long `make soak` runs; 0 if this is not `make soak`.
func soakFor(t *testing.T) time.Duration {
	t.Helper()

	length, err := time.ParseDuration(os.Getenv("SOAK"))
	if err != nil {
		t.Skip("make soak does this")
	}

	return length
}

// Everything at once for a long time: all accidents, stream readers, a person at the page, another program that writes
// and alters tables, a user who fills the queue, conversations that are forgotten while they run.
func TestSoak(t *testing.T) {
	t.Parallel()
	length := soakFor(t)
	l, seed := openLab(t), seedOf(t)
	calm := openZoo(t, l, seed)
	want := calm.undisturbed()
	z, began := openZoo(t, l, seed), time.Now()
	n := &neighbours{zoo: z, did: map[string]int{}}
	var all []uuid.UUID
	events, memory := 0, 0
	for until := began.Add(length); time.Now().Before(until); {
		wave := min(time.Until(until), time.Minute)
		sessions := z.round(func(sessions []uuid.UUID) {
			stop := n.live(wave)
			readers := z.readers(sessions)
			z.anyFor(wave)
			stop()
			events += readers()
		})
		memory, all = max(memory, z.memory()), append(all, sessions...)
	}
	z.pool.Reset()
	for _, session := range all {
		requireSame(t, want, state(t, z.pool, session), fmt.Sprintf("seed %d, session %s", seed, session))
	}
	requireClean(t, z.pool)
	report("soak", fmt.Sprintf("| %s, seed %d | %d turns of %d sessions, %d events read | %s | %s | 0 lost, 0 doubled; %s | %d MiB |",
		time.Since(began).Round(time.Second), seed, len(all)*z.turns, len(all), events, z.tally(), n.tally(), z.boughtTwice(), memory))
}

// readers follow every session; the returned function waits for them and returns how many events they saw.
func (z *zoo) readers(sessions []uuid.UUID) func() int {
	z.t.Helper()

	followers, errs := make([]*follower, len(sessions)), make([]error, len(sessions))
	var wait sync.WaitGroup
	for i, session := range sessions {
		followers[i] = &follower{addresses: []string{z.addr}, key: z.keys[session], session: session, atOnce: i % 3}
		wait.Go(func() { errs[i] = followers[i].follow(z.t.Context(), z.turns) })
	}

	return func() int {
		z.await("the readers to see the end", waited(&wait))
		seen := 0
		for i := range followers {
			require.NoError(z.t, errs[i])
			seen += len(followers[i].seen)
		}

		return seen
	}
}

// neighbours run beside the conversations and must not disturb them. They tolerate a server that is down.
type neighbours struct {
	*zoo

	mu  sync.Mutex
	did map[string]int
}

// live lets each neighbour repeat its action until the returned function is called.
func (n *neighbours) live(length time.Duration) (stop func()) {
	n.t.Helper()

	session := newSession(n.t, n.pool)
	key := n.newKey(session)
	ctx, cancel := context.WithTimeout(n.t.Context(), length)
	var wait sync.WaitGroup
	for what, do := range map[string]func(context.Context, int) error{
		"another program's writes": func(ctx context.Context, i int) error {
			_, err := n.pool.Exec(ctx, `INSERT INTO kitchen.tasks (user_id, title) SELECT user_id, 'task ' || $2::int FROM sessions WHERE id = $1`, session, i)

			return err
		},
		"columns renamed and back": func(ctx context.Context, _ int) error {
			_, err := n.pool.Exec(ctx, `SET LOCAL lock_timeout = '1s'; ALTER TABLE kitchen.cooking_log RENAME COLUMN notes TO remarks`)
			if err == nil {
				time.Sleep(200 * time.Millisecond)
			}

			return n.renameBack(ctx)
		},
		"a person's rows": func(ctx context.Context, i int) error {
			return n.create(ctx, key, fmt.Sprintf("row %d %s", i, session))
		},
		"messages of a user with a full queue": func(ctx context.Context, _ int) error {
			_, err := n.pool.Exec(ctx, `SELECT enqueue_turn(start_session('busy'), 'hello', gen_random_uuid()::text) FROM generate_series(1, 5)`)

			return err
		},
		"conversations forgotten while they run": func(ctx context.Context, _ int) error {
			_, err := n.pool.Exec(ctx, `WITH made AS MATERIALIZED (SELECT start_session('forgetful') AS id), sent AS MATERIALIZED (SELECT id, enqueue_turn(id, 'hello', 'x') FROM made)
				SELECT forget_session(s.id) FROM sessions AS s JOIN users AS u ON u.id = s.user_id, (SELECT count(*) FROM sent) AS c WHERE u.name = 'forgetful' LIMIT 1`)

			return err
		},
	} {
		n.count(what, 0)
		wait.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				if do(ctx, i) == nil {
					n.count(what, 1)
				}
				select {
				case <-ctx.Done():
				case <-time.After(500 * time.Millisecond):
				}
			}
		})
	}

	return func() {
		cancel()
		wait.Wait()
		// The server may have been down for the last rename, and programs that start reject a table that differs from
		// its declaration.
		n.await("the column to be named as before", func() bool { return n.renameBack(n.t.Context()) == nil })
	}
}

// renameBack restores the name of the renamed column, if necessary.
func (n *neighbours) renameBack(ctx context.Context) error {
	_, err := n.pool.Exec(context.WithoutCancel(ctx), `DO $$ BEGIN ALTER TABLE kitchen.cooking_log RENAME COLUMN remarks TO notes; EXCEPTION WHEN undefined_column THEN NULL; END $$`)

	return err
}

// create creates a row through the API, resending until it exists.
func (n *neighbours) create(ctx context.Context, key, title string) error {
	body, err := json.Marshal(map[string]string{"title": title})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+n.addr+"/v1/data/task", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", title)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusCreated {
		return fmt.Errorf("the API answered %d", resp.StatusCode)
	}

	return nil
}

func (n *neighbours) count(what string, more int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.did[what] += more
}

func (n *neighbours) tally() string { return tally(n.did) }

// memory is the largest worker's memory, in MiB.
func (z *zoo) memory() int {
	most := 0
	for _, worker := range z.workers {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", worker.cmd.Process.Pid))
		if err != nil {
			continue // it is gone, or this is not Linux
		}
		for line := range strings.Lines(string(status)) {
			if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmHWM:" {
				kib, _ := strconv.Atoi(fields[1])
				most = max(most, kib/1024)
			}
		}
	}

	return most
}

// boughtTwice reports how many answers were bought again because the first buyer was presumed dead while it asked.
// Answers that a killed buyer paid for are not included.
func (z *zoo) boughtTwice() string {
	z.t.Helper()

	var twice, all int
	require.NoError(z.t, z.pool.QueryRow(z.t.Context(), `SELECT coalesce(sum(n - 1), 0), coalesce(sum(n), 0)
		FROM (SELECT count(*) AS n FROM llm_calls WHERE error_code IS NULL AND turn_id IS NOT NULL GROUP BY turn_id, position, attempt) AS x`).Scan(&twice, &all))

	return fmt.Sprintf("%d of %d answers bought twice", twice, all)
}

package chaos_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// secondAPI starts another replica and returns its address.
func (z *zoo) secondAPI() (*process, string) {
	z.t.Helper()

	port, err := freePort(z.t.Context())
	require.NoError(z.t, err)
	address := fmt.Sprintf("127.0.0.1:%d", port)

	return spawn(z.t, []string{"DATABASE_URL=" + z.url, "ALFRED_ADDR=" + address}, filepath.Join(z.l.programs, "api"), "serve"), address
}

// follower reads a session's stream, from one replica after the other.
type follower struct {
	addresses []string
	key       string
	session   uuid.UUID
	atOnce    int // events read before it drops the socket; 0: it stays

	seen []string // "2.14 turn.finished"; no pieces of replies
	lost int      // how often it had to connect again
}

// follow reads until the last turn has ended.
func (f *follower) follow(ctx context.Context, last int) error {
	end, resume := fmt.Sprintf("%d.", last), ""
	for n := 0; ; n++ {
		id, err := f.read(ctx, f.addresses[n%len(f.addresses)], resume)
		if err != nil {
			return err
		}
		pause := time.Millisecond
		if id == resume { // the replica is down
			pause = 100 * time.Millisecond
		}
		resume = id
		if len(f.seen) > 0 && strings.HasPrefix(f.seen[len(f.seen)-1], end) && strings.HasSuffix(f.seen[len(f.seen)-1], " turn.finished") {
			return nil
		}
		f.lost++
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// read reads one stream and returns where to resume. A replica that is down is not an error.
func (f *follower) read(ctx context.Context, address, resume string) (string, error) {
	ctx, drop := context.WithCancel(ctx)
	defer drop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/v1/sessions/"+f.session.String()+"/events", nil)
	if err != nil {
		return resume, err
	}
	req.Header.Set("Authorization", "Bearer "+f.key)
	if resume != "" {
		req.Header.Set("Last-Event-ID", resume)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return resume, nil // it is down
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode >= http.StatusBadRequest && resp.StatusCode < http.StatusInternalServerError {
		return resume, fmt.Errorf("the API answered %d", resp.StatusCode)
	}
	id, read, at, event := resume, 0, "", ""
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		switch name, value, _ := strings.Cut(lines.Text(), ": "); {
		case name == "id":
			at = value
		case name == "event":
			event = value
		case name == "" && value == "" && event != "": // complete: anything cut off before is sent again
			if id = at; !strings.HasPrefix(event, "reply.") {
				f.seen = append(f.seen, id+" "+event)
			}
			if read++; read == f.atOnce || event == "turn.finished" {
				return id, nil
			}
			event = ""
		}
	}

	return id, nil
}

// Streams are dropped at every event and resumed on another replica, and replicas are killed: every reader sees each
// event once, in order.
func TestStreamsAreResumedElsewhere(t *testing.T) {
	t.Parallel()
	z := openZoo(t, openLab(t), seedOf(t))
	z.awaitAPI()
	other, address := z.secondAPI()
	defer other.kill()
	const dropping, staying = 4, 4
	sessions, posting, errs := z.talk(dropping + staying)
	var followers []*follower
	var following sync.WaitGroup
	failures := make([]error, len(sessions))
	for i, session := range sessions {
		f := &follower{addresses: []string{z.addr, address}, key: z.keys[session], session: session}
		if i < dropping {
			f.atOnce = 1
		}
		followers = append(followers, f)
		following.Go(func() { failures[i] = f.follow(t.Context(), len(turns)) })
	}
	for _, share := range []int{40, 80, 120} {
		z.awaitDecisions(sessions, share)
		z.api.kill()
		z.revive()
	}
	posting.Wait()
	following.Wait()
	lost, read := 0, 0
	for i, f := range followers {
		require.NoError(t, errs[i])
		require.NoError(t, failures[i])
		require.Equal(t, z.eventsOf(f.session), f.seen, "dropped after %d", f.atOnce)
		lost, read = lost+f.lost, read+len(f.seen)
	}
	report("streams", fmt.Sprintf("| %d readers, %d of whom drop the socket at every event; a replica killed 3 times | %d | %d | 0 missing, 0 twice |", len(followers), dropping, read, lost))
}

// eventsOf are the events of a session in the database, as a follower lists them.
func (z *zoo) eventsOf(session uuid.UUID) []string {
	z.t.Helper()

	rows, err := z.pool.Query(z.t.Context(), `SELECT t.number || '.' || e.seq || ' ' || e.type FROM turn_events AS e JOIN turns AS t ON t.id = e.turn_id
		WHERE t.session_id = $1 AND e.type NOT LIKE 'reply.%' ORDER BY t.number, e.seq`, session)
	require.NoError(z.t, err)
	var all []string
	for rows.Next() {
		var one string
		require.NoError(z.t, rows.Scan(&one))
		all = append(all, one)
	}
	require.NoError(z.t, rows.Err())

	return all
}

// Many streams are open on one replica, most of them never read: those of the active sessions receive everything.
func TestManyStreamsOnOneReplica(t *testing.T) {
	t.Parallel()
	z := openZoo(t, openLab(t), seedOf(t))
	z.awaitAPI()
	idle := 100 + 900*min(1, rounds())
	silent, keys := z.silent(idle)
	for i, session := range silent {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+z.addr+"/v1/sessions/"+session.String()+"/events", nil)
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+keys[i/streamsPerKey])
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		t.Cleanup(func() { _ = resp.Body.Close() })
		require.Equal(t, http.StatusOK, resp.StatusCode)
	}
	sessions, posting, errs := z.talk(8)
	var following sync.WaitGroup
	failures := make([]error, len(sessions))
	for i, session := range sessions {
		following.Go(func() {
			f := &follower{addresses: []string{z.addr}, key: z.keys[session], session: session}
			failures[i] = f.follow(t.Context(), len(turns))
		})
	}
	posting.Wait()
	following.Wait()
	for i := range sessions {
		require.NoError(t, errs[i])
		require.NoError(t, failures[i])
	}
	report("streams", fmt.Sprintf("| %d open streams on one replica that nobody reads, and 8 that are read | | 0 | 0 missing, 0 twice |", idle))
}

const streamsPerKey = 50

// silent creates idle sessions, and keys for their users.
func (z *zoo) silent(n int) (sessions []uuid.UUID, keys []string) {
	z.t.Helper()

	for i := range n {
		if i%streamsPerKey == 0 {
			session := newSession(z.t, z.pool)
			keys = append(keys, z.newKey(session))
			sessions = append(sessions, session)

			continue
		}
		var session uuid.UUID
		require.NoError(z.t, z.pool.QueryRow(z.t.Context(), `INSERT INTO sessions (user_id) SELECT user_id FROM sessions WHERE id = $1 RETURNING id`,
			sessions[i/streamsPerKey*streamsPerKey]).Scan(&session))
		sessions = append(sessions, session)
	}

	return sessions, keys
}

package chaos_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/pg"
)

// fleet is two databases and a directory, each on its own server, with users who are moved while they talk.
type fleet struct {
	*zoo // its API serves all databases; its own database is the first

	servers   map[string]*server
	urls      map[string]string
	pools     map[string]*pgxpool.Pool
	processes map[string]*process
	start     map[string]func() *process
	movers    []*resident
}

// resident is a user who is moved.
type resident struct {
	name    string
	session uuid.UUID
	to      string // the database that the next or open move leads to
	off     bool   // nothing is served while the rows are copied; every other move is of this kind
}

// across is the other of the two databases.
var across = map[string]string{"one": "two", "two": "one"}

func openFleet(t *testing.T, l *lab, users int) *fleet {
	t.Helper()

	f := &fleet{
		zoo: newZoo(t, l, seedOf(t)), servers: map[string]*server{"one": l.server, "two": extraServer(t, l), "directory": extraServer(t, l)},
		processes: map[string]*process{}, start: map[string]func() *process{},
	}
	f.urls = map[string]string{"one": f.url, "two": f.servers["two"].url("two"), "directory": f.servers["directory"].url("directory")}
	require.NoError(t, f.servers["two"].sql(t.Context(), `CREATE DATABASE two TEMPLATE template`))
	require.NoError(t, f.servers["directory"].sql(t.Context(), `CREATE DATABASE directory`))
	pool, err := pg.Open(t.Context(), pg.Config{AppName: "chaos", MaxConns: 4, URL: f.urls["two"]})
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	f.pools = map[string]*pgxpool.Pool{"one": f.pool, "two": pool}
	for range users {
		one := &resident{session: newSession(t, f.pool), to: "two"}
		f.newKey(one.session)
		require.NoError(t, f.pool.QueryRow(t.Context(), `SELECT u.name FROM users AS u JOIN sessions AS s ON s.user_id = u.id WHERE s.id = $1`, one.session).Scan(&one.name))
		f.movers = append(f.movers, one)
	}
	f.command("", "directory", "init")
	f.command("", "directory", "add", "one", f.urls["one"])
	f.command("", "directory", "add", "two", f.urls["two"])
	for _, name := range []string{"one", "two"} {
		f.start["worker of "+name] = func() *process { return l.worker(t, f.urls[name], f.script) }
	}
	f.start["API"] = func() *process {
		return spawn(t, []string{"ALFRED_DIRECTORY_URL=" + f.urls["directory"], "ALFRED_ADDR=" + f.addr}, filepath.Join(l.programs, "api"), "serve")
	}
	f.supervise()

	return f
}

// extraServer is another Postgres like the lab's.
func extraServer(t *testing.T, l *lab) *server {
	t.Helper()

	dir := filepath.Join(l.dir, fmt.Sprint("server-", l.count.Add(1)))
	require.NoError(t, os.Mkdir(dir, 0o755))
	s, err := newServer(t.Context(), dir)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.crash() })

	return s
}

// supervise restarts what has died.
func (f *fleet) supervise() {
	for name, start := range f.start {
		if p := f.processes[name]; p == nil || p.ended() {
			f.processes[name] = start()
		}
	}
}

func (f *fleet) worker(ctx context.Context, database string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, filepath.Join(f.l.programs, "worker"), args...)
	command.Env = append(os.Environ(), "ALFRED_DIRECTORY_URL="+f.urls["directory"], "DATABASE_URL="+database)

	return command
}

func (f *fleet) command(database string, args ...string) {
	f.t.Helper()
	out, err := f.worker(f.t.Context(), database, args...).CombinedOutput()
	require.NoError(f.t, err, "%v: %s", args, out)
}

// move starts or continues a user's move. It returns how long nothing was served, and false if the move must be
// repeated.
func (f *fleet) move(ctx context.Context, who *resident) (paused time.Duration, moved bool, problem string) {
	var out, errs strings.Builder
	args := []string{"user", "move", who.name, "--to", who.to, "--grace", "100ms", "--json"}
	if who.off {
		args = append(args, "--off")
	}
	command := f.worker(ctx, "", args...)
	command.Stdout, command.Stderr = &out, &errs
	if err := command.Run(); err != nil && !strings.Contains(errs.String(), "in this database already") {
		return 0, false, errs.String()
	}
	var report struct {
		Paused int `json:"paused_ms"`
	}
	_ = json.Unmarshal([]byte(out.String()), &report) // nothing is printed for a user who was already there
	who.to, who.off = across[who.to], !who.off

	return time.Duration(report.Paused) * time.Millisecond, true, ""
}

// finish repeats a move until it is done.
func (f *fleet) finish(who *resident) time.Duration {
	f.t.Helper()

	for until := time.Now().Add(dbtest.Patience); ; time.Sleep(200 * time.Millisecond) {
		paused, moved, problem := f.move(f.t.Context(), who)
		if moved {
			return paused
		}
		require.Less(f.t, time.Now(), until, "the move of %s to %s does not end: %s", who.name, who.to, problem)
		f.supervise()
	}
}

// chat has every user hold the whole conversation, with a pause between messages.
func (f *fleet) chat() (*sync.WaitGroup, []error) {
	wait, errs := &sync.WaitGroup{}, make([]error, len(f.movers))
	for i, who := range f.movers {
		wait.Go(func() {
			for n := range f.turns {
				if errs[i] = f.post(f.t.Context(), who.session, f.keys[who.session], n+1); errs[i] != nil {
					return
				}
				time.Sleep(time.Second)
			}
		})
	}

	return wait, errs
}

// disasters are what happens during a move, with the delay before each.
func (f *fleet) disasters() []accident {
	dies := func(process string) func(*zoo) { return func(*zoo) { f.processes[process].kill() } }
	crash := func(name string) func(*zoo) {
		return func(*zoo) {
			require.NoError(f.t, f.servers[name].crash())
			time.Sleep(time.Duration(f.dice.IntN(1500)) * time.Millisecond)
			require.NoError(f.t, f.servers[name].start(f.t.Context()))
		}
	}

	return []accident{
		{"kill -9 of the mover", 6, func(*zoo) {}},
		{"kill -9 of the API", 1, dies("API")},
		{"kill -9 of a worker", 2, dies([]string{"worker of one", "worker of two"}[f.dice.IntN(2)])},
		{"a crash of a database", 2, crash([]string{"one", "two"}[f.dice.IntN(2)])},
		{"a crash of the directory", 1, crash("directory")},
	}
}

// disturb moves a user, makes something happen meanwhile, and kills the mover.
func (f *fleet) disturb(who *resident, a accident) {
	f.t.Helper()

	ctx, kill := context.WithCancel(f.t.Context())
	defer kill()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _, _ = f.move(ctx, who)
	}()
	time.Sleep(time.Duration(50+f.dice.IntN(600)) * time.Millisecond)
	a.blow(f.zoo)
	f.did[a.what]++
	time.Sleep(time.Duration(f.dice.IntN(300)) * time.Millisecond)
	kill()
	<-ended
	f.supervise()
}

// until waits for a condition and restarts what has died.
func (f *fleet) until(what string, is func() bool) {
	f.t.Helper()

	for end := time.Now().Add(2 * dbtest.Patience); !is(); time.Sleep(50 * time.Millisecond) {
		require.Less(f.t, time.Now(), end, "waited in vain until %s", what)
		f.supervise()
	}
}

// everywhere waits until no turn of any user is left to do.
func (f *fleet) everywhere() {
	f.t.Helper()

	for _, pool := range f.pools {
		pool.Reset() // its server may have crashed
		awaitQuietWhile(f.t, pool, f.supervise, f.sessions()...)
	}
}

// awaitVectors restarts the workers and waits until each turn has its vector. Its commit waits for no disk, so a crash may lose it.
func (f *fleet) awaitVectors() {
	f.t.Helper()

	for name, pool := range f.pools {
		f.processes["worker of "+name].kill()
		f.until("each turn in "+name+" has a vector", func() bool { return eachHasVector(f.t, pool) })
	}
}

func (f *fleet) sessions() []uuid.UUID {
	all := make([]uuid.UUID, len(f.movers))
	for i, who := range f.movers {
		all[i] = who.session
	}

	return all
}

// requireAlone checks that a user's conversation is in one database, and that only this one accepts a message.
func (f *fleet) requireAlone(who *resident, place string) {
	f.t.Helper()

	for name, pool := range f.pools {
		tx, err := pool.Begin(f.t.Context())
		require.NoError(f.t, err)
		var there bool
		require.NoError(f.t, tx.QueryRow(f.t.Context(), `SELECT EXISTS (SELECT FROM sessions WHERE id = $1)`, who.session).Scan(&there))
		require.Equal(f.t, name == place, there, "%s in %s", who.name, name)
		_, err = tx.Exec(f.t.Context(), `SELECT enqueue_turn($1, 'is anybody there?')`, who.session)
		require.Equal(f.t, name == place, err == nil, "%s in %s: %v", who.name, name, err)
		require.NoError(f.t, tx.Rollback(f.t.Context()))
	}
}

// requireNothingFollowed checks that no mover, however it ended, left anything that would fill a disk or refuse an
// update.
func (f *fleet) requireNothingFollowed() {
	f.t.Helper()

	for name, pool := range f.pools {
		f.until("slots of "+name+" are gone", func() bool {
			var left int
			err := pool.QueryRow(f.t.Context(), `SELECT count(*) FROM pg_replication_slots`).Scan(&left)

			return err == nil && left == 0
		})
		var published int
		require.NoError(f.t, pool.QueryRow(f.t.Context(), `SELECT count(*) FROM pg_publication`).Scan(&published))
		require.Zero(f.t, published, "publications of %s", name)
	}
}

// Users are moved between two databases while they talk, alternating between both ways, and movers, API, workers, both
// databases and the directory are killed meanwhile. In the end each conversation is in exactly one database and equals
// an undisturbed one, each message has been answered once although it was resent, and a database that was down kept
// only its own users waiting.
func TestMoves(t *testing.T) {
	t.Parallel()
	l := openLab(t)
	calm := openZoo(t, l, seedOf(t))
	want := calm.undisturbed()
	f := openFleet(t, l, 5+35*min(1, rounds()))
	f.until("the API serves", f.serves)
	bystander := f.movers[0]
	f.movers = f.movers[1:]

	wait, errs := f.chat()
	var paused []time.Duration
	for _, who := range f.movers { // nothing is killed yet
		paused = append(paused, f.finish(who))
	}
	require.NoError(t, f.servers["two"].crash())
	require.NoError(t, f.post(t.Context(), bystander.session, f.keys[bystander.session], 1), "the other database's users notice nothing")
	awaitQuietWhile(t, f.pool, f.supervise, bystander.session)
	require.NoError(t, f.servers["two"].start(t.Context()))
	disasters := f.disasters()
	for n := range max(1, 10*rounds()) {
		for i, a := range disasters {
			who := f.movers[(n*len(disasters)+i)%len(f.movers)]
			f.disturb(who, a)
			if f.dice.IntN(2) == 0 {
				f.finish(who)
			}
		}
		disasters = f.disasters()
	}
	for _, who := range f.movers {
		f.finish(who)
	}
	f.until("everything is sent", waited(wait))
	for _, err := range errs {
		require.NoError(t, err)
	}
	f.everywhere()
	f.awaitVectors()
	for _, who := range f.movers {
		place := across[who.to]
		f.requireAlone(who, place)
		requireSame(t, want, state(t, f.pools[place], who.session), who.name+" in "+place)
	}
	for _, pool := range f.pools {
		requireInOrder(t, pool)
	}
	f.requireNothingFollowed()
	slices.Sort(paused)
	report("moves", fmt.Sprintf("| %d users of five turns each, moved back and forth, with these faults: %s | 0 lost, 0 doubled, each in one database | median %d ms, p95 %d ms, longest %d ms, where nothing is killed and rows are copied before |",
		len(f.movers), f.tally(), paused[len(paused)/2].Milliseconds(), paused[len(paused)*95/100].Milliseconds(), paused[len(paused)-1].Milliseconds()))
}

package chaos_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
	"alfred/internal/engine"
	"alfred/internal/llm"
	"alfred/internal/llm/lexical"
	"alfred/internal/llm/script"
	"alfred/internal/pg"
	"alfred/internal/prompt"
	"alfred/internal/recall"
	"alfred/jobs"
)

// envFailpoints names a folder: the worker appends every statement of a decision to its file "boundaries", and kills
// itself at the one named in its file "target".
const envFailpoints = "CHAOS_FAILPOINTS"

// failpoints is a pgx tracer. Several workers share its folder: a line appended by one counts for all.
type failpoints struct {
	mu         sync.Mutex
	boundaries *os.File
	dir        string
}

// TraceQueryStart implements pgx.QueryTracer.
func (f *failpoints) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	f.pass("before", statement(data.SQL))

	return context.WithValue(ctx, f, data.SQL)
}

// TraceQueryEnd implements pgx.QueryTracer. After a commit the decision stands, but River has not been notified.
func (f *failpoints) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) {
	if sql, _ := ctx.Value(f).(string); strings.EqualFold(sql, "commit") {
		f.pass("after", "commit")
	}
}

// TraceBatchStart implements pgx.BatchTracer.
func (f *failpoints) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	names := make([]string, 0, data.Batch.Len())
	for _, query := range data.Batch.QueuedQueries {
		if name := statement(query.SQL); name != "LlmCallInsert" { // an answer is stored with its decision or, a moment later, alone
			names = append(names, name)
		}
	}
	f.pass("before", strings.Join(names, ", "))

	return ctx
}

// TraceBatchQuery implements pgx.BatchTracer.
func (f *failpoints) TraceBatchQuery(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	if data.Err == nil && strings.EqualFold(data.SQL, "commit") {
		f.pass("after", "commit")
	}
}

// TraceBatchEnd implements pgx.BatchTracer.
func (f *failpoints) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// pass records a boundary and kills the process if it is the target.
func (f *failpoints) pass(side, name string) {
	phase := phase()
	if phase == "" {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	line := fmt.Sprintf("%s %s %s", phase, side, name)
	if _, err := f.boundaries.WriteString(line + "\n"); err != nil {
		panic(err)
	}
	passed, err := os.ReadFile(f.boundaries.Name())
	if err != nil {
		panic(err)
	}
	target, err := os.ReadFile(filepath.Join(f.dir, "target"))
	if err != nil {
		panic(err)
	}
	if names := named(passed); string(target) == names[len(names)-1] {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

// named returns the lines, each with its occurrence count: "commit before TurnFence #2". A number counted over all
// lines would shift whenever a statement is added before it.
func named(lines []byte) []string {
	var names []string
	seen := map[string]int{}
	for line := range strings.Lines(string(lines)) {
		line = strings.TrimSpace(line)
		seen[line]++
		names = append(names, fmt.Sprintf("%s #%d", line, seen[line]))
	}

	return names
}

// statement is a generated query's name, or the first words of any other.
func statement(sql string) string {
	if name, ok := strings.CutPrefix(sql, "-- name: "); ok {
		return strings.Fields(name)[0]
	}
	words := strings.Fields(sql)

	return strings.Join(words[:min(4, len(words))], " ")
}

// phase says which part of a decision the caller is in; "" outside: the lease, the scan and the background may be
// killed anywhere.
func phase() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		frame, more := frames.Next()
		for _, name := range []string{"applyInputs", "load", "run", "commit"} {
			if frame.Function == "alfred/jobs.(*Runner)."+name {
				return name
			}
		}
		if !more {
			return ""
		}
	}
}

// failpointWorker is like the built worker, with a traced pool. It returns its exit status.
func failpointWorker() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := runFailpointWorker(ctx, os.Getenv(envFailpoints)); err != nil {
		fmt.Fprintln(os.Stderr, err)

		return 1
	}

	return 0
}

func runFailpointWorker(ctx context.Context, dir string) error {
	boundaries, err := os.OpenFile(filepath.Join(dir, "boundaries"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	pool, err := tracedPool(ctx, &failpoints{boundaries: boundaries, dir: dir})
	if err != nil {
		return err
	}
	defer pool.Close()
	files, file := domain.Find("kitchen")
	bound, err := domain.Open(ctx, pool, files, file)
	if err != nil {
		return err
	}
	model, err := script.Load(os.Getenv("ALFRED_SCRIPT"))
	if err != nil {
		return err
	}
	search := recall.New(bound, lexical.Embedder{})
	config := jobs.Config{
		Pool: pool, Domain: bound, Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)), Models: func(string) llm.Model { return model },
		RetentionDecayTurns: engine.RetentionDecay, Version: "failpoints", CompareCarried: true,
	}
	engine.Complete(&config, search, prompt.DefaultConfig())
	runner, err := jobs.NewRunner(config)
	if err != nil {
		return err
	}
	if err := runner.Start(ctx); err != nil {
		return err
	}
	<-ctx.Done()

	return runner.Stop(context.WithoutCancel(ctx))
}

// tracedPool is the worker's pool with a tracer.
func tracedPool(ctx context.Context, tracer pgx.QueryTracer) (*pgxpool.Pool, error) {
	plain, err := pg.Open(ctx, pg.Config{AppName: "alfred worker", IdleInTxTimeout: 5 * time.Second, MaxConns: 6, URL: os.Getenv("DATABASE_URL")})
	if err != nil {
		return nil, err
	}
	defer plain.Close()
	config := plain.Config()
	config.ConnConfig.Tracer = tracer

	return pgxpool.NewWithConfig(ctx, config)
}

// lane plays one conversation after another on its own database with two workers, one of which is killed in each.
type lane struct {
	t       *testing.T
	dir     string
	url     string
	script  string
	pool    *pgxpool.Pool
	workers [2]*process
}

func newLane(t *testing.T, l *lab, script string) *lane {
	t.Helper()

	n := &lane{t: t, dir: t.TempDir(), script: script}
	n.url, n.pool = l.database(t)
	for _, name := range []string{"boundaries", "target"} {
		require.NoError(t, os.WriteFile(filepath.Join(n.dir, name), nil, 0o600))
	}
	n.revive()

	return n
}

// revive starts the workers that are not running.
func (n *lane) revive() {
	n.t.Helper()

	self, err := os.Executable()
	require.NoError(n.t, err)
	for i, worker := range n.workers {
		if worker == nil || worker.ended() {
			n.workers[i] = spawn(n.t, []string{envFailpoints + "=" + n.dir, "DATABASE_URL=" + n.url, "ALFRED_SCRIPT=" + n.script}, self)
		}
	}
}

// play plays the conversation, killing a worker at the given boundary ("": none), and returns the session and the
// boundaries passed.
func (n *lane) play(target string) (uuid.UUID, []string) {
	n.t.Helper()

	require.NoError(n.t, os.WriteFile(filepath.Join(n.dir, "target"), []byte(target), 0o600))
	require.NoError(n.t, os.Truncate(filepath.Join(n.dir, "boundaries"), 0))
	session := newSession(n.t, n.pool)
	for i := range failpointTurns {
		require.NoError(n.t, say(n.t.Context(), n.pool, session, i+1))
	}
	awaitQuiet(n.t, n.pool, session)
	passed, err := os.ReadFile(filepath.Join(n.dir, "boundaries"))
	require.NoError(n.t, err)

	return session, named(passed)
}

var failpointTurns = []string{turns[0], turns[1]}

// A worker is killed at every statement of every decision of a conversation; another continues. The result is the same.
func TestKilledAtEveryStatement(t *testing.T) {
	t.Parallel()
	l := openLab(t)
	scriptPath := writeScript(t, 0, failpointTurns)
	first := newLane(t, l, scriptPath)
	session, boundaries := undisturbed(first)
	want := state(t, first.pool, session)
	targets := chosen(boundaries)
	t.Logf("%d boundaries, %d of them tried", len(boundaries), len(targets))

	lanes := []*lane{first, newLane(t, l, scriptPath), newLane(t, l, scriptPath)}
	queue := make(chan string, len(targets))
	for _, target := range targets {
		queue <- target
	}
	close(queue)
	var wait sync.WaitGroup
	started := time.Now()
	for _, n := range lanes {
		wait.Go(func() {
			for target := range queue {
				n.die(target, want)
			}
		})
	}
	wait.Wait()
	for _, n := range lanes {
		requireClean(t, n.pool)
	}
	report("failpoints", fmt.Sprintf("| a worker killed at a statement | %d of %d statements of load, run and commit | 0 | %.0f s |",
		len(targets), len(boundaries), time.Since(started).Seconds()))
}

// undisturbed plays until two runs agree on the boundaries: the first one prepares statements.
func undisturbed(n *lane) (uuid.UUID, []string) {
	n.t.Helper()

	session, boundaries := n.play("")
	for range 5 {
		again, same := n.play("")
		if slices.Equal(boundaries, same) {
			return again, same
		}
		session, boundaries = again, same
	}

	return session, boundaries
}

// die plays with a kill and compares the result.
func (n *lane) die(target string, want map[string]string) {
	n.t.Helper()

	session, passed := n.play(target)
	for range 5 { // which statements are sent may depend on timing
		if slices.Contains(passed, target) {
			break
		}
		session, passed = n.play(target)
	}
	require.Contains(n.t, passed, target)
	require.Eventually(n.t, func() bool { return n.workers[0].ended() || n.workers[1].ended() }, dbtest.Patience, time.Millisecond, target)
	about := "killed at " + target
	requireSame(n.t, want, state(n.t, n.pool, session), about)
	requireBoughtOnce(n.t, n.pool, session, about)
	n.revive()
}

// requireBoughtOnce: a stored answer is reused, not bought again.
func requireBoughtOnce(t *testing.T, pool *pgxpool.Pool, session uuid.UUID, about string) {
	t.Helper()

	var twice int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM (SELECT FROM llm_calls WHERE session_id = $1 AND response IS NOT NULL AND turn_id IS NOT NULL
		GROUP BY turn_id, position, attempt HAVING count(*) > 1) AS x`, session).Scan(&twice))
	require.Zero(t, twice, "%s: answers bought twice", about)
}

// allRounds is the number of rounds from which all boundaries are tried; with fewer, a part of them, different each
// day.
const allRounds = 4

// chosen are the boundaries to try.
func chosen(boundaries []string) []string {
	const some = 12
	stride := max(1, len(boundaries)/some)
	if rounds() > 0 {
		stride = max(1, allRounds/rounds())
	}
	var few []string
	for i := time.Now().YearDay() % stride; i < len(boundaries); i += stride {
		few = append(few, boundaries[i])
	}

	return few
}

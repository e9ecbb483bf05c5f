package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"alfred/db"
	"alfred/internal/crud"
	"alfred/internal/domain"
	"alfred/internal/llm"
	"alfred/internal/pg"
	"alfred/internal/view"
	"alfred/internal/vocab"
	"alfred/nodes"
	"alfred/registry"
)

const (
	// clientPrefix distinguishes our clients from others that share River's tables.
	clientPrefix = "alfred-"

	fetchCooldown     = time.Millisecond
	fetchPollInterval = time.Second
	settleTimeout     = 5 * time.Second
	defaultGrace      = 10 * time.Second

	// Goroutines, not connections: a run waiting for a model holds none.
	defaultTurnWorkers = 200
	backgroundWorkers  = 20
)

// Prompts shape a view into what each node sees.
type Prompts interface {
	// Need says which optional parts of a view a node's prompt shows.
	Need(node string, v *view.View) view.Need
	// Understand may also ask for Think's decision in the same answer.
	Understand(v *view.View) nodes.UnderstandInput
	Think(v *view.View) nodes.ThinkInput
	// Plan is Think's input when the plan is known: without facts and without a frame.
	Plan(v *view.View) nodes.ThinkInput
	Act(v *view.View, step *db.TurnSteps) (nodes.ActInput, error)
	// Bounds is Act's input when the step's calls are known: without facts and without a frame.
	Bounds(v *view.View, step *db.TurnSteps) nodes.ActInput
	Reply(v *view.View) nodes.ReplyInput
	QuickReply(v *view.View) string
	Summarize(v *view.View) nodes.SummarizeInput
	Compress(v *view.View) nodes.CompressInput
}

// Tools run a decision's data calls. Prepare runs before the transaction, the others within it.
type Tools interface {
	Prepare(ctx context.Context, beginner pg.Beginner, asker crud.Asker, calls []vocab.Call) (crud.Prepared, error)
	Execute(ctx context.Context, tx pgx.Tx, scope registry.Scope, bounds crud.Bounds, prepared crud.Prepared) (crud.Outcome, error)
	ExecuteApproved(ctx context.Context, tx pgx.Tx, scope registry.Scope, calls []crud.ApprovedCall) (crud.Outcome, error)
	Undo(ctx context.Context, tx pgx.Tx, scope registry.Scope, what crud.Undoing) (crud.Outcome, error)
	ApplyInputs(ctx context.Context, tx pgx.Tx, scope registry.Scope, message string, uiChanges, mentions json.RawMessage) error
	Lines(ctx context.Context, tx pgx.Tx, scope registry.Scope, refs []string) (map[string]string, error)
}

// Index maintains the embeddings of rows and turns.
type Index interface {
	// EmbedTurn embeds what a turn changed, and the turn itself once it is summarized. It opens its own transactions,
	// and does nothing for unchanged texts.
	EmbedTurn(ctx context.Context, turnID uuid.UUID) error
}

// Config is what a Runner needs. Fields without a stated default are required.
type Config struct {
	Pool    *pgxpool.Pool
	Domain  *domain.Domain
	Windows view.Windows
	Prompts Prompts
	Shorter []Prompts // ever smaller budgets, for prompts that exceed the model's context
	Tools   Tools
	Index   Index // nil: nothing is embedded
	Logger  *slog.Logger
	Models  func(node string) llm.Model // the model of a node, compress included
	Prices  llm.Prices                  // nil: every call costs 0

	Limits Limits // per user and day; zero: none

	RetentionDecayTurns int // turns after which an untouched retention ends; 0: never

	// StrictGate fails a decision if its prompt or reply contains an identifier, instead of removing it. For tests.
	StrictGate bool

	// CompareCarried loads every carried view again and fails the decision if the two differ. For tests.
	CompareCarried bool

	// Grace is how long Stop lets decisions finish before it hands them back; 0: 10 s.
	Grace time.Duration
	// Timeouts bound the runs of nodes; missing ones have defaults.
	Timeouts Timeouts
	// Deadline is how long a turn may try to make one decision before it fails; 0: forever.
	Deadline time.Duration
	// SlowAfter is when a user is told that the model is slow; 0: 15 s.
	SlowAfter time.Duration
	// TurnWorkers is how many turns run concurrently; 0: 200.
	TurnWorkers int
	// Version is shown in the lease.
	Version string

	Traces  trace.TracerProvider // nil: no traces
	Metrics metric.MeterProvider // nil: no metrics

	// Wall is this machine's clock, whose offset from the database's is recorded in the lease; nil: [time.Now]. For
	// tests.
	Wall func() time.Time
}

// Timeouts bound how long a node may wait for its model, repairs included.
type Timeouts map[string]time.Duration

const defaultTimeout = 3 * time.Minute

func (t Timeouts) of(node string) time.Duration { return cmp.Or(t[node], defaultTimeout) }

// Runner works jobs: those of turns, those in the background, and those of workers that died.
type Runner struct {
	Config

	loader   *view.Loader
	client   *river.Client[pgx.Tx]
	clock    *clock
	id       string
	host     string
	notifier *pg.Notifier
	runs     runs
	lease    *lease
	observe  *observer
	shared   sharedParts
	repeated repeated
	stopping atomic.Bool

	stop context.CancelFunc // ends the loops
	done sync.WaitGroup
}

// NewRunner prepares a runner; nothing runs before Start.
func NewRunner(config Config) (*Runner, error) {
	config.Grace = cmp.Or(config.Grace, defaultGrace)
	if config.Wall == nil {
		config.Wall = time.Now
	}
	config.TurnWorkers = cmp.Or(config.TurnWorkers, defaultTurnWorkers)
	config.SlowAfter = cmp.Or(config.SlowAfter, defaultSlow)
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	host = host[:min(len(host), 40)]
	r := &Runner{
		Config: config, clock: &clock{}, loader: view.NewLoader(config.Domain, config.Windows), host: host, id: clientPrefix + host + "-" + uuid.NewString(),
		notifier: pg.NewNotifier(config.Pool), runs: runs{runs: map[*run]struct{}{}}, shared: sharedParts{stored: map[sharedPart]time.Time{}},
	}
	if r.observe, err = newObserver(&config, r.clock); err != nil {
		return nil, fmt.Errorf("make instruments: %w", err)
	}
	r.client, err = river.NewClient(&driver{riverpgxv5.New(config.Pool), r.clock}, r.riverConfig())
	if err != nil {
		return nil, fmt.Errorf("make River client: %w", err)
	}

	return r, nil
}

func (r *Runner) riverConfig() *river.Config {
	workers := river.NewWorkers()
	for _, node := range []string{vocab.NodeUnderstand, vocab.NodeThink, vocab.NodeAct, vocab.NodeReply, vocab.NodeSummarize} {
		river.AddWorkerArgs(workers, TurnArgs{Node: node}, river.WorkFunc(r.workTurn))
	}
	river.AddWorkerArgs(workers, TurnArgs{Node: kindEmbed}, river.WorkFunc(r.workEmbed))
	river.AddWorker(workers, river.WorkFunc(r.workCompress))

	return &river.Config{
		ID: r.id, Schema: pg.Schema, Workers: workers, MaxAttempts: maxAttempts, RetryPolicy: r.clock,
		JobTimeout:    -1, // what waits for others bounds its own time
		FetchCooldown: fetchCooldown, FetchPollInterval: fetchPollInterval, SoftStopTimeout: r.Grace,
		Queues: map[string]river.QueueConfig{
			queueTurns:      {MaxWorkers: r.TurnWorkers},
			queueBackground: {MaxWorkers: backgroundWorkers},
		},
		ReindexerIndexNames: reindexed(),
		// River only accepts a clock through its test settings.
		Test: river.TestConfig{Time: r.clock},
		// River logs every retry; our own line for the job contains the same and more.
		Logger: slog.New(quieter{r.Logger.Handler()}),
	}
}

// reindexed are River's indexes without those that the schema drops; River warns about missing ones.
func reindexed() []string {
	return slices.DeleteFunc(river.ReindexerIndexNamesDefault(), func(name string) bool {
		return slices.Contains([]string{"river_job_args_index", "river_job_kind", "river_job_metadata_index"}, name)
	})
}

// quieter passes only warnings and errors.
type quieter struct{ slog.Handler }

func (q quieter) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && q.Handler.Enabled(ctx, level)
}

// WithAttrs implements slog.Handler.
func (q quieter) WithAttrs(attrs []slog.Attr) slog.Handler {
	return quieter{q.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (q quieter) WithGroup(name string) slog.Handler { return quieter{q.Handler.WithGroup(name)} }

// Start takes the lease, starts working jobs and returns. ctx bounds only the start; call Stop to end.
func (r *Runner) Start(ctx context.Context) error {
	if _, err := db.New().PartitionEnsure(ctx, r.Pool); err != nil {
		return fmt.Errorf("make partitions: %w", err)
	}
	if err := db.New().SettingSet(ctx, r.Pool, &db.SettingSetParams{Name: "retention_window", Value: int32(r.Windows.RetentionWindow)}); err != nil {
		return fmt.Errorf("tell the database the window: %w", err)
	}
	loops, stop := context.WithCancel(context.WithoutCancel(ctx))
	r.stop = stop
	// Take the lease before the first job can be fetched: a crash right after would leave a job that nobody recovers.
	r.lease = &lease{runner: r}
	if err := r.lease.take(ctx); err != nil {
		stop()

		return err
	}
	r.done.Go(func() { r.lease.keep(loops) })
	r.done.Go(func() { r.lease.hold(loops) })
	r.done.Go(func() { pg.Every(loops, compareInterval, r.compareTables()) })
	r.done.Go(func() { pg.Every(loops, scanInterval, r.scan) })
	r.done.Go(func() { pg.Every(loops, day, r.ensurePartitions) })
	r.done.Go(func() {
		if err := r.notifier.Run(loops); err != nil {
			r.Logger.WarnContext(loops, "last notification lost", slog.Any("error", err))
		}
	})
	if err := r.client.Start(loops); err != nil {
		return errors.Join(fmt.Errorf("start River client: %w", err), r.Stop(ctx))
	}

	return nil
}

// Stop fetches no more jobs, lets decisions finish within the grace period, hands the others back and gives up the
// lease.
func (r *Runner) Stop(ctx context.Context) error {
	r.stopping.Store(true)
	stopErr := r.client.Stop(ctx)
	r.stop()
	r.done.Wait()
	if err := errors.Join(stopErr, r.lease.release(ctx)); err != nil {
		return fmt.Errorf("stop worker: %w", err)
	}

	return nil
}

// ID is the worker's id in the tables workers and river_job.
func (r *Runner) ID() string { return r.id }

const day = 24 * time.Hour

// ensurePartitions creates the partitions of the coming months.
func (r *Runner) ensurePartitions(ctx context.Context) {
	if _, err := db.New().PartitionEnsure(ctx, r.Pool); err != nil && ctx.Err() == nil {
		r.Logger.ErrorContext(ctx, "partitions not made", slog.Any("error", err))
	}
}

// Stopping reports whether Stop has begun: no turn continues here beyond its current decision.
func (r *Runner) Stopping() bool { return r.stopping.Load() }

package eval

import (
	"context"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"alfred/internal/domain"
	"alfred/internal/llm"
	"alfred/internal/recall"
	"alfred/internal/scratch"
	"alfred/jobs"
)

// Lab runs suites: it has a server for scratch databases, and a way to build a worker.
type Lab struct {
	Address string // of any database on the server; its role must be allowed to create databases
	// Worker builds a worker for a model, named as on the command line.
	Worker func(ctx context.Context, pool *pgxpool.Pool, bound *domain.Domain, model string) (jobs.Config, *recall.Index, error)
	Person *Asked // plays users; nil: their cases' messages are sent
	Judge  *Asked // judges by rubrics; nil: no judging

	Trials   int           // per case; 0: 1
	Parallel int           // concurrent trials; 0: 1
	Timeout  time.Duration // per trial; 0: 10 minutes
	Only     string        // a pattern for the names of the cases to run; "": all

	// Models, if set, wraps the models that answer. For tests.
	Models func(func(node string) llm.Model) func(node string) llm.Model
	// Progress, if set, is called after each trial, by one goroutine at a time.
	Progress func(name string, trial int, result *Trial)
}

const scratchPrefix = "alfred_eval_"

// Run runs every case of a suite with a model. An error means that nothing could be run; faults of a case are in its
// result.
func (l *Lab) Run(ctx context.Context, s *Suite, model string) (*Run, error) {
	if err := s.keepMatching(l.Only); err != nil {
		return nil, err
	}
	var run *Run
	err := l.onServer(ctx, s, func(server *scratch.Server, template string) (err error) {
		run, err = l.all(ctx, s, model, func(c *Case) Trial {
			return (&trial{lab: l, suite: s, c: c, model: model}).onCopy(ctx, server, template)
		})

		return err
	})

	return run, err
}

// onServer calls work with the server, cleaned of leftovers, and the template database of the suite's trials.
func (l *Lab) onServer(ctx context.Context, s *Suite, work func(server *scratch.Server, template string) error) error {
	server, err := scratch.Open(ctx, l.Address, scratchPrefix)
	if err != nil {
		return err
	}
	defer server.Close()
	if err := server.Sweep(ctx); err != nil {
		return err
	}
	template, drop, err := s.template(ctx, server)
	if err != nil {
		return err
	}
	defer drop()

	return work(server, template)
}

// all runs the trials, some of them concurrently.
func (l *Lab) all(ctx context.Context, s *Suite, model string, try func(c *Case) Trial) (*Run, error) {
	trials := max(l.Trials, 1)
	run := &Run{Suite: s.Suite, Model: model, Trials: trials, Started: time.Now().UTC().Truncate(time.Second), Cases: make([]Result, len(s.Cases))}
	var (
		group errgroup.Group
		told  sync.Mutex
	)
	group.SetLimit(max(l.Parallel, 1))
	for i := range s.Cases {
		run.Cases[i] = Result{Case: s.Cases[i].Case, About: s.Cases[i].About, Trials: make([]Trial, trials)}
		for n := range trials {
			group.Go(func() error {
				result := &run.Cases[i].Trials[n]
				*result = try(&s.Cases[i])
				told.Lock()
				defer told.Unlock()
				if l.Progress != nil {
					l.Progress(s.Cases[i].Case, n+1, result)
				}

				return nil
			})
		}
	}
	_ = group.Wait() // each trial keeps its error
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("the suite was interrupted: %w", err)
	}
	run.count()

	return run, nil
}

// onCopy runs the trial on a database of its own, a copy of the template.
func (t *trial) onCopy(ctx context.Context, server *scratch.Server, template string) Trial {
	if ctx.Err() != nil {
		return Trial{Outcome: Broken, Error: ctx.Err().Error()}
	}
	name, address, err := server.Create(ctx, template)
	if err != nil {
		return Trial{Outcome: Broken, Error: err.Error()}
	}
	defer dropDatabase(ctx, server, name)

	return t.run(ctx, address)
}

// dropDatabase drops a database even after the timeout; the next run sweeps up what remains.
func dropDatabase(ctx context.Context, server *scratch.Server, name string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	_ = server.Drop(ctx, name)
}

// template creates the database that trials are copies of, with the engine's tables and the domain's.
func (s *Suite) template(ctx context.Context, server *scratch.Server) (name string, drop func(), err error) {
	name, address, err := server.Create(ctx, "template0")
	if err != nil {
		return "", nil, err
	}
	drop = func() { dropDatabase(ctx, server, name) }
	if err := scratch.Migrate(ctx, address, func(pool *pgxpool.Pool) error { return s.fill(ctx, pool) }); err != nil {
		drop()

		return "", nil, fmt.Errorf("make the scratch database: %w", err)
	}

	return name, drop, nil
}

// fill creates the domain's tables.
func (s *Suite) fill(ctx context.Context, pool *pgxpool.Pool) error {
	for _, file := range s.Schema {
		sql, err := fs.ReadFile(s.files, file)
		if err != nil {
			return fmt.Errorf("%w: schema: %w", ErrSuite, err)
		}
		if _, err := pool.Exec(ctx, string(sql)); err != nil {
			return fmt.Errorf("schema %s: %w", file, err)
		}
	}
	// Remove what reaches other databases before there are any rows.
	if _, err := pool.Exec(ctx, s.schema+noServers); err != nil {
		return fmt.Errorf("schema: %w", err)
	}

	return s.attach(ctx, pool)
}

const noServers = `
;DO $$ DECLARE server text; BEGIN
	FOR server IN SELECT srvname FROM pg_foreign_server LOOP EXECUTE format('DROP SERVER %I CASCADE', server); END LOOP;
END $$`

// attach creates the views of a domain that uses them.
func (s *Suite) attach(ctx context.Context, pool *pgxpool.Pool) error {
	decl, err := domain.Load(s.declaration.folder, s.declaration.file)
	if err != nil || decl.Source.Schema == nil {
		return err
	}
	sql, _, err := domain.Views(ctx, pool, decl)
	if err != nil {
		return err
	}

	return domain.Attach(ctx, pool, decl, sql)
}

// open binds the domain to a trial's database.
func (s *Suite) open(ctx context.Context, pool *pgxpool.Pool) (*domain.Domain, error) {
	return domain.Open(ctx, pool, s.declaration.folder, s.declaration.file)
}

// Use takes the declaration, which is beside the suite unless it is built in, from elsewhere: another one of the same tables,
// given by path or built-in name.
func (s *Suite) Use(nameOrPath string) {
	s.declaration.folder, s.declaration.file = domain.Find(nameOrPath)
}

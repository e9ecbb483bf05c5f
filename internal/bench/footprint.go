package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/client"
	"alfred/internal/pg"
	"alfred/jobs"
)

const (
	inFlight    = 1_000 // turns whose model does not answer
	idleStreams = 1_000
	starts      = 7
	settled     = 2 * time.Second // until open streams have allocated what they need
)

// footprint is what the programs themselves need.
type footprint struct {
	Ready                 []time.Duration // from exec to "worker started"
	WorkerIdle, WorkerMax int             // resident, in kB; max with inFlight turns waiting for their model
	APIIdle, APIStreams   int             // with idleStreams open
}

// programs are the two programs, built like a release.
type programs struct{ dir, address string }

func buildPrograms(ctx context.Context, dir, address string) (*programs, error) {
	return &programs{dir: dir, address: address}, build(ctx, "go", "build", "-o", dir+"/", "./cmd/worker", "./cmd/api")
}

// process is a running program.
type process struct {
	cmd  *exec.Cmd
	addr string // where it listens
}

// start returns once the program reports that it serves.
func (p *programs) start(ctx context.Context, env []string, name string, args ...string) (*process, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(p.dir, name), args...) //nolint:gosec // one of the two
	cmd.Env = append(os.Environ(), append([]string{"DATABASE_URL=" + p.address, "ALFRED_ADDR=127.0.0.1:0", "ALFRED_AUTH=off"}, env...)...)
	logs, err := cmd.StderrPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	said := ""
	for lines := bufio.NewScanner(logs); lines.Scan(); said = lines.Text() {
		var line struct {
			Msg  string `json:"msg"`
			Addr string `json:"addr"`
		}
		if json.Unmarshal(lines.Bytes(), &line) == nil && (line.Msg == "worker started" || line.Msg == "serving") {
			go io.Copy(io.Discard, logs) //nolint:errcheck // to the end: a full pipe would stop the program

			return &process{cmd: cmd, addr: line.Addr}, nil
		}
	}

	return nil, errors.Join(fmt.Errorf("%s ended: %s", name, said), cmd.Wait())
}

func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	_ = p.cmd.Wait() // how it ends does not matter here
}

// resident is the memory of the process in kB, as Linux counts it.
func (p *process) resident() (int, error) {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/status") //nolint:gosec // a number
	if err != nil {
		return 0, fmt.Errorf("read the process's memory: %w", err)
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); fields[0] == "VmRSS:" {
			return strconv.Atoi(fields[1])
		}
	}

	return 0, errors.New("read the process's memory: no VmRSS")
}

func measureFootprint(ctx context.Context, p *programs) (*footprint, error) {
	f := &footprint{}
	for range starts {
		began := time.Now()
		worker, err := p.start(ctx, nil, "worker", "run", "--json")
		if err != nil {
			return nil, err
		}
		f.Ready = append(f.Ready, time.Since(began))
		worker.stop()
	}
	if err := f.streams(ctx, p); err != nil {
		return nil, err
	}

	return f, f.turns(ctx, p)
}

// streams opens many streams on an idle session.
func (f *footprint) streams(ctx context.Context, p *programs) (err error) {
	pool, err := openPool(ctx, p.address, 1, nil)
	if err != nil {
		return err
	}
	defer pool.Close()
	var session uuid.UUID // of the user for whom the API acts without keys
	if err := pool.QueryRow(ctx, `SELECT start_session('demo')`).Scan(&session); err != nil {
		return fmt.Errorf("make a session: %w", err)
	}
	api, err := p.start(ctx, nil, "api", "serve")
	if err != nil {
		return err
	}
	defer api.stop()
	if f.APIIdle, err = api.resident(); err != nil {
		return err
	}
	user, err := client.New("http://"+api.addr, "")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for range idleStreams {
		if _, err := user.SessionEvents(ctx, session.String(), nil); err != nil { //nolint:bodyclose // closed with the context
			return fmt.Errorf("open a stream: %w", err)
		}
	}
	time.Sleep(settled)
	f.APIStreams, err = api.resident()

	return err
}

// turns runs many turns that wait for their model.
func (f *footprint) turns(ctx context.Context, p *programs) error {
	var asked atomic.Int64
	over := make(chan struct{})
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		select {
		case <-over:
		case <-r.Context().Done():
		}
		http.Error(w, "the measure is over", http.StatusServiceUnavailable)
	}))
	defer model.Close()
	defer close(over)
	worker, err := p.start(ctx, []string{"ALFRED_LLM=openai", "OPENAI_API_KEY=none", "OPENAI_BASE_URL=" + model.URL + "/v1", "ALFRED_MODEL=none"},
		"worker", "run", "--json", "--turns", strconv.Itoa(inFlight))
	if err != nil {
		return err
	}
	defer worker.cmd.Process.Kill() //nolint:errcheck // it would wait for its turns
	if f.WorkerIdle, err = worker.resident(); err != nil {
		return err
	}
	if err := enqueueAll(ctx, p.address, inFlight); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 4*patience)
	defer cancel()
	for asked.Load() < inFlight {
		now, err := worker.resident()
		if err = errors.Join(err, ctx.Err()); err != nil {
			return fmt.Errorf("%d of %d turns wait for the model: %w", asked.Load(), inFlight, err)
		}
		f.WorkerMax = max(f.WorkerMax, now)
		time.Sleep(20 * time.Millisecond)
	}
	now, err := worker.resident()
	f.WorkerMax = max(f.WorkerMax, now)

	return err
}

func enqueueAll(ctx context.Context, address string, n int) error {
	pool, err := openPool(ctx, address, 1, nil)
	if err != nil {
		return err
	}
	defer pool.Close()
	sessions, err := newSessions(ctx, pool, n)
	if err != nil {
		return err
	}

	return pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		for _, session := range sessions {
			if _, err := jobs.EnqueueTurn(ctx, tx, jobs.EnqueueParams{SessionID: session, Message: "Show my recipes"}); err != nil {
				return err
			}
		}

		return nil
	})
}

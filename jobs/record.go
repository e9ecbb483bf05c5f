package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"alfred/db"
	"alfred/internal/llm"
	"alfred/internal/pg"
	"alfred/internal/telemetry"
	"alfred/nodes"
)

const (
	// recordTimeout bounds storing an answer after its run ends: it has been paid for.
	recordTimeout = 5 * time.Second

	// recordPause is the pause between attempts to store an answer.
	recordPause = 200 * time.Millisecond

	// keepAnswer is how long an answer waits for its decision's commit before it is stored alone. A process killed
	// within that time has to ask again, just like one killed while storing the answer.
	keepAnswer = 50 * time.Millisecond

	// keepSent is how long an answer waits once its insert is sent with the commit. Storing it alone meanwhile would
	// write it twice, with one transaction waiting for the other. It covers a commit that hangs or panics.
	keepSent = time.Second
)

// recorder is the model of one decision. It stores every answer, with the decision made from it or alone if that does
// not follow at once. If an answer is already stored for the decision, it returns that instead of asking again, so that
// what a killed process bought is not bought twice.
type recorder struct {
	runner  *Runner
	model   llm.Model
	guard   *guard
	session uuid.UUID
	turn    *uuid.UUID // nil for compress
	// position is 0 for compress, whose answers are found by their request.
	position int
	ordinal  int
	items    []nodes.Item
	bought   []*db.LlmCallAnswersRow
	again    bool // compress: an earlier delivery of the job may have bought an answer

	// lastCall is the last call whose answer was used; tokens cover all calls.
	lastCall  *uuid.UUID
	modelName string
	usage     llm.Usage
	played    int
	// asked and answered are the request and response of lastCall, for the call that continues it.
	asked    []llm.Message
	answered *llm.Response

	mu      sync.Mutex
	kept    *madeCall   // an answer not stored yet
	keeping *time.Timer // stores it alone
}

func (r *Runner) recorder(g *guard, session uuid.UUID) *recorder {
	return &recorder{runner: r, guard: g, session: session}
}

// Generate implements llm.Model.
func (r *recorder) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	req.Ordinal, req.OnRefused = r.ordinal, r.refuse
	if err := r.save(ctx); err != nil {
		return nil, err
	}
	if err := r.guard.prompt(ctx, req); err != nil {
		return nil, err
	}
	llm.Prepare(r.model, req)
	resp, err := r.play(ctx, req)
	if resp != nil || err != nil {
		return resp, err
	}

	return r.ask(ctx, req)
}

// ask calls the model, and records its answer and every failure on the way.
func (r *recorder) ask(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	var lost error
	started := time.Now()
	asked := *req
	asked.OnFailed = func(resp *llm.Response, failure error) {
		lost = errors.Join(lost, r.record(ctx, req, resp, failure, time.Since(started)))
		started = time.Now() // the next call's, so that the durations add up
	}
	called, done := r.runner.observe.calling(ctx, &asked)
	resp, err := r.model.Generate(called, &asked)
	done(resp, err)
	if stopped := context.Cause(ctx); stopped != nil && err != nil && !errors.Is(stopped, context.DeadlineExceeded) {
		err = errors.Join(stopped, err)
	}
	lost = errors.Join(lost, r.record(ctx, req, resp, err, time.Since(started)))
	if err == nil && lost != nil {
		return nil, lost
	}

	return resp, err
}

// play returns the stored answer to this request, or nil.
func (r *recorder) play(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	bought, err := r.storedAnswer(ctx, req)
	if bought == nil || err != nil {
		return nil, err
	}
	resp := &llm.Response{}
	if err := json.Unmarshal(bought.Response, resp); err != nil {
		return nil, fmt.Errorf("read stored answer: %w", err)
	}
	resp.Model, resp.Provider = bought.Model, bought.Provider
	r.lastCall, r.modelName = &bought.ID, bought.Model
	r.played++
	if req.OnDelta != nil && resp.Text != "" {
		req.OnDelta(resp.Text)
	}

	return resp, nil
}

// storedAnswer returns the answer that an earlier delivery of the job has bought, or nil.
func (r *recorder) storedAnswer(ctx context.Context, req *llm.Request) (*db.LlmCallAnswersRow, error) {
	if r.again {
		return r.compressedBefore(ctx, req)
	}
	for _, row := range r.bought {
		if int(row.Attempt) == req.Attempt {
			return row, nil
		}
	}

	return nil, nil
}

func (r *recorder) compressedBefore(ctx context.Context, req *llm.Request) (*db.LlmCallAnswersRow, error) {
	request, err := cut(req, nil)
	if err != nil {
		return nil, err
	}
	rows, err := db.New().LlmCallCompressed(ctx, r.runner.Pool, &db.LlmCallCompressedParams{SessionID: r.session, Outline: string(request.outline), Parts: request.parts})
	if err != nil {
		return nil, fmt.Errorf("look for a bought answer: %w", err)
	}
	if len(rows) == 0 {
		return nil, nil
	}

	return new(db.LlmCallAnswersRow(*rows[0])), nil
}

// record keeps an answer for the commit, and stores a failure.
func (r *recorder) record(ctx context.Context, req *llm.Request, resp *llm.Response, failure error, took time.Duration) error {
	call, err := r.call(req, resp, failure, took)
	if err != nil {
		return err
	}
	call.TraceID = telemetry.TraceID(ctx)
	if resp != nil {
		r.runner.observe.spent(ctx, req.Node, call.Model, resp.Usage, call.CostUSD)
	}
	r.lastCall, r.modelName = &call.ID, call.Model
	if failure != nil {
		return r.store(ctx, call)
	}
	r.asked, r.answered = req.Messages, resp
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept = call
	r.keeping = time.AfterFunc(keepAnswer, func() { _ = r.save(ctx) }) // the commit tries again

	return nil
}

// refuse marks the answer just received as unusable. It stays on record with its cost.
func (r *recorder) refuse() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept == nil {
		return
	}
	refused := *r.kept // a copy: whoever stores the kept answer reads it without the lock
	refused.ErrorCode = codeRefused
	r.kept = &refused
}

// sending returns the kept answer for its decision's transaction, nil if there is none.
func (r *recorder) sending() (json.RawMessage, error) {
	r.mu.Lock()
	call := r.kept
	if call != nil {
		r.keeping.Reset(keepSent)
	}
	r.mu.Unlock()
	if call == nil {
		return nil, nil
	}

	return call.encode()
}

// stored is called once the transaction has committed.
func (r *recorder) stored() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept != nil && r.turn != nil { // a compression's commit does not wait for the disk
		r.runner.shared.committed(r.kept.ID, r.kept.SharedParts)
	}
	r.forget(r.kept)
}

// forget requires the lock. It does nothing if another answer is kept.
func (r *recorder) forget(call *madeCall) {
	if r.kept != nil && r.kept == call {
		r.keeping.Stop()
		r.kept = nil
	}
}

// save stores the kept answer alone.
func (r *recorder) save(ctx context.Context) error {
	r.mu.Lock()
	call := r.kept
	r.mu.Unlock()
	if call == nil {
		return nil
	}
	if err := r.store(ctx, call); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget(call)

	return nil
}

// store writes a call in its own transaction. It retries for as long as the run may last, and a little longer.
func (r *recorder) store(ctx context.Context, call *madeCall) error {
	ctx, cancel := outlive(ctx, recordTimeout)
	defer cancel()
	encoded, err := call.encode()
	if err != nil {
		return err
	}
	for {
		queue := &pg.Batch{}
		commitAsync(queue)
		queue.Exec("insert call", db.LlmCallInsert, encoded)
		err := queue.InTx(ctx, r.runner.Pool)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil || !pg.IsTransient(err) {
			return fmt.Errorf("store the model's answer: %w", err)
		}
		_ = pg.Pause(ctx, recordPause) // the next attempt tells why ctx has ended
	}
}

// outlive returns a context that ends this long after the given one.
func outlive(ctx context.Context, by time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if pg.Pause(longer, by) == nil {
			cancel()
		}
	})

	return longer, func() { stop(); cancel() }
}

// commitAsync lets the commit return before it reaches the disk: what the transaction writes can be recreated.
func commitAsync(queue *pg.Batch) {
	queue.Exec("relax the commit", `SET LOCAL synchronous_commit = off`, nil)
}

package main

import (
	"context"
	"maps"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// counts is what passed through a pool's connections.
type counts struct {
	Queries    int // statements, including those that begin and end transactions
	RoundTrips int // waits for the server; a batch is one, preparing a statement none
	Commits    int // transactions that could write
	Reads      int // transactions that were read-only
	Singles    int // statements or batches outside a transaction, each one of its own
}

func (c counts) plus(o counts) counts {
	return counts{c.Queries + o.Queries, c.RoundTrips + o.RoundTrips, c.Commits + o.Commits, c.Reads + o.Reads, c.Singles + o.Singles}
}

func (c counts) minus(o counts) counts {
	return counts{c.Queries - o.Queries, c.RoundTrips - o.RoundTrips, c.Commits - o.Commits, c.Reads - o.Reads, c.Singles - o.Singles}
}

// meter counts what a pool's connections send, by statement, and reports when a turn's reply or summary is committed.
// It is the pool's tracer.
type meter struct {
	mu     sync.Mutex
	total  counts
	byName map[string]usage
	open   map[*pgx.Conn]*openTx
	turns  map[uuid.UUID]*milestones
	// sample is one use of each statement, for its plan.
	sample map[string]sample
}

type sample struct {
	sql  string
	args []any
}

// usage is how often a statement was sent, and its total response time.
type usage struct {
	N    int
	Took time.Duration
}

// openTx is the transaction that a connection is in.
type openTx struct {
	readOnly bool
	implicit bool            // belongs to a batch outside a transaction
	passed   []chan struct{} // closed when it commits
}

// milestones of a turn; each channel is closed when its transaction has committed.
type milestones struct{ replied, summarized chan struct{} }

func newMeter() *meter {
	return &meter{byName: map[string]usage{}, open: map[*pgx.Conn]*openTx{}, turns: map[uuid.UUID]*milestones{}, sample: map[string]sample{}}
}

// watch must be called before the commit that enqueues the turn.
func (m *meter) watch(turn uuid.UUID) *milestones {
	m.mu.Lock()
	defer m.mu.Unlock()
	w := &milestones{replied: make(chan struct{}), summarized: make(chan struct{})}
	m.turns[turn] = w

	return w
}

func (m *meter) counts() counts {
	m.mu.Lock()
	defer m.mu.Unlock()

	return m.total
}

// names is the usage of each statement.
func (m *meter) names() map[string]usage {
	m.mu.Lock()
	defer m.mu.Unlock()

	return maps.Clone(m.byName)
}

// sent is a statement in flight, kept in its context.
type sent struct {
	sql string
	at  time.Time
}

type sentKey struct{}

// TraceQueryStart implements pgx.QueryTracer.
func (m *meter) TraceQueryStart(ctx context.Context, conn *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.total.RoundTrips++
	m.statement(conn, data.SQL, data.Args)

	return context.WithValue(ctx, sentKey{}, sent{sql: data.SQL, at: time.Now()})
}

// TraceQueryEnd implements pgx.QueryTracer.
func (m *meter) TraceQueryEnd(ctx context.Context, conn *pgx.Conn, data pgx.TraceQueryEndData) {
	s, _ := ctx.Value(sentKey{}).(sent)
	m.mu.Lock()
	defer m.mu.Unlock()
	name := statementName(s.sql)
	used := m.byName[name]
	used.Took += time.Since(s.at)
	m.byName[name] = used
	m.ended(conn, s.sql, data.Err)
}

// TraceBatchStart implements pgx.BatchTracer.
func (m *meter) TraceBatchStart(ctx context.Context, conn *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.total.RoundTrips++
	if m.open[conn] == nil {
		m.open[conn] = &openTx{implicit: true}
	}

	return ctx
}

// TraceBatchQuery implements pgx.BatchTracer.
func (m *meter) TraceBatchQuery(_ context.Context, conn *pgx.Conn, data pgx.TraceBatchQueryData) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.statement(conn, data.SQL, data.Args)
	m.ended(conn, data.SQL, data.Err)
}

// TraceBatchEnd implements pgx.BatchTracer.
func (m *meter) TraceBatchEnd(_ context.Context, conn *pgx.Conn, _ pgx.TraceBatchEndData) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if tx := m.open[conn]; tx != nil && tx.implicit {
		m.total.Singles++
		delete(m.open, conn)
	}
}

// statement counts one statement and notes what its commit will complete. It requires the lock.
func (m *meter) statement(conn *pgx.Conn, sql string, args []any) {
	m.total.Queries++
	name := statementName(sql)
	used := m.byName[name]
	used.N++
	m.byName[name] = used
	m.sample[name] = sample{sql: sql, args: args}
	switch {
	case strings.HasPrefix(sql, "begin"):
		m.open[conn] = &openTx{readOnly: strings.Contains(sql, "read only")}
	case m.open[conn] == nil:
		m.total.Singles++
	case name == "TurnReply" || name == "TurnSummarized":
		if w := m.watched(args); w != nil {
			passed := w.replied
			if name == "TurnSummarized" {
				passed = w.summarized
			}
			m.open[conn].passed = append(m.open[conn].passed, passed)
		}
	}
}

// ended closes the channels that a commit completes. It requires the lock.
func (m *meter) ended(conn *pgx.Conn, sql string, err error) {
	tx := m.open[conn]
	if tx == nil || sql != "commit" && sql != "rollback" {
		return
	}
	delete(m.open, conn)
	if sql == "rollback" || err != nil {
		return
	}
	if tx.readOnly {
		m.total.Reads++
	} else {
		m.total.Commits++
	}
	for _, passed := range tx.passed {
		close(passed)
	}
}

// watched returns the milestones of the turn that is among a statement's arguments, nil for none. It requires the lock.
func (m *meter) watched(args []any) *milestones {
	for _, arg := range args {
		if id, ok := arg.(uuid.UUID); ok && m.turns[id] != nil {
			return m.turns[id]
		}
	}

	return nil
}

var sqlcName = regexp.MustCompile(`-- name: (\w+)`)

// statementName is the name of a generated query (River's have names too), or the beginning of any other.
func statementName(sql string) string {
	if found := sqlcName.FindStringSubmatch(sql); found != nil {
		return found[1]
	}
	words := strings.Fields(sql)

	return strings.Join(words[:min(len(words), 6)], " ")
}

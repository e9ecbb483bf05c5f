package work

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Nodes of a turn, in order.
var Nodes = []string{"understand", "think", "read", "write", "reply", "summarize"}

// The statements of read and write.
const (
	Read  = `SELECT coalesce(string_agg(name, ','), '') FROM (SELECT name FROM shopping WHERE owner = $1 ORDER BY id DESC LIMIT 12) AS x`
	Write = `INSERT INTO shopping (owner, name) VALUES ($1, $2)`
)

// Answer is the model's answer at a node.
func Answer(node string, turn int) string {
	return fmt.Sprintf("%s of turn %d: %s", node, turn, strings.Repeat("the user wants milk on the list; ", 9))
}

// Result is one measurement, printed as JSON.
type Result struct {
	Sessions int     `json:"sessions"`
	Turns    int     `json:"turns"`
	Seconds  float64 `json:"seconds"`
	P50      float64 `json:"p50_ms"`
	P99      float64 `json:"p99_ms"`
}

// Load is set by the flags.
type Load struct {
	URL      string
	Sessions int
	Turns    int    // per session, measured
	History  int    // per session, before
	Keep     string // file of what is to be kept, see Kept; may be empty
}

// Flags reads the load.
func Flags() Load {
	var l Load
	flag.StringVar(&l.URL, "url", "", "database")
	flag.IntVar(&l.Sessions, "sessions", 1, "sessions at once")
	flag.IntVar(&l.Turns, "turns", 100, "turns per session")
	flag.IntVar(&l.History, "history", 0, "turns that each session has had")
	flag.StringVar(&l.Keep, "keep", "", "file of what is to be kept of each turn, besides the framework's record")
	flag.Parse()

	return l
}

// Open makes the tables.
func Open(ctx context.Context, l Load, conns int32) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(l.URL)
	if err != nil {
		return nil, err
	}
	config.MaxConns = conns
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	_, err = pool.Exec(ctx, Schema)

	return pool, err
}

// Run runs each session's turns one after the other, and prints how long they took. Before and after the measurement it
// waits, so that what was used until then can be read.
func Run(ctx context.Context, l Load, turn func(ctx context.Context, session, n int) error) {
	phase(ctx, l.Sessions, 0, l.History, turn)
	fmt.Println("seeded")
	_, _ = fmt.Scanln()
	began := time.Now()
	took := phase(ctx, l.Sessions, l.History, l.Turns, turn)
	seconds := time.Since(began).Seconds()
	slices.Sort(took)
	_ = json.NewEncoder(os.Stdout).Encode(Result{
		Sessions: l.Sessions, Turns: len(took), Seconds: seconds, P50: at(took, 0.5), P99: at(took, 0.99),
	})
	_, _ = fmt.Scanln()
}

func phase(ctx context.Context, sessions, from, turns int, turn func(ctx context.Context, session, n int) error) []time.Duration {
	var lock sync.Mutex
	var all []time.Duration
	var wait sync.WaitGroup
	for s := range sessions {
		wait.Go(func() {
			for n := range turns {
				began := time.Now()
				if err := turn(ctx, s, from+n); err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				lock.Lock()
				all = append(all, time.Since(began))
				lock.Unlock()
			}
		})
	}
	wait.Wait()

	return all
}

func at(sorted []time.Duration, quantile float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	i := min(int(quantile*float64(len(sorted))), len(sorted)-1)

	return cmp.Or(float64(sorted[i].Microseconds())/1000, 0)
}

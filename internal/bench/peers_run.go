package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// score is a contestant's result in a contest.
type score struct {
	Turns   int     `json:"turns"`
	Seconds float64 `json:"seconds"`
	P50     float64 `json:"p50_ms"`
	P99     float64 `json:"p99_ms"`

	Who contestant `json:"-"`

	// per turn
	Queries, RoundTrips float64 `json:"-"` // 0 if they were not counted
	Rows, Commits, Wal  float64 `json:"-"` // rows and commits are 0 without pg_walinspect
	CPU                 cpu     `json:"-"`
	Kept                kept    `json:"-"`
}

// PerSecond is how many turns end in a second.
func (s *score) PerSecond() float64 { return float64(s.Turns) / s.Seconds }

// Turn is how long a turn takes, in milliseconds, with all sessions running at once.
func (s *score) Turn() float64 { return 1000 / s.PerSecond() }

// sent records what was sent during so many turns.
func (s *score) sent(c counts, turns int) {
	s.Queries, s.RoundTrips = float64(c.Queries)/float64(turns), float64(c.RoundTrips)/float64(turns)
}

// watch is told when the measured turns begin and when they have ended. The process is the contestant's, 0 for our own.
type watch interface {
	begin(ctx context.Context, process int) error
	end(ctx context.Context) error
}

// run starts the peer's program. It prints "seeded" when the history exists, and its score at the end, and waits for a line
// after each.
func (who contestant) run(ctx context.Context, address string, c contest, file string, scored *score, w watch) error {
	args := append(slices.Clone(who.program[1:]), "--url", address, "--sessions", strconv.Itoa(c.Sessions), "--turns", strconv.Itoa(c.Turns),
		"--history", strconv.Itoa(c.History), "--keep", file)
	cmd := exec.CommandContext(ctx, who.program[0], args...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		switch {
		case lines.Text() == "seeded":
			err = w.begin(ctx, cmd.Process.Pid)
		case strings.HasPrefix(lines.Text(), "{"):
			err = errors.Join(w.end(ctx), json.Unmarshal(lines.Bytes(), scored))
		default:
			continue
		}
		if err == nil {
			_, err = in.Write([]byte("\n"))
		}
		if err != nil {
			return errors.Join(err, cmd.Process.Kill(), cmd.Wait())
		}
	}

	return cmd.Wait()
}

// alfredRun runs the turns in this process.
func alfredRun(ctx context.Context, address string, c contest, _ string, scored *score, w watch) error {
	return onRig(ctx, address, answers{}, c.Sessions, func(r *rig, sessions []uuid.UUID) error {
		if err := r.live(ctx, sessions, c.History, min(c.History, 3*workerConns)); err != nil {
			return err
		}
		if err := w.begin(ctx, 0); err != nil {
			return err
		}
		p, err := r.playCounted(ctx, sessions, c.Turns)
		if err != nil {
			return err
		}
		scored.Turns, scored.Seconds = len(p.whole), p.elapsed.Seconds()
		scored.P50, scored.P99 = millis(percentile(p.whole, 0.5)), millis(percentile(p.whole, 0.99))
		scored.sent(p.sent, len(p.whole))

		return w.end(ctx)
	})
}

// tally counts what a peer sends.
type tally struct {
	counts        func() counts
	before, after counts
}

func (t *tally) begin(context.Context, int) error {
	t.before = t.counts()

	return nil
}

func (t *tally) end(context.Context) error {
	t.after = t.counts()

	return nil
}

// probe reads what a contestant has used and stored.
type probe struct {
	server        *server
	address       string // of the measured database
	keptSQL       string
	process       int
	before, after struct {
		reading

		kept kept
	}
}

func (p *probe) begin(ctx context.Context, process int) (err error) {
	p.process = process
	if p.before.kept, err = p.kept(ctx); err == nil {
		p.before.reading, err = p.read(ctx)
	}

	return err
}

func (p *probe) end(ctx context.Context) (err error) {
	if p.after.reading, err = p.read(ctx); err == nil {
		p.after.kept, err = p.kept(ctx)
	}

	return err
}

func (p *probe) read(ctx context.Context) (reading, error) {
	r, err := p.server.read(ctx)
	if p.process != 0 {
		r.cpu.Own = spentBy(p.process)
	}

	return r, err
}

func (p *probe) kept(ctx context.Context) (kept, error) {
	var k kept
	conn, err := pgx.Connect(ctx, p.address)
	if err != nil {
		return k, fmt.Errorf("connect: %w", err)
	}
	defer conn.Close(ctx)
	if err := conn.QueryRow(ctx, p.keptSQL).Scan(&k.Rows, &k.Bytes); err != nil {
		return k, fmt.Errorf("measure what is kept: %w", err)
	}

	return k, nil
}

// inspect adds to the score what was used and written between begin and end.
func (p *probe) inspect(ctx context.Context, s *score) error {
	spent, n, turns := p.after.cpu.minus(p.before.cpu), time.Duration(s.Turns), float64(s.Turns)
	s.CPU, s.Kept = cpu{Own: spent.Own / n, Server: spent.Server / n}, p.after.kept.minus(p.before.kept).per(s.Turns)
	written, err := p.server.walBetween(ctx, p.address, p.before.position, p.after.position)
	s.Wal, s.Rows, s.Commits = float64(written.Bytes)/turns, float64(written.Rows)/turns, float64(written.Commits)/turns

	return err
}

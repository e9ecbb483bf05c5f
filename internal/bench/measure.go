package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
)

const (
	rounds = 3
	// warmUp turns of a session precede those that are counted: from the fourth turn on, each has older ones
	// compressed.
	warmUp = 5
)

// load is how many sessions run how many turns concurrently, after Warm others: a connection plans a statement on first
// use, so each needs some.
type load struct{ Sessions, Turns, Warm int }

func loads() []load {
	return []load{{Sessions: 1, Turns: 60, Warm: 3 * workerConns}, {Sessions: 32, Turns: 12, Warm: warmUp}}
}

// result is the outcome of one load, over all its rounds.
type result struct {
	load

	PerSecond           float64 // turns, median of the rounds
	Replied, Summarized []time.Duration
	Commits             float64 // per turn, as the server counts them, over all rounds
	Counts              counts  // of Counted turns
	CPU                 cpu     // of Counted turns
	Counted             int
	Wal                 wal // of Counted turns, all rounds
	Names               map[string]usage

	Floor, FloorPipelined     float64 // copies of the turn's rows per second, median of the rounds
	FloorTook, FloorPipedTook []time.Duration
}

// measure alternates turns and the floor, so that other load on the machine affects both.
func measure(ctx context.Context, s *server, address string, l load, f *floor) (*result, error) {
	r := &result{load: l, Names: map[string]usage{}}
	var speed, floorSpeed, pipedSpeed []float64
	for range rounds {
		perSecond, err := r.turns(ctx, s, address)
		if err != nil {
			return nil, err
		}
		speed = append(speed, perSecond)
		for _, kind := range []struct {
			pipelined bool
			speed     *[]float64
			took      *[]time.Duration
		}{{false, &floorSpeed, &r.FloorTook}, {true, &pipedSpeed, &r.FloorPipedTook}} {
			took, elapsed, err := writeFloor(ctx, address, f, l, kind.pipelined)
			if err != nil {
				return nil, err
			}
			*kind.took = append(*kind.took, took...)
			*kind.speed = append(*kind.speed, float64(len(took))/elapsed.Seconds())
		}
	}
	r.PerSecond, r.Floor, r.FloorPipelined = median(speed), median(floorSpeed), median(pipedSpeed)

	return r, nil
}

// writeFloor writes as many copies of the recorded turn as the load has turns.
func writeFloor(ctx context.Context, address string, f *floor, l load, pipelined bool) ([]time.Duration, time.Duration, error) {
	pool, err := openPool(ctx, address, workerConns, nil)
	if err != nil {
		return nil, 0, err
	}
	defer pool.Close()
	warm, err := f.copies(ctx, pool, l.Warm*l.Sessions)
	if err != nil {
		return nil, 0, err
	}
	copies, err := f.copies(ctx, pool, l.Turns*l.Sessions)
	if err != nil {
		return nil, 0, err
	}
	if _, err := writeCopies(ctx, pool, warm, l.Sessions, pipelined); err != nil { // connections prepare their statements
		return nil, 0, err
	}
	start := time.Now()
	took, err := writeCopies(ctx, pool, copies, l.Sessions, pipelined)

	return took, time.Since(start), err
}

// turns is one round of turns; it returns the turns per second.
func (r *result) turns(ctx context.Context, s *server, address string) (perSecond float64, err error) {
	sessions, err := makeSessions(ctx, address, r.Sessions)
	if err != nil {
		return 0, err
	}
	before, err := s.commits(ctx)
	if err != nil {
		return 0, err
	}
	rig, err := startRig(ctx, address, equipment{model: answers{}})
	if err != nil {
		return 0, err
	}
	perSecond, from, to, err := r.count(ctx, s, rig, sessions)
	if err := errors.Join(err, rig.stop(ctx)); err != nil {
		return 0, err
	}
	after, err := s.commits(ctx)
	if err != nil {
		return 0, err
	}
	r.Commits += float64(after-before) / float64(r.Sessions*(r.Warm+r.Turns)) / rounds
	written, err := s.walBetween(ctx, address, from, to)
	r.addWal(written)

	return perSecond, err
}

// count runs the counted turns, after some that are not. It returns where in the WAL they are.
func (r *result) count(ctx context.Context, s *server, rig *rig, sessions []uuid.UUID) (perSecond float64, from, to string, err error) {
	if err := s.checkpoint(ctx); err != nil {
		return 0, "", "", fmt.Errorf("checkpoint: %w", err)
	}
	if err := rig.live(ctx, sessions, r.Warm, r.Warm/2); err != nil {
		return 0, "", "", err
	}
	before, err := s.read(ctx)
	if err != nil {
		return 0, "", "", err
	}
	p, err := rig.playCounted(ctx, sessions, r.Turns)
	if err != nil {
		return 0, "", "", err
	}
	after, err := s.read(ctx)
	r.CPU = r.CPU.plus(after.cpu.minus(before.cpu))
	r.add(p)

	return float64(len(p.whole)) / p.elapsed.Seconds(), before.position, after.position, err
}

func (r *result) add(p *played) {
	r.Replied = append(r.Replied, p.replied...)
	r.Summarized = append(r.Summarized, p.summarized...)
	r.Counted += len(p.whole)
	r.Counts = r.Counts.plus(p.sent)
	for name, used := range p.names {
		all := r.Names[name]
		r.Names[name] = usage{N: all.N + used.N, Took: all.Took + used.Took}
	}
}

func (r *result) addWal(w wal) {
	r.Wal.Bytes += w.Bytes
	r.Wal.Images += w.Images
	for table, n := range w.Tables {
		if r.Wal.Tables == nil {
			r.Wal.Tables = map[string]int{}
		}
		r.Wal.Tables[table] += n
	}
}

func makeSessions(ctx context.Context, address string, n int) ([]uuid.UUID, error) {
	pool, err := openPool(ctx, address, 1, nil)
	if err != nil {
		return nil, err
	}
	defer pool.Close()

	return newSessions(ctx, pool, n)
}

// record records one turn in the middle of a conversation, with everything it causes in the background.
func record(ctx context.Context, address string) (changes []change, err error) {
	err = onRig(ctx, address, answers{}, 1, func(r *rig, sessions []uuid.UUID) (err error) {
		if err = r.playOut(ctx, sessions, warmUp); err == nil {
			changes, err = recorded(ctx, r.pool, func() error { return r.playOut(ctx, sessions, 1) })
		}

		return err
	})

	return changes, err
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))

	return sorted[len(sorted)/2]
}

// percentile is the value below which that share of the values lies.
func percentile(values []time.Duration, part float64) time.Duration {
	sorted := slices.Sorted(slices.Values(values))

	return sorted[min(int(part*float64(len(sorted))), len(sorted)-1)]
}

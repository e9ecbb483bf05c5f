package main

import (
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
)

// simulateShards shows how evenly turns are distributed over independent databases if users are assigned by the hash of
// their id: for many users, the busiest of whom send far more messages than the others (Zipf), given the measured
// capacity of one database.
func simulateShards(out io.Writer, perShard float64) error {
	const users, turns = 200_000, 2_000_000
	load := make([]uint64, users)
	zipf := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.2, 50, users-1)
	for range turns {
		load[zipf.Uint64()]++
	}
	_, err := fmt.Fprintf(out, "| databases | busiest / mean | turns/s until the busiest is full | lost to unevenness |\n|--:|--:|--:|--:|\n")
	for _, shards := range []int{1, 2, 4, 8, 16, 32, 64} {
		sums := make([]float64, shards)
		for user, n := range load {
			sums[shardOf(user, shards)] += float64(n)
		}
		busiest := 0.0
		for _, sum := range sums {
			busiest = math.Max(busiest, sum)
		}
		skew := busiest / (turns / float64(shards))
		if err == nil {
			_, err = fmt.Fprintf(out, "| %d | %.2f | %.0f | %.0f %% |\n", shards, skew, perShard*float64(shards)/skew, 100*(1-1/skew))
		}
	}
	if err != nil {
		return fmt.Errorf("print: %w", err)
	}

	return nil
}

func shardOf(user, shards int) int {
	h := fnv.New64a()
	fmt.Fprint(h, "user ", user)

	return int(h.Sum64() % uint64(shards))
}

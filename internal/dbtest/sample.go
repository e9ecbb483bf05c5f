package dbtest

import (
	"math/rand/v2"
	"os"
	"testing"
)

// Sample thins out a long list of alike cases for `make test/full`: what it returns is true for one in n of its calls,
// at random, though for one in each n that follow each other. With NIGHTLY set, as in `make nightly`, it is true for all.
func Sample(t testing.TB, n int) func() bool {
	t.Helper()

	if os.Getenv("NIGHTLY") != "" {
		return func() bool { return true }
	}
	calls, picked := 0, 0

	return func() bool {
		if calls%n == 0 {
			picked = rand.IntN(n) //nolint:gosec // nobody profits from guessing it
		}
		calls++

		return (calls-1)%n == picked
	}
}

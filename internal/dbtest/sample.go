package dbtest

import (
	"math/rand/v2"
	"os"
	"testing"
)

// Nightly reports whether `make nightly` runs, which has time for all cases.
func Nightly() bool { return os.Getenv("NIGHTLY") != "" }

// Sample thins out a long list of similar cases for `make test/full`. The function it returns reports whether to run the next
// case: one of every n in a row, chosen at random. `make nightly` runs all.
func Sample(t testing.TB, n int) func() bool {
	t.Helper()

	if Nightly() {
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

package auth

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Budget is what one key, or one token's user, may use of one process. Zero is no limit.
type Budget struct {
	// PerSecond is the average request rate, Burst the most requests at once.
	PerSecond, Burst int
	// Streams may be open at the same time.
	Streams int
}

// budgets counts what each caller uses in this process: behind a load balancer, a key has the budget once per instance.
type budgets struct {
	Budget

	mu    sync.Mutex
	used  map[string]*usedBudget
	swept time.Time
}

type usedBudget struct {
	requests *rate.Limiter
	streams  int
}

// sweepAfter is how long idle callers are remembered at least.
const sweepAfter = time.Minute

// take counts a request. Too many yield a [*BudgetError].
func (b *budgets) take(caller string) error {
	if caller == "" || b.PerSecond == 0 {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	reserved := b.of(caller).requests.Reserve() // it can be had: a burst is 1 at least
	if wait := reserved.Delay(); wait > 0 {
		reserved.Cancel()

		return &BudgetError{"Too many requests with this key; slow down.", wait}
	}

	return nil
}

// openStream counts a stream until done is called.
func (b *budgets) openStream(caller string) (done func(), err error) {
	if caller == "" || b.Streams == 0 {
		return func() {}, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	used := b.of(caller)
	if used.streams >= b.Streams {
		return nil, &BudgetError{"Too many streams are open with this key; close one.", streamRetry}
	}
	used.streams++

	return sync.OnceFunc(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		used.streams--
	}), nil
}

const streamRetry = 5 * time.Second

// of requires the lock.
func (b *budgets) of(caller string) *usedBudget {
	now := time.Now()
	if now.Sub(b.swept) > sweepAfter {
		for name, used := range b.used {
			if used.streams == 0 && used.requests.TokensAt(now) >= float64(used.requests.Burst()) {
				delete(b.used, name)
			}
		}
		b.swept = now
	}
	used := b.used[caller]
	if used == nil {
		used = &usedBudget{requests: rate.NewLimiter(rate.Limit(b.PerSecond), max(b.Burst, 1))}
		b.used[caller] = used
	}

	return used
}

// BudgetError says that a caller exceeds its budget, in words for its developer, and when to retry.
type BudgetError struct {
	Detail     string
	RetryAfter time.Duration
}

func (e *BudgetError) Error() string { return e.Detail }

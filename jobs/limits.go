package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"alfred/db"
)

// Limits bound what a user may use per day, in the user's time zone and over all sessions. 0 is no limit.
type Limits struct {
	Turns   int
	Tokens  int // of all calls, prompts and answers
	CostUSD float64
}

// LimitError says that the user has reached a daily limit.
type LimitError struct {
	What string // turns, tokens or cost
}

func (e *LimitError) Error() string {
	return "the user has used up today's limit of " + e.What
}

// endOfTime makes a check count all of the day's turns.
var endOfTime = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// check refuses a turn beyond the limits. Turns created up to the given moment count, this one included. A turn that
// has begun is finished, so that nothing paid for is lost.
func (l Limits) check(ctx context.Context, tx db.DBTX, sessionID uuid.UUID, until time.Time) error {
	if l == (Limits{}) {
		return nil
	}
	used, err := db.New().UsageToday(ctx, tx, &db.UsageTodayParams{SessionID: sessionID, Until: until})
	if err != nil {
		return fmt.Errorf("read today's usage: %w", err)
	}
	switch {
	case l.Turns > 0 && used.Turns > int64(l.Turns):
		return &LimitError{What: "turns"}
	case l.Tokens > 0 && used.Tokens >= int64(l.Tokens):
		return &LimitError{What: "tokens"}
	case l.CostUSD > 0 && used.CostUsd >= l.CostUSD:
		return &LimitError{What: "cost"}
	}

	return nil
}

package recall

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// CompareUpTo lets a test use fewer vectors than ExactUpTo.
func (s *Searcher) CompareUpTo(n int32) { s.exactUpTo = n }

// NamedDays returns the periods that a question names, counted from the user's day.
func NamedDays(ctx context.Context, tx pgx.Tx, text string) ([][2]time.Time, error) {
	found, err := namedDays(ctx, tx, text)

	return pairs(found), err
}

// DaysIn returns the periods that a question names.
func DaysIn(text string, today time.Time) [][2]time.Time {
	return pairs(daysIn(text, today))
}

func pairs(found []days) (list [][2]time.Time) {
	for _, one := range found {
		list = append(list, [2]time.Time{one.since, one.until})
	}

	return list
}

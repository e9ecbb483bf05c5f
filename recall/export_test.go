package recall

import "time"

// CompareUpTo lets a test use fewer vectors than ExactUpTo.
func (s *Searcher) CompareUpTo(n int32) { s.exactUpTo = n }

// DaysIn returns the periods that a question names.
func DaysIn(text string, now time.Time) [][2]time.Time {
	var list [][2]time.Time
	for _, one := range daysIn(text, now) {
		list = append(list, [2]time.Time{one.since, one.until})
	}

	return list
}

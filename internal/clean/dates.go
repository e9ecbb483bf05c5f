package clean

import (
	"regexp"
	"time"
)

var datePattern = regexp.MustCompile(`(?:\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? )?\b\d{4}-\d{2}-\d{2}\b(?:[T ]\d{2}:| \((?:Mon|Tue|Wed|Thu|Fri|Sat|Sun))?`)

// Weekdays puts the weekday behind every date of a text that does not have it yet:
// models get weekdays wrong. Points in time stay as they are.
func Weekdays(text string) string {
	return datePattern.ReplaceAllStringFunc(text, func(match string) string {
		at, err := time.Parse(time.DateOnly, match)
		if err != nil {
			return match
		}

		return match + at.Format(" (Mon)")
	})
}

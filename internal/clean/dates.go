package clean

import (
	"regexp"
	"time"
)

var datePattern = regexp.MustCompile(`(?:\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? )?\b\d{4}-\d{2}-\d{2}\b(?:[T ]\d{2}:| \((?:Mon|Tue|Wed|Thu|Fri|Sat|Sun))?`)

// Weekdays adds the weekday after every date that lacks one: models get weekdays wrong. Timestamps stay unchanged.
func Weekdays(text string) string {
	return datePattern.ReplaceAllStringFunc(text, func(match string) string {
		at, err := time.Parse(time.DateOnly, match)
		if err != nil {
			return match
		}

		return match + at.Format(" (Mon)")
	})
}

package clean

import (
	"regexp"
	"strings"
	"time"
)

var datePattern = regexp.MustCompile(`(?:\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? )?\b\d{4}-\d{2}-\d{2}` +
	`(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}(?::?\d{2})?)?|\b)(?: \((?:Mon|Tue|Wed|Thu|Fri|Sat|Sun))?`)

// Weekdays adds the weekday after every date and time that lacks one: models get weekdays wrong.
func Weekdays(text string) string {
	if !dated(text) {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if dated(line) {
			line = datePattern.ReplaceAllStringFunc(line, withWeekday)
		}
		b.WriteString(line)
	}

	return b.String()
}

// withWeekday leaves a date that has one unchanged.
func withWeekday(match string) string {
	date, rest := match[:len(time.DateOnly)], match[len(time.DateOnly):]
	at, err := time.Parse(time.DateOnly, date)
	if err != nil || strings.Contains(rest, "(") {
		return match
	}

	return match + at.Format(" (Mon)")
}

// dated reports whether a text has a hyphen between digits, as every date does. This check costs a hundredth of the
// pattern, and few lines pass it.
func dated(text string) bool {
	digit := func(c byte) bool { return '0' <= c && c <= '9' }
	for i := 1; i < len(text)-1; i++ {
		if text[i] == '-' && digit(text[i-1]) && digit(text[i+1]) {
			return true
		}
	}

	return false
}

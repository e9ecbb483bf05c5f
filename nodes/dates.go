package nodes

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Models are bad at weekdays. A date that a text gives with a weekday is compared with the calendar; other languages go
// undetected.

var (
	weekdayWithDate = regexp.MustCompile(`(?i)\b(mon|tue|wed|thu|fri|sat|sun)(?:s|nes|rs|ur)?(?:day)?,? \(?(?:the )?` +
		`(\d{4}-\d\d-\d\d|(?:\d{1,2}(?:st|nd|rd|th)? (?:of )?` + months + `|` + months + ` \d{1,2}(?:st|nd|rd|th)?)(?:,? \d{4})?)\b`)
	notInDate = regexp.MustCompile(`(?i)(\d)(?:st|nd|rd|th)\b|\bof |,`)
)

const (
	months = `(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:tember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)`
	// nearby is how far from today a date without a year certainly is of the nearest one.
	nearby = 100 * 24 * time.Hour
)

// falseWeekday says which weekday of a text its date does not have, "" for none.
func (in *ReplyInput) falseWeekday(text string) string {
	if in.Facts == nil {
		return ""
	}
	for _, found := range weekdayWithDate.FindAllStringSubmatch(text, -1) {
		if date, ok := in.dateOf(found[2]); ok && !strings.EqualFold(found[1], date.Format("Mon")) {
			return fmt.Sprintf("it says %q, but %s is a %s; say which is meant", found[0], date.Format(time.DateOnly), date.Weekday())
		}
	}

	return ""
}

// dateOf reads a date, one without a year as the nearest to today.
func (in *ReplyInput) dateOf(text string) (time.Time, bool) {
	text = notInDate.ReplaceAllString(text, "$1")
	if date, ok := parsedDate(text); ok {
		return date, true
	}
	today := in.Facts().Today
	for _, years := range []int{0, -1, 1} {
		if date, ok := parsedDate(fmt.Sprintf("%s %d", text, today.Year()+years)); ok && date.Sub(today).Abs() < nearby {
			return date, true
		}
	}

	return time.Time{}, false
}

func parsedDate(text string) (time.Time, bool) {
	for _, layout := range []string{time.DateOnly, "2 Jan 2006", "2 January 2006", "Jan 2 2006", "January 2 2006"} {
		if date, err := time.Parse(layout, text); err == nil {
			return date, true
		}
	}

	return time.Time{}, false
}

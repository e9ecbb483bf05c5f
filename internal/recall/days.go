package recall

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"alfred/db"
)

// days is a period that a question names, from midnight to midnight.
type days struct{ since, until time.Time }

const (
	// recentYears is how far back a month or day without a year may be.
	recentYears = 5

	monthNames = `(january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec)`
	dayNumber  = `(\d{1,2})(?:st|nd|rd|th)?`
)

var (
	isoDate  = regexp.MustCompile(`\b((?:19|20)\d\d)-(\d{1,2})-(\d{1,2})\b`)
	dotDate  = regexp.MustCompile(`\b(\d{1,2})\.(\d{1,2})\.((?:19|20)\d\d)\b`)
	dayMonth = regexp.MustCompile(`\b(?:` + dayNumber + `(?: of)? )?` + monthNames + `\b\.?(?: ` + dayNumber + `\b)?(?:,? ((?:19|20)\d\d))?\b`)
	fromNow  = regexp.MustCompile(`today|yesterday|` + monthNames)
	onlyYear = regexp.MustCompile(`\b(?:in|of|during|since|year) ((?:19|20)\d\d)\b`)
	inMonth  = regexp.MustCompile(`\b(?:in|of|since|during|last|until|by|early|late|mid|this) $`)
)

// namedDays are those of [daysIn], counted from the user's day where the text says no year.
func namedDays(ctx context.Context, tx pgx.Tx, text string) (found []days, err error) {
	var today time.Time
	if fromNow.MatchString(strings.ToLower(text)) {
		if today, err = db.New().Today(ctx, tx); err != nil {
			return nil, fmt.Errorf("ask the database what day it is: %w", err)
		}
	}

	return daysIn(text, today), nil
}

// daysIn returns the days, months and years that a question names: "on 7 July 2023", "in October", "on 2024-01-23",
// "yesterday". A day extends to the end of the next one, because what happened is often mentioned a day later. Without
// a year, every recent one is meant.
func daysIn(text string, today time.Time) []days {
	text = strings.ToLower(text)
	var found []days
	for _, m := range isoDate.FindAllStringSubmatch(text, -1) {
		found = append(found, period(number(m[1]), number(m[2]), number(m[3]))...)
	}
	for _, m := range dotDate.FindAllStringSubmatch(text, -1) {
		found = append(found, period(number(m[3]), number(m[2]), number(m[1]))...)
	}
	for _, at := range dayMonth.FindAllStringSubmatchIndex(text, -1) {
		found = append(found, monthAt(text, at, today)...)
	}
	for word, ago := range map[string]int{"today": 0, "yesterday": 1} {
		if strings.Contains(text, word) {
			found = append(found, days{today.AddDate(0, 0, -ago), today.AddDate(0, 0, 1-ago)})
		}
	}
	if len(found) > 0 {
		return found
	}
	for _, m := range onlyYear.FindAllStringSubmatch(text, -1) {
		found = append(found, period(number(m[1]), 0, 0)...)
	}

	return found
}

// monthAt is a month in the text, with its context. "May" and "mar" are also other words.
func monthAt(text string, at []int, today time.Time) []days {
	group := func(n int) string {
		if at[2*n] < 0 {
			return ""
		}

		return text[at[2*n]:at[2*n+1]]
	}
	day, year := number(group(1)+group(3)), number(group(4))
	if group(1) != "" && group(3) != "" {
		day = number(group(1))
	}
	name := group(2)
	if (name == "may" || name == "march" || name == "mar") && day == 0 && year == 0 && !inMonth.MatchString(text[:at[0]]) {
		return nil
	}
	month := strings.Index("janfebmaraprmayjunjulaugsepoctnovdec", name[:3])/3 + 1
	if year != 0 {
		return period(year, month, day)
	}
	var found []days
	for y := today.Year(); y > today.Year()-recentYears; y-- {
		found = append(found, period(y, month, day)...)
	}

	return found
}

// period is a day, a month if day is 0, or a year if month is also 0; nothing for invalid dates such as the 31st of
// June.
func period(year, month, day int) []days {
	if month == 0 {
		day = 0
	}
	since := time.Date(year, time.Month(max(month, 1)), max(day, 1), 0, 0, 0, 0, time.UTC)
	switch {
	case month > 12 || since.Day() != max(day, 1):
		return nil
	case month == 0:
		return []days{{since, since.AddDate(1, 0, 0)}}
	case day == 0:
		return []days{{since, since.AddDate(0, 1, 0)}}
	default:
		return []days{{since, since.AddDate(0, 0, 2)}}
	}
}

// number parses digits; 0 for none.
func number(digits string) int {
	n, _ := strconv.Atoi(digits)

	return n
}

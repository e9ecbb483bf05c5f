package offline

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

var (
	datePhrases = regexp.MustCompile(`(?i)\b(?:(?:on|for|by|until|till|before|this|next|coming|due|at)\s+)*(?:the\s+)?(?:` +
		`(\d{4}-\d{2}-\d{2})|(yesterday|last night|today|tonight|tomorrow|day after tomorrow|weekend)|` +
		`(sunday|monday|tuesday|wednesday|thursday|friday|saturday)s?|in (\d+|an?|one|two|three|four|five|six|seven) (day|week)s?|` +
		`((?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d{1,2})(?:st|nd|rd|th)?)\b(?:'s)?`)
	relative = map[string]int{"yesterday": -1, "last night": -1, "today": 0, "tonight": 0, "tomorrow": 1, "day after tomorrow": 2}
	weekdays = []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}
)

// dates returns the days a text names, in order; a weekday is the next one on or after today.
func dates(text string, today time.Time) []time.Time {
	var out []time.Time
	for _, m := range datePhrases.FindAllStringSubmatch(strings.ToLower(text), -1) {
		switch at := today; {
		case m[1] != "":
			if day, err := time.Parse(time.DateOnly, m[1]); err == nil {
				out = append(out, day)
			}
		case m[2] == "weekend":
			at = next(time.Saturday, today)
			out = append(out, at, at.AddDate(0, 0, 1))
		case m[2] != "":
			out = append(out, at.AddDate(0, 0, relative[m[2]]))
		case m[3] != "":
			if strings.Contains(m[0], "next ") {
				at = at.AddDate(0, 0, 1) // not today
			}
			out = append(out, next(time.Weekday(slices.Index(weekdays, m[3])), at))
		case m[4] != "":
			n, _ := number(m[4])
			out = append(out, at.AddDate(0, 0, int(n)*map[string]int{"day": 1, "week": 7}[m[5]]))
		default:
			month, day, _ := strings.Cut(m[6], " ")
			if named, err := time.Parse("Jan 2", month[:3]+" "+day); err == nil {
				at = named.AddDate(today.Year(), 0, 0)
				out = append(out, at.AddDate(btoi(at.Before(today)), 0, 0))
			}
		}
	}

	return out
}

// next is the first such day from a day on.
func next(day time.Weekday, from time.Time) time.Time {
	return from.AddDate(0, 0, (int(day)-int(from.Weekday())+7)%7)
}

// period parses "this week", "next week", "today": the days of a constraint or a question. ok is false if the text
// names none.
func period(text string, today time.Time) (from, to time.Time, ok bool) {
	sunday, days := next(time.Sunday, today), dates(text, today)
	switch {
	case within(text, "next week"): // a weekend is less
		return sunday.AddDate(0, 0, 1), sunday.AddDate(0, 0, 7), true
	case within(text, "this week"), within(text, "rest of the week"):
		return today, sunday, true
	case len(days) == 0:
		return time.Time{}, time.Time{}, false
	}

	return days[0], days[len(days)-1], true
}

// cutDates removes what dates parses.
func cutDates(text string) string {
	return strings.Join(strings.Fields(datePhrases.ReplaceAllString(text, " ")), " ")
}

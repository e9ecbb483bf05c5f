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
	soon     = regexp.MustCompile(`(?i)\bsoon$`) // ends a question about the next seven days
	relative = map[string]int{"yesterday": -1, "last night": -1, "today": 0, "tonight": 0, "tomorrow": 1, "day after tomorrow": 2}
	weekdays = []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}
)

// dates returns the days a text names, in order; a weekday is the next one on or after today.
func dates(text string, today time.Time) []time.Time {
	var out []time.Time
	for _, m := range datePhrases.FindAllStringSubmatch(strings.ToLower(text), -1) {
		out = append(out, daysOf(m, today)...)
	}

	return out
}

// daysOf are the days of one phrase, by the group of datePhrases that has matched; none for a day that no month has.
func daysOf(m []string, today time.Time) []time.Time {
	date, relativeDay, weekday, count, unit, monthAndDay := m[1], m[2], m[3], m[4], m[5], m[6]
	switch {
	case date != "":
		if day, err := time.Parse(time.DateOnly, date); err == nil {
			return []time.Time{day}
		}
	case relativeDay == "weekend":
		saturday := next(time.Saturday, today)
		return []time.Time{saturday, saturday.AddDate(0, 0, 1)}
	case relativeDay != "":
		return []time.Time{today.AddDate(0, 0, relative[relativeDay])}
	case weekday != "":
		from := today.AddDate(0, 0, btoi(strings.Contains(m[0], "next "))) // which is not today
		return []time.Time{next(time.Weekday(slices.Index(weekdays, weekday)), from)}
	case count != "":
		n, _ := number(count)
		return []time.Time{today.AddDate(0, 0, int(n)*map[string]int{"day": 1, "week": 7}[unit])}
	default:
		month, day, _ := strings.Cut(monthAndDay, " ")
		if named, err := time.Parse("Jan 2", month[:3]+" "+day); err == nil {
			at := named.AddDate(today.Year(), 0, 0)
			return []time.Time{at.AddDate(btoi(at.Before(today)), 0, 0)}
		}
	}

	return nil
}

// next is the first such day from a day on.
func next(day time.Weekday, from time.Time) time.Time {
	return from.AddDate(0, 0, (int(day)-int(from.Weekday())+7)%7)
}

// period parses "this week", "next week", "today", "soon": the days of a constraint or a question. ok is false if the text
// names none.
func period(text string, today time.Time) (from, to time.Time, ok bool) {
	sunday, days := next(time.Sunday, today), dates(text, today)
	switch {
	case within(text, "next week"): // a weekend is less
		return sunday.AddDate(0, 0, 1), sunday.AddDate(0, 0, 7), true
	case within(text, "this week"), within(text, "rest of the week"):
		return today, sunday, true
	case soon.MatchString(text):
		return today, today.AddDate(0, 0, 7), true
	case len(days) == 0:
		return time.Time{}, time.Time{}, false
	}

	return days[0], days[len(days)-1], true
}

// cutDates removes what dates parses.
func cutDates(text string) string {
	return strings.Join(strings.Fields(datePhrases.ReplaceAllString(text, " ")), " ")
}

package offline

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

const dayFormat = time.DateOnly

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
		switch {
		case m[1] != "":
			if d, err := time.Parse(dayFormat, m[1]); err == nil {
				out = append(out, d)
			}
		case m[2] == "weekend":
			out = append(out, nextWeekday(today, time.Saturday), nextWeekday(today, time.Saturday).AddDate(0, 0, 1))
		case m[2] != "":
			out = append(out, today.AddDate(0, 0, relative[m[2]]))
		case m[3] != "":
			d := nextWeekday(today, time.Weekday(slices.Index(weekdays, m[3])))
			if d.Equal(today) && strings.Contains(m[0], "next ") {
				d = d.AddDate(0, 0, 7)
			}
			out = append(out, d)
		case m[4] != "":
			n, _ := number(m[4])
			out = append(out, today.AddDate(0, 0, int(n)*map[string]int{"day": 1, "week": 7}[m[5]]))
		default:
			out = append(out, monthDay(m[6], today)...)
		}
	}

	return out
}

func monthDay(text string, today time.Time) []time.Time {
	month, day, _ := strings.Cut(text, " ")
	d, err := time.Parse("Jan 2", capitalize(month[:3])+" "+day)
	if err != nil {
		return nil
	}
	if d = d.AddDate(today.Year(), 0, 0); d.Before(today) {
		d = d.AddDate(1, 0, 0)
	}

	return []time.Time{d}
}

func nextWeekday(today time.Time, day time.Weekday) time.Time {
	return today.AddDate(0, 0, (int(day)-int(today.Weekday())+7)%7)
}

// period parses "this week", "next week", "today": the days of a constraint or a question. ok is false if the text
// names none.
func period(text string, today time.Time) (from, to time.Time, ok bool) {
	sunday, days := nextWeekday(today, time.Sunday), dates(text, today)
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

// dayText words a day: "Friday, Nov 27"; other texts stay as they are.
func dayText(text string) string {
	if at, err := time.Parse(dayFormat, text); err == nil {
		return at.Format("Monday, Jan 2")
	}

	return text
}

// cutDates removes what dates parses.
func cutDates(text string) string {
	return strings.Join(strings.Fields(datePhrases.ReplaceAllString(text, " ")), " ")
}

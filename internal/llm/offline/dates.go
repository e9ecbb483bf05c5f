package offline

import (
	"regexp"
	"strings"
	"time"
)

const dayFormat = time.DateOnly

var (
	datePhrases = regexp.MustCompile(`(?i)\b(?:(?:on|for|by|until|till|before|this|next|coming|due|at)\s+)*(?:the\s+)?(?:` +
		`(\d{4}-\d{2}-\d{2})|(yesterday|last night|today|tonight|tomorrow|day after tomorrow)|` +
		`(sunday|monday|tuesday|wednesday|thursday|friday|saturday)s?)\b(?:'s)?`)
	relative = map[string]int{"yesterday": -1, "last night": -1, "today": 0, "tonight": 0, "tomorrow": 1, "day after tomorrow": 2}
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
		case m[2] != "":
			out = append(out, today.AddDate(0, 0, relative[m[2]]))
		default:
			d := today
			if strings.Contains(m[0], "next ") {
				d = d.AddDate(0, 0, 1)
			}
			for strings.ToLower(d.Weekday().String()) != m[3] {
				d = d.AddDate(0, 0, 1)
			}
			out = append(out, d)
		}
	}

	return out
}

// period parses "this week", "next week", "today": the days of a constraint or a question. ok is false if the text
// names none.
func period(text string, today time.Time) (from, to time.Time, ok bool) {
	text, sunday := strings.ToLower(text), today.AddDate(0, 0, (7-int(today.Weekday()))%7)
	days := dates(text, today)
	switch {
	case strings.Contains(text, "next week"):
		return sunday.AddDate(0, 0, 1), sunday.AddDate(0, 0, 7), true
	case strings.Contains(text, "this week"), strings.Contains(text, "rest of the week"):
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

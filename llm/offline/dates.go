package offline

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

const dayFormat = "2006-01-02"

var weekdays = map[string]time.Weekday{
	"sunday": time.Sunday, "monday": time.Monday, "tuesday": time.Tuesday, "wednesday": time.Wednesday,
	"thursday": time.Thursday, "friday": time.Friday, "saturday": time.Saturday,
}

var (
	isoDate     = regexp.MustCompile(`\b\d{4}-\d{2}-\d{2}\b`)
	monthDate   = regexp.MustCompile(`(?i)\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* (\d{1,2})(?:st|nd|rd|th)?\b`)
	inDays      = regexp.MustCompile(`(?i)\bin (\d+|a|one|two|three|four|five|six|seven) (day|week)s?\b`)
	datePhrases = regexp.MustCompile(`(?i)\b(?:(?:on|for|by|until|till|before|this|next|coming|due|at)\s+)*(?:the\s+)?(?:` +
		`\d{4}-\d{2}-\d{2}|today|tonight|tomorrow|day after tomorrow|weekend|` +
		`(?:mon|tues|wednes|thurs|fri|satur|sun)days?|in (?:\d+|a|one|two|three|four|five|six|seven) (?:day|week)s?|` +
		`(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d{1,2}(?:st|nd|rd|th)?)\b(?:'s)?`)
)

// dates are the days a text names, in order; a weekday is the next one on or
// after today.
func dates(text string, today time.Time) []time.Time {
	var out []time.Time
	for _, phrase := range datePhrases.FindAllString(text, -1) {
		out = append(out, phraseDates(strings.ToLower(phrase), today)...)
	}
	return out
}

func phraseDates(phrase string, today time.Time) []time.Time {
	if iso := isoDate.FindString(phrase); iso != "" {
		if d, err := time.Parse(dayFormat, iso); err == nil {
			return []time.Time{d}
		}
		return nil
	}
	switch {
	case strings.Contains(phrase, "day after tomorrow"):
		return []time.Time{today.AddDate(0, 0, 2)}
	case strings.Contains(phrase, "tomorrow"):
		return []time.Time{today.AddDate(0, 0, 1)}
	case strings.Contains(phrase, "today"), strings.Contains(phrase, "tonight"):
		return []time.Time{today}
	case strings.Contains(phrase, "weekend"):
		saturday := nextWeekday(today, time.Saturday)
		return []time.Time{saturday, saturday.AddDate(0, 0, 1)}
	}
	if m := inDays.FindStringSubmatch(phrase); m != nil {
		n, _ := number(m[1])
		if m[2] == "week" {
			n *= 7
		}
		return []time.Time{today.AddDate(0, 0, int(n))}
	}
	if d, ok := monthDay(phrase, today); ok {
		return []time.Time{d}
	}
	for name, day := range weekdays {
		if strings.Contains(phrase, name) {
			d := nextWeekday(today, day)
			if strings.Contains(phrase, "next ") && d.Equal(today) {
				d = d.AddDate(0, 0, 7)
			}
			return []time.Time{d}
		}
	}
	return nil
}

func monthDay(phrase string, today time.Time) (time.Time, bool) {
	m := monthDate.FindStringSubmatch(phrase)
	if m == nil {
		return time.Time{}, false
	}
	day, err := strconv.Atoi(m[2])
	month, errMonth := time.Parse("Jan", capitalize(strings.ToLower(m[1])))
	if err != nil || errMonth != nil {
		return time.Time{}, false
	}
	d := time.Date(today.Year(), month.Month(), day, 0, 0, 0, 0, time.UTC)
	if d.Before(today) {
		d = d.AddDate(1, 0, 0)
	}
	return d, true
}

func nextWeekday(today time.Time, day time.Weekday) time.Time {
	return today.AddDate(0, 0, (int(day)-int(today.Weekday())+7)%7)
}

// weekEnd is the Sunday that ends today's week.
func weekEnd(today time.Time) time.Time { return nextWeekday(today, time.Sunday) }

// period reads "this week", "next week", "today": the days a constraint or a
// question is about. ok is false when the text names none.
func period(text string, today time.Time) (from, to time.Time, ok bool) {
	text = strings.ToLower(text)
	switch {
	case strings.Contains(text, "next week"):
		monday := weekEnd(today).AddDate(0, 0, 1)
		return monday, monday.AddDate(0, 0, 6), true
	case strings.Contains(text, "this week"), strings.Contains(text, "rest of the week"):
		return today, weekEnd(today), true
	}
	days := dates(text, today)
	if len(days) == 0 {
		return time.Time{}, time.Time{}, false
	}
	return days[0], days[len(days)-1], true
}

// cutDates removes what dates() has read.
func cutDates(text string) string {
	return strings.Join(strings.Fields(datePhrases.ReplaceAllString(text, " ")), " ")
}

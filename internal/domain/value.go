package domain

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// layouts of dates and times in rows decoded from JSON.
var layouts = []string{time.DateOnly, time.TimeOnly, "15:04", time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02T15:04", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999Z07", time.DateTime,
	"2006-01-02 15:04Z07:00", "2006-01-02 15:04Z07", "2006-01-02 15:04"}

// present reports whether a value decoded from JSON carries information: not null, "", empty lists and objects, or
// false.
func present(value any) bool {
	switch v := value.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	default:
		return true
	}
}

// formatValue formats such a value for people: 12 rather than 12.00, lists with commas, and dates and times in a layout
// if one is given.
func formatValue(value any, layout string) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return formatText(v, layout)
	case bool:
		return map[bool]string{true: "yes", false: "no"}[v]
	case float64:
		return padDecimals(strconv.FormatFloat(v, 'f', -1, 64), layout)
	case json.Number:
		return padDecimals(trimZeros(v.String()), layout)
	case []any:
		return strings.Join(each(v, func(item any) string { return formatValue(item, layout) }), ", ")
	case map[string]any:
		text, _ := json.Marshal(v) //nolint:errchkjson // was JSON before

		return string(text)
	default:
		return padDecimals(fmt.Sprint(value), layout)
	}
}

func formatText(text, layout string) string {
	switch layout {
	case "":
		return text
	case lengthLayout:
		return formatLength(text)
	}
	if at, ok := parsed(text); ok {
		return at.Format(layout)
	}

	return formatRange(text, layout)
}

// lengthLayout is the layout of lengths of time.
const lengthLayout = "length"

// lengthText finds the hours, minutes and seconds at the end of a length of time as Postgres writes it.
var lengthText = regexp.MustCompile(`^(.*?)(-?)(\d+):(\d\d):(\d\d)(?:\.\d+)?$`)

// formatLength says a length of time as people do: 45 min, 1 day 2 h 30 min.
func formatLength(text string) string {
	found := lengthText.FindStringSubmatch(text)
	if found == nil {
		return text
	}
	said := strings.Fields(found[1])
	for i, unit := range []string{"h", "min", "s"} {
		if n, _ := strconv.Atoi(found[3+i]); n > 0 {
			said = append(said, found[2]+strconv.Itoa(n)+" "+unit)
		}
	}
	if len(said) == 0 {
		return "0 min"
	}

	return strings.Join(said, " ")
}

func parsed(text string) (at time.Time, ok bool) {
	for _, known := range layouts {
		if at, err := time.Parse(known, text); err == nil {
			return at, true
		}
	}

	return at, false
}

// rangeText finds the bounds of a range as Postgres writes it.
var rangeText = regexp.MustCompile(`^[\[(]"?([^",]*)"?,"?([^",]*)"?([\])])$`)

// formatRange says from when to when a range of dates or times goes: a date that ends it without being part of it is the day after.
func formatRange(text, layout string) string {
	found := rangeText.FindStringSubmatch(text)
	if found == nil {
		return text
	}
	from, begins := parsed(found[1])
	to, ends := parsed(found[2])
	if begins == (found[1] == "") || ends == (found[2] == "") || !begins && !ends {
		return text
	}
	if strings.HasSuffix(layout, " 15:04") && from.Year()+to.Year() < 2 { // times of no day, or one and none
		layout = "15:04"
	}
	if max(len(found[1]), len(found[2])) == len(time.DateOnly) {
		layout = strings.TrimSuffix(layout, " 15:04")
		if found[3] == ")" {
			to = to.AddDate(0, 0, -1)
		}
	}
	first, last := from.Format(layout), to.Format(layout)
	if from.Format(time.DateOnly) == to.Format(time.DateOnly) && strings.HasSuffix(layout, " 15:04") {
		last = to.Format("15:04")
	}
	switch {
	case !ends:
		return "from " + first
	case !begins:
		return "until " + last
	case first == last:
		return first
	default:
		return first + " to " + last
	}
}

// padDecimals adds zeros until a number has as many decimals as its layout. None are cut: the number stays what it is.
func padDecimals(number, layout string) string {
	_, wanted, _ := strings.Cut(layout, ".")
	_, decimals, _ := strings.Cut(number, ".")
	missing := len(wanted) - len(decimals)
	if strings.Trim(layout, "0.") != "" || missing <= 0 || strings.ContainsAny(number, "eE") {
		return number
	}
	if decimals == "" {
		number += "."
	}

	return number + strings.Repeat("0", missing)
}

var fewDecimals = regexp.MustCompile(`^numeric\(\d+,([1-3])\)$`)

// Padded is a number with as many decimals as the column gives it: 927.0 is 927.00 where amounts are.
func (c *Column) Padded(number string) string {
	scale := fewDecimals.FindStringSubmatch(c.FullType)
	if scale == nil {
		return number
	}

	return padDecimals(number, "0."+strings.Repeat("0", int(scale[1][0]-'0')))
}

func trimZeros(number string) string {
	if !strings.Contains(number, ".") || strings.ContainsAny(number, "eE") {
		return number
	}

	return strings.TrimSuffix(strings.TrimRight(number, "0"), ".")
}

var clockText = regexp.MustCompile(`^((?:\d{4}-\d{2}-\d{2}T)?\d{2}:\d{2})(?::00)?(:\d{2})?(?:\.\d+)?(Z|[+-][\d:]+)?$`)

// clockBound finds a bound of a range that is a time without seconds.
var clockBound = regexp.MustCompile(`(\d{2}:\d{2}):00((?:[+-][\d:]+)?"?[,)\]])`)

// Clock is a time without fractions of seconds, and without seconds if there are none, and so is a range of times; any other text is
// unchanged.
func Clock(text string) string {
	return clockBound.ReplaceAllString(clockText.ReplaceAllString(text, "$1$2$3"), "$1$2")
}

// dayLayout is how people write a day, momentLayout a time.
const (
	dayLayout    = "Jan 2, 2006"
	momentLayout = dayLayout + " 15:04"
)

// Moment is a day, a time, or a range of these, as people write it; any other text is unchanged.
func Moment(text string) string {
	at, ok := parsed(text)
	switch {
	case ok && len(text) > len(time.DateOnly):
		return at.Format(momentLayout)
	case ok:
		return at.Format(dayLayout)
	default:
		return formatRange(text, momentLayout)
	}
}

package domain

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// layouts of dates and times in rows decoded from JSON.
var layouts = []string{time.DateOnly, time.TimeOnly, time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00"}

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
	if layout == "" {
		return text
	}
	for _, known := range layouts {
		if at, err := time.Parse(known, text); err == nil {
			return at.Format(layout)
		}
	}

	return text
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

func trimZeros(number string) string {
	if !strings.Contains(number, ".") || strings.ContainsAny(number, "eE") {
		return number
	}

	return strings.TrimSuffix(strings.TrimRight(number, "0"), ".")
}

// Moment is a time as people write it; any other text is unchanged.
func Moment(text string) string {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at.Format("Jan 2, 2006 15:04")
	}

	return text
}

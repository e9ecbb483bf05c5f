package domain

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// layouts of dates and times in rows decoded from JSON.
var layouts = []string{time.DateOnly, time.TimeOnly, time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00"}

// present reports whether a value carries information: not null, "", empty lists and objects, or false.
func present(value any) bool {
	switch v := value.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case time.Time:
		return !v.IsZero()
	}
	r := reflect.ValueOf(value)
	switch r.Kind() {
	case reflect.Slice, reflect.Map:
		return r.Len() > 0
	case reflect.Pointer, reflect.Interface:
		return !r.IsNil() && present(r.Elem().Interface())
	default:
		return true
	}
}

// formatValue formats a value for people: 12 rather than 12.00, lists with commas, and dates as 2006-01-02, unless a
// layout is given.
func formatValue(value any, layout string) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return formatText(v, layout)
	case time.Time:
		return formatTime(v, layout)
	case bool:
		return map[bool]string{true: "yes", false: "no"}[v]
	case float64:
		return padded(strconv.FormatFloat(v, 'f', -1, 64), layout)
	case float32:
		return padded(strconv.FormatFloat(float64(v), 'f', -1, 32), layout)
	case json.Number:
		return padded(trimZeros(v.String()), layout)
	}

	return formatOther(value, layout)
}

func formatOther(value any, layout string) string {
	r := reflect.ValueOf(value)
	switch r.Kind() {
	case reflect.Pointer, reflect.Interface:
		if r.IsNil() {
			return ""
		}

		return formatValue(r.Elem().Interface(), layout)
	case reflect.Slice:
		items := make([]string, r.Len())
		for i := range items {
			items[i] = formatValue(r.Index(i).Interface(), layout)
		}

		return strings.Join(items, ", ")
	case reflect.Map:
		text, err := json.Marshal(value)
		if err != nil {
			return ""
		}

		return string(text)
	default:
		return padded(fmt.Sprint(value), layout)
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

func formatTime(at time.Time, layout string) string {
	switch {
	case layout != "":
		return at.Format(layout)
	case at.Equal(at.Truncate(24 * time.Hour)):
		return at.Format(time.DateOnly)
	default:
		return at.Format("2006-01-02 15:04")
	}
}

// padded adds zeros until a number has as many decimals as its layout. None are cut: the number stays what it is.
func padded(number, layout string) string {
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

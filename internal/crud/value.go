package crud

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"time"

	"alfred/internal/arithmetic"
	"alfred/internal/domain"
)

// emptyIsNull reports whether "" in such a column means null, because it cannot be a value.
func emptyIsNull(c *domain.Column) bool {
	return c.FK != nil || len(c.Enum) > 0 || c.Form != "" || c.Kind != domain.KindText
}

// asList returns a list as it is, and any other value as a list of one.
func asList(value any) []any {
	if list, ok := value.([]any); ok {
		return list
	}

	return []any{value}
}

// scalar returns the text of a value of this kind, for Postgres to parse, or an error that says what the value has to
// be.
func scalar(c *domain.Column, kind domain.Kind, value any) (string, *Error) {
	switch kind {
	case domain.KindBool:
		return boolText(c, value)
	case domain.KindNumber:
		return numberText(c, value)
	case domain.KindDate:
		return timeText(c, value, "a date such as 2026-01-31", dateLayouts, func(string) string { return time.DateOnly })
	case domain.KindTimestamp:
		return timeText(c, value, "a time such as 2026-01-31T18:30", timestampLayouts, timestampForm)
	case domain.KindJSON:
		return string(encoded(fromText(c, value))), nil
	default:
		if number, ok := value.(json.Number); ok && (kind == domain.KindText || kind == domain.KindUUID) { // keys may be numbers
			value = number.String()
		}

		return enumText(c, value)
	}
}

func boolText(c *domain.Column, value any) (string, *Error) {
	if text, ok := value.(string); ok {
		value = folded(text)
	}
	switch value {
	case true, "true", "yes", json.Number("1"):
		return "true", nil
	case false, "false", "no", json.Number("0"):
		return "false", nil
	}

	return "", badValue(c, "has to be true or false.")
}

// hugeExponent matches an exponent of more than two digits. "25 Euro" has none.
var hugeExponent = regexp.MustCompile(`^[-+.0-9]+[eE][-+0]*[0-9]{3}[0-9]*$`)

func numberText(c *domain.Column, value any) (string, *Error) {
	text := ""
	switch v := value.(type) {
	case json.Number:
		text = v.String()
	case string:
		text = strings.TrimSpace(v)
	case bool: // which many databases keep as 1 and 0
		if integerBits[c.Type] > 0 {
			text = map[bool]string{true: "1", false: "0"}[v]
		}
	}
	// The exponent is bounded because a Rat is written out in full.
	if len(text) == 0 || len(text) > 60 || strings.ContainsAny(text, "/_xXpP") {
		return "", badValue(c, "has to be a number.")
	}
	if hugeExponent.MatchString(text) {
		return "", badValue(c, "is out of range.")
	}
	number, ok := new(big.Rat).SetString(text)
	if !ok {
		return "", badValue(c, "has to be a number.")
	}
	if cents := number.Mul(number, big.NewRat(100, 1)); inCents(c) && strings.Contains(text, ".") && cents.IsInt() {
		return "", badValue(c, "counts cents: write %s for %s.", cents.Num(), text)
	}

	return text, nil
}

var centsNamed = regexp.MustCompile(`(?:^| )cents?(?:$| )`)

// inCents reports whether whole numbers of a column are amounts of money in its smallest unit: 213.00 is an amount in another one.
func inCents(c *domain.Column) bool {
	return integerBits[c.Type] > 0 && centsNamed.MatchString(strings.ToLower(domain.Spoken(c.Name)))
}

// weekdays are the names of days as prompts print them.
const weekdays = "Mon|Tue|Wed|Thu|Fri|Sat|Sun"

var (
	dateLayouts      = []string{time.DateOnly, time.RFC3339}
	timestampLayouts = []string{
		time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02 15:04:05Z07:00",
		localForm, "2006-01-02T15:04", time.DateTime, "2006-01-02 15:04", time.DateOnly,
	}
	// withDay matches a date or time with its weekday before or after it, as prompts print them.
	withDay = regexp.MustCompile(`(?i)^(?:(` + weekdays + `)[a-z]*,? )?(.*?)(?: \((` + weekdays + `)[a-z]*\))?$`)
)

// daysWithin matches the weekdays that prompts print within a range.
var daysWithin = regexp.MustCompile(` \((?:` + weekdays + `)\)`)

// dayAfter matches a date or time in a text as prompts print it: the weekday is no part of it.
var dayAfter = regexp.MustCompile(`^\d{4}-\d\d-\d\d\S* \((?:` + weekdays + `)\)$`)

// localForm is a time in the user's time zone, in which Postgres reads and prints.
const localForm = "2006-01-02T15:04:05.999999999"

// timestampForm keeps a time local that was given in this layout without an offset.
func timestampForm(layout string) string {
	if strings.Contains(layout, "Z07:00") {
		return time.RFC3339Nano
	}

	return localForm
}

func timeText(c *domain.Column, value any, what string, layouts []string, form func(layout string) string) (string, *Error) {
	text, _ := value.(string)
	text, day := cutDay(text)
	at, layout := parsedTime(text, layouts)
	switch {
	case layout == "":
		return "", badValue(c, "has to be %s.", what)
	case day != "" && !strings.HasPrefix(at.Weekday().String(), capital(strings.ToLower(day))):
		return "", failColumn(CodeBadValue, c.Name, "%s: %s is a %s.", c.Name, at.Format(time.DateOnly), at.Weekday())
	default:
		return at.Format(form(layout)), nil
	}
}

// parsedTime reads a time in the first of the layouts that fits, which it returns too, "" for none.
func parsedTime(text string, layouts []string) (time.Time, string) {
	for _, layout := range layouts {
		if at, err := time.Parse(layout, text); err == nil {
			return at, layout
		}
	}

	return time.Time{}, ""
}

// cutDay splits a date or time from its weekday, if it has one. Of several lines nothing is cut.
func cutDay(text string) (at, day string) {
	text = strings.TrimSpace(text)
	if parts := withDay.FindStringSubmatch(text); parts != nil {
		return parts[2], parts[1] + parts[3]
	}

	return text, ""
}

// spaced parts the words of a list's entry as people do: they say "in progress".
var spaced = strings.NewReplacer("_", " ", "-", " ")

func enumText(c *domain.Column, value any) (string, *Error) {
	text, ok := value.(string)
	if !ok {
		return "", badValue(c, "has to be a text.")
	}
	if c.Holds != "" {
		text = daysWithin.ReplaceAllString(text, "")
	}
	if c.Fold {
		return strings.ToLower(strings.TrimSpace(text)), nil
	}
	if len(c.Enum) == 0 && dayAfter.MatchString(text) {
		return timeText(c, text, "a date", timestampLayouts, func(layout string) string { return layout })
	}
	if len(c.Enum) == 0 {
		return text, nil
	}
	text = strings.TrimSpace(text)
	at := slices.Index(c.Enum, text)
	if at < 0 {
		at = slices.IndexFunc(c.Enum, func(one string) bool { return strings.EqualFold(spaced.Replace(one), spaced.Replace(text)) })
	}
	if at < 0 {
		return "", badValue(c, "has to be one of %s.", strings.Join(c.Enum, ", "))
	}

	return c.Enum[at], nil
}

// integerBits is the number of bits, without the sign, of the integer types. Postgres reports an out-of-range number
// without naming the column.
var integerBits = map[string]int{"smallint": 15, "integer": 31, "bigint": 63}

// stored converts a value to the form in which it is written: checked against the column, "" as null if it cannot be a
// value, numbers as numbers. Keys of other rows must have been substituted before.
func stored(c *domain.Column, value any) (any, *Error) {
	if text, ok := value.(string); ok && text == "" && emptyIsNull(c) {
		value = nil
	}
	switch {
	case value == nil:
		return nil, nil
	case c.Kind != domain.KindArray:
		return storedOne(c, c.Kind, value)
	}
	list, ok := value.([]any)
	if !ok {
		return nil, badValue(c, "has to be a list.")
	}
	out := make([]any, len(list))
	for i, item := range list {
		one, err := storedOne(c, c.Elem, item)
		if err != nil {
			return nil, err
		}
		out[i] = one
	}

	return out, nil
}

// storedOne is a column's value, or one element of its list.
func storedOne(c *domain.Column, kind domain.Kind, value any) (any, *Error) {
	switch {
	case c.FK != nil:
		return reference(c, value)
	case kind == domain.KindJSON:
		if text, isText := value.(string); isText && structured(text) {
			return nil, badValue(c, "has to be JSON; this is none: it begins like an object or a list.")
		}

		return value, nil
	}
	text, err := scalar(c, kind, value)
	switch {
	case err != nil:
		return nil, err
	case kind == domain.KindBool:
		return text == "true", nil
	case kind == domain.KindNumber:
		return storedNumber(c, text)
	default:
		return text, nil
	}
}

// reference is the key or ref of another row, which may be given as a list of one; whether that exists is checked
// elsewhere. A user interface may send a numeric key as a number.
func reference(c *domain.Column, value any) (any, *Error) {
	if list, ok := value.([]any); ok && len(list) == 1 {
		value = list[0]
	}
	if number, ok := value.(json.Number); ok && (c.Kind == domain.KindNumber || c.Elem == domain.KindNumber) {
		return number.String(), nil
	}
	text, ok := value.(string)
	if !ok {
		return nil, badValue(c, "has to be a ref.")
	}

	return text, nil
}

// storedDigits are the digits after the point of a number that is written anew.
const storedDigits = 20

func storedNumber(c *domain.Column, text string) (any, *Error) {
	rat, _ := new(big.Rat).SetString(text)
	if bits, integral := integerBits[c.Type]; integral {
		if !rat.IsInt() {
			return nil, badValue(c, "has to be a whole number.")
		}
		if rat.Num().BitLen() > bits {
			return nil, badValue(c, "is out of range.")
		}
		text = rat.Num().String()
	}
	if !json.Valid([]byte(text)) { // ".5", "+1": numbers to people, not to JSON
		text = arithmetic.Decimal(rat, storedDigits)
	}

	return json.Number(text), nil
}

// sameStored reports whether the database stored what was written. Numbers compare by value and timestamps by instant; times
// of day, UUIDs and texts with a form always count as equal, and everything else compares exactly.
func sameStored(c *domain.Column, kind domain.Kind, written, read any) bool {
	switch {
	case written == nil || read == nil:
		return written == nil && read == nil
	case kind == domain.KindArray:
		a, okA := written.([]any)
		b, okB := read.([]any)

		return okA && okB && slices.EqualFunc(a, b, func(x, y any) bool { return sameStored(c, c.Elem, x, y) })
	case c.FK != nil:
		return strings.EqualFold(fmt.Sprint(written), fmt.Sprint(read)) // some programs write a UUID in capitals
	case kind == domain.KindTime, kind == domain.KindUUID, c.Form != "":
		return true // Postgres reformats their text without losing anything
	case kind == domain.KindJSON:
		return sameJSON(written, read)
	case kind == domain.KindNumber:
		a, okA := rat(written)
		b, okB := rat(read)

		return okA && okB && a.Cmp(b) == 0
	case kind == domain.KindTimestamp:
		return sameTime(fmt.Sprint(written), fmt.Sprint(read))
	case strings.HasPrefix(c.Type, "bpchar"): // blanks at its end mean nothing, and Postgres adds them
		return strings.TrimRight(fmt.Sprint(written), " ") == strings.TrimRight(fmt.Sprint(read), " ")
	default:
		return fmt.Sprint(written) == fmt.Sprint(read)
	}
}

func rat(value any) (*big.Rat, bool) { return new(big.Rat).SetString(fmt.Sprint(value)) }

// sameTime reports whether two times are the same instant. If only one has an offset, clock times are compared: rows
// are printed in the user's time zone.
func sameTime(a, b string) bool {
	x, layoutX := parsedTime(a, timestampLayouts)
	y, layoutY := parsedTime(b, timestampLayouts)
	if timestampForm(layoutX) != timestampForm(layoutY) { // one has an offset
		x, y = onClock(x), onClock(y)
	}

	return layoutX != "" && layoutY != "" && x.Equal(y)
}

func onClock(at time.Time) time.Time {
	_, offset := at.Zone()

	return at.UTC().Add(time.Duration(offset) * time.Second)
}

func sameJSON(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		x, okX := rat(a)
		y, okY := rat(b)

		return okX && okY && x.Cmp(y) == 0
	case []any:
		b, ok := b.([]any)

		return ok && slices.EqualFunc(a, b, sameJSON)
	case map[string]any:
		b, ok := b.(map[string]any)

		return ok && maps.EqualFunc(a, b, sameJSON)
	default:
		return a == b
	}
}

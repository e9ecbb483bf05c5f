package program

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"alfred/cmd/internal/settings"
)

// UserName is the name of a user who is made if missing.
type UserName string

// Validate implements kong's hook. A name that looks like another where it is listed is most likely a slip of the pen.
func (n UserName) Validate() error {
	if name := string(n); name != strings.TrimSpace(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return fmt.Errorf("%w: the user's name %q has spaces around it, or control characters", settings.ErrBad, name)
	}

	return nil
}

// checkBounds refuses a flag's value outside its tags min and max: a number, a time if they are written as one, or the
// characters of a text.
func checkBounds(flags []*kong.Flag) error {
	for _, flag := range flags {
		least, most := flag.Tag.Get("min"), flag.Tag.Get("max")
		value, is, measured := amount(flag.Target)
		if !measured || least == "" && most == "" {
			continue
		}
		low, errLow := bound(least, 0)
		high, errHigh := bound(most, math.Inf(1))
		if errLow != nil || errHigh != nil {
			return fmt.Errorf("the bounds of --%s are %q and %q", flag.Name, least, most)
		}
		if !(low <= value && value <= high) { // not a number is outside too
			return fmt.Errorf("%w: --%s %s; use %s", settings.ErrBad, flag.Name, is, between(least, most))
		}
	}

	return nil
}

// amount measures a flag's value, and says what it is. One that was not given has no amount.
func amount(target reflect.Value) (value float64, is string, measured bool) {
	if target = reflect.Indirect(target); !target.IsValid() {
		return 0, "", false
	}
	if target.Kind() == reflect.String {
		n := utf8.RuneCountInString(target.String())

		return float64(n), fmt.Sprintf("has %d characters", n), true
	}
	text := fmt.Sprint(target.Interface())
	value, err := bound(text, 0)

	return value, "is " + text, err == nil && text != ""
}

// bound reads a number, or a time in seconds.
func bound(text string, without float64) (float64, error) {
	if text == "" {
		return without, nil
	}
	if length, err := time.ParseDuration(text); err == nil {
		return length.Seconds(), nil
	}

	return strconv.ParseFloat(text, 64)
}

func between(least, most string) string {
	switch {
	case most == "":
		return least + " or more"
	case least == "":
		return "at most " + most
	default:
		return least + " to " + most
	}
}

package program

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/alecthomas/kong"

	"alfred/cmd/internal/settings"
)

// checkBounds refuses a flag's value outside its tags min and max: a number, or a time if they are written as one.
func checkBounds(flags []*kong.Flag) error {
	for _, flag := range flags {
		least, most := flag.Tag.Get("min"), flag.Tag.Get("max")
		value, err := amount(fmt.Sprint(flag.Target.Interface()))
		if least == "" || err != nil { // a time that is not set, for one, has no amount
			continue
		}
		use := least + " or more"
		low, err := amount(least)
		high := math.Inf(1)
		if err == nil && most != "" {
			use = least + " to " + most
			high, err = amount(most)
		}
		if err != nil {
			return fmt.Errorf("bounds of --%s: %w", flag.Name, err)
		}
		if !(low <= value && value <= high) { // not a number is outside too
			return fmt.Errorf("%w: --%s is %v; use %s", settings.ErrBad, flag.Name, flag.Target.Interface(), use)
		}
	}

	return nil
}

// amount reads a number, or a time in seconds.
func amount(text string) (float64, error) {
	if length, err := time.ParseDuration(text); err == nil {
		return length.Seconds(), nil
	}

	return strconv.ParseFloat(text, 64)
}

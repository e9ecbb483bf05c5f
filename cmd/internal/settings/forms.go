package settings

import (
	"fmt"
	"maps"
	"math"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"alfred/internal/httpapi"
	"alfred/internal/llm"
	"alfred/internal/llm/provider"
)

// setter parses a value into its place. value is "" for a setting that is unset and has no default; e is for settings
// made of several variables.
type setter func(name, value string, e Env) error

func bad(name, value, use string) error {
	return fmt.Errorf("%w: %s is %q; use %s", ErrBad, name, value, use)
}

// form is how a value of a setting is written.
type form[T any] struct {
	parse func(text string) (T, error)
	valid func(value T) bool
	use   string // what is valid, in words
}

func (f form[T]) read(name, text string) (T, error) {
	value, err := f.parse(text)
	if err != nil || f.valid != nil && !f.valid(value) {
		return value, bad(name, text, f.use)
	}

	return value, nil
}

// into sets a variable; "" leaves it as it is.
func (f form[T]) into(variable *T) setter {
	return func(name, text string, _ Env) (err error) {
		if text != "" {
			*variable, err = f.read(name, text)
		}

		return err
	}
}

var (
	address     = form[string]{func(text string) (string, error) { return text, nil }, webAddress, "an address such as http://127.0.0.1:4318"}
	word        = form[string]{parse: func(text string) (string, error) { return text, nil }}
	count       = form[int]{strconv.Atoi, func(n int) bool { return n >= 0 }, "a whole number, 0 or more"}
	turns       = form[int]{strconv.Atoi, func(n int) bool { return n >= 0 && n <= math.MaxInt32 }, "a whole number, 0 to 2147483647"} // an integer in SQL
	atLeastOne  = form[int]{strconv.Atoi, func(n int) bool { return n >= 1 }, "a whole number, 1 or more"}
	dollars     = form[float64]{parseFloat, func(cost float64) bool { return cost >= 0 && !math.IsInf(cost, 0) }, "a number of US dollars, 0 for no limit"}
	temperature = form[float64]{parseFloat, func(value float64) bool { return value >= 0 && value <= 2 }, "a number from 0 to 2"}
	boolean     = form[bool]{strconv.ParseBool, nil, "true or false"}
	lasts       = form[time.Duration]{time.ParseDuration, func(length time.Duration) bool { return length >= 0 }, "a time such as 5m, 0 for none"}
	duration    = form[time.Duration]{time.ParseDuration, func(length time.Duration) bool { return length > 0 }, "a time such as 30s"}
)

func webAddress(text string) bool {
	u, err := url.Parse(text)

	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

func parseFloat(text string) (float64, error) { return strconv.ParseFloat(text, 64) }

// either accepts yes as true and no as false.
func either(into *bool, yes, no string) setter {
	return func(name, value string, _ Env) error {
		if value != yes && value != no {
			return bad(name, value, no+" or "+yes)
		}
		*into = value == yes

		return nil
	}
}

func origins(into *[]string) setter {
	return func(name, value string, _ Env) error {
		for origin := range strings.SplitSeq(value, ",") {
			if origin = strings.TrimSpace(origin); origin == "" {
				continue
			}
			if err := httpapi.CheckOrigin(origin); err != nil {
				return bad(name, origin, "addresses such as https://example.org")
			}
			*into = append(*into, origin)
		}

		return nil
	}
}

// prices are the built-in ones, overridden by those in the named file.
func prices(into *llm.Prices) setter {
	return func(name, path string, _ Env) (err error) {
		if *into, err = llm.DefaultPrices(); err != nil || path == "" {
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return fmt.Errorf("%w: %s: %w", ErrBad, name, err)
		}
		defer file.Close() //nolint:errcheck // it was only read
		if *into, err = into.With(file); err != nil {
			return fmt.Errorf("%w: %s %s: %w", ErrBad, name, path, err)
		}

		return nil
	}
}

// byNode parses settings that end in a node's name. An unknown name is a typo whose value would silently do nothing.
func (f form[T]) byNode(into *map[string]T) setter {
	return func(pattern, _ string, e Env) error {
		*into = map[string]T{}
		prefix := strings.TrimSuffix(pattern, nodeSuffix)
		for _, name := range slices.Sorted(maps.Keys(e)) {
			suffix, ok := strings.CutPrefix(name, prefix)
			if !ok || e[name] == "" {
				continue
			}
			node := strings.ToLower(suffix)
			if !slices.Contains(provider.Nodes(), node) {
				return fmt.Errorf("%w: %s: there is no node %s; nodes are %s", ErrBad, name, node, strings.Join(provider.Nodes(), ", "))
			}
			value, err := f.read(name, e[name])
			if err != nil {
				return err
			}
			(*into)[node] = value
		}

		return nil
	}
}

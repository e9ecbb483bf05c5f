package settings

import (
	"errors"
	"fmt"
	"maps"
	"math"
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

var (
	errDuration    = errors.New("use a time such as 30s")
	errTemperature = errors.New("use a number from 0 to 2")
	errTokenLimit  = errors.New("use a whole number, 1 or more")
)

func bad(name, value, use string) error {
	return fmt.Errorf("%w: %s is %q; use %s", ErrBad, name, value, use)
}

func text(into *string) setter {
	return func(_, value string, _ Env) error {
		*into = value

		return nil
	}
}

func count(into *int) setter {
	return func(name, value string, _ Env) error {
		if value == "" {
			return nil
		}
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			return bad(name, value, "a whole number, 0 or more")
		}
		*into = n

		return nil
	}
}

func dollars(into *float64) setter {
	return func(name, value string, _ Env) error {
		cost, err := strconv.ParseFloat(value, 64)
		if err != nil || math.IsNaN(cost) || math.IsInf(cost, 0) || cost < 0 {
			return bad(name, value, "a number of US dollars, 0 for no limit")
		}
		*into = cost

		return nil
	}
}

func boolean(into *bool) setter {
	return func(name, value string, _ Env) error {
		yes, err := strconv.ParseBool(value)
		if err != nil {
			return bad(name, value, "true or false")
		}
		*into = yes

		return nil
	}
}

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
func byNode[T any](into *map[string]T, parse func(string) (T, error)) setter {
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
			value, err := parse(e[name])
			if err != nil {
				return fmt.Errorf("%w: %s is %q; %w", ErrBad, name, e[name], err)
			}
			(*into)[node] = value
		}

		return nil
	}
}

func word(text string) (string, error) { return text, nil }

func temperature(text string) (float64, error) {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || !(value >= 0 && value <= 2) {
		return 0, errTemperature
	}

	return value, nil
}

func duration(text string) (time.Duration, error) {
	value, err := time.ParseDuration(text)
	if err != nil || value <= 0 {
		return 0, errDuration
	}

	return value, nil
}

func lasts(into *time.Duration) setter {
	return func(name, value string, _ Env) error {
		length, err := time.ParseDuration(value)
		if err != nil || length < 0 {
			return bad(name, value, "a time such as 5m, 0 for none")
		}
		*into = length

		return nil
	}
}

func tokenLimit(text string) (int, error) {
	value, err := strconv.Atoi(text)
	if err != nil || value < 1 {
		return 0, errTokenLimit
	}

	return value, nil
}

package eval

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

func or(text, other string) string { return cmp.Or(text, other) }

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}

	return strings.Join(names, ", ")
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// shown are rows as a suite has them.
func shown(rows [][]any) string {
	lines := make([]string, len(rows))
	for i, row := range rows {
		values := make([]string, len(row))
		for j, value := range row {
			if values[j] = fmt.Sprint(value); value == nil {
				values[j] = "null"
			}
		}
		lines[i] = strings.Join(values, " | ")
	}

	return rowsOrNone(lines)
}

func shownRows(rows [][]*string) string {
	lines := make([]string, len(rows))
	for i, row := range rows {
		values := make([]string, len(row))
		for j, value := range row {
			if values[j] = "null"; value != nil {
				values[j] = *value
			}
		}
		lines[i] = strings.Join(values, " | ")
	}

	return rowsOrNone(lines)
}

func rowsOrNone(lines []string) string {
	if len(lines) == 0 {
		return "no rows"
	}

	return strings.Join(lines, "; ")
}

package eval

import (
	"fmt"
	"strings"
)

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}

	return strings.Join(names, ", ")
}

// shown formats rows as a suite does.
func shown[V any](rows [][]V, text func(V) string) string {
	if len(rows) == 0 {
		return "no rows"
	}
	lines := make([]string, len(rows))
	for i, row := range rows {
		values := make([]string, len(row))
		for j, value := range row {
			values[j] = text(value)
		}
		lines[i] = strings.Join(values, " | ")
	}

	return strings.Join(lines, "; ")
}

// yamlText formats a suite's value.
func yamlText(value any) string {
	if value == nil {
		return "null"
	}

	return fmt.Sprint(value)
}

// sqlText formats Postgres's text of a value.
func sqlText(text *string) string {
	if text == nil {
		return "null"
	}

	return *text
}

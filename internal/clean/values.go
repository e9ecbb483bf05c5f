package clean

import (
	"fmt"
	"strings"

	"alfred/internal/exact"
)

// IsEmpty reports whether a value is null or an empty text, list or object.
func IsEmpty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	default:
		return false
	}
}

// Value formats a value for people.
func Value(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return map[bool]string{true: "yes", false: "no"}[v]
	case []any:
		words := make([]string, len(v))
		for i, item := range v {
			words[i] = Value(item)
		}

		return strings.Join(words, ", ")
	case map[string]any:
		return JSON(v)
	default:
		return fmt.Sprint(v)
	}
}

// Content prints a draft's content on one line, without anything that could pose as structure.
func Content(content []byte) string {
	var value any
	if err := exact.Decode(content, &value); err != nil {
		return "{}"
	}

	return JSON(value)
}

// Quote is a text on one line in quotation marks, truncated to so many characters.
func Quote(text string, most int) string { return `"` + Inline(text, most) + `"` }

// Text is a nullable column's text.
func Text(value *string) string {
	if value == nil {
		return ""
	}

	return *value
}

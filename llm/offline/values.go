package offline

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// asText is a value as a person writes it; "" for nothing.
func asText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []any:
		return strings.Join(texts(v), ", ")
	case []string:
		return strings.Join(v, ", ")
	default:
		return fmt.Sprint(v)
	}
}

// texts are a list's entries.
func texts(v any) []string {
	var out []string
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			out = append(out, asText(x))
		}
	case []string:
		out = slices.Clone(v)
	}

	return out
}

// objects are the objects of a list.
func objects(v any) []map[string]any {
	var out []map[string]any
	list, _ := v.([]any)
	for _, x := range list {
		if row, ok := x.(map[string]any); ok {
			out = append(out, row)
		}
	}

	return out
}

// flat is everything in a value as one text.
func flat(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var b strings.Builder
		for _, k := range sortedKeys(v) {
			b.WriteString(flat(v[k]) + "; ")
		}

		return b.String()
	case map[string][]map[string]any:
		var b strings.Builder
		for _, rows := range v {
			for _, row := range rows {
				b.WriteString(flat(row) + "; ")
			}
		}

		return b.String()
	case []any:
		var b strings.Builder
		for _, x := range v {
			b.WriteString(flat(x) + "; ")
		}

		return b.String()
	default:
		return asText(v)
	}
}

// clone is a copy of JSON-like content, numbers as float64, that may be changed.
func clone(content map[string]any) map[string]any {
	out := map[string]any{}
	data, err := json.Marshal(content)
	if err != nil || json.Unmarshal(data, &out) != nil {
		return maps.Clone(content)
	}

	return out
}

func merge(into, from map[string]any) map[string]any {
	maps.Copy(into, from)

	return into
}

// mapTexts changes every text within content.
func mapTexts(content map[string]any, change func(string) string) map[string]any {
	out, _ := mapText(content, change).(map[string]any)

	return out
}

func mapText(v any, change func(string) string) any {
	switch v := v.(type) {
	case string:
		return change(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = mapText(v[i], change)
		}

		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[k] = mapText(v[k], change)
		}

		return out
	default:
		return v
	}
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

func orElse(text, other string) string {
	if text == "" {
		return other
	}

	return text
}

// human is a column's name as people say it: expiry date, purchased.
func human(column string) string {
	return strings.ReplaceAll(strings.TrimPrefix(column, "is_"), "_", " ")
}

package offline

import (
	"encoding/json"
	"sort"
)

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// clone copies content and gives it the types of decoded JSON.
func clone(content map[string]any) map[string]any {
	out := map[string]any{}
	if err := json.Unmarshal([]byte(compact(content)), &out); err != nil {
		return map[string]any{}
	}
	return out
}

// mapTexts applies a function to every string of content.
func mapTexts(content map[string]any, change func(string) string) map[string]any {
	out, _ := mapText(content, change).(map[string]any)
	return out
}

func mapText(v any, change func(string) string) any {
	switch v := v.(type) {
	case string:
		return change(v)
	case []any:
		for i := range v {
			v[i] = mapText(v[i], change)
		}
		return v
	case map[string]any:
		for k := range v {
			v[k] = mapText(v[k], change)
		}
		return v
	}
	return v
}

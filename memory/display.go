package memory

import (
	"fmt"
	"slices"
	"strings"

	"alfred/domain"
)

// displayLine is a row's line with every column that was read, its ref last:
// "Butter Chicken total_time:45min cuisine:indian id:recipe_1".
func (t *turn) displayLine(r *row, without ...string) string {
	return t.lineOf(r.kind, r.columns, false, without...) + " id:" + r.ref
}

// plainLine is the same for people: no refs.
func (t *turn) plainLine(def *domain.Entity, columns map[string]any) string {
	return t.lineOf(def, columns, true)
}

func (t *turn) lineOf(def *domain.Entity, columns map[string]any, plain bool, without ...string) string {
	shown := map[string]any{}
	for name, value := range columns {
		if slices.Contains(without, name) || (plain && isReference(def, name) && value != nil) {
			continue
		}
		shown[name] = safe(value)
	}
	line := strings.TrimSpace(def.Display.Render(shown))
	if line == "" {
		line = inline(def.Label.Render(shown), maxLabel)
	}
	used := append(def.Display.Columns(), def.Label.Columns()...)
	var more []string
	for _, name := range columnOrder(def, shown) {
		if fact := t.fact(def, name, shown, plain); fact != "" && !slices.Contains(used, name) {
			more = append(more, fact)
		}
	}
	if len(more) > 0 {
		line += " " + strings.Join(more, " ")
	}

	return inline(line, 0)
}

// fact is one further column of a display line, or "".
func (t *turn) fact(def *domain.Entity, name string, columns map[string]any, plain bool) string {
	value := columns[name]
	if name == def.Key.Name || childOf(def, name) != nil || isCanonical(def, name) || isEmpty(value) || value == false {
		return ""
	}
	if inner, labels := strings.CutPrefix(name, "_"); labels {
		column := strings.TrimSuffix(inner, "_label")
		if !plain || slices.Contains(def.Display.Columns(), column) {
			return ""
		}

		return strings.TrimSuffix(column, "_id") + ":" + plainValue(value)
	}

	return name + ":" + plainValue(value)
}

// isCanonical says whether a column points to shared reference data, which the
// row's own name already says.
func isCanonical(def *domain.Entity, name string) bool {
	column := def.Column(strings.TrimSuffix(strings.TrimPrefix(name, "_"), "_label"))

	return column != nil && column.FK != nil && column.FK.Entity != nil && column.FK.Entity.Reference
}

func isReference(def *domain.Entity, name string) bool {
	column := def.Column(name)

	return name == def.Key.Name || (column != nil && column.FK != nil)
}

// safe takes the power from texts before a template puts them into a line.
func safe(value any) any {
	switch v := value.(type) {
	case string:
		return inline(v, 0)
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = safe(item)
		}

		return list
	default:
		return value
	}
}

func plainValue(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case bool:
		return map[bool]string{true: "yes", false: "no"}[v]
	case []any:
		words := make([]string, len(v))
		for i, item := range v {
			words[i] = plainValue(item)
		}

		return strings.Join(words, ", ")
	case map[string]any:
		return jsonText(v)
	default:
		return fmt.Sprint(v)
	}
}

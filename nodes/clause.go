package nodes

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"alfred/internal/vocab"
)

// A planned call says in one text, as SQL does, how its rows are ordered, cut off, counted and added up. Fields of their
// own for that would be sent with every message, and written with every call.
var (
	clauseForm    = regexp.MustCompile(`(?is)^(?:select\s+)?(.*?)\s*(?:\bgroup by\s+(.*?))?\s*(?:\border by\s+(.+?))?\s*(?:\blimit\s+(\d+))?$`)
	orderForm     = regexp.MustCompile(`(?i)^(.+?)(?:\s+(asc|desc))?(?:\s+nulls last)?$`)
	aggregateForm = regexp.MustCompile(`(?i)^(\w+)\s*(?:\(\s*(distinct\s+)?\*?([\w.:,()/*+ -]*?)\s*\))?(?:\s+as\s+(\w+))?$`)
)

// clause reads that text and returns the arguments that it stands for; false if it says anything else.
func clause(tool, text string) (arguments map[string]any, ok bool) {
	if isNothing(text) {
		text = ""
	}
	parts := clauseForm.FindStringSubmatch(strings.TrimSpace(text))
	if parts == nil || tool != vocab.ToolRead && tool != vocab.ToolAnalyze {
		return nil, text == ""
	}
	selected, groups, ordering := parts[1], listed(parts[2]), parts[3]
	arguments = map[string]any{}
	var numbers []map[string]string
	if tool == vocab.ToolAnalyze {
		if numbers, ok = figures(selected, groups); !ok {
			return nil, false
		}
		arguments["aggregates"] = numbers
		if len(groups) > 0 {
			arguments["group_by"] = groups
		}
	} else if len(groups) > 0 || selected != "" && selected != "*" {
		return nil, false
	}
	if ordering != "" {
		arguments["order_by"], arguments["order_dir"] = order(ordering, numbers)
	}
	if limit, err := strconv.Atoi(parts[4]); err == nil {
		arguments["limit"] = limit
	}

	return arguments, true
}

// figures reads what is counted and added up: rows, if nothing is named but the groups. A group is one word; what follows it, such as
// HAVING, is not understood.
func figures(selected string, groups []string) (numbers []map[string]string, ok bool) {
	if slices.ContainsFunc(groups, func(group string) bool { return strings.Contains(group, " ") }) {
		return nil, false
	}
	named := slices.DeleteFunc(listed(selected), func(one string) bool { return slices.Contains(groups, one) })
	if len(named) == 0 {
		named = []string{"count"}
	}

	return aggregates(named)
}

// order reads by what rows are ordered, and in which direction; of several, each has its own.
func order(text string, aggregates []map[string]string) (by, direction string) {
	var all []string
	for _, one := range listed(text) {
		parts := orderForm.FindStringSubmatch(one)
		if parts == nil {
			continue
		}
		by, direction = nameIn(aggregates, parts[1]), strings.ToLower(cmp.Or(parts[2], "asc"))
		all = append(all, by+" "+direction)
	}
	if len(all) > 1 {
		return strings.Join(all, ", "), ""
	}

	return by, direction
}

// nameIn is the name by which rows are ordered: of a number its alias, so that sum(price) finds "sum(price) as total", and of a
// column the column.
func nameIn(aggregates []map[string]string, order string) string {
	by, isNumber := aggregate(order)
	if !isNumber {
		return order
	}
	for _, one := range aggregates {
		if one["fn"] == by["fn"] && one["column"] == by["column"] {
			return one["as"]
		}
	}

	return by["as"]
}

// aggregates reads a list of them, false if one is none.
func aggregates(texts []string) (list []map[string]string, ok bool) {
	for _, one := range texts {
		read, isOne := aggregate(one)
		if !isOne {
			return nil, false
		}
		list = append(list, read)
	}

	return list, len(list) > 0
}

// aggregate reads count, count(distinct buyer), sum(price) or sum(price) as total.
func aggregate(text string) (read map[string]string, ok bool) {
	parts := aggregateForm.FindStringSubmatch(text)
	if parts == nil {
		return nil, false
	}
	fn := strings.ToLower(parts[1])
	if parts[2] != "" {
		fn += "_distinct"
	}

	return map[string]string{
		"fn": fn, "column": parts[3],
		"as": strings.ToLower(cmp.Or(parts[4], vocab.AggregateName(fn, parts[3]))),
	}, slices.Contains(vocab.Aggregates, fn)
}

// listed are the parts of a list with commas, of which those in brackets part nothing.
func listed(text string) []string {
	depth := 0
	parts := strings.FieldsFunc(text, func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		}

		return r == ',' && depth == 0
	})
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}

	return parts
}

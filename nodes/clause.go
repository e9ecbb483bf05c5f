package nodes

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"alfred/internal/vocab"
)

// A planned call says in one text, as SQL does, how its rows are ordered, cut off, counted and added up. Fields of their
// own for that would be sent with every message, and written with every call.
var (
	clauseForm    = regexp.MustCompile(`(?is)^(?:select\s+)?(.*?)\s*(?:\bgroup by\s+(.*?))?\s*(?:\bhaving\s+(.*?))?\s*(?:\border by\s+(.+?))?\s*(?:\blimit\s+(\d+))?$`)
	orderForm     = regexp.MustCompile(`(?i)^(.+?)(?:\s+(asc|desc))?(?:\s+nulls last)?$`)
	limitForm     = regexp.MustCompile(`^(.+?)\s*(<=|>=|<>|!=|=|<|>)\s*(-?\d+(?:\.\d+)?)$`)
	andForm       = regexp.MustCompile(`(?i)\s+and\s+`)
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
	selected, groups, having, ordering := parts[1], listed(parts[2]), parts[3], parts[4]
	arguments = map[string]any{}
	var numbers []map[string]string
	if tool == vocab.ToolAnalyze {
		var filters []any
		if numbers, filters, ok = figures(selected, groups, having); !ok {
			return nil, false
		}
		if arguments["aggregates"] = numbers; len(filters) > 0 {
			arguments["filters"] = filters
		}
		if len(groups) > 0 {
			arguments["group_by"] = groups
		}
	} else if len(groups) > 0 || having != "" || selected != "" && selected != "*" {
		return nil, false
	}
	if ordering != "" {
		arguments["order_by"], arguments["order_dir"] = order(ordering, numbers)
	}
	if limit, err := strconv.Atoi(parts[5]); err == nil {
		arguments["limit"] = limit
	}

	return arguments, true
}

// figures reads what is counted and added up, rows if nothing is named but the groups, and which of the results are asked for.
func figures(selected string, groups []string, having string) (numbers []map[string]string, filters []any, ok bool) {
	named := slices.DeleteFunc(listed(selected), func(one string) bool { return slices.Contains(groups, one) })
	if len(named) == 0 {
		named = []string{"count"}
	}
	if numbers, ok = aggregates(named); !ok || having == "" {
		return numbers, nil, ok
	}

	return limits(having, numbers)
}

// limits reads which numbers SQL's HAVING asks for: filters of the result, by the numbers' names. One that is not among the numbers
// becomes one of them.
func limits(text string, numbers []map[string]string) (all []map[string]string, filters []any, ok bool) {
	for _, one := range andForm.Split(text, -1) {
		parts := limitForm.FindStringSubmatch(one)
		if parts == nil {
			return nil, nil, false
		}
		name := nameIn(numbers, parts[1])
		if !slices.ContainsFunc(numbers, func(number map[string]string) bool { return number["as"] == name }) {
			number, isOne := aggregate(parts[1])
			if !isOne {
				return nil, nil, false
			}
			numbers = append(numbers, number)
		}
		filters = append(filters, map[string]any{"field": name, "op": parts[2], "value": json.Number(parts[3])})
	}

	return numbers, filters, true
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

// nameIn is what a number is called by which rows are ordered, as sum(price) beside "sum(price) as total"; of anything else, itself.
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
